"""bcfw on the hinge loss, CoNLL-2000, all features times labels: CPU time and memory to a certified gap at λ = 1/n."""

import data
import measure
import ours
import report

TARGETS = {0.01: 25, 0.001: 45}
MEMORY = 400


def main(runs=3):
    folder = data.chunking()
    n = data.count_sentences(folder / 'train.txt')
    train, template = folder / 'train.txt', folder / 'chunking.template'
    how = ('--template', template, '--objective', 'hinge', '--solver', 'bcfw')
    argvs = {
        gap: ours.train(train, folder / f'bcfw-{gap:g}.model', *how, '--rel-gap', f'{gap:g}', lam=1 / n)
        for gap in TARGETS
    }
    usages = measure.compare(argvs, runs=runs, cwd=folder)
    rows, facts = [], []
    for gap, usage in usages.items():
        last = ours.log_rows(folder / f'bcfw-{gap:g}.model')[-1]
        rows.append(
            [
                f'{gap:g}',
                f'{last["relative_gap"]:.2e}',
                f'{last["pass"]:.0f}',
                f'{usage.cpu:.1f}',
                f'{last["seconds"]:.1f}',
                f'{usage.peak / 1e6:.0f}',
                f'{last["primal"]:.6f}',
                f'{last["dual"]:.6f}',
            ]
        )
        value = f'{usage.cpu:.1f} s, {usage.peak / 1e6:.0f} MB'
        holds = usage.cpu <= TARGETS[gap] and usage.peak <= MEMORY * 1e6 and last['relative_gap'] <= gap
        facts.append(report.verdict(value, f'{gap:g} in {TARGETS[gap]} s of CPU and {MEMORY} MB', holds) + '\n')
    header = ['wanted', 'relative gap', 'passes', 'CPU s', 'solver s', 'peak MB', 'primal', 'dual']
    title = 'bcfw, hinge loss, λ = 1/n, CoNLL-2000'
    report.section(title, report.commands(*argvs.values()), report.table(header, rows), *facts)


if __name__ == '__main__':
    main()
