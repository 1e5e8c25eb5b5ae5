"""Random data sets as plain lists, and plain writers of them.

A data set is a list of sequences, a sequence a list of tokens, a token (label, {attribute: value}).
"""

import re
from itertools import pairwise

from hypothesis import strategies as st

values = st.one_of(
    st.just(1.0),
    st.integers(-1000, 1000).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.1, 1e22, 1e23, 5e-324, 2.0**53 + 2]),
)
numbers = st.integers(1, 12).map(str) | st.sampled_from(['4194304', '4294967297', '999999999999999999'])
whole_labels = st.integers(1, 12).map(str)
words = st.text(st.characters(blacklist_categories=('Cs',), blacklist_characters='\t\n\r\0'), min_size=1, max_size=6)
names = st.sampled_from(['w=:', 'dir=c:\\tmp', 'a\\', '\\:', '__BOS__', '7', 'é', ' b ']) | words


def sequences(attributes, labels, values, longest=4):
    token = st.tuples(labels, st.dictionaries(attributes, values, max_size=5))
    return st.lists(st.lists(token, min_size=1, max_size=longest), min_size=1, max_size=6)


numbered = sequences(numbers, whole_labels, values)
named = sequences(names, names.filter(lambda name: name.strip(' ')), values)


def pairs(row):
    return ' '.join(f'{k}:{v!r}' for k, v in sorted(row.items(), key=lambda item: int(item[0])))


def svmlight(data):
    return ''.join(f'{label} {pairs(row)}\n' for sequence in data for label, row in sequence)


def svmhmm(data):
    return ''.join(f'{y} qid:{q} {pairs(row)}\n' for q, sequence in enumerate(data, 1) for y, row in sequence)


def crfsuite(data):
    def escaped(name):
        return name.replace('\\', '\\\\').replace(':', '\\:')

    def line(label, row):
        return '\t'.join([escaped(label), *(f'{escaped(k)}:{v!r}' for k, v in row.items()), ''])

    return '\n'.join(''.join(line(*token) + '\n' for token in sequence) for sequence in data)


# Candidates are a list of groups (qid, [(target, {attribute: value})]), neighbours with different numbers.
targets = st.floats(0, allow_nan=False, allow_infinity=False) | st.integers(0, 4).map(float) | st.just(0.1)
rows = st.tuples(targets, st.dictionaries(numbers, values, max_size=5))
ranked = st.lists(
    st.tuples(st.integers(0, 3) | st.just(10**18 - 1), st.lists(rows, min_size=1, max_size=4)), min_size=1, max_size=5
).filter(lambda groups: all(a[0] != b[0] for a, b in pairwise(groups)))


def svmrank(data):
    return ''.join(f'{target!r} qid:{qid} {pairs(row)}\n' for qid, group in data for target, row in group)


# Pictures are (width, height, box or None, [(x, y, word)]).
blankless = words.map(lambda name: name.replace(' ', '.'))


@st.composite
def picture(draw, always=False):
    width, height = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    columns, rows = (st.tuples(*[st.integers(0, size - 1)] * 2).map(sorted) for size in (width, height))
    (left, right), (top, bottom) = draw(columns), draw(rows)
    box = (left, top, right, bottom) if always or draw(st.booleans()) else None
    point = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1), blankless)
    return width, height, box, draw(st.lists(point, max_size=5))


def boxes(data):
    text = ''
    for width, height, box, points in data:
        text += ' '.join(map(str, ('picture', width, height, *(box or ())))) + '\n'
        text += ''.join(f'{x} {y} {word}\n' for x, y, word in points)
    return text


# A treebank is a list of sentences, a sentence a list of words (form, lemma, coarse tag, fine tag, head, relation).
cells = words.filter(lambda text: text.strip(' ') == text) | st.sampled_from(['_', '#', '1-2', '"', '$', 'é', '\u00a0'])


