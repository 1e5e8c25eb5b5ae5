"""Prepare the benchmark files from the data sets, in the folder where the benchmarks work.

The data sets are found by $SSVM_DATA or beside the repository in ../shared/data; what is made from them goes to
build/benchmarks ($SSVM_BENCH) and is made once. Everything is streamed: see measure.py for why.
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
TEMPLATE = Path(__file__).resolve().with_name('chunking.template')
GENERATOR = REPOSITORY / 'examples' / 'homologs' / 'generate.py'  # of alignments


class MissingDataError(Exception):
    """A data set is not there."""


def root():
    return Path(os.environ.get('SSVM_DATA') or REPOSITORY.parent / 'shared' / 'data')


def work():
    """The folder of prepared files, models and logs; created on demand."""
    folder = Path(os.environ.get('SSVM_BENCH') or REPOSITORY / 'build' / 'benchmarks')
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _source(*parts):
    path = root().joinpath(*parts)
    if not path.exists():
        raise MissingDataError(
            f'data set {parts[0]} is not there: {path} (set SSVM_DATA to the folder of the data sets)'
        )
    return path


def _make(target, source, write):
    """Write target by write(source, stream) unless it is newer than its source; never leaves half a file."""
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + '.part')
        with open(partial, 'w', encoding='utf-8', newline='\n') as stream:
            write(source, stream)
        partial.replace(target)
    return target


# ------------------------------------------------------------------------------------------------- chunking


def chunking():
    """CoNLL-2000 in the work folder: train.txt, test.txt, the template, and both as CRFsuite attribute files."""
    folder = work()
    shutil.copyfile(TEMPLATE, folder / TEMPLATE.name)
    for part in ('train', 'test'):
        source = _source('conll2000', f'{part}.txt')
        shutil.copyfile(source, folder / f'{part}.txt')
        _make(folder / f'{part}.crfsuite', source, attribute_file)
    return folder


def sentences(stream, separator=None):
    """The sentences of a column file, each a list of rows."""
    rows = []
    for line in stream:
        if fields := line.rstrip('\n').split(separator) if line.strip() else []:
            rows.append(fields)
        elif rows:
            yield rows
            rows = []
    if rows:
        yield rows


def count_sentences(path):
    with open(path, encoding='utf-8') as stream:
        return sum(1 for _ in sentences(stream))


def attribute_file(source, stream):
    """Expand the chunking template into a CRFsuite attribute file.

    Attributes are named U05=confidence/in, without a colon: a reader need not unescape what need not be escaped.
    """
    macros = _macros(TEMPLATE)
    with open(source, encoding='utf-8') as lines:
        for rows in sentences(lines):
            for at, row in enumerate(rows):
                names = ('='.join((name, '/'.join(_cell(rows, at + r, c) for r, c in cells))) for name, cells in macros)
                stream.write('\t'.join([row[-1], *(_escape(name) for name in names)]) + '\n')
            stream.write('\n')


def _macros(template):
    """The U lines of a template as (name, [(row, column), ...])."""
    macros = []
    for line in template.read_text(encoding='utf-8').splitlines():
        if line.startswith('U'):
            name, _, pattern = line.partition(':')
            cells = [cell[3:-1].split(',') for cell in pattern.split('/')]
            macros.append((name, [(int(row), int(column)) for row, column in cells]))
    return macros


def _cell(rows, at, column):
    if at < 0:
        return f'_B{at}'
    if at >= len(rows):
        return f'_B+{at - len(rows) + 1}'
    return rows[at][column]


def _escape(name):
    return name.replace('\\', '\\\\').replace(':', '\\:') if '\\' in name or ':' in name else name


# -------------------------------------------------------------------------------------------------- letters


def letters():
    """OCR letters in svm_hmm's format: letters/only-K.hmm holds fold K, letters/rest-K.hmm the other nine."""
    source = _source('ocr_letters', 'letter.data.gz')
    folder = work() / 'letters'
    for k in range(10):
        _make(folder / f'only-{k}.hmm', source, lambda s, out, k=k: _letters(s, out, lambda fold: fold == k))
        _make(folder / f'rest-{k}.hmm', source, lambda s, out, k=k: _letters(s, out, lambda fold: fold != k))
    return work()


