"""Threads for loops over ranges and streams. Kernels release the GIL, so plain Python threads run them side by side."""

import contextlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise

import numpy as np

NEVER_SET = np.zeros(1, np.int32)
POLL_SECONDS = 0.001  # seconds between two looks at what can be read, while there is something to give out


class Interrupted(Exception):  # noqa: N818 (it is no error)
    """The stop flag was set during a pass over the examples."""


class Pool:
    """`threads` threads, the caller among them; map() returns results in order and raises the exception of the first
    item that fails.

    Attributes:
        stop: int32[1]; when it is set, map() begins no more items and raises Interrupted. Items that take long look at
            it themselves.
    """

    def __init__(self, threads=1):
        self.stop = NEVER_SET
        self.threads = max(1, int(threads))
        self._executor = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    @contextlib.contextmanager
    def stoppable(self, stop):
        """Let a flag, int32[1], stop what is done within the block."""
        before, self.stop = self.stop, stop
        try:
            yield
        finally:
            self.stop = before

    def check(self):
        """Interrupted if the stop flag is set."""
        if self.stop[0]:
            raise Interrupted

    def map(self, function, items):
        items = list(items)
        if self._executor is None or len(items) < 2:
            results = []
            for item in items:
                self.check()
                results.append(function(*item))
            self.check()
            return results
        waiting, results, errors = deque(enumerate(items)), [None] * len(items), {}

        def work():
            while waiting and not errors and not self.stop[0]:
                try:
                    at, item = waiting.popleft()
                except IndexError:  # another thread was faster
                    return
                try:
                    results[at] = function(*item)
                except BaseException as error:  # raised below, by the caller
                    errors[at] = error

        others = [self._executor.submit(work) for _ in range(min(self.threads, len(items)) - 1)]
        work()
        for other in others:
            if not other.cancel():  # of one that has not begun yet nothing is left to do
                other.result()
        if errors:
            raise errors[min(errors)]
        self.check()
        return results


def ranges(cost, count):
    """At most `count` ranges (begin, end) of nearly equal cost. cost: cumulative, int64[n + 1], from 0."""
    n = len(cost) - 1
    if n < 1:
        return []
    marks = np.searchsorted(cost, np.linspace(0, cost[-1], count + 1))
    marks[0], marks[-1] = 0, n
    marks = np.maximum.accumulate(np.minimum(marks, n))
    return [(int(a), int(b)) for a, b in pairwise(marks) if b > a]


def even_ranges(size, count):
    """At most `count` ranges (begin, end) of nearly equal length, none where there is nothing."""
    bounds = np.linspace(0, size, count + 1).astype(int).tolist()
    return [(a, b) for a, b in pairwise(bounds) if b > a]


def in_order(function, items, threads, ready=None):
    """function(item) for each item, in order, by other threads; at most 2 threads + 1 items are held at a time.

    An item None stands for one that is not there yet: until ready() says that it is, results are given out.

    Errors keep the order too: what fails, an item on its way here or the function, does so behind all results before.
    An interruption is not held up by what the threads are at.
    """
    executor, waiting = ThreadPoolExecutor(threads), deque()
    try:
        for future in _futures(executor, function, items):
            if future is None:
                while waiting and not ready():
                    if wait([waiting[0]], POLL_SECONDS).done:
                        yield waiting.popleft().result()
                continue
            waiting.append(future)
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _futures(executor, function, items):
    """A future for each item that is there, and one that has failed for an error that ends the items."""
    try:
        for item in items:
            yield None if item is None else executor.submit(function, item)
    except Exception as error:
        failed = Future()
        failed.set_exception(error)
        yield failed
