"""Print a table of runs: table.py RUN... reads RUN.metrics.json and RUN.gap.json (see the Makefile)."""

import json
import sys
from pathlib import Path


def row(run):
    """One line: scores in percent, and the certificate of the training problem."""
    metrics = json.loads(Path(f'{run}.metrics.json').read_text(encoding='utf-8'))
    gap = json.loads(Path(f'{run}.gap.json').read_text(encoding='utf-8'))
    scores = ' '.join(f'{100 * score:8.2f}' for score in scores_of(metrics).values())
    return f'{Path(run).name:>8} {scores} {gap["primal"]:12.6f} {gap["dual"]:12.6f} {gap["relative_gap"]:8.1e}'


def scores_of(metrics):
    """The two scores of the task, by their names in the table."""
    if 'uas' in metrics:
        return {'UAS': metrics['uas'], 'LAS': metrics['las']}
    if 'complete_match' in metrics:
        return {'F1': metrics['f1'], 'complete': metrics['complete_match']}
    if 'hamming' in metrics:
        return {'F1 micro': metrics['micro_f1'], 'subset': metrics['subset_accuracy']}
    if 'chunks' in metrics:
        return {'accuracy': metrics['accuracy'], 'chunk F1': metrics['chunks']['f1']}
    if 'aer' in metrics:
        return {'AER': metrics['aer'], 'exact': metrics['exact']}
    if 'found' in metrics:
        return {'IoU': metrics['overlap'], 'found': metrics['found']}
    if 'best_loss' in metrics:
        return {'accuracy': metrics['accuracy'], 'loss': metrics['loss']}
    if 'pairs' in metrics:
        return {'accuracy': metrics['accuracy'], 'pairs': metrics['pairs']['recall']}
    return {'accuracy': metrics['accuracy'], 'mean F1': metrics['macro_f1']}


def main(runs):
    names = scores_of(json.loads(Path(f'{runs[0]}.metrics.json').read_text(encoding='utf-8')))
    print(' '.join(f'{name:>8}' for name in ('lambda', *names)), f'{"primal":>12} {"dual":>12} {"rel. gap":>8}')
    for run in runs:
        print(row(run))


if __name__ == '__main__':
    main(sys.argv[1:])
