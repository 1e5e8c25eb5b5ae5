"""Signals where there is nothing to save: the process ends, and leaves no temporary files behind.

A signal raises an exception in the main thread, so that everything is cleaned up on the way out. That thread may be in
a kernel for minutes, though, or wait for others that are; then a small thread that reads the interpreter's wake-up
descriptor ends the process in its place.
"""

import contextlib
import os
import signal
import threading

from data_formats.files.atomic import remove_unfinished

ASKED = (signal.SIGINT, signal.SIGTERM)  # somebody wants the process to end
# A lost connection, the usual warnings of batch systems, a CPU limit. These come in repeats: from the terminal and from
# the shell, from the kernel every second.
OTHERS = (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
SIGNALS = ASKED + OTHERS
GRACE_SECONDS = 0.5  # seconds that the main thread has for ending by itself

_last_words = []  # functions to be called before the process ends


class Terminated(BaseException):
    """A signal other than SIGINT arrived while there was nothing to save.

    Attributes:
        signum: its number.
    """

    def __init__(self, signum):
        super().__init__(signum)
        self.signum = signum


@contextlib.contextmanager
def ended_by_signals():
    """End the process on the first signal, by an exception if the main thread is quick enough."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may install handlers: somebody else looks after signals
        return
    ended = threading.Event()
    read, write = os.pipe()
    os.set_blocking(write, False)
    wakeup = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(read, ended), daemon=True)
    watcher.start()
    previous = {}
    for signum in SIGNALS:
        if signum != signal.SIGINT and signal.getsignal(signum) is not signal.SIG_IGN:  # as under nohup
            previous[signum] = signal.signal(signum, _raiser())
    try:
        yield
    finally:
        ended.set()
        for signum, handler in previous.items():
            signal.signal(signum, handler)
        signal.set_wakeup_fd(wakeup)
        os.close(write)
        watcher.join()
        os.close(read)


def _raiser():
    """A handler that raises Terminated: once where the signal is one that comes in repeats."""
    arrived = []

    def handler(signum, frame):
        if not (arrived and signum in OTHERS):
            arrived.append(signum)
            raise Terminated(signum)

    return handler


def _watch(read, ended):
    while data := os.read(read, 1):
        signum = data[0]
        if signum in SIGNALS and not ended.wait(GRACE_SECONDS):
            for say in _last_words:
                say()
            remove_unfinished()
            os._exit(128 + signum)


@contextlib.contextmanager
def last_words(say):
    """Have a function called, once, where a signal ends the process within the block."""
    said = []

    def once():
        if not said:
            said.append(True)
            say()

    _last_words.append(once)
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        once()
        raise
    finally:
        _last_words.remove(once)
