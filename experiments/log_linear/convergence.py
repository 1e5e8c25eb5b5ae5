"""Objective, duality gap and test error against effective passes: exponentiated gradient, L-BFGS and SGD at four C.

An effective pass is as many visits of examples as there are examples. Logs are kept, so that a run that was stopped
goes on where it was.
"""

import sys
from dataclasses import dataclass

import program

CS = (1000, 100, 10, 1)
STEPS = (1, 0.1, 0.01, 0.001, 0.0001)  # first steps that SGD is tried with, for one pass
TOLERANCE = 1e-6
WITHIN = (1, 0.1, 0.01)  # per cent of the optimum
PLAIN = ('--solver', 'eg', '--set', 'acceleration=false')


@dataclass(frozen=True)
class Method:
    name: str
    options: tuple
    tuned: bool = False  # takes the first step with the lowest test error after one pass


METHODS = [
    Method('EG', PLAIN),
    Method('EG, steps of the paper', (*PLAIN, '--set', 'step=0.5', '--set', 'growth=1.05')),
    Method('EG, fixed order', (*PLAIN, '--set', 'order=fixed')),
    Method('EG, annealed', (*PLAIN, '--set', 'anneal=10')),
    Method('EG, accelerated', ('--solver', 'eg', '--set', 'acceleration=true')),
    Method('L-BFGS', ('--solver', 'lbfgs')),
    Method('SGD, tuned step', ('--solver', 'sgd'), tuned=True),
    Method('SGD, automatic step', ('--solver', 'sgd')),
]


def curve(given, method, C, n):
    """(first step or '', the rows of the log)."""
    common = ('--lambda', C / n, '--rel-gap', TOLERANCE, '--gap-every', 1)
    step, options = '', method.options
    if method.tuned:
        tried = {}
        for eta in STEPS:
            options = (*method.options, '--set', f'gamma0={eta}', '--set', f't0={n}')  # eta / (1 + k/n)
            first = program.log_of(
                given.ssvm, given.folder, f'{method.name} {eta} C {C}', (*options, *common, '--max-passes', 1)
            )
            tried[eta] = (-first[-1]['dev_accuracy'], first[-1]['primal'])
        step = min(tried, key=tried.get)
        options = (*method.options, '--set', f'gamma0={step}', '--set', f't0={n}')
    name = f'{method.name} C {C}'
    return step, program.log_of(given.ssvm, given.folder, name, (*options, *common, '--max-passes', given.passes))


def points(method, C, step, rows, n, optimum):
    """What is drawn: a row for each pass. The objective is that of the best weights so far, as is the test error."""
    return [
        {
            'method': method.name,
            'C': C,
            'first_step': step,
            'effective_passes': round(row['oracle_calls'] / n, 3),
            'seconds': row['seconds'],
            'objective': row['primal'],
            'objective_now': row['primal_now'],
            'dual': row['dual'],
            'excess_percent': 100 * (row['primal'] - optimum) / optimum,
            'gap_percent': 100 * row['gap'] / optimum,
            'test_error': round(100 * (1 - row['dev_accuracy']), 2),
        }
        for row in rows
        if row['pass']
    ]


def summary(mine):
    """A row of the table: effective passes to an objective and to a gap, and where the run ended."""

    def first(column, limit):
        return next((p['effective_passes'] for p in mine if p[column] <= limit), '')

    last = mine[-1]
    return {
        **{key: last[key] for key in ('C', 'method', 'first_step')},
        **{f'within_{limit}_percent': first('excess_percent', limit) for limit in WITHIN},
        **{f'gap_{limit}_percent': first('gap_percent', limit) for limit in WITHIN},
        **{key: last[key] for key in ('effective_passes', 'seconds', 'objective', 'gap_percent', 'test_error')},
    }


def plot(path, drawn, column, label):
    pyplot = program.pyplot()
    if pyplot is None:
        return
    figure, axes = pyplot.subplots(1, len(CS), figsize=(4.5 * len(CS), 4), layout='constrained')
    for axis, C in zip(axes, CS, strict=True):
        for method in METHODS:
            mine = [p for p in drawn if p['method'] == method.name and p['C'] == C]
            axis.plot([p['effective_passes'] for p in mine], [p[column] for p in mine], label=method.name)
        if column != 'test_error':
            axis.set_yscale('log')
        axis.set(title=f'C = {C}', xlabel='effective passes', ylabel=label)
    axes[0].legend()
    figure.savefig(path, dpi=100)
    print(path)


def main(arguments):
    parser = program.parser(__doc__)
    parser.add_argument('--passes', type=int, default=100, help='of the solver, at most')
    given = parser.parse_args(arguments)
    n, drawn, table = program.count(given.folder), [], []
    for C in CS:
        runs = [(method, *curve(given, method, C, n)) for method in METHODS]
        optimum = max(rows[-1]['dual'] for _, _, rows in runs)  # a lower bound, and so excesses are upper bounds
        for method, step, rows in runs:
            mine = points(method, C, step, rows, n, optimum)
            drawn += mine
            table.append(summary(mine))
            print(', '.join(f'{key} {value}' for key, value in table[-1].items()), flush=True)
    program.write(given.folder / 'curves.csv', drawn)
    program.write(given.folder / 'convergence.csv', table)
    plot(given.folder / 'excess.png', drawn, 'excess_percent', 'objective above the optimum, %')
    plot(given.folder / 'gap.png', drawn, 'gap_percent', 'duality gap, % of the optimum')
    plot(given.folder / 'error.png', drawn, 'test_error', 'test error, %')


if __name__ == '__main__':
    main(sys.argv[1:])
