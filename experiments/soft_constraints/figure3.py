"""Yeast: g(w_rho, delta_rho) - g* against the number of training examples M, for rho = 1 and for rho = 1/n with the n
of the whole set: figure3.csv.
"""

import statistics
import sys

import runs

RHOS = ('1', '1/n')
SOFT = ('--rel-gap', 1e-3, '--gap-every', 5, '--max-passes', 300)
LP = ('--rel-gap', 5e-3, '--gap-every', 5, '--max-passes', 60)


def samples(data):
    """{M: names of files}, the whole set last."""
    parts = {size: [f'train-{size}-{draw}.ml' for draw in range(draws)] for size, draws in runs.SIZES.items()}
    return {**parts, data.n: ['train.ml']}


def differences(data, rho, files):
    """[(g(w_rho, delta_rho) less a lower, and less an upper bound of g*)], one for each file."""
    found = []
    for file in files:
        best = data.lp(*LP, train=file, score=False)[0][-1]
        rows, _ = data.soft('accelerated', rho, *SOFT, train=file, score=False)
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
