"""The optimum of the log loss, found by ssvm's and by CRFsuite's L-BFGS: the same to 6 digits (c2 = 1 is λ = 2/n)."""

import json

import data
import measure
import ours
import peers
import report


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


def main(feature_sets=('all', 'observed')):
    folder = data.chunking()
    n = data.count_sentences(folder / 'train.txt')
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
    report.section(
        title,
        report.commands(*shown),
        report.table(header, rows),
        *facts,
        report.skipped([] if peers.python() else ['python-crfsuite']),
    )


if __name__ == '__main__':
    main()
