"""Entry point of the console script, and of `python -m ssvm_cli.main`."""

import contextlib
import os
import sys
import time


def run():
    """Run the command line and leave with its exit code.

    Everything is imported in here, so that a Ctrl-C before that is done ends like one after it: no traceback, 130.
    """
    started = time.monotonic()
    try:
        if sys.stderr is None:  # closed by the caller: what is said to people goes nowhere
            sys.stderr = open(os.devnull, 'w')  # noqa: SIM115
        from ssvm_cli.cli import cli

        cli.main(obj={'started': started})
    except SystemExit as end:
        if (
            isinstance(end.code, int) and end.code > 128
        ):  # a signal: threads may be at work still, and nobody waits for what they find
            leave(end.code)
        raise
    except KeyboardInterrupt:
        if os.environ.get('SSVM_TRACEBACK'):
            raise
        sys.exit(130)  # 128 + SIGINT


def leave(code):
    """End the process at once, with what has been written."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


if __name__ == '__main__':
    run()
