"""Constituency trees in plain Python: a grammar read off some, and all trees that it gives a sentence.

A tree is a tuple (label, child, ...), over a word (tag, 'word'). What the core numbers, this numbers again by itself.
"""

import functools
import itertools
from collections import Counter

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.cfg import TreeDataset
from tests.enumeration import Enumerated, matrix

TOP = ('TOP', 'ROOT')


def tree(text):
    """A tree of Penn brackets."""
    tokens = text.replace('(', ' ( ').replace(')', ' ) ').split()
    stack = [[]]
    for token in tokens:
        if token == '(':
            stack.append([])
        elif token == ')':
            node = tuple(stack.pop())
            stack[-1].append(node)
        else:
            stack[-1].append(token)
    ((only,),) = stack
    return only


def is_leaf(node):
    return len(node) == 2 and isinstance(node[1], str)


def leaves(node):
    """[(tag, word)]."""
    return [node] if is_leaf(node) else [leaf for child in node[1:] for leaf in leaves(child)]


def labels_of(node):
    return {node[0]} if is_leaf(node) else {node[0]}.union(*map(labels_of, node[1:]))


def dataset_of(trees):
    """The TreeDataset of some trees."""
    label_names = sorted(set().union(*map(labels_of, trees)))
    word_names = sorted({word for one in trees for _, word in leaves(one)})
    words, tags, nodes = [], [], []

    def walk(node, begin, out):
        if is_leaf(node):
            return begin + 1
        place = len(out)
        out.append(None)
        end = begin
        for child in node[1:]:
            end = walk(child, end, out)
        out[place] = label_names.index(node[0]), begin, end
        return end

    for one in trees:
        out = []
        walk(one, 0, out)
        nodes.append(out)
        words.append([word_names.index(word) for _, word in leaves(one)])
        tags.append([label_names.index(tag) for tag, _ in leaves(one)])
    flat = np.array([node for out in nodes for node in out], np.int32).reshape(-1, 3)
    return TreeDataset(
        np.cumsum([0, *map(len, words)], dtype=np.int64),
        np.array([word for row in words for word in row], np.int32),
        np.array([tag for row in tags for tag in row], np.int32),
        np.cumsum([0, *map(len, nodes)], dtype=np.int64),
        *(np.ascontiguousarray(column) for column in flat.T),
        Vocabulary([name.encode() for name in word_names]),
        Vocabulary([name.encode() for name in label_names]),
    )


def chain_and_node(node):
    """(labels one above the other, the lowest last; the node of the lowest)."""
    labels = [node[0]]
    while len(node) == 2 and not is_leaf(node):
        node = node[1]
        labels.append(node[0])
    return tuple(labels), node


class PlainGrammar:
    """rules: {(label, children or word)}; chains: {labels one above the other}; terminals: 'word' or 'pos'."""

    def __init__(self, trees, terminals):
        self.terminals = terminals
        self.labels = sorted(set().union(*map(labels_of, trees)))
        self.words = sorted({word for one in trees for _, word in leaves(one)})
        self.rules = set().union(*(self.rules_of(one) for one in trees))
        self.chains = set().union(*map(self._chains_of, trees))
        (self.start,) = {one[0] for one in trees}
        place = {label: k for k, label in enumerate(self.labels)}
        phrases = [rule for rule in self.rules if isinstance(rule[1], tuple)]
        phrases.sort(key=lambda rule: (place[rule[0]], [place[child] for child in rule[1]]))
        lexical = sorted((rule for rule in self.rules if isinstance(rule[1], str)), key=lambda r: (r[1], place[r[0]]))
        self.number = {rule: k for k, rule in enumerate([*phrases, *lexical])}
        order = sorted(self.chains, key=lambda chain: [place[label] for label in chain])
        self.chain_number = {chain: k for k, chain in enumerate(order, 1)}
        self.place = place

    def _chains_of(self, node):
        labels, node = chain_and_node(node)
        here = {labels} if len(labels) > 1 else set()
        return here if is_leaf(node) else here.union(*map(self._chains_of, node[1:]))

    def rules_of(self, node):
        """How often each rule is used."""
        if is_leaf(node):
            return Counter([(node[0], node[1])] if self.terminals == 'word' else [])
        return sum(map(self.rules_of, node[1:]), Counter([(node[0], tuple(child[0] for child in node[1:]))]))

    def code(self, node, length=None):
        """Pairs (chain, rule), outer nodes first, and -1 up to two for each of the most nodes that there can be."""
        labels, low = chain_and_node(node)
        chain = self.chain_number[labels] if len(labels) > 1 else 0
        if is_leaf(low):
            code = (chain, self.number[low] if self.terminals == 'word' else -2 - self.place[low[0]])
        else:
            code = (chain, self.number[low[0], tuple(child[0] for child in low[1:])])
            code += sum((self.code(child) for child in low[1:]), ())
        return code if length is None else code + (-1,) * (4 * length - 2 - len(code))

    def parses(self, sentence):
        """Every tree over [(tag, word)]; of words the tags, of tags the words do not count."""

        @functools.cache
        def bases(label, i, j):
            if j == i + 1:
                tag, word = sentence[i]
                fits = (label, word) in self.rules if self.terminals == 'word' else label == tag
                return [(label, word)] if fits else []
            found = []
            for lhs, children in sorted(rule for rule in self.rules if isinstance(rule[1], tuple)):
                if lhs == label and len(children) > 1:
                    for cuts in itertools.combinations(range(i + 1, j), len(children) - 1):
                        ends = [i, *cuts, j]
                        spans = zip(children, ends, ends[1:], strict=False)
                        found += [(label, *below) for below in itertools.product(*(tops(*span) for span in spans))]
            return found

        @functools.cache
        def tops(label, i, j):
            found = list(bases(label, i, j))
            for chain in sorted(self.chains):
                if chain[0] == label:
                    for node in bases(chain[-1], i, j):
                        for above in chain[-2::-1]:
                            node = (above, node)
                        found.append(node)
            return found

        return tops(self.start, 0, len(sentence))


