"""Signals while a kernel runs."""

import os
import signal
import threading

import numpy as np

from data_formats.files.atomic import remove_unfinished
from ssvm_cli.terminal.termination import ASKED, SIGNALS


class StopFlag:
    """A flag that kernels poll, set by the first of SIGNALS; a second SIGINT or SIGTERM ends the process at once.

    Python runs signal handlers between two of its own instructions, which is not soon enough for a kernel that runs
    for minutes. So the interpreter's wake-up descriptor, which C code writes to as soon as a signal arrives, is read by
    a small thread.

    Attributes:
        flag: int32[1], nonzero: stop.
        signum: the signal that set it, or None.
    """

    def __init__(self):
        self.flag = np.zeros(1, dtype=np.int32)
        self.signum = None
        self._asked = 0  # how often
        self._previous = {}
        self._thread = None

    def __enter__(self):
        if threading.current_thread() is not threading.main_thread():
            return self  # only the main thread may install handlers
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        for signum in SIGNALS:
            # a background job ignores SIGINT, one under nohup SIGHUP: so do we
            if signal.getsignal(signum) is not signal.SIG_IGN:
                self._previous[signum] = signal.signal(signum, lambda signum, frame: None)
        return self

    def __exit__(self, *exception):
        if self._thread is None:
            return
        for signum, handler in self._previous.items():
            signal.signal(signum, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._write)
        self._thread.join()
        os.close(self._read)

    def stand_aside(self):
        """Let signals end the process from here on: what comes next may wait for ever and leaves nothing behind."""
        for signum in self._previous:
            signal.signal(signum, signal.SIG_DFL)

    @property
    def exit_code(self):
        """128 + number of the signal, 0 without one."""
        return 0 if self.signum is None else 128 + self.signum

    def set(self):
        """Ask the kernel to stop for another reason (a time limit)."""
        self.flag[0] = 1

    def clear(self):
        """Take a request of `set` back; one of a signal stays."""
        if self.signum is None:
            self.flag[0] = 0

    def _watch(self):
        while data := os.read(self._read, 1):
            signum = data[0]
            if signum not in self._previous:
                continue
            self._asked += signum in ASKED
            if self._asked > 1:
                remove_unfinished()
                os._exit(128 + signum)
            if self.signum is None:
                self.signum = signum
                self.flag[0] = 1
