"""Letter error on the OCR words (26 letters, 128 pixels), by the two published ways of using its ten folds.

Small: train on one fold, test on the other nine. PyStruct's documentation reports a score of 0.788 for a chain
(21.2 % errors; its C = 0.1 is λ = 10/n) and 0.714 for a linear SVM without a chain, on fold 1.
Large: train on nine folds, test on the tenth. Ratliff, Bagnell and Zinkevich (2007) report 13 % errors for a linear
chain trained on 5500 words.
"""

import statistics

import data
import measure
import ours
import report

RUNS = [('small', 'hinge', 10), ('small', 'log', 1), ('large', 'hinge', 3), ('large', 'log', 3)]
GOALS = {'small': 21.2, 'large': 13.0}


def one(folder, way, objective, times, fold):
    """(test error in percent, the commands) of one fold."""
    train, test = ('only', 'rest') if way == 'small' else ('rest', 'only')
    path = folder / 'letters' / f'{train}-{fold}.hmm'
    words = count_words(path)
    model = folder / 'letters.model'
    metrics = model.with_suffix('.json')
    argvs = [
        ours.train(path, model, '--objective', objective, '--bias', '--rel-gap', '0.01', lam=times / words),
        ours.command(
            'predict', '--metrics', metrics, path.with_name(f'{test}-{fold}.hmm'), model, model.with_suffix('.out')
        ),
    ]
    for argv in argvs:
        measure.run(argv, cwd=folder)
    return ours.error(ours.load(metrics)), argvs


def count_words(path):
    with open(path, encoding='ascii') as stream:
        return len({line.split()[1] for line in stream})


def main(folds=range(10)):
    folder = data.letters()
    rows, shown, best = [], [], {}
    for way, objective, times in RUNS:
        errors, argvs = zip(*(one(folder, way, objective, times, fold) for fold in folds), strict=True)
        mean = statistics.mean(errors)
        spread = statistics.stdev(errors) if len(errors) > 1 else 0
        rows.append(
            [way, objective, f'{times}/n', f'{mean:.2f} ± {spread:.2f}', f'{errors[min(1, len(errors) - 1)]:.2f}']
        )
        best[way] = min(best.get(way, 100), mean)
        shown += argvs[0]
    facts = [
        report.verdict(
            f'{value:.2f} %',
            f'{way}: at most {GOALS[way] + 0.5:.1f} % (published: {GOALS[way]:.1f} %)',
            value <= GOALS[way] + 0.5,
        )
        + '\n'
        for way, value in best.items()
    ]
    header = ['folds', 'objective', 'λ', 'letter error % (mean of ten)', 'with fold 1']
    about = __doc__.partition('\n\n')[2]
    report.section('Accuracy: OCR letters', about, report.commands(*shown), report.table(header, rows), *facts)


if __name__ == '__main__':
    main()
