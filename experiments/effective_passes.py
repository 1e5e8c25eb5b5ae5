"""Objective, duality gap and test error against effective passes, for several methods and values of C.

An effective pass is as many visits of examples as there are examples. Logs are kept, so that a run that was stopped
goes on where it was.
"""

from dataclasses import dataclass

import program

STEPS = (1, 0.1, 0.01, 0.001, 0.0001)  # first steps that SGD is tried with, for one pass
TOLERANCE = 1e-6
WITHIN = (1, 0.1, 0.01)  # per cent of the optimum


@dataclass(frozen=True)
class Method:
    name: str
    options: tuple
    tuned: bool = False  # takes the first step with the lowest test error after one pass


def curve(problem, given, method, C, n):
    """(first step or '', the rows of the log)."""
    common = ('--lambda', C / n, '--rel-gap', TOLERANCE, '--gap-every', 1)
    step, options = '', method.options
    if method.tuned:
        tried = {}
        for eta in STEPS:
            options = (*method.options, '--set', f'gamma0={eta}', '--set', f't0={n}')  # eta / (1 + k/n)
            name, words = f'{method.name} {eta} C {C}', (*options, *common, '--max-passes', 1)
            last = program.log_of(problem, given.ssvm, given.folder, name, words)[-1]
            tried[eta] = (-last[problem.score], last['primal'])
        step = min(tried, key=tried.get)
        options = (*method.options, '--set', f'gamma0={step}', '--set', f't0={n}')
    words = (*options, *common, '--max-passes', given.passes)
    return step, program.log_of(problem, given.ssvm, given.folder, f'{method.name} C {C}', words)


def points(problem, method, C, step, rows, n, optimum):
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
            'test_error': round(100 * (1 - row[problem.score]), 2),
        }
        for row in rows
        if row['pass']
    ]


def summary(mine, cpu_seconds):
    """A row of the table: effective passes to an objective and to a gap, where the run ended and what it all took."""

    def first(column, limit):
        return next((p['effective_passes'] for p in mine if p[column] <= limit), '')

    last = mine[-1]
    return {
        **{key: last[key] for key in ('C', 'method', 'first_step')},
        **{f'within_{limit}_percent': first('excess_percent', limit) for limit in WITHIN},
        **{f'gap_{limit}_percent': first('gap_percent', limit) for limit in WITHIN},
        **{key: last[key] for key in ('effective_passes', 'seconds', 'objective', 'gap_percent', 'test_error')},
        'cpu_seconds': cpu_seconds,
    }


def plot(path, drawn, column, label, across='effective_passes'):
    """A picture for each C, a line for each method."""
    pyplot = program.pyplot()
    if pyplot is None:
        return
    Cs = dict.fromkeys(p['C'] for p in drawn)
    figure, axes = pyplot.subplots(1, len(Cs), figsize=(4.5 * len(Cs), 4), layout='constrained', squeeze=False)
    for axis, C in zip(axes[0], Cs, strict=True):
        for method in dict.fromkeys(p['method'] for p in drawn):
            mine = [p for p in drawn if p['method'] == method and p['C'] == C]
            axis.plot([p[across] for p in mine], [p[column] for p in mine], label=method)
        if column != 'test_error':
            axis.set_yscale('log')
        axis.set(title=f'C = {C}', xlabel=across.replace('_', ' '), ylabel=label)
    axes[0][0].legend()
    figure.savefig(path, dpi=100)
    print(path)


def parser(description):
    made = program.parser(description)
    made.add_argument('--passes', type=int, default=100, help='of the solver, at most')
    return made


def compare(problem, given, methods, Cs, n):
    """(the points of all curves, a summary of each) of all methods at every C."""
    drawn, table = [], []
    for C in Cs:
        runs = [(method, *curve(problem, given, method, C, n)) for method in methods]
        optimum = max(rows[-1]['dual'] for _, _, rows in runs)  # a lower bound, and so excesses are upper bounds
        for method, step, rows in runs:
            mine = points(problem, method, C, step, rows, n, optimum)
            drawn += mine
            table.append(summary(mine, rows[-1]['cpu_seconds']))
            print(', '.join(f'{key} {value}' for key, value in table[-1].items()), flush=True)
    return drawn, table


def write(folder, drawn, table):
    """The tables, and pictures where matplotlib is installed."""
    program.write(folder / 'curves.csv', drawn)
    program.write(folder / 'convergence.csv', table)
    plot(folder / 'excess.png', drawn, 'excess_percent', 'objective above the optimum, %')
    plot(folder / 'gap.png', drawn, 'gap_percent', 'duality gap, % of the optimum')
    plot(folder / 'error.png', drawn, 'test_error', 'test error, %')
