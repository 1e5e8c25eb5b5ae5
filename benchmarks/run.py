"""Run the benchmarks: run.py [NAME...], all of them by default, in which case RESULTS.md is written anew."""

import contextlib
import importlib
import io
import sys
from pathlib import Path

import data
import measure
import report

NAMES = (
    'accuracy_chunking',
    'accuracy_letters',
    'accuracy_images',
    'loading',
    'lbfgs',
    'bcfw',
    'tagging',
    'images',
)
RESULTS = Path(__file__).resolve().with_name('RESULTS.md')
INTRODUCTION = """# Results

Written by `make benchmarks`; README.md says what is measured and how. CPU s is user and system time of the whole
process including everything it starts, one thread, the median of several runs that take turns with the peer's; peak MB
is its largest resident memory. Figures of different machines cannot be compared, ratios within one run can.
"""


class Tee(io.StringIO):
    """Keeps what it passes on."""

    def write(self, text):
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def run(name):
    """Print the section of one benchmark; whether it could run."""
    try:
        importlib.import_module(name).main()
    except data.MissingDataError as error:
        print(f'## {name}\n\nSkipped: {error}\n')
        return False
    except measure.CommandError as error:
        print(f'## {name}\n\nFailed:\n\n```\n{error}\n```\n')
        return False
    return True


def main(names):
    unknown = set(names) - set(NAMES)
    if unknown:
        sys.exit(f'no such benchmark: {", ".join(sorted(unknown))} (choose from {", ".join(NAMES)})')
    with contextlib.redirect_stdout(Tee()) as text:
        print(INTRODUCTION)
        print(report.machine())
        good = [run(name) for name in names or NAMES]
    if not names:
        RESULTS.write_text(text.getvalue(), encoding='utf-8')
    return 0 if all(good) else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
