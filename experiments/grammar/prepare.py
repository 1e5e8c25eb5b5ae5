"""Short sentences of two treebanks, a tree a line: FOLDER/SET/DRAW/FOLD/train.mrg and test.mrg.

wsj is the sample of the Wall Street Journal, its sentences of at most ten words dealt out to five folds, three times;
wsj15 has the folds of the first time, with all sentences of 11 to 15 words in the training parts. gum is the corpus of
that name, parted once: the test part is its documents for development and testing; documents without words and those
that are out of its domain are left out. gum314 has its test part and so many of its training sentences as a training
part of wsj, drawn ten times.
"""

import os
import random
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONGEST, LONGER, DRAWS, FOLDS = 10, 15, 3, 5
FEW, DRAWS_OF_FEW = 314, 10
LEFT_OUT = 'GUM_reddit_', 'GENTLE_'


def source(name, file):
    root = Path(os.environ.get('SSVM_DATA') or HERE.parents[2] / 'shared' / 'data')
    path = root / name / file
    if not path.exists():
        raise FileNotFoundError(f'data set {name} is not there: {path} (SSVM_DATA says where the sets are)')
    return path


def trees(text):
    """The trees of a file, white space made one blank."""
    depth = begin = 0
    for match in re.finditer(r'[()]', text):
        depth += 1 if match[0] == '(' else -1
        if depth == 0:
            yield ' '.join(text[begin : match.end()].split())
            begin = match.end()


def length(tree):
    """Its number of words; traces are none."""
    tags = re.findall(r'\(([^\s()]+) [^\s()]+\)', tree)
    return sum(tag != '-NONE-' for tag in tags)


def is_short(tree):
    return 0 < length(tree) <= LONGEST


def write(folder, train, test):
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (('train', train), ('test', test)):
        (folder / f'{name}.mrg').write_text(''.join(f'{row}\n' for row in rows), encoding='utf-8')
    print(f'{folder}: {len(train)} and {len(test)} sentences')


def wall_street_journal(folder):
    text = source('wsj_treebank_sample', 'wsj_sample.mrg').read_text(encoding='utf-8')
    short = [tree for tree in trees(text) if is_short(tree)]
    longer = [tree for tree in trees(text) if LONGEST < length(tree) <= LONGER]
    for draw in range(DRAWS):
        random.Random(draw).shuffle(short)
        for fold in range(FOLDS):
            train = [tree for k, tree in enumerate(short) if k % FOLDS != fold]
            write(folder / str(draw) / str(fold), train, short[fold::FOLDS])
            if draw == 0:
                write(folder.with_name('wsj15') / '0' / str(fold), train + longer, short[fold::FOLDS])


def georgetown(folder):
    documents = source('gum_constituency', 'const')
    listed = source('gum_constituency', 'splits.md').read_text(encoding='utf-8')
    part_of, part = {}, None
    for line in listed.splitlines():
        if line.startswith('#'):
            part = line.strip('# ')
        elif found := re.fullmatch(r'\s*\* (GUM_\w+)', line):
            part_of[found[1]] = part
    parts = {'train': [], 'test': []}
    for path in sorted(documents.glob('*.ptb')):
        if not path.name.startswith(LEFT_OUT):
            rows = parts['train' if part_of[path.stem] == 'train' else 'test']
            rows += filter(is_short, trees(path.read_text(encoding='utf-8')))
    write(folder / '0' / '0', **parts)
    for draw in range(DRAWS_OF_FEW):
        train = random.Random(draw).sample(parts['train'], FEW)
        write(folder.with_name('gum314') / str(draw) / '0', train, parts['test'])


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in (('wsj', wall_street_journal), ('gum', georgetown)):
        try:
            made(folder / name)
        except FileNotFoundError as missing:
            print(f'skipped: {name}: {missing}', file=sys.stderr)


if __name__ == '__main__':
    main(Path(sys.argv[1]))
