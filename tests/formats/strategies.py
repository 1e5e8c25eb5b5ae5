"""Random data sets as plain lists, and plain writers of them.

A data set is a list of sequences, a sequence a list of tokens, a token (label, {attribute: value}).
"""

import json
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
words = st.text(
    st.characters(blacklist_categories=('Cs',), blacklist_characters='\t\n\r\0\ufeff'), min_size=1, max_size=6
)
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


# Multilabel data are a list of (set of labels, {attribute: value}).
numbers_from_0 = numbers | st.just('0')
set_labels = whole_labels | st.sampled_from(['0', '-1', '01', 'C.C1', 'é', '@', 'a"b', 'C#', 'a#b', 'a\u00a0\x0b'])


def labelled_sets(labels=set_labels, attributes=numbers_from_0):
    example = st.tuples(st.frozensets(labels, max_size=4), st.dictionaries(attributes, values, max_size=5))
    return st.lists(example, min_size=1, max_size=6)


def multilabel(data):
    return ''.join(f'{",".join(labels)} {pairs(row)}\n' for labels, row in data)


# An ARFF file: (its columns in order, each (name, values or None for a number), how many of them are labels, and rows
# of what each column has: a number, which of the values, or None for what is missing).
column_names = st.text(st.characters(blacklist_categories=('Cs',), blacklist_characters='\r\0'), min_size=1, max_size=5)
column_names |= st.sampled_from(["it's", '"', 'a b', '\\', '%', '{0}', ',', '\t', '?', '@data', '7', '\\n'])


@st.composite
def arff_files(draw):
    names = draw(st.lists(column_names, min_size=1, max_size=6, unique=True))
    n_labels = draw(st.integers(1, len(names)))
    nominal = st.lists(column_names.filter(lambda name: '=' not in name), min_size=1, max_size=3, unique=True)
    columns = [(name, draw(st.sampled_from([['0', '1'], ['1', '0']]))) for name in names[:n_labels]]
    columns += [(name, draw(st.none() | nominal)) for name in names[n_labels:] if '=' not in name]
    cells = [
        values
        if own is None
        else st.integers(0, len(own) - 1)
        if k < n_labels
        else st.none() | st.integers(0, len(own) - 1)
        for k, (_, own) in enumerate(columns)
    ]
    return columns, n_labels, draw(st.lists(st.tuples(*cells), min_size=1, max_size=4))


def arff(columns, rows, relation, how):
    """how: a random.Random that chooses quotes, blanks, cases and kinds of rows."""

    def quoted(text):
        if re.fullmatch(r'[\w.+-]+', text, re.ASCII) and how.random() < 0.5:
            return text
        quote = how.choice('\'"')
        for plain, escape in (('\\', '\\\\'), (quote, '\\' + quote), ('\n', '\\n'), ('\t', how.choice(['\t', '\\t']))):
            text = text.replace(plain, escape)
        return quote + text + quote

    def blank(least=0):
        return ''.join(how.choices(' \t', k=how.randint(least, 2)))

    def word(text):
        return how.choice([text, text.upper(), text.capitalize()])

    def cell(own, value):
        return '?' if value is None else quoted(own[value]) if own is not None else quoted(repr(value))

    lines = ['% a comment', '', f'{word("@relation")} {quoted(relation)}']
    for name, own in columns:
        kind = how.choice(['numeric', 'REAL', 'Integer']) if own is None else None
        if own is not None:
            kind = f'{{{blank()}' + f'{blank()},{blank()}'.join(map(quoted, own)) + f'{blank()}}}'
        lines.append(f'{blank()}{word("@attribute")}{blank(1)}{quoted(name)}{blank(1)}{kind}{blank()}')
    lines.append(word('@data'))
    for row in rows:
        dense = how.random() < 0.5
        cells = [cell(own, value) for (_, own), value in zip(columns, row, strict=True)]
        if not dense:
            left_out = [not value and value is not None and how.random() < 0.8 for value in row]
            cells = [f'{k}{blank(1)}{text}' for k, text in enumerate(cells) if not left_out[k]]
        text = f'{blank()},{blank()}'.join(cells)
        weight = how.choice(['', '', ', {1}'])
        lines.append(f'{blank()}{text}{weight}' if dense else f'{{{blank()}{text}{blank()}}}{weight}')
        lines += how.choices(['', '% x', ' \t'], k=how.randint(0, 1))
    return '\n'.join(lines) + '\n'


