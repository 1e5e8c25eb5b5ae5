"""L-BFGS on the log loss beside CRFsuite's: CPU time of one evaluation of objective and gradient.

CRFsuite's c2 = 1 is λ = 2/n. The time of an iteration is the difference between a long and a short run divided by the
difference of their numbers of evaluations, so reading, feature generation and writing drop out. It includes the vector
work of the optimiser: CRFsuite's, which cannot be taken out, or scipy's, beside which objective and gradient are also
timed alone.
"""

import json
import sys
from pathlib import Path

import data
import measure
import ours
import peers
import report

SHORT, LONG = 5, 25
EVALUATE = Path(__file__).resolve().with_name('evaluate_with_ssvm.py')


def our_evaluations(model, n):
    """Passes of lbfgs over the data: oracle calls by examples."""
    return ours.log_rows(model)[-1]['oracle_calls'] / n


def per_evaluation(folder, n, feature_set, runs):
    """Rows of the table: CPU seconds of an evaluation, evaluations of the long run, its peak memory."""
    path, lam = folder / 'train.crfsuite', 2 / n
    short, long = folder / 'lbfgs-short.model', folder / 'lbfgs-long.model'
    how = ('--objective', 'log', '--solver', 'lbfgs', '--feature-set', feature_set, '--no-certificate', '--max-passes')
    ours_ = [ours.train(path, model, *how, passes, lam=lam) for model, passes in ((short, SHORT), (long, LONG))]
    theirs = [peers.script('train_crfsuite.py', path, feature_set, count) for count in (SHORT, LONG)]
    there, missing = peers.available(
        {
            ('ssvm', 0): ours_[0],
            ('ssvm', 1): ours_[1],
            ('python-crfsuite', 0): theirs[0],
            ('python-crfsuite', 1): theirs[1],
        }
    )
    usages = measure.compare(there, runs=runs, cwd=folder)
    counts = {('ssvm', k): our_evaluations(model, n) for k, model in enumerate((short, long))}
    for name in there.keys() - counts.keys():
        counts[name] = json.loads(usages[name].stdout)['evaluations']
    rows, cost = [], {}
    for name in ('ssvm', 'python-crfsuite'):
        if (name, 0) in there:
            first, last = (name, 0), (name, 1)
            cost[name] = (usages[last].cpu - usages[first].cpu) / (counts[last] - counts[first])
            rows.append(
                [name, feature_set, f'{cost[name]:.3f}', f'{counts[last]:.0f}', f'{usages[last].peak / 1e6:.0f}']
            )
    return rows, cost, ours_ + [argv for argv in theirs if argv], {name[0] for name in missing}


def main(runs=2, feature_sets=('all', 'observed')):
    folder = data.chunking()
    n = data.count_sentences(folder / 'train.txt')
    rows, facts, shown, missing = [], [], [], set()
    for feature_set in feature_sets:
        alone = [sys.executable, EVALUATE, folder / 'train.crfsuite', feature_set, 2]
        seconds = float(measure.run(alone, cwd=folder).stdout)
        more, cost, argvs, lacking = per_evaluation(folder, n, feature_set, runs)
        rows, shown, missing = rows + more, shown + argvs, missing | lacking
        if len(cost) == 2:
            factor, whole = cost['python-crfsuite'] / seconds, cost['python-crfsuite'] / cost['ssvm']
            name = f"{feature_set} features: objective and gradient at least twice as fast as CRFsuite's iteration"
            facts.append(
                report.verdict(f'{factor:.2f} times; whole iterations {whole:.2f} times', name, factor >= 2) + '\n'
            )
        rows.append(['ssvm, objective and gradient alone', feature_set, f'{seconds:.3f}', '', ''])
        shown.append(alone)
    header = ['program', 'features', 'CPU s an iteration', 'evaluations', 'peak MB']
    title = 'L-BFGS, log loss, λ = 2/n: an evaluation of objective and gradient'
    report.section(title, report.commands(*shown), report.table(header, rows), *facts, report.skipped(sorted(missing)))


if __name__ == '__main__':
    main()
