"""Training a CRF on CoNLL-2000 to within 0.1 % of the optimal objective: CPU time of whole processes beside CRFsuite's
L-BFGS, λ = 2/n.

ssvm stops where its own certificate proves 0.1 %. CRFsuite has none: its time, reading included, is taken at the first
iteration whose objective is that near the optimum, which it is told from outside.
"""

import json

import data
import measure
import ours
import peers
import report

WITHIN = 1e-3
SOLVERS = ('auto', 'eg', 'lbfgs')
FACTORS = {'all': 10, 'observed': 4}
ITERATIONS = 150  # enough for CRFsuite to get there


def lower_bound(folder, n, feature_set):
    """D(alpha) n, within 1e-5 of the optimum."""
    model = folder / 'crf-bound.model'
    how = ('--objective', 'log', '--solver', 'eg', '--feature-set', feature_set, '--rel-gap', 1e-5)
    measure.run(ours.train(folder / 'train.crfsuite', model, *how, lam=2 / n), cwd=folder)
    return ours.log_rows(model)[-1]['dual'] * n


def ours_argv(folder, n, feature_set, solver):
    model = folder / f'crf-{solver}-{feature_set}.model'
    how = ('--objective', 'log', '--solver', solver, '--feature-set', feature_set, '--rel-gap', WITHIN)
    how += ('--max-passes', 1000)
    return ours.train(folder / 'train.crfsuite', model, *how, lam=2 / n), model


def one(folder, n, feature_set, runs):
    """Rows of the table, CPU seconds by program, and the commands."""
    argvs, models = {}, {}
    for solver in SOLVERS:
        argvs[solver], models[solver] = ours_argv(folder, n, feature_set, solver)
    theirs = peers.script('train_crfsuite.py', folder / 'train.crfsuite', feature_set, ITERATIONS)
    usages = measure.compare(argvs | ({'CRFsuite': theirs} if theirs else {}), runs=runs, cwd=folder)
    rows, cpu = [], {}
    for solver in SOLVERS:
        last = ours.log_rows(models[solver])[-1]
        cpu[solver] = usages[solver].cpu
        rows.append(
            [f'ssvm, {solver}', feature_set, f'{last["pass"]:.0f}', f'{last["primal"] * n:.2f}', f'{cpu[solver]:.1f}']
        )
    if theirs:
        goal = lower_bound(folder, n, feature_set) * (1 + WITHIN)
        curve = json.loads(usages['CRFsuite'].stdout)['curve']
        there = next((k for k, (loss, _) in enumerate(curve) if loss <= goal), None)
        if there is not None:
            loss, cpu['CRFsuite'] = curve[there]
            rows.append(['python-crfsuite', feature_set, f'{there + 1}', f'{loss:.2f}', f'{cpu["CRFsuite"]:.1f}'])
    return rows, cpu, [*argvs.values(), *([theirs] if theirs else [])]


def main(runs=1, feature_sets=('all', 'observed')):
    folder = data.chunking()
    n = data.count_sentences(folder / 'train.txt')
    rows, facts, shown = [], [], []
    for feature_set in feature_sets:
        more, cpu, argvs = one(folder, n, feature_set, runs)
        rows, shown = rows + more, shown + argvs
        for solver in ('auto', 'eg') if 'CRFsuite' in cpu else ():
            factor, wanted = cpu['CRFsuite'] / cpu[solver], FACTORS[feature_set]
            target = f'{feature_set} features: {solver} at least {wanted} times as fast as CRFsuite'
            facts.append(report.verdict(f'{factor:.1f} times', target, factor >= wanted) + '\n')
    header = ['program', 'features', 'passes or iterations', 'objective × n', 'CPU s']
    report.section(
        'CRF training to within 0.1 % of the optimum, λ = 2/n',
        report.commands(*shown),
        report.table(header, rows),
        *facts,
        report.skipped([] if peers.python() else ['python-crfsuite']),
    )


if __name__ == '__main__':
    main()
