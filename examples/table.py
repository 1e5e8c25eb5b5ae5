"""Print a table of runs: table.py RUN... reads RUN.metrics.json and RUN.gap.json (see the Makefile)."""

import json
import sys
from pathlib import Path


def row(run):
    """One line: scores in percent, and the certificate of the training problem."""
    metrics = json.loads(Path(f'{run}.metrics.json').read_text(encoding='utf-8'))
    gap = json.loads(Path(f'{run}.gap.json').read_text(encoding='utf-8'))
    f1 = metrics['chunks']['f1'] if 'chunks' in metrics else metrics['macro_f1']
    scores = f'{100 * metrics["accuracy"]:8.2f} {100 * f1:6.2f}'
    return f'{Path(run).name:>8} {scores} {gap["primal"]:12.6f} {gap["dual"]:12.6f} {gap["relative_gap"]:8.1e}'


def main(runs):
    kind = 'F1' if not runs or 'chunks' not in Path(f'{runs[0]}.metrics.json').read_text(encoding='utf-8') else 'chunk'
    print(f'{"lambda":>8} accuracy {kind:>6} {"primal":>12} {"dual":>12} {"rel. gap":>8}')
    for run in runs:
        print(row(run))


if __name__ == '__main__':
    main(sys.argv[1:])
