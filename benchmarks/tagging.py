"""Tagging beside CRFsuite: CPU time of a whole process that reads the test file, tags it and writes the labels.

Both read attribute files; ssvm also reads the columns themselves, with its template. The models have the features
observed in training, as CRFsuite has by default. The test file is short, so it is also tagged ten times over.
"""

import data
import measure
import ours
import peers
import report


def times(path, count):
    """The same file `count` times over."""
    target = path.with_name(f'{path.stem}-{count}{path.suffix}')
    if not target.exists():
        block = path.read_bytes().rstrip(b'\n') + b'\n\n'
        with open(target, 'wb') as stream:  # never all of it in memory: see measure.py
            for _ in range(count):
                stream.write(block)
    return target


def count_tokens(path):
    with open(path, 'rb') as stream:
        return sum(1 for line in stream if line.strip())


def models(folder, n):
    """Train briefly: the speed of tagging does not depend on how good the weights are."""
    how = ('--objective', 'log', '--feature-set', 'observed', '--max-passes', 20, '--no-certificate')
    from_attributes, from_columns = folder / 'tag-attributes.model', folder / 'tag-columns.model'
    measure.run(ours.train(folder / 'train.crfsuite', from_attributes, *how, lam=2 / n), cwd=folder)
    template = ('--template', folder / 'chunking.template')
    measure.run(ours.train(folder / 'train.txt', from_columns, *template, *how, lam=2 / n), cwd=folder)
    crfsuite = peers.command('crfsuite')
    if crfsuite:
        learn = ['learn', '-a', 'lbfgs', '-p', 'c2=1', '-p', 'max_iterations=20', '-m', folder / 'tag.crfsuite-model']
        measure.run([crfsuite, *learn, folder / 'train.crfsuite'], cwd=folder)
    return from_attributes, from_columns


def main(runs=5):
    folder = data.chunking()
    n = data.count_sentences(folder / 'train.txt')
    from_attributes, from_columns = models(folder, n)
    rows, facts, shown, missing = [], [], [], []
    for count in (1, 10):
        attributes, columns = times(folder / 'test.crfsuite', count), times(folder / 'test.txt', count)
        tokens = count_tokens(columns)
        argvs = {
            'ssvm, attributes': ours.command('predict', attributes, from_attributes, folder / 'ssvm.out'),
            'ssvm, columns': ours.command('predict', columns, from_columns, folder / 'ssvm-columns.out'),
            'CRFsuite, attributes': [peers.command('crfsuite'), 'tag', '-m', folder / 'tag.crfsuite-model', attributes],
        }
        there, missing = peers.available(argvs)
        usages = measure.compare(there, runs=runs, cwd=folder)
        shown += there.values()
        for name, usage in usages.items():
            rows.append([name, tokens, f'{usage.cpu:.3f}', f'{tokens / usage.cpu:,.0f}', f'{usage.peak / 1e6:.0f}'])
        if not missing:
            factor = usages['CRFsuite, attributes'].cpu / usages['ssvm, attributes'].cpu
            what = f'{tokens} tokens: at least the rate of CRFsuite on the same file'
            facts.append(report.verdict(f'{factor:.2f} times', what, factor >= 1) + '\n')
    header = ['program, input', 'tokens', 'CPU s', 'tokens/s', 'peak MB']
    report.section('Tagging', report.commands(*shown), report.table(header, rows), *facts, report.skipped(missing))


if __name__ == '__main__':
    main()
