"""When a run stops short of its tolerance: after so many passes, or when its time is over."""

import contextlib
import math
import threading
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """When to stop short of the tolerance."""

    max_passes: int
    max_time: float | None = None
    started: float | None = None  # by time.monotonic(), when that time began; None where it begins with the run


class Clock:
    """The time that Limits are about: of this run, and of those that it goes on from.

    Attributes:
        earlier: seconds of the latter.
    """

    def __init__(self, limits):
        self.earlier = 0.0
        self._limits = limits
        self._started = time.monotonic()

    def start(self):
        """The run begins, or its time has begun before."""
        self._started = time.monotonic() if self._limits.started is None else self._limits.started

    def elapsed(self):
        return self.earlier + time.monotonic() - self._started

    def left(self):
        """Seconds until the time is over."""
        return math.inf if self._limits.max_time is None else self._limits.max_time - self.elapsed()

    @contextlib.contextmanager
    def watching(self, stop):
        """Ask the kernel to stop inside a pass when the time is over; stop: StopFlag."""
        if self._limits.max_time is None:
            yield
            return
        timer = threading.Timer(min(max(0.0, self.left()), threading.TIMEOUT_MAX), stop.set)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            stop.clear()
