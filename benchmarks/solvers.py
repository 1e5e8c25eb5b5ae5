"""Every solver on the same problems: seconds inside the solver until its certificate proves a relative gap."""

import data
import measure
import ours
import report
from images import count_lines

GAPS = (0.1, 0.01, 0.001)
LIMIT = 60
# name -> (prepared folder, training file, options, objective, factor: lambda = factor / n)
PROBLEMS = {
    'CoNLL-2000, hinge, 1/n': ('chunking', 'train.txt', 'hinge', 1),
    'CoNLL-2000, hinge, 10/n': ('chunking', 'train.txt', 'hinge', 10),
    'CoNLL-2000, log, 2/n': ('chunking', 'train.txt', 'log', 2),
    'Fashion-MNIST, hinge, 100/n': ('images', 'fashion-train.svm', 'hinge', 100),
    'Fashion-MNIST, log, 10/n': ('images', 'fashion-train.svm', 'log', 10),
}


def solvers(objective):
    """Names of the solvers that minimise an objective of labels and sequences, `auto` first."""
    from cython_ext.solvers.registry import all_solvers

    able = [info for info in all_solvers() if info.minimises and info.oracle.get(objective) in ('max', 'topk', 'exp')]
    return ['auto', *(info.name for info in able)]


def times(folder, path, solver, objective, lam, limit):
    """(command, {gap: seconds in the solver until it was proved, or None})."""
    model = folder / f'solvers-{solver}.model'
    template = ('--template', folder / 'chunking.template') if path.name == 'train.txt' else ()
    how = (
        '--objective',
        objective,
        '--solver',
        solver,
        '--rel-gap',
        GAPS[-1],
        '--max-time',
        limit,
        '--max-passes',
        10**6,
    )
    argv = ours.train(path, model, *template, *how, lam=lam)
    measure.run(argv, cwd=folder)
    rows = ours.log_rows(model)
    first = {gap: [row['seconds'] for row in rows if row['relative_gap'] <= gap] for gap in GAPS}
    return argv, {gap: min(seconds, default=None) for gap, seconds in first.items()}


def one(title, limit):
    """The section of one problem."""
    prepare, name, objective, factor = PROBLEMS[title]
    folder = getattr(data, prepare)()
    path = folder / name
    n = data.count_sentences(path) if prepare == 'chunking' else count_lines(path)
    found, argvs = {}, []
    for solver in solvers(objective):
        argv, found[solver] = times(folder, path, solver, objective, factor / n, limit)
        argvs.append(argv)
    winners = {gap: best(found, gap) for gap in GAPS}
    rows = [[solver, *(cell(found[solver][gap], winners[gap] == solver) for gap in GAPS)] for solver in found]
    facts = []
    for gap, winner in winners.items():
        if winner:
            auto, least = found['auto'][gap], found[winner][gap]
            said = 'never' if auto is None else f'{auto:.1f} against {least:.1f} s of {winner}'
            target = f'{gap:g}: auto within 1.5 times of the winner'
            # tenths of a second are start-up effects
            facts.append(
                report.verdict(said, target, auto is not None and auto <= max(1.5 * least, least + 0.3)) + '\n'
            )
    header = ['solver', *(f'gap {gap:g}' for gap in GAPS)]
    report.section(
        f'Solvers: {title}', report.commands(argvs[0]), report.table(header, rows), *facts,
        f'Seconds inside the solver, evaluation of certificates not counted; -: not within {limit} s.\n',
    )  # fmt: skip


def best(found, gap):
    """The solver that proved a gap first, or None; auto is one of the others."""
    times_ = {
        solver: seconds[gap] for solver, seconds in found.items() if solver != 'auto' and seconds[gap] is not None
    }
    return min(times_, key=times_.get, default=None)


def cell(seconds, wins):
    text = '-' if seconds is None else f'{seconds:.1f}'
    return f'**{text}**' if wins else text


def main(limit=LIMIT, problems=tuple(PROBLEMS)):
    for title in problems:
        one(title, limit)


if __name__ == '__main__':
    main()