def brackets(node):
    """How often each (label, begin, end) occurs, without tags and without the top."""
    out = Counter()

    def walk(node, begin):
        if is_leaf(node):
            return begin + 1
        end = begin
        for child in node[1:]:
            end = walk(child, end)
        if node[0] not in TOP:
            out[node[0], begin, end] += 1
        return end

    walk(node, 0)
    return out


def f1_loss(right, other):
    """1 - F1 of the brackets; of two trees without any it is 0."""
    right, other = brackets(right), brackets(other)
    total = sum(right.values()) + sum(other.values())
    return 1 - 2 * sum((right & other).values()) / total if total else 0.0


def bracket_errors(right, other):
    """(wrong, missed): how many brackets only the other tree has, and how many only the right one."""
    right, other = brackets(right), brackets(other)
    return (other - right).total(), (right - other).total()


LOSSES = {
    'zero-one': lambda right, other: float(other != right),
    'f1': f1_loss,
    'brackets': lambda right, other: float(sum(bracket_errors(right, other))),
}


class TreeEnumeration:
    """All trees of all sentences, as Enumeration has outputs; keys: the rules, in the order of the core's weights. With
    the loss `brackets` the numbers of wrong and missed brackets are parts without features, behind the rules."""

    def __init__(self, trees, terminals='word', loss='zero-one'):
        self.grammar = PlainGrammar(trees, terminals)
        self.keys = sorted(self.grammar.number, key=self.grammar.number.get)
        self.column = {key: k for k, key in enumerate(self.keys)}
        self.examples = [self._arrays(one, loss) for one in trees]

    @property
    def dim(self):
        return len(self.keys)

    def _arrays(self, right, loss):
        grammar, length = self.grammar, len(leaves(right))
        found = grammar.parses(tuple(leaves(right)))
        counts = [grammar.rules_of(one) for one in found]
        part_keys = sorted(set().union(*counts), key=grammar.number.get)
        losses = [LOSSES[loss](right, one) for one in found]
        parts = matrix(counts, {key: k for k, key in enumerate(part_keys)})
        if loss == 'brackets':
            part_keys = [*part_keys, 'wrong', 'missed']
            parts = np.hstack([parts, [bracket_errors(right, one) for one in found]])
        return Enumerated(
            [grammar.code(one, length) for one in found],
            found.index(right),
            part_keys,
            parts,
            matrix(counts, self.column),
            np.array(losses),
        )


# Trees whose grammars leave something to decide.
TREES = {
    'normal form': [
        '(S (S (A x) (B y)) (S (A x) (B x)))',
        '(S (A (A x) (B y)) (S x))',
        '(S (A x) (S (S y) (S (A y) (B (B x) (A x)))))',
        '(S (S x) (S (S y) (S (S x) (S (S x) (S y)))))',
    ],
    'chains': [
        '(TOP (S (NP (NP (D a) (N b))) (VP (V c) (NP (N b)))))',
        '(TOP (S (VP (V c) (NP (N b) (N a) (N b)))))',
        '(TOP (NP (NP (N a)) (NP (N b) (VP (V c)))))',
        '(TOP (S (S (VP (V c))) (NP (NP (NP (N b)) (D a))) (VP (V b) (NP (D a) (N b)))))',
        '(TOP (NP (N a)))',
    ],
    'halves': ['(S (S (S a) (S a)) (S (S (S a) (S a)) (S a)))', '(S (S a) (S (S a) (S a)))'],
    'long rules': [
        '(X (X (t a) (t a)) (t a) (X (t a) (t a)))',
        '(X (t a) (t a) (t a) (t a))',
        '(X (X (t a)) (X (t a) (t a) (t a)) (t b))',
    ],
}


def named(name):
    return [tree(text) for text in TREES[name]]
