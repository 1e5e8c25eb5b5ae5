"""Run benchmarks and put their sections into RESULTS.md."""

import argparse
import contextlib
import importlib
import inspect
import io
import re
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
    'optimum',
    'crf_training',
    'bcfw',
    'tagging',
    'images',
    'threads',
    'structures',
    'triplets',
    'solvers',
)
RESULTS = Path(__file__).resolve().with_name('RESULTS.md')
INTRODUCTION = """# Results

Written by `benchmarks/run.py`; README.md says what is measured and how. CPU s is user and system time of the whole
process including everything it starts, on one thread, the median of several runs that take turns with the peer's; peak
MB is its largest resident memory. Each part says when, from which commit and on how busy a machine it comes: figures of
different machines or hours cannot be compared, ratios within one part can.
"""


class Tee(io.StringIO):
    """Keeps what it passes on."""

    def write(self, text):
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def run(name, runs=None):
    """The sections of one benchmark as text, printed as well; None where it could not run. runs: how often each
    command is timed, where the benchmark is one of time."""
    main = importlib.import_module(name).main
    how = {'runs': runs} if runs and 'runs' in inspect.signature(main).parameters else {}
    with contextlib.redirect_stdout(Tee()) as text:
        try:
            print(report.conditions())
            main(**how)
        except (data.MissingDataError, measure.CommandError) as error:
            print(f'## {name}\n\nNot run: {error}\n', file=sys.stderr)
            return None
    return text.getvalue()


def update(results, sections):
    """The text of RESULTS.md with some parts, by benchmark, written anew and the others kept."""
    old = re.split(r'^<!-- (\w+) -->\n', results, flags=re.MULTILINE)
    parts = dict(zip(old[1::2], old[2::2], strict=True)) | sections
    return INTRODUCTION + ''.join(f'\n<!-- {name} -->\n{parts[name].strip()}\n' for name in NAMES if name in parts)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME', help=f'all by default: {", ".join(NAMES)}')
    parser.add_argument('--runs', type=int, help='how often each command is timed (the median counts)')
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(NAMES):
        parser.error(f'no such benchmark: {", ".join(sorted(unknown))} (choose from {", ".join(NAMES)})')
    sections = {}
    for name in given.names or NAMES:
        sections[name] = run(name, given.runs)
        if sections[name]:
            results = RESULTS.read_text(encoding='utf-8') if RESULTS.exists() else ''
            RESULTS.write_text(update(results, {name: sections[name]}), encoding='utf-8')
    return 0 if all(sections.values()) else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