@st.composite
def treebanks(draw, cells=cells):
    sentences = []
    for _ in range(draw(st.integers(1, 4))):
        order = draw(st.permutations(range(1, draw(st.integers(1, 6)) + 1)))
        heads = {word: draw(st.sampled_from([0, *order[:k]])) for k, word in enumerate(order)}
        columns = st.tuples(cells, cells, *[st.sampled_from('ABC_')] * 2)
        sentences.append([(*draw(columns), heads[k], draw(cells)) for k in sorted(heads)])
    return sentences


def conllx(treebank):
    def line(k, form, lemma, coarse, fine, head, relation):
        return f'{k}\t{form}\t{lemma}\t{coarse}\t{fine}\t_\t{head}\t{relation}\t_\t_\n'

    return ''.join(''.join(line(k, *word) for k, word in enumerate(s, 1)) + '\n' for s in treebank)


def conllu(treebank):
    """With a comment, a range over the first two words and an empty node behind the first."""
    rest = '\t_' * 8 + '\n'
    text = ''
    for number, sentence in enumerate(treebank, 1):
        lines = re.split('(?<=\n)', conllx([sentence]))
        if len(sentence) > 1:
            lines[:1] = [f'1-2\t{sentence[0][0]}{rest}', lines[0], f'1.1\tx{rest}']
        text += f'# sent_id = {number}\n#\n' + ''.join(lines)
    return text


# A phrase is (label, function, phrases below), over a word (tag, function, (spelled, read) or None for a trace, lemma).
labels = st.sampled_from(['NP', 'VP', 'S', 'é', ',', 'TOP', 'PRP$', '-X-'])
functions = st.sampled_from(['', '', '-SBJ', '-TMP-1', '=2', '|X'])
plain_words = st.text(st.characters(blacklist_categories=('Cs',), blacklist_characters=' \t\n\r\0()\\'), min_size=1)
spellings = st.sampled_from([('-LRB-', '('), ('1\\/2', '1/2'), ('\\)', ')'), ('a\\b', 'a\\b'), ('-x-', '-x-')])
leaves = st.tuples(labels, functions, st.none() | spellings | plain_words.map(lambda word: (word, word)), st.booleans())
phrases = st.recursive(
    leaves, lambda below: st.tuples(labels, functions, st.lists(below, min_size=1, max_size=3)), max_leaves=8
)
tops = st.sampled_from([None, '', 'TOP', 'ROOT'])
banks = st.lists(st.tuples(tops, phrases), min_size=1, max_size=4)


def brackets(bank, white=' '):
    """white: what stands wherever something must, nothing where nothing has to."""

    def shown(phrase):
        label, function, *rest = phrase
        label += function * (label[0] != '-')
        if len(rest) == 1:
            return f'({label}{white}{"".join(map(shown, rest[0]))}{white})'
        word, lemma = rest
        if word is None:
            return f'(-NONE-{white}*T*-1)'
        return f'({label}{white}{word[0]}{(white + "lemma") * lemma})'

    return ''.join(shown(tree) if top is None else f'({top}{shown(tree)})' for top, tree in bank) + '\n'


def plain_tree(phrase):
    """(label, below ...), over a word (tag, word), of what is left of a phrase; None for nothing."""
    label, _, *rest = phrase
    if len(rest) == 2:
        return rest[0] and (label, rest[0][1])
    below = tuple(filter(None, map(plain_tree, rest[0])))
    return (label, *below) if below else None


def with_tops(bank):
    """The trees of a bank with one label on top of all."""
    trees = [(top, plain_tree(tree)) for top, tree in bank]
    trees = [(tree[0] if top is None else top, tree if top is None else (top, tree)) for top, tree in trees if tree]
    outer = {top for top, _ in trees}
    if len(outer) == 1 and '' not in outer:
        return [tree for _, tree in trees]
    added = 'ROOT' if 'ROOT' in outer and 'TOP' not in outer else 'TOP'
    return [
        (added, *tree[1:])
        if top in ('', added, 'TOP', 'ROOT') and not isinstance(tree[1], str)
        else tree
        if top == added
        else (added, tree)
        for top, tree in trees
    ]


def nodes_of(tree):
    yield tree
    for below in tree[1:]:
        if not isinstance(below, str):
            yield from nodes_of(below)
