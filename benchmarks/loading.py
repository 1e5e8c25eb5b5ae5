"""How fast the readers are: CPU time of whole processes that read a training file and end."""

import re

import data
import measure
import ours
import peers
import report


def row(name, usage, path, seconds=None):
    seconds = usage.cpu if seconds is None else seconds
    return [name, f'{seconds:.2f}', f'{measure.size_mb(path) / seconds:.1f}', f'{usage.peak / 1e6:.0f}']


def race(title, path, commands, runs, target, template=()):
    """Time ssvm against one peer on one file and print the section."""
    there, missing = peers.available({'ssvm': ours.read(path, *template), **commands})
    usages = measure.compare(there, runs=runs, cwd=data.work())
    rows = [row(name, usage, path) for name, usage in usages.items()]
    facts = [f'{path.name}, {measure.size_mb(path):.1f} MB; {usages["ssvm"].stdout.strip()}.\n']
    for name in usages.keys() - {'ssvm'}:
        factor = usages[name].cpu / usages['ssvm'].cpu
        facts.append(
            report.verdict(f'{factor:.2f}', f'at least {target} times the rate of {name}', factor >= target) + '\n'
        )
    header = ['program', 'CPU s', 'MB/s', 'peak MB']
    report.section(title, report.commands(*there.values()), report.table(header, rows), *facts, report.skipped(missing))


def crfpp_reading(folder):
    """What crf_learn itself says about reading and expanding, since it cannot do that alone; None without it."""
    program = peers.command('crf_learn')
    if not program:
        return None
    argv = [program, '-m', '1', folder / 'chunking.template', folder / 'train.txt', folder / 'crfpp.model']
    return reading_seconds(measure.run(argv, cwd=folder).stdout)


def reading_seconds(text):
    """Seconds from crf_learn's line 'reading training data: 100.. 200.. Done!1.10 s'."""
    found = re.search(r'reading training data:.*?Done!\s*([\d.]+)', text, re.DOTALL)
    return float(found[1]) if found else None


def columns(folder, runs):
    """CoNLL columns with template expansion."""
    path, template = folder / 'train.txt', folder / 'chunking.template'
    usage = measure.compare({'ssvm': ours.read(path, template)}, runs=runs, cwd=folder)['ssvm']
    rows, facts = [row('ssvm', usage, path)], [f'{usage.stdout.strip()}.\n']
    theirs = crfpp_reading(folder)
    if theirs is not None:
        rows.append(row('crf_learn (as it says)', usage, path, theirs))
        value = f'{usage.cpu:.2f} against {theirs:.2f} s'
        facts.append(report.verdict(value, 'no more time than crf_learn', usage.cpu <= theirs) + '\n')
    report.section(
        'Loading CoNLL columns with a template',
        report.commands(ours.read(path, template)),
        report.table(['program', 'CPU s', 'MB/s', 'peak MB'], rows),
        *facts,
        report.skipped([] if theirs is not None else ['crf_learn']),
    )


def main(runs=5):
    folder = data.chunking()
    path = folder / 'train.crfsuite'
    race('Loading CRFsuite attributes', path, {'python-crfsuite': peers.script('read_crfsuite.py', path)}, runs, 2.5)
    columns(folder, runs)
    path = data.images() / 'fashion-train.svm'
    race('Loading SVMlight', path, {'scikit-learn': peers.script('read_svmlight.py', path)}, min(runs, 3), 2)


if __name__ == '__main__':
    main()
