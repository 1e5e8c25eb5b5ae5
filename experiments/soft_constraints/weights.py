"""How good the weights of soft constraints are, and how soon: weights.csv has the relaxed objective of the weights
alone, which linear programs tell, by passes and CPU seconds, beside that of `lp`.

The relaxed primal g(w, delta) of a log is an upper bound of it, for one delta; `lp` reports the objective itself. It
takes most of an hour on one core, nearly all of it the linear programs of lp.
"""

import sys

import runs

SET, LIMIT = 'rcv1', 1  # per cent above the best objective
LP_PASSES = 20
RUNS = (('soft', '3/n', 24), ('soft', '3/n', 30), ('soft', '3/n', 32), ('soft', '3/n', 60), ('soft', '1/n', 150))


def compare(data):
    """A row for each evaluation: within is 1 where the objective is as near as LIMIT to the best of all."""
    found = [('lp', '', step) for step in data.steps('lp', passes=LP_PASSES)]
    found += [(method, rho, step) for method, rho, passes in RUNS for step in data.steps(method, rho, passes)]
    best = min(objective for _, _, (_, _, objective) in found)
    return [
        {
            'set': data.name, 'method': method, 'rho': rho, 'passes': passes, 'seconds': seconds,
            'relaxed': round(objective, 5), 'within': int(objective <= best * (1 + LIMIT / 100)),
        }
        for method, rho, (passes, seconds, objective) in found
    ]  # fmt: skip


def summary(rows):
    """How many times sooner than lp the first run of soft constraints is within the limit, where both are."""
    seconds = {
        lp: [row['seconds'] for row in rows if row['within'] and (row['method'] == 'lp') == lp] for lp in (True, False)
    }
    if not all(seconds.values()):
        return f'not both within {LIMIT} %'
    return f'within {LIMIT} % {min(seconds[True]) / min(seconds[False]):.1f} times sooner than lp'


def main(arguments):
    given = runs.program.parser(__doc__).parse_args(arguments)
    for data in runs.sets(given, SET):
        rows = compare(data)
        runs.program.write(given.folder / 'weights.csv', rows)
        print(f'{data.name}: {summary(rows)}')


if __name__ == '__main__':
    main(sys.argv[1:])
