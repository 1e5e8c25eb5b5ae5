"""Yeast: g(w_rho, delta_rho) - g* against the number of training examples M, for rho = 1 as in the paper and for rho =
1/n with the n of the whole set: figure3.csv.
"""

import statistics
import sys

import runs

RHOS = ('1', '1/n')


def samples(data):
    """{M: files}, the whole set (None) last."""
    parts = {}
    for path in sorted((data.folder / 'parts').iterdir(), key=lambda path: int(path.stem.split('-')[0])):
        parts.setdefault(int(path.stem.split('-')[0]), []).append(path)
    return {**parts, data.n: [None]}


def differences(data, rho, files):
    """[(g(w_rho, delta_rho) less a lower, and less an upper bound of g*)], one for each file."""
    found = []
    for file in files:
        best = data.run('lp', part=file)[0][-1]
        rows, _ = data.run('soft', rho, part=file)
        # of the last weights, not the least of all passes: those of the optimum of the soft problem
        found.append((rows[-1]['relaxed_primal'] - best['dual'], rows[-1]['relaxed_primal'] - best['primal']))
    return found


def table(data):
    rows = []
    for rho in RHOS:
        for size, files in samples(data).items():
            high, low = zip(*differences(data, rho, files), strict=True)
            rows.append({'rho': rho, 'M': size, 'samples': len(files)})
            rows[-1] |= {'difference_at_least': round(statistics.mean(low), 4)}
            rows[-1] |= {'difference_at_most': round(statistics.mean(high), 4)}
            rows[-1] |= {'standard_deviation': round(statistics.stdev(high), 4) if len(high) > 1 else ''}
            print(', '.join(f'{key} {value}' for key, value in rows[-1].items()), flush=True)
    return rows


def plot(path, rows):
    pyplot = runs.program.pyplot()
    if pyplot is None:
        return
    figure, axis = pyplot.subplots(layout='constrained')
    for rho in RHOS:
        mine = [row for row in rows if row['rho'] == rho]
        errors = [row['standard_deviation'] or 0 for row in mine]
        sizes, most = ([row[key] for row in mine] for key in ('M', 'difference_at_most'))
        axis.errorbar(sizes, most, errors, label=f'rho = {rho}')
    axis.set(xscale='log', xlabel='M', ylabel='g(w, delta) - g*')
    axis.legend()
    figure.savefig(path, dpi=100)
    print(path)


def main(arguments):
    given = runs.program.parser(__doc__).parse_args(arguments)
    for data in runs.sets(given, 'yeast'):
        rows = table(data)
        runs.program.write(given.folder / 'figure3.csv', rows)
        plot(given.folder / 'figure3.png', rows)


if __name__ == '__main__':
    main(sys.argv[1:])