def _letters(source, stream, wanted):
    with gzip.open(source, 'rt', encoding='ascii') as lines:
        for line in lines:
            _, letter, _, word, _, fold, *pixels = line.rstrip('\n').rstrip('\t').split('\t')
            if wanted(int(fold)):
                on = (f'{k}:1' for k, pixel in enumerate(pixels, 1) if pixel != '0')
                stream.write(' '.join([str(ord(letter) - ord('a') + 1), f'qid:{word}', *on]) + f' # {letter}\n')


# --------------------------------------------------------------------------------------------------- images


def images():
    """Fashion-MNIST in SVMlight's format, grey values divided by 255: fashion-train.svm and fashion-test.svm."""
    for name, part in (('train', 'train'), ('test', 't10k')):
        source = _source('fashion_mnist', f'{part}-images-idx3-ubyte.gz')
        labels = _source('fashion_mnist', f'{part}-labels-idx1-ubyte.gz')
        _make(work() / f'fashion-{name}.svm', source, lambda s, out, file=labels: _images(s, file, out))
    return work()


def _images(source, label_source, stream):
    grey = [f'{value / 255:.6g}' for value in range(256)]
    with gzip.open(source) as pixels, gzip.open(label_source) as labels:
        _, count, rows, columns = (int.from_bytes(pixels.read(4), 'big') for _ in range(4))
        labels.read(8)
        index = [f' {k}:' for k in range(1, rows * columns + 1)]
        for _ in range(count):
            image = pixels.read(rows * columns)
            label = labels.read(1)[0]
            stream.write(str(label) + ''.join(i + grey[v] for i, v in zip(index, image, strict=True) if v) + '\n')


# -------------------------------------------------------------------------------------------------- structures


def dependencies():
    """The projective sentences of CoNLL-2007 Spanish: dependencies.conllx, and how many words they have."""
    source = _source('conll2007_spanish', 'esp.train')
    path = _make(work() / 'dependencies.conllx', source, _projective)
    with open(path, encoding='utf-8') as lines:
        return path, sum(1 for line in lines if line.strip())


def _projective(source, stream):
    with open(source, encoding='utf-8') as lines:
        for rows in sentences(lines, '\t'):
            arcs = [sorted((int(row[0]), int(row[6]))) for row in rows]
            if not any(a < b < c < d for a, c in arcs for b, d in arcs):
                stream.write('\n'.join('\t'.join(row) for row in rows) + '\n\n')


def alignments(natives=200):
    """Natives with a homolog and ten decoys each, all of 50 letters: alignments.fa, and how many pairs of letters the
    right or wrong alignments of an example have to choose from, in all."""
    path = work() / 'alignments.fa'
    with open(path, 'wb') as stream:
        subprocess.run([sys.executable, GENERATOR, str(natives), '1'], stdout=stream, check=True)
    with open(path, encoding='ascii') as lines:
        lengths = [(line.split()[0], len(next(lines).strip())) for line in lines]
    cells, native = 0, 0
    for kind, length in lengths:
        native = length if kind == '>native' else native
        cells += native * length if kind != '>native' else 0
    return path, cells


def phrases():
    """The sentences of ten words of GUM: phrases.mrg, and how many they are."""
    source = _source('gum_constituency', 'const')
    path = _make(work() / 'phrases.mrg', source, _of_ten_words)
    with open(path, encoding='utf-8') as lines:
        return path, sum(1 for _ in lines)


def _of_ten_words(source, stream):
    for path in sorted(source.glob('GUM_*.ptb')):
        for tree in re.split(r'^(?=\(ROOT)', path.read_text(encoding='utf-8'), flags=re.MULTILINE):
            if len(re.findall(r'[^\s()]\)', tree)) == 10:
                stream.write(' '.join(tree.split()) + '\n')
