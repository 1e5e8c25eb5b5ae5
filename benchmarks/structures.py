"""How fast training passes over other structures are: words of dependency trees, cells of alignments and sentences of a
grammar a second.

A pass of bcfw finds the features and scores of each example, calls its oracle and makes a step. What counts is the
time in the solver of all passes but the first, in which dictionaries and tables are filled.
"""

import data
import measure
import ours
import report

PASSES = 6
WORDS, CELLS, SENTENCES = 20_000, 200_000_000, 2_000  # wanted, a second


def tasks():
    """(what, its unit, units in a pass, how many are wanted a second, argument lists of training by name)."""
    trees, words = data.dependencies()
    aligned, cells = data.alignments()
    phrases, sentences = data.phrases()
    whole = ('--max-passes', PASSES, '--rel-gap', 0, '--gap-every', 1)
    grammar = ('--terminals', 'pos', *whole)
    parser = ('--task', 'dependency', *whole)
    yield (
        'dependency trees, CoNLL-2007 Spanish', 'words', words, WORDS,
        {
            'bcfw': ('--unlabelled', *parser, trees),
            'bcfw, labelled': (*parser, trees),
            'eg, log': ('--unlabelled', *parser, '--objective', 'log', '--solver', 'eg', trees),
            'eg, log, labelled': (*parser, '--objective', 'log', '--solver', 'eg', trees),
        },
    )  # fmt: skip
    yield (
        'alignments, 50 by 50 letters', 'cells', cells, CELLS,
        {'bcfw': ('--task', 'alignment', *whole, aligned)},
    )  # fmt: skip
    yield (
        'trees of a grammar, GUM, sentences of ten words', 'sentences', sentences, SENTENCES,
        {
            'bcfw, zero-one': (*grammar, '--task-loss', 'zero-one', phrases),
            'bcfw, F1': (*grammar, phrases),
            'eg, log': (*grammar, '--objective', 'log', '--solver', 'eg', phrases),
        },
    )  # fmt: skip


def main(runs=3):
    rows, facts, shown = [], [], []
    for what, unit, size, wanted, cases in tasks():
        for name, (*how, path) in cases.items():
            model = data.work() / 'structures.model'
            argv = ours.train(path, model, *how)
            rate = max(per_second(argv, model, size) for _ in range(runs))
            rows.append([what, name, f'{size:,} {unit}', f'{rate:,.0f}'])
            facts.append(report.verdict(f'{rate:,.0f}', f'{name}: {wanted:,} {unit} a second', rate >= wanted) + '\n')
            shown.append(argv)
    header = ['what', 'solver', 'in a pass', 'a second']
    report.section('Structures: speed of passes', report.commands(*shown), report.table(header, rows), *facts)


def per_second(argv, model, size):
    """Units a second in the passes behind the first, once."""
    measure.run(argv, cwd=data.work())
    first, *_, last = ours.log_rows(model)
    return size * (last['pass'] - first['pass']) / (last['seconds'] - first['seconds'])


if __name__ == '__main__':
    main()
