"""Relaxed objective against CPU time, and what the models are worth on test data: figure2.csv has the curves, and
speed.csv a row for each run: seconds to within some per cent of the best relaxed objective of its set, and scores.
"""

import sys

import figure1
import runs

WITHIN = (10, 5, 1)  # per cent of the best relaxed objective
LP = {'rcv1': ('--gap-every', 3, '--max-time', 600), 'rcv1-1000': ('--gap-every', 5, '--max-time', 300)}
SOFT = {'rcv1': ('--gap-every', 5, '--max-time', 90), 'rcv1-1000': ('--gap-every', 5, '--max-time', 40)}
RHOS = {'rcv1': ('1/n', '10/n', '0.01', '1', '10'), 'rcv1-1000': ('0.1/n', '1/n', '10/n', '1')}
OTHERS = {'yeast': ('eg', 'n-slack'), 'rcv1': (), 'rcv1-1000': ('eg', 'n-slack')}  # with rho = 1/n
OTHER_LIMITS = ('--rel-gap', 1e-3, '--gap-every', 5, '--max-time', 40)


def results(data):
    """{(method, rho): (rows of the log, scores)}."""
    name = data.folder.name
    if name == 'yeast':
        found = {('exact', ''): data.exact(*figure1.EXACT), ('lp', ''): data.lp(*figure1.LP, dev=True)}
        found |= {('accelerated', rho): figure1.soft(data, 'accelerated', rho) for rho in data.rhos()}
    else:
        found = {('lp', ''): data.lp('--rel-gap', 1e-3, *LP[name])}
        limits = ('--rel-gap', 1e-3, *SOFT[name])
        found |= {('accelerated', rho): data.soft('accelerated', rho, *limits) for rho in RHOS[name]}
    return found | {(method, '1/n'): data.soft(method, '1/n', *OTHER_LIMITS) for method in OTHERS[name]}


def compare(name, found):
    """(the points of all curves, a summary of each).

    seconds_1, times_1: when a run is within 1 % of the best relaxed objective, and how many times sooner than lp.
    """
    curves = {key: runs.relaxed(rows) for key, (rows, _) in found.items() if key[0] != 'exact'}
    best = min(points[-1][2] for points in curves.values())
    limits = {percent: best * (1 + percent / 100) for percent in WITHIN}
    drawn, table = [], []
    for (method, rho), (rows, scores) in found.items():
        start = {'set': name, 'method': method, 'rho': rho}
        points = curves.get((method, rho), [])
        for row, (made, seconds, value) in zip(rows, points, strict=False):
            drawn.append({**start, 'pass': made, 'seconds': seconds, 'relaxed': value, 'f1': row.get('dev_f1', '')})
        table.append({**start, 'passes': int(rows[-1]['pass']), 'seconds': rows[-1]['seconds']})
        table[-1]['relaxed'] = round(points[-1][2], 4) if points else ''
        table[-1] |= {f'seconds_{percent}': first(points, limit) for percent, limit in limits.items()}
        table[-1] |= {f'times_{percent}': faster(curves['lp', ''], points, limit) for percent, limit in limits.items()}
        table[-1] |= {key: round(100 * value, 2) for key, value in scores.items()}
    return drawn, table


def first(points, limit):
    """The seconds after which the objective was that low, or '' where it never was."""
    return next((seconds for _, seconds, value in points if value <= limit), '')


def faster(lp, points, limit):
    """How many times sooner than lp, or at least how many times, where that was stopped before."""
    seconds, others = first(points, limit), first(lp, limit)
    if not seconds:
        return ''
    return f'{others / seconds:.1f}' if others else f'> {lp[-1][1] / seconds:.1f}'


def plot(path, drawn):
    """A picture for each set, of the runs with rho in units of 1/n."""
    pyplot = runs.program.pyplot()
    if pyplot is None:
        return
    names = list(dict.fromkeys(point['set'] for point in drawn))
    figure, axes = pyplot.subplots(1, len(names), figsize=(5 * len(names), 4), layout='constrained', squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        mine = [point for point in drawn if point['set'] == name and (point['rho'].endswith('/n') or not point['rho'])]
        for key in dict.fromkeys((point['method'], point['rho']) for point in mine):
            points = [point for point in mine if (point['method'], point['rho']) == key]
            axis.loglog([p['seconds'] for p in points], [p['relaxed'] for p in points], label=' '.join(key))
        axis.set(title=name, xlabel='CPU seconds', ylabel='relaxed objective')
        axis.legend()
    figure.savefig(path, dpi=100)
    print(path)


def main(arguments):
    given = runs.program.parser(__doc__).parse_args(arguments)
    drawn, table = [], []
    for data in runs.sets(given, *runs.TIMES):
        points, rows = compare(data.folder.name, results(data))
        drawn += points
        table += rows
    if table:
        runs.program.write(given.folder / 'figure2.csv', drawn)
        runs.program.write(given.folder / 'speed.csv', table)
        plot(given.folder / 'figure2.png', drawn)


if __name__ == '__main__':
    main(sys.argv[1:])
