"""Classes with a taxonomy as SVMlight files: FOLDER/SET/train-SIZE-DRAW.svm, held.svm, test.svm, and taxonomy.

A fifth of the training examples of each class is held out, for the choice of lambda; the others are drawn from, SIZE of
each class, so that a larger training set contains the smaller ones of its draw. SIZE "all" is all of them.
"""

import gzip
import math
import os
import random
import re
import sys
import tarfile
from collections import Counter, defaultdict
from itertools import pairwise, product
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZES, DRAWS, SEED = (2, 4, 8), 5, 2005
RARE = 3  # documents that a word has to be in
BRANCHES, ATTRIBUTES, NOISE = (4, 5, 8), 100, 3  # of what is made up
TOP = 'top'


def source(name, file):
    root = Path(os.environ.get('SSVM_DATA') or HERE.parents[2] / 'shared' / 'data')
    path = root / name / file
    if not path.exists():
        raise FileNotFoundError(f'data set {name} is not there: {path} (SSVM_DATA says where the sets are)')
    return path


def images(name):
    """Training and test part of an ImCLEF set, X-ray images, as lists of (class, {attribute: value}): a histogram of
    edges at length 1 and a constant. Classes are x/y/z."""
    parts = []
    for part in ('Train', 'Test'):
        with gzip.open(source('taxonomy_imclef', f'{name}_{part}.arff.gz'), 'rt') as lines:
            rows = [line.strip().split(',') for line in lines if ',' in line and not line.startswith('@')]
        parts.append([(row[-1].split('@')[-1], {1: 1.0, **unit(enumerate(map(float, row[:-1]), 2))}) for row in rows])
    return parts


def posts():
    """The same of 20 newsgroups: tf-idf of words, and groups x.y.z."""
    counts = {'train': [], 'test': []}
    with tarfile.open(source('news20_taxonomy', '20news-bydate.tar.xz')) as archive:
        for member in archive:
            if member.isfile():
                folder, group, _ = member.name.split('/')
                text = archive.extractfile(member).read().decode('latin-1')
                counts[folder.split('-')[-1]].append((group, Counter(words(text))))
    documents = Counter(word for _, post in counts['train'] for word in post)
    idf = {word: math.log(len(counts['train']) / n) for word, n in sorted(documents.items()) if n >= RARE}
    number = {word: k for k, word in enumerate(idf, 1)}

    def tfidf(post):
        return unit((number[word], (1 + math.log(n)) * idf[word]) for word, n in post.items() if word in idf)

    return [[(group, tfidf(post)) for group, post in part] for part in counts.values()]


def words(post):
    """Those of the subject and the body, in lower case."""
    headers, _, body = post.partition('\n\n')
    subject = ' '.join(re.findall(r'^Subject:(.*)', headers, re.MULTILINE))
    return re.findall(r'[a-z]\w+', f'{subject}\n{body}'.lower())


def made_up():
    """The same of examples that are drawn around the sum of one random vector for each node x, x/y, x/y/z."""
    rng = random.Random(SEED)
    names = ['/'.join(map(str, path)) for path in product(*map(range, BRANCHES))]
    vectors = defaultdict(lambda: [rng.gauss(0, 1) for _ in range(ATTRIBUTES)])

    def example(name):
        mean = map(sum, zip(*(vectors[name[:k]] for k in (1, 3, 5)), strict=True))
        return name, unit((k, rng.gauss(value, NOISE)) for k, value in enumerate(mean, 1))

    return [[example(name) for name in names for _ in range(count)] for count in (20, 10)]


def unit(pairs):
    """{attribute: value} of length 1."""
    values = {k: value for k, value in pairs if value}
    length = math.hypot(*values.values())
    return {k: value / length for k, value in sorted(values.items())}


def taxonomy(classes):
    """[(child, parent, weight)]: what classes begin with is above them, up to each / or, where several begin so, up to
    a dot. Weights are such that all classes are as far below the top as those with most nodes above them."""
    begins = {name: [name[: mark.start()] for mark in re.finditer(r'[/.]', name)][::-1] for name in sorted(classes)}
    below = Counter(node for nodes in begins.values() for node in nodes)
    paths = [[a, *(b for b in nodes if '/' in a or below[b] > 1), TOP] for a, nodes in begins.items()]
    heights = Counter()
    for path in paths:
        heights |= Counter({node: k for k, node in enumerate(path)})
    return sorted({(a, b, heights[b] - heights[a]) for path in paths for a, b in pairwise(path)})


def write(path, examples):
    with open(path, 'w') as out:
        for name, values in examples:
            out.write(' '.join([name, *(f'{k}:{value:.6g}' for k, value in values.items())]) + '\n')


def draw(examples, rng):
    """Lists of the examples of each class, in random order."""
    classes = {}
    for example in examples:
        classes.setdefault(example[0], []).append(example)
    return [rng.sample(classes[name], len(classes[name])) for name in sorted(classes)]


def prepare(folder, train, test):
    folder.mkdir(parents=True, exist_ok=True)
    parted = [(one[: max(1, len(one) // 5)], one[max(1, len(one) // 5) :]) for one in draw(train, random.Random(SEED))]
    held, rest = ([example for pair in parted for example in pair[k]] for k in (0, 1))
    for k in range(DRAWS):
        classes = draw(rest, random.Random(SEED + 1 + k))
        for size in SIZES:
            write(folder / f'train-{size}-{k}.svm', [example for one in classes for example in one[:size]])
    write(folder / 'train-all-0.svm', rest)
    write(folder / 'held.svm', held)
    write(folder / 'test.svm', test)
    steps = taxonomy({name for name, _ in train})
    (folder / 'taxonomy').write_text(''.join(f'{child}\t{parent}\t{weight}\n' for child, parent, weight in steps))


SETS = {
    'ImCLEF07A': lambda: images('ImCLEF07A'),
    'ImCLEF07D': lambda: images('ImCLEF07D'),
    'news20': posts,
    'made-up': made_up,
}


def main(folder):
    for name, read in SETS.items():
        try:
            prepare(folder / name, *read())
        except FileNotFoundError as missing:
            print(f'skipped: {name}: {missing}', file=sys.stderr)


if __name__ == '__main__':
    main(Path(sys.argv[1]))