# A graph is (nodes, factors), a node (type, {attribute: value}, label or None), a factor (nodes, {attribute: value});
# the types of nodes have the states of STATES, and those of factors are made of the types of their nodes.
STATES = {'node': ('0', '1', '2'), 'p': ('a', 'é', 'a b'), '"': ('7',), '5': ('x', '0')}
texts = st.text(st.characters(blacklist_categories=('Cs',)), max_size=4) | st.sampled_from(['bias', '0', '1'])


@st.composite
def graphs(draw, labelled=True):
    out = []
    for _ in range(draw(st.integers(1, 4))):
        inputs = st.dictionaries(texts, values.filter(bool), max_size=3) | st.just({'bias': 1.0})
        types = draw(st.lists(st.sampled_from(sorted(STATES)), min_size=1, max_size=4))
        labels = [draw(st.sampled_from(STATES[kind]) | (st.nothing() if labelled else st.none())) for kind in types]
        nodes = [(kind, draw(inputs), label) for kind, label in zip(types, labels, strict=True)]
        several = st.lists(st.integers(0, len(types) - 1), min_size=2, max_size=3, unique=True)
        scopes = st.lists(several, max_size=4) if len(types) > 1 else st.just([])
        out.append((nodes, [(scope, draw(inputs)) for scope in draw(scopes)]))
    return out


def factor_type(types):
    """The name of the type of a factor over nodes of these types."""
    return ' '.join(types)


def graph(data):
    """With states by name or by number, here or there, and members that mean nothing."""

    def states(kind):
        return 3 if kind == 'node' else [int(name) if name.isdigit() else name for name in STATES[kind]]

    lines = []
    for nodes, factors in data:
        types = [kind for kind, *_ in nodes]
        common = len(set(types)) == 1
        example = {'id': [None, True], 'nodes': [], 'factors': []}
        if common:
            example['states'] = states(types[0])
        for kind, inputs, label in nodes:
            node = {'features': inputs, 'label': label} | ({} if kind == 'node' else {'type': kind})
            example['nodes'].append(node if common else node | {'states': states(kind)})
        for scope, inputs in factors:
            factor = {'nodes': scope, 'features': inputs, 'type': factor_type(types[v] for v in scope)}
            example['factors'].append(factor)
        lines.append(json.dumps(example, ensure_ascii=len(lines) % 2 == 0))
    return ''.join(f'{line}\n' for line in lines)


@st.composite
def _matching(draw):
    """Links (row, column, target, {attribute: value}) in any order, of which those that are right make a matching."""
    spelled = words.filter(lambda name: re.fullmatch(r'[^\s#][^\s]*', name) and name != 'qid')
    places = st.integers(0, 3) | st.just(999_999_999)
    pairs = draw(st.lists(st.tuples(places, places), min_size=1, max_size=8, unique=True))
    found, taken = [], set()
    for row, column in pairs:
        target = draw(st.sampled_from('01P'))
        sides = {('row', row), ('column', column)}
        if target == '1' and taken & sides:
            target = 'P'
        taken |= sides if target == '1' else set()
        found.append((row, column, target, draw(st.dictionaries(spelled, values, max_size=3))))
    return found


matchings = st.lists(_matching(), min_size=1, max_size=4)


def links(data):
    def line(q, row, column, target, values):
        return ' '.join([target, f'qid:{q} {row}-{column}', *(f'{k}:{v!r}' for k, v in values.items())]) + '\n'

    return ''.join(line(q, *link) for q, example in enumerate(data, 7) for link in example)


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
