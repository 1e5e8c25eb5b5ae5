"""Multiclass hinge on Fashion-MNIST (60,000 × 784) beside liblinear's -s 4, whose C is λ = 1/(nC).

The goal is the objective that liblinear stops at; ssvm's whole process is timed up to the checkpoint that reaches it.
"""

import json

import data
import measure
import ours
import peers
import report

C = 0.01


def count_lines(path):
    with open(path, 'rb') as stream:
        return sum(1 for _ in stream)


def liblinear(folder, runs):
    """(usage, objective, test error, command line), or None without the program."""
    program = peers.command('liblinear-train')
    if not program or not peers.python():
        return None
    model = folder / 'fashion.liblinear'
    argv = [program, '-s', '4', '-c', f'{C:g}', '-q', folder / 'fashion-train.svm', model]
    usage = measure.compare({'liblinear': argv}, runs=runs, cwd=folder)['liblinear']
    check = peers.script('liblinear_objective.py', folder / 'fashion-train.svm', folder / 'fashion-test.svm', model, C)
    found = json.loads(measure.run(check, cwd=folder).stdout)
    return usage, found['objective'], found['error'], argv


def to_objective(folder, lam, goal, runs):
    """ssvm's run that ends at the first checkpoint whose primal / lambda is at most goal."""
    train, model = folder / 'fashion-train.svm', folder / 'fashion-goal.model'
    how = ('--objective', 'hinge', '--rel-gap', '1e-4')
    measure.run(ours.train(train, model, *how, '--gap-every', 1, '--max-passes', 200, lam=lam), cwd=folder)
    passes = [int(row['pass']) for row in ours.log_rows(model) if row['primal'] / lam <= goal]
    if not passes:
        return None
    argv = ours.train(train, model, *how, '--gap-every', passes[0], '--max-passes', passes[0], lam=lam)
    usage = measure.compare({'ssvm': argv}, runs=runs, cwd=folder)['ssvm']
    return usage, ours.log_rows(model)[-1], argv


def our_row(times, usage, last, lam):
    """A row of the table from the last row of the log."""
    objective, gap = f'{last["primal"] / lam:.3f}', f'{last["relative_gap"]:.1e}'
    return ['ssvm', times, f'{usage.cpu:.1f}', f'{last["seconds"]:.1f}', f'{usage.peak / 1e6:.0f}', objective, gap]


def main(runs=3):
    folder = data.images()
    path = folder / 'fashion-train.svm'
    n = count_lines(path)
    reading = measure.compare({'ssvm': ours.read(path)}, runs=runs, cwd=folder)['ssvm']
    rows, facts, shown = [], [], []
    peer = liblinear(folder, runs)
    if peer:
        usage, objective, _, argv = peer
        shown.append(argv)
        rows.append(
            ['liblinear -s 4', '100/n', f'{usage.cpu:.1f}', '', f'{usage.peak / 1e6:.0f}', f'{objective:.3f}', '']
        )
        lam = 1 / (n * C)
        ours_ = to_objective(folder, lam, objective, runs)
        if ours_:
            mine, last, argv = ours_
            shown.append(argv)
            rows.append(our_row('100/n', mine, last, lam))
        what = 'the objective of liblinear in no more CPU time'
        value = f'{mine.cpu:.1f} against {usage.cpu:.1f} s' if ours_ else 'not reached in 200 passes'
        facts.append(
            report.verdict(
                value, what, bool(ours_) and last['primal'] / lam <= objective * (1 + 1e-5) and mine.cpu <= usage.cpu
            )
            + '\n'
        )
    model, lam = folder / 'fashion-1.model', 1 / n
    argv = ours.train(path, model, '--objective', 'hinge', '--rel-gap', '0.01', lam=lam)
    usage = measure.compare({'ssvm': argv}, runs=runs, cwd=folder)['ssvm']
    last = ours.log_rows(model)[-1]
    shown.append(argv)
    rows.append(our_row('1/n', usage, last, lam))
    holds = usage.cpu <= 60 and last['relative_gap'] <= 0.01
    facts.append(report.verdict(f'{usage.cpu:.1f} s', 'λ = 1/n: a relative gap of 0.01 in 60 s of CPU', holds) + '\n')
    facts.append(
        f'Reading alone takes ssvm {reading.cpu:.1f} s of CPU. The objective is P(w)/λ, as liblinear has it.\n'
    )
    header = ['program', 'λ', 'CPU s', 'solver s', 'peak MB', 'objective', 'relative gap']
    missing = [] if peer else ['liblinear-train']
    title = 'Multiclass hinge loss, Fashion-MNIST'
    report.section(title, report.commands(*shown), report.table(header, rows), *facts, report.skipped(missing))


if __name__ == '__main__':
    main()
