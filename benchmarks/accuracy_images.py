"""Test error on Fashion-MNIST (60,000 × 784, ten classes), a linear multiclass SVM and softmax regression.

Xiao, Rasul and Vollgraf (2017), who made the set, list 0.836 for LinearSVC and 0.842 for LogisticRegression: errors of
16.4 % and 15.8 %. liblinear's -s 4 is run beside.
"""

import data
import images
import measure
import ours
import report

RUNS = [('hinge', 100), ('hinge', 30), ('log', 10)]
GOAL = 15.8


def main():
    folder = data.images()
    n = images.count_lines(folder / 'fashion-train.svm')
    rows, shown, best = [], [], 100.0
    for objective, times in RUNS:
        model = folder / f'fashion-{objective}-{times}.model'
        metrics = model.with_suffix('.json')
        argvs = [
            ours.train(
                folder / 'fashion-train.svm', model, '--objective', objective, '--rel-gap', '0.01', lam=times / n
            ),
            ours.command(
                'predict', '--metrics', metrics, folder / 'fashion-test.svm', model, model.with_suffix('.out')
            ),
        ]
        usage = measure.run(argvs[0], cwd=folder)
        measure.run(argvs[1], cwd=folder)
        error, last = ours.error(ours.load(metrics)), ours.log_rows(model)[-1]
        best = min(best, error)
        rows.append(
            ['ssvm', objective, f'{times}/n', f'{error:.2f}', f'{last["relative_gap"]:.1e}', f'{usage.cpu:.0f}']
        )
        shown += argvs
    peer = images.liblinear(folder, 1)
    if peer:
        rows.append(['liblinear -s 4', 'hinge', '100/n', f'{100 * peer[2]:.2f}', '', f'{peer[0].cpu:.0f}'])
    fact = report.verdict(f'{best:.2f} %', f'at most {GOAL} % errors, as published', best <= GOAL) + '\n'
    header = ['program', 'objective', 'λ', 'test error %', 'relative gap', 'CPU s']
    about = __doc__.partition('\n\n')[2]
    missing = report.skipped([] if peer else ['liblinear-train'])
    title = 'Accuracy: Fashion-MNIST'
    report.section(title, about, report.commands(*shown), report.table(header, rows), fact, missing)


if __name__ == '__main__':
    main()
