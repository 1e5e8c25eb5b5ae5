"""SC-SVRG's four schemes with the smoothing, the proximal term and the fixed step that Table 2 has for them: passes
until the objective is within epsilon of the optimum."""

import argparse
import functools
from pathlib import Path

import digits

EXAMPLES, TIMES_N = 300, 100
EPSILONS = (0.1, 0.03, 0.01, 0.003)
PASSES = 1000
STEPS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)  # the fastest of these counts
FIRST_MU = 0.1  # of schemes 2 and 4


def settings(scheme, epsilon, step):
    """Options of a run; mu of schemes 1 and 3 is epsilon / log 10, fixed in advance."""
    mu = epsilon / 2.303 if scheme in (1, 3) else FIRST_MU
    options = {'scheme': scheme, 'oracle': 'exp', 'mu': mu, 'step': step, 'adapt': 'false', 'shrink': 1, 'tail': 1}
    options |= {'patient': 'false', 'planes': 1, 'warmup': 0}
    return tuple(word for key, value in options.items() for word in ('--set', f'{key}={value}'))


def passes_to(rows, best, epsilon):
    """The first pass with an objective within epsilon of the optimum; None where there is none."""
    return next((int(row['pass']) for row in rows if row['primal'] - best <= epsilon), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--ssvm', default='ssvm')
    parser.add_argument('out', type=Path)
    o = parser.parse_args()
    digits.source()
    o.out.mkdir(parents=True, exist_ok=True)
    data, lam = o.out / 'schemes.svm', TIMES_N / EXAMPLES
    digits.prepare(data, EXAMPLES)
    exact = ('--solver', 'n-slack', '--rel-gap', 1e-6, '--max-passes', 1000)
    best = digits.rows_of(o.ssvm, o.out, data, lam, *exact)[-1]['dual']
    table = [('scheme', *EPSILONS)]
    for scheme in (1, 2, 3, 4):
        found = [fastest((o.ssvm, o.out, data, lam), scheme, epsilon, best) for epsilon in EPSILONS]
        table.append((scheme, *('' if passes is None else passes for passes in found)))
        print(*table[-1], sep=', ', flush=True)
    digits.write(o.out / 'schemes.csv', table)


def fastest(where, scheme, epsilon, best):
    """The fewest passes with any of the steps. where: what digits.rows_of begins with."""
    runs = (log_of(where, settings(scheme, epsilon, step)) for step in STEPS)
    return min((p for rows in runs if (p := passes_to(rows, best, epsilon)) is not None), default=None)


@functools.cache
def log_of(where, options):
    """The log of a run; schemes 2 and 4 have the same for every epsilon."""
    return digits.rows_of(*where, '--solver', 'sc-svrg', '--rel-gap', 0, '--max-passes', PASSES, *options)


if __name__ == '__main__':
    main()
