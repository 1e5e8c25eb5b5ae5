"""What triplets of labels cost and bring: chains of order 2 beside those of order 1, hinge, on CoNLL-2000.

A pass of order 2 has K^3 sums for each token where one of order 1 has K^2. What counts is the time in the solver of all
passes but the first, in which tables are filled.
"""

import data
import measure
import ours
import report

ORDERS = (1, 2)
TIMES = (3, 10)  # lambda, as a multiple of 1/n


def main():
    folder = data.chunking()
    n = data.count_sentences(folder / 'train.txt')
    rows, shown = [], []
    for times in TIMES:
        for order in ORDERS:
            model = folder / f'order-{order}-{times}.model'
            metrics = model.with_suffix('.json')
            how = ('--order', order, '--template', folder / 'chunking.template', '--rel-gap', '0.01')
            train = ours.train(folder / 'train.txt', model, *how, lam=times / n)
            predict = ours.command(
                'predict', '--metrics', metrics, folder / 'test.txt', model, model.with_suffix('.tagged')
            )
            usage = measure.run(train, cwd=folder)
            measure.run(predict, cwd=folder)
            scores, (first, *_, last) = ours.load(metrics), ours.log_rows(model)
            a_pass = (last['seconds'] - first['seconds']) / (last['pass'] - first['pass'])
            f1, accuracy = f'{ours.f1(scores):.2f}', f'{100 * scores["accuracy"]:.2f}'
            gap, passes = f'{last["relative_gap"]:.1e}', int(last['pass'])
            rows.append([order, f'{times}/n', f1, accuracy, gap, passes, f'{a_pass:.3f}', f'{usage.cpu:.0f}'])
            shown += [train, predict]
    header = ['order', 'λ', 'chunk F1', 'tag accuracy', 'relative gap', 'passes', 's a pass', 'CPU s']
    report.section('Triplets of labels, CoNLL-2000', report.commands(*shown), report.table(header, rows))


if __name__ == '__main__':
    main()
