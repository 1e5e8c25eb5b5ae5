"""Step through a function that insists on its own loop and offers only a callback per iteration."""

import threading


class Stopped(BaseException):
    """Raised inside the function to end it."""


class Stepwise:
    """next() lets run(report) go on to its next call of report(value) and returns that value.

    The function runs in a thread of its own, never at the same time as the caller. Its exceptions come out of
    next(); after its end next() returns None.
    """

    def __init__(self, run):
        self._value, self._error, self._stop = None, None, False
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._work, args=(run,), daemon=True)
        self._thread.start()

    def _work(self, run):
        self._go.acquire()
        try:
            if not self._stop:
                run(self._report)
        except Stopped:
            pass
        except BaseException as error:
            self._error = error
        self._value, self._stop = None, True
        self._back.release()

    def _report(self, value):
        self._value = value
        self._back.release()
        self._go.acquire()
        if self._stop:
            raise Stopped

    def next(self):
        if not self._thread.is_alive() or self._stop:
            return None
        self._go.release()
        self._back.acquire()
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return self._value

    def close(self):
        """End the function where it is."""
        if self._thread.is_alive() and not self._stop:
            self._stop = True
            self._go.release()
            self._thread.join()
