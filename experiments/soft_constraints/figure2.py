"""Relaxed objective against CPU time, and what the models are worth on test data: figure2.csv has the curves, and
speed.csv a row for each run: seconds to within some per cent of the best relaxed objective of its set, and scores.
"""

import sys

import runs

WITHIN = (10, 5, 1)  # per cent of the best relaxed objective


def results(data):
    """{(method, rho): (rows of the log, scores)}."""
    return {(method, rho): data.run(method, rho) for method, rhos in runs.RUNS[data.name].items() for rho in rhos}


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
            score = row.get('dev_f1', row.get('dev_accuracy', ''))
            drawn.append({**start, 'pass': made, 'seconds': seconds, 'relaxed': value, 'score': score})
        table.append({**start, 'passes': int(rows[-1]['pass']), 'seconds': rows[-1]['seconds']})
        table[-1]['relaxed'] = round(points[-1][2], 4) if points else ''
        table[-1] |= {f'seconds_{percent}': first(points, limit) for percent, limit in limits.items()}
        table[-1] |= {f'times_{percent}': faster(curves['lp', ''], points, limit) for percent, limit in limits.items()}
        table[-1] |= {key: '' if value is None else round(100 * value, 2) for key, value in scores.items()}
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
    """A column for each set: the objective, and below it the scores of those that have them in their logs."""
    pyplot = runs.program.pyplot()
    if pyplot is None:
        return
    names = list(dict.fromkeys(point['set'] for point in drawn))
    figure, axes = pyplot.subplots(2, len(names), figsize=(5 * len(names), 8), layout='constrained', squeeze=False)
    for (upper, lower), name in zip(axes.T, names, strict=True):
        mine = [point for point in drawn if point['set'] == name]
        for key in dict.fromkeys((point['method'], point['rho']) for point in mine):
            points = [point for point in mine if (point['method'], point['rho']) == key]
            seconds = [point['seconds'] for point in points]
            upper.loglog(seconds, [point['relaxed'] for point in points], label=' '.join(key))
            if name in runs.SCORED:
                lower.semilogx(seconds, [point['score'] for point in points])
        upper.set(title=name, ylabel='relaxed objective')
        lower.set(xlabel='CPU seconds', ylabel='score of test data')
        upper.legend(fontsize='small')
    figure.savefig(path, dpi=100)
    print(path)


def main(arguments):
    given = runs.program.parser(__doc__).parse_args(arguments)
    drawn, table = [], []
    for data in runs.sets(given, *runs.RUNS):
        points, rows = compare(data.name, results(data))
        drawn += points
        table += rows
    if table:
        runs.program.write(given.folder / 'figure2.csv', drawn)
        runs.program.write(given.folder / 'speed.csv', table)
        plot(given.folder / 'figure2.png', drawn)


if __name__ == '__main__':
    main(sys.argv[1:])
