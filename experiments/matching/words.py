"""Word alignment of French and English (Taskar, Lacoste-Julien and Klein 2005): matchings with learned weights of a few
simple attributes, against Dice's coefficient alone and against words that are linked without regard to each other.
Alignment error rates by cross-validation, as CSV.

Annotators link words of one language with several of the other, and right outputs of training files are matchings. So
of the sure links that share a word, the one nearest to the diagonal stays right, and the others become possible. Test
files keep all of them.
"""

import argparse
import math
import re
import sys
from collections import Counter
from itertools import takewhile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what the experiments share
import links
import program

FOLDS = 5
LAMBDAS = '1:0.001:0.1'
THRESHOLDS = [k / 10 for k in range(1, 10)]  # of Dice's coefficient
STORIES = 'alibi/ali/*'
METHODS = ('dice', 'alone', 'matching')


def hansards(folder):
    """(words, words, sure, possible) of each pair of sentences: lists of words, sets of pairs of numbers from 0."""
    texts = (folder / 'hansards_en_fr' / 'enfr.src-tgt').read_text(encoding='utf-8').splitlines()
    golds = (folder / 'hansards_en_fr' / 'enfr.gold').read_text(encoding='utf-8').splitlines()
    for text, gold in zip(texts, golds, strict=True):
        yield *(side.split() for side in text.split('|||')), *links_of(gold, 1)


def alibi(folder):
    """The same of five stories."""
    for story in sorted(folder.glob(STORIES)):
        french, english = story.name.split('_')
        files = [story / f'{name}.txt' for name in (f'{french}_sents', f'{english}_sents', f'ali_w2w_{story.name}')]
        lines = [path.read_text(encoding='utf-8').splitlines() for path in files]
        for one, other, gold in zip(*([line.partition('\t')[2] for line in side] for side in lines), strict=True):
            yield one.split(), other.split(), *links_of(gold, 0)


def links_of(text, first):
    """(sure links i-j, possible links ipj) of a line, whose numbers begin with `first`."""
    found = {'-': set(), 'p': set()}
    for i, kind, j in re.findall(r'(\d+)([-p])(\d+)', text):
        found[kind].add((int(i) - first, int(j) - first))
    return found['-'], found['p'] - found['-']


CORPORA = {'hansards': hansards, 'alibi': alibi}


class Corpus:
    """What is known of words without any links: in how many pairs of sentences they are, alone and together."""

    def __init__(self, sentences):
        self.one, self.other, self.both = Counter(), Counter(), Counter()
        for words, translation, *_ in sentences:
            mine, theirs = ({word.lower() for word in side} for side in (words, translation))
            self.one.update(mine)
            self.other.update(theirs)
            self.both.update((a, b) for a in mine for b in theirs)

    def dice(self, a, b):
        return 2 * self.both[a, b] / (self.one[a] + self.other[b])

    def attributes(self, words, translation, i, j):
        """{attribute: value} of a link."""
        a, b, dice = words[i], translation[j], self.dice(words[i], translation[j])
        apart = abs((i + 0.5) / len(words) - (j + 0.5) / len(translation))
        near = [
            self.dice(words[i + step], translation[j + step])
            for step in (-1, 1)
            if 0 <= i + step < len(words) and 0 <= j + step < len(translation)
        ]
        letters = a.isalpha(), b.isalpha()
        common = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))) / max(len(a), len(b))
        return {
            'dice': dice,
            'dice2': dice * dice,
            'near': sum(near) / 2,
            'apart': apart,
            'apart2': apart * apart,
            'same': float(a == b),
            'samelong': float(a == b and len(a) > 3),
            'start': common if min(len(a), len(b)) > 3 else 0.0,
            'length': abs(len(a) - len(b)) / 10,
            'rank': abs(math.log(self.one[a] / self.other[b])) / 5,
            'frequent': math.log(self.one[a] * self.other[b]) / 10,
            'marks': float(not any(letters)),
            'mark': float(letters[0] != letters[1]),
        }


def example(corpus, sentence, training):
    """All links of a pair of sentences."""
    words, translation, sure, possible = sentence
    words, translation = ([word.lower() for word in side] for side in (words, translation))
    right = matching_of(sure, len(words), len(translation)) if training else sure
    possible = possible | (sure - right)

    def target(link):
        return '1' if link in right else 'P' if link in possible else '0'

    pairs = [(i, j) for i in range(len(words)) for j in range(len(translation))]
    return [(*pair, target(pair), corpus.attributes(words, translation, *pair)) for pair in pairs]


def matching_of(sure, n, m):
    """A part of the sure links that is a matching: those nearest to the diagonal first."""
    rows, columns, kept = set(), set(), set()
    for i, j in sorted(sure, key=lambda link: (abs((link[0] + 0.5) / n - (link[1] + 0.5) / m), link)):
        if i not in rows and j not in columns:
            rows.add(i)
            columns.add(j)
            kept.add((i, j))
    return kept


def figures(ssvm, folder, sentences, fold):
    """{method: figures} of a fold; the one before it judges lambda and the threshold, the others are trained on."""
    corpus = Corpus(sentences)
    held = (fold - 1) % FOLDS
    choice = {'test': {fold}, 'dev': {held}, 'train': set(range(FOLDS)) - {fold, held}}
    paths, made = {}, {}
    for part, folds in choice.items():
        chosen = [sentence for k, sentence in enumerate(sentences) if k % FOLDS in folds]
        made[part] = [example(corpus, sentence, part == 'train') for sentence in chosen]
        paths[part] = folder / f'{part}.links'
        links.write(paths[part], made[part])
    model = folder / 'model'
    links.train(ssvm, paths['train'], paths['dev'], model, LAMBDAS)
    by_dice = [{'dice': 1.0, links.BIAS: -threshold} for threshold in THRESHOLDS]
    models = [links.with_weights(ssvm, model, weights, folder / f'dice{k}') for k, weights in enumerate(by_dice)]
    dice = min(models, key=lambda one: links.scores(ssvm, paths['dev'], one)['aer'])
    return {
        'dice': links.scores(ssvm, paths['test'], dice),
        'alone': links.rows_alone(made['test'], links.weights_of(ssvm, model)),
        'matching': links.scores(ssvm, paths['test'], model),
    }


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('data', type=Path, help='the folder of the corpora')
    parser.add_argument('folder', type=Path, help='where the table is written')
    parser.add_argument('--ssvm', default='ssvm')
    given = parser.parse_args(arguments)
    program.check_there('word_alignment', given.data / 'hansards_en_fr', given.data / 'alibi')
    rows = []
    for name, read in CORPORA.items():
        sentences = list(read(given.data))
        folds = [figures(given.ssvm, given.folder, sentences, fold) for fold in range(FOLDS)]
        for method in METHODS:
            means = {key: sum(fold[method][key] for fold in folds) / FOLDS for key in ('aer', 'precision', 'recall')}
            rows.append({'corpus': name, 'method': method} | {key: f'{100 * mean:.1f}' for key, mean in means.items()})
            print(', '.join(f'{key} {value}' for key, value in rows[-1].items()), flush=True)
    program.write(given.folder / 'words.csv', rows)


if __name__ == '__main__':
    main(sys.argv[1:])
