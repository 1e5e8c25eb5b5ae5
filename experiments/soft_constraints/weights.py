"""How good the weights of soft constraints are, and how soon: weights.csv has the relaxed objective of the weights
alone, which linear programs tell, and the relaxed primal of the log, an upper bound of it, by passes and CPU seconds,
beside those of `lp`, whose primal is the objective itself. It takes most of an hour on one core, nearly all of it the
linear programs of lp.
"""

import sys

import runs

SET, LIMIT = 'rcv1', 1  # per cent above the best objective
LP_PASSES = 20
RUNS = (*(('soft', '3/n', passes) for passes in (24, 27, 30, 33, 36, 60)), ('soft', '1/n', 150))


def compare(data):
    """A row for each evaluation: within and logged_within are 1 where the objective, or the log's bound of it, is as
    near as LIMIT to the best objective of all."""
    found = [('lp', '', step) for step in data.steps('lp', passes=LP_PASSES)]
    found += [(method, rho, step) for method, rho, passes in RUNS for step in data.steps(method, rho, passes)]
    enough = min(objective for _, _, (_, _, objective, _) in found) * (1 + LIMIT / 100)
    return [
        {
            'set': data.name, 'method': method, 'rho': rho, 'passes': passes, 'seconds': seconds,
            'relaxed': round(objective, 5), 'within': int(objective <= enough),
            'logged': round(logged, 5), 'logged_within': int(logged <= enough),
        }
        for method, rho, (passes, seconds, objective, logged) in found
    ]  # fmt: skip


def summary(rows, column='within'):
    """How many times sooner than lp the first run of soft constraints is within the limit, where both are."""
    seconds = {
        lp: [row['seconds'] for row in rows if row[column] and (row['method'] == 'lp') == lp] for lp in (True, False)
    }
    if not all(seconds.values()):
        return f'not both within {LIMIT} %'
    return f'within {LIMIT} % {min(seconds[True]) / min(seconds[False]):.1f} times sooner than lp'


def main(arguments):
    given = runs.program.parser(__doc__).parse_args(arguments)
    for data in runs.sets(given, SET):
        rows = compare(data)
        runs.program.write(given.folder / 'weights.csv', rows)
        print(f'{data.name}: {summary(rows)}; by the log {summary(rows, "logged_within")}')


if __name__ == '__main__':
    main(sys.argv[1:])
