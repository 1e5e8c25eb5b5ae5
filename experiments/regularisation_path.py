"""A range of values of C, each solved to a gap of 0.1 %: from the dual point of the one before, and from the start."""

import program

LARGEST, FACTOR = 1000, 0.7
TOLERANCE, MOST = 0.001, 1000
METHODS = {
    'EG': ('--solver', 'eg', '--set', 'acceleration=false'),
    'EG, accelerated': ('--solver', 'eg', '--set', 'acceleration=true'),
}


def warm(problem, given, name, n, values):
    """The last rows of the log, one for each C."""
    ends = f'{LARGEST / n!r}:{LARGEST * FACTOR ** (values - 0.5) / n!r}:{FACTOR}'
    words = ('--lambda-path', ends, *common(name))
    return program.log_of(problem, given.ssvm, given.folder, f'{name} warm', words)


def cold(problem, given, name, n, values):
    for k in range(values):
        options = ('--lambda', LARGEST * FACTOR**k / n, *common(name))
        yield program.log_of(problem, given.ssvm, given.folder, f'{name} cold {k}', options)[-1]


WAYS = {'warm': warm, 'cold': cold}


def common(name):
    return (*METHODS[name], '--rel-gap', TOLERANCE, '--gap-every', 1, '--max-passes', MOST)


def table(problem, starts, n, values):
    """A row for each C: effective passes, those so far, seconds and test error of every way to get there."""
    out, totals = [], dict.fromkeys(starts, 0.0)
    for k in range(values):
        row = {'C': f'{LARGEST * FACTOR**k:.6g}'}
        for name, logs in starts.items():
            passes = logs[k]['oracle_calls'] / n
            totals[name] += passes
            row |= {
                f'{name}: passes': round(passes, 2),
                f'{name}: cumulative': round(totals[name], 2),
                f'{name}: seconds': logs[k]['seconds'],
                f'{name}: relative gap': logs[k]['relative_gap'],
                f'{name}: test error': round(1 - logs[k][problem.score], 4),
            }
        out.append(row)
    return out


def plot(path, rows, names):
    pyplot = program.pyplot()
    if pyplot is None:
        return
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), layout='constrained')
    Cs = [float(row['C']) for row in rows]
    for axis, column in zip(axes, ('passes', 'cumulative'), strict=True):
        for name in names:
            axis.semilogx(Cs, [row[f'{name}: {column}'] for row in rows], label=name)
        axis.invert_xaxis()
        axis.set(xlabel='C', ylabel=f'effective passes ({column})' if column != 'passes' else 'effective passes')
    axes[0].legend()
    figure.savefig(path, dpi=100)
    print(path)


def run(problem, given, n, values, methods=METHODS, ways=WAYS):
    """All of it, and its table, of so many values of C."""
    starts = {f'{name}, {way}': list(WAYS[way](problem, given, name, n, values)) for name in methods for way in ways}
    rows = table(problem, starts, n, values)
    program.write(given.folder / 'path.csv', rows)
    for name in starts:
        print(f'{name}: {rows[-1][f"{name}: cumulative"]} effective passes for {values} values of C')
    plot(given.folder / 'path.png', rows, starts)
