"""L-BFGS on the log loss beside CRFsuite's: CPU time of one evaluation of objective and gradient, and the optimum.

CRFsuite's c2 = 1 is lambda = 2/n. The time of an evaluation is the difference between a long and a short run divided
by the difference of their numbers of evaluations, so reading, feature generation and writing drop out.
"""

import json

import data
import measure
import ours
import peers
import report

SHORT, LONG = 5, 25


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


def optimum(folder, n, feature_set):
    """P(w) n of both programs, run to the end, and CPU seconds."""
    path, model = folder / 'train.crfsuite', folder / f'lbfgs-{feature_set}.model'
    how = ('--objective', 'log', '--solver', 'lbfgs', '--feature-set', feature_set, '--rel-gap', '2e-7')
    argv = ours.train(path, model, *how, lam=2 / n)
    usage = measure.run(argv, cwd=folder)
    last = ours.log_rows(model)[-1]
    rows = [['ssvm', feature_set, f'{last["primal"] * n:.4f}', f'{last["dual"] * n:.4f}', f'{usage.cpu:.0f}']]
    values = [last['primal'] * n]
    theirs = peers.script('train_crfsuite.py', path, feature_set, 1000)
    if theirs:
        found = crfsuite_optimum(folder, feature_set, theirs)
        values.append(found['loss'])
        rows.append(['python-crfsuite', feature_set, f'{found["loss"]:.4f}', '', f'{found["cpu"]:.0f}'])
    return rows, values, [argv, theirs]


def crfsuite_optimum(folder, feature_set, argv):
    """What the peer's script prints, with its CPU time. It takes a quarter of an hour and gives the same each time, so
    its result is kept in the work folder."""
    kept = folder / f'crfsuite-{feature_set}.json'
    if not kept.exists():
        usage = measure.run(argv, cwd=folder)
        kept.write_text(json.dumps(json.loads(usage.stdout) | {'cpu': usage.cpu}), encoding='utf-8')
    return ours.load(kept)


def main(runs=2, feature_sets=('all', 'observed')):
    folder = data.chunking()
    n = data.count_sentences(folder / 'train.txt')
    rows, facts, shown, missing = [], [], [], set()
    for feature_set in feature_sets:
        more, cost, argvs, lacking = per_evaluation(folder, n, feature_set, runs)
        rows, shown, missing = rows + more, shown + argvs, missing | lacking
        if len(cost) == 2:
            factor = cost['python-crfsuite'] / cost['ssvm']
            name = f'{feature_set} features: an evaluation at least twice as fast'
            facts.append(report.verdict(f'{factor:.2f} times', name, factor >= 2) + '\n')
    header = ['program', 'features', 'CPU s an evaluation', 'evaluations', 'peak MB']
    title = 'L-BFGS, log loss, λ = 2/n: an evaluation of objective and gradient'
    report.section(title, report.commands(*shown), report.table(header, rows), *facts, report.skipped(sorted(missing)))

    rows, facts, shown = [], [], []
    for feature_set in feature_sets:
        more, values, argvs = optimum(folder, n, feature_set)
        rows, shown = rows + more, shown + argvs
        if len(values) == 2:
            difference = abs(values[0] - values[1]) / values[0]
            facts.append(
                report.verdict(f'{difference:.1e}', f'{feature_set} features: the same to 6 digits', difference < 1e-6)
                + '\n'
            )
    header = ['program', 'features', 'objective × n', 'lower bound × n', 'CPU s']
    title = 'L-BFGS, log loss, λ = 2/n: the optimum'
    report.section(title, report.commands(*shown), report.table(header, rows), *facts, report.skipped(sorted(missing)))


if __name__ == '__main__':
    main()
