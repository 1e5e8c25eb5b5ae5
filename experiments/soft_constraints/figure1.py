"""Yeast: soft primal and dual and the relaxed primal g(w, delta) against passes, and against rho after some passes.

figure1.csv has the curves, rho.csv the objectives by rho, optima.csv bounds of the relaxed and the exact optimum.
"""

import sys

import runs

SHOWN = (5, 20, 100)  # passes
METHODS = ('Algorithm 1', 'soft')


def optima(data):
    """[{problem, upper and lower bound}]."""
    ends = {name: data.run(method)[0][-1] for name, method in (('relaxed', 'lp'), ('exact', 'exact'))}
    return [{'problem': name, **{key: end[key] for key in ('primal', 'dual', 'seconds')}} for name, end in ends.items()]


def curves(data):
    found = []
    for method in METHODS:
        for rho in runs.RUNS[data.name][method]:
            rows, _ = data.run(method, rho)
            for row, (made, seconds, least) in zip(rows, runs.relaxed(rows), strict=True):
                found.append({'method': method, 'rho': rho, 'pass': made, 'seconds': seconds})
                found[-1] |= {'primal': row['primal'], 'dual': row['dual'], 'relaxed_primal': least}
    return found


def by_rho(drawn):
    """Objectives after some passes, or where the run ended before."""
    table = []
    for method, rho in dict.fromkeys((point['method'], point['rho']) for point in drawn):
        mine = [point for point in drawn if (point['method'], point['rho']) == (method, rho)]
        row = {'method': method, 'rho': rho}
        for limit in SHOWN:
            last = [point for point in mine if point['pass'] <= limit][-1]
            row |= {f'{key}_{limit}': round(last[key], 4) for key in ('primal', 'dual', 'relaxed_primal')}
        table.append(row)
    return table


def plot(path, drawn, table, best):
    """Only the values of rho in units of 1/n."""
    pyplot = runs.program.pyplot()
    if pyplot is None:
        return
    figure, axes = pyplot.subplots(len(METHODS), 2, figsize=(12, 9), layout='constrained')
    for (left, right), method in zip(axes, METHODS, strict=True):
        for k, rho in enumerate(runs.RHOS):
            points = [point for point in drawn if (point['method'], point['rho']) == (method, rho)]
            for column, style, label in (
                ('primal', '-', f'rho = {rho}'),
                ('dual', '-', None),
                ('relaxed_primal', '--', None),
            ):
                left.plot([p['pass'] for p in points], [p[column] for p in points], style, color=f'C{k}', label=label)
        rows = [row for row in table if row['method'] == method and row['rho'] in runs.RHOS]
        for k, limit in enumerate(SHOWN):
            for column, style, label in (('primal', '-', f'{limit} passes'), ('relaxed_primal', '--', None)):
                rhos = [float(row['rho'].removesuffix('/n')) for row in rows]
                right.semilogx(rhos, [row[f'{column}_{limit}'] for row in rows], style, color=f'C{k}', label=label)
        for axis, across in ((left, 'passes'), (right, 'rho n')):
            axis.axhline(best, color='k', linewidth=0.8)
            axis.set(title=method, xlabel=across, ylabel='objective', ylim=(0, 2.5 * best))
            axis.legend()
    figure.savefig(path, dpi=100)
    print(path)


def main(arguments):
    given = runs.program.parser(__doc__).parse_args(arguments)
    for data in runs.sets(given, 'yeast'):
        bounds, drawn = optima(data), curves(data)
        table = by_rho(drawn)
        for name, rows in (('optima', bounds), ('figure1', drawn), ('rho', table)):
            runs.program.write(given.folder / f'{name}.csv', rows)
        plot(given.folder / 'figure1.png', drawn, table, bounds[0]['primal'])


if __name__ == '__main__':
    main(sys.argv[1:])
