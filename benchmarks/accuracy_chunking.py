"""Chunk F1 on the CoNLL-2000 test set, with the template that CRF++ comes with."""

import data
import measure
import ours
import report

RUNS = [('log', 2), ('hinge', 1), ('hinge', 3), ('hinge', 10)]
GOAL = 93.5


def main():
    folder = data.chunking()
    n = data.count_sentences(folder / 'train.txt')
    rows, shown, best = [], [], {}
    for objective, times in RUNS:
        model = folder / f'chunk-{objective}-{times}.model'
        metrics = model.with_suffix('.json')
        template = ('--template', folder / 'chunking.template')
        how = ('--objective', objective, '--rel-gap', '0.001')
        train = ours.train(folder / 'train.txt', model, *template, *how, lam=times / n)
        predict = ours.command(
            'predict', '--metrics', metrics, folder / 'test.txt', model, model.with_suffix('.tagged')
        )
        usage = measure.run(train, cwd=folder)
        measure.run(predict, cwd=folder)
        scores, last = ours.load(metrics), ours.log_rows(model)[-1]
        best[objective] = max(best.get(objective, 0), ours.f1(scores))
        f1, accuracy = f'{ours.f1(scores):.2f}', f'{100 * scores["accuracy"]:.2f}'
        rows.append([objective, f'{times}/n', f1, accuracy, f'{last["relative_gap"]:.1e}', f'{usage.cpu:.0f}'])
        shown += [train, predict]
    facts = [
        report.verdict(f'{value:.2f}', f'{objective}: chunk F1 of at least {GOAL}', value >= GOAL) + '\n'
        for objective, value in best.items()
    ]
    header = ['objective', 'λ', 'chunk F1', 'tag accuracy', 'relative gap', 'CPU s']
    report.section('Accuracy: chunking, CoNLL-2000', report.commands(*shown), report.table(header, rows), *facts)


if __name__ == '__main__':
    main()
