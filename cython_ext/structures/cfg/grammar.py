"""Weighted context-free grammars read off trees (Tsochantaridis et al. 2005, section 4.5.1).

A tree is made of *nodes*, in the order of its words and the outer ones first: a node stands for a word or for two or
more children, and has the chain of labels that lie one above the other over the same words. Each label is written by a
rule: a unary rule for every step down a chain, then a rule for the children (`NP -> DT NN`) or, where words are the
terminals, a lexical one (`NN -> dog`). Where tags are the terminals a word's tag is given and no rule writes it.

Labels and tags share their numbers. Rules have any number of children; what joins these two by two lies in the chart
alone (chart.pyx), so that nothing has to be undone. Chains are those that occur: a chain is a unit as if it were one
label, which keeps trees finite, but each of its rules has its own weight.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

TOPS = ('TOP', 'ROOT')  # labels of the node over a whole sentence that is no constituent
WORDS, TAGS = 'word', 'pos'  # what the terminals are
UNKNOWN_WORD = -2  # less the tag: the rule of a leaf that none writes


@dataclass(frozen=True)
class Grammar:
    """Rules are numbered: of phrases first (unary ones too), lexical ones after them. Chains are numbered from 1."""

    terminals: str
    start: int  # the label of every whole tree
    lhs: np.ndarray  # int32 [phrasal rules]
    rhs_indptr: np.ndarray  # int64 [phrasal rules + 1]
    rhs: np.ndarray  # int32 labels
    lexical_tags: np.ndarray  # int32 [lexical rules], in the order of
    lexical_words: np.ndarray  # int32 their words
    chain_indptr: np.ndarray  # int64 [chains + 1]
    chain_rules: np.ndarray  # int32 unary rules, outermost first
    open_tags: np.ndarray  # int32, the tags that an unknown word may have

    ARRAYS = (
        'lhs',
        'rhs_indptr',
        'rhs',
        'lexical_tags',
        'lexical_words',
        'chain_indptr',
        'chain_rules',
        'open_tags',
    )

    @property
    def phrasal(self):
        return len(self.lhs)

    @property
    def size(self):
        """Number of rules."""
        return len(self.lhs) + len(self.lexical_tags)

    def children(self, rule):
        """Labels on the right of a phrasal rule."""
        return tuple(self.rhs[self.rhs_indptr[rule] : self.rhs_indptr[rule + 1]].tolist())

    def chain(self, number):
        """Rules of a chain, outermost first."""
        if number == 0:
            return ()
        return tuple(self.chain_rules[self.chain_indptr[number - 1] : self.chain_indptr[number]].tolist())

    def chain_labels(self, number):
        """Labels of a chain, the lowest last."""
        rules = self.chain(number)
        return [*self.lhs[list(rules)].tolist(), *self.children(rules[-1])]

    @classmethod
    def of(cls, dataset, terminals=WORDS):
        """The grammar of all trees of a TreeDataset.

        Raises:
            ValueError: there is no tree, or trees have different outermost labels.
        """
        phrasal, lexical, chains, starts = set(), {}, set(), set()
        for i in range(dataset.n):
            t = int(dataset.offsets[i])
            for k, (labels, children) in enumerate(nodes_of(dataset, i)):
                if k == 0:
                    starts.add(labels[0])
                if len(labels) > 1:
                    chains.add(labels)
                    phrasal.update((labels[j], labels[j + 1 : j + 2]) for j in range(len(labels) - 1))
                if children is not None:
                    phrasal.add((labels[-1], tuple(children)))
                    continue
                if terminals == WORDS and dataset.words[t] >= 0:
                    rule = int(dataset.words[t]), labels[-1]
                    lexical[rule] = lexical.get(rule, 0) + 1
                t += 1
        if len(starts) != 1:
            raise ValueError('trees with different outermost labels' if starts else 'no trees')
        return cls.made(terminals, starts.pop(), sorted(phrasal), sorted(lexical), sorted(chains), _open_tags(lexical))

    @classmethod
    def made(cls, terminals, start, phrasal, lexical, chains, open_tags):
        """The grammar with these rules, each list ascending: phrasal [(label, children)], lexical [(word, tag)], chains
        [labels, outermost first].

        Raises:
            KeyError: a step of a chain is no rule.
        """
        number = {rule: k for k, rule in enumerate(phrasal)}
        steps = [[number[a, (b,)] for a, b in pairwise(chain)] for chain in chains]
        rhs = [children for _, children in phrasal]
        return cls(
            terminals,
            start,
            _int32(label for label, _ in phrasal),
            _indptr(rhs),
            _int32(label for children in rhs for label in children),
            _int32(tag for _, tag in lexical),
            _int32(word for word, _ in lexical),
            _indptr(steps),
            _int32(rule for chain in steps for rule in chain),
            _int32(open_tags),
        )

    def check(self, labels, words):
        """Raise ValueError unless the arrays are those of a grammar over so many labels and words."""
        for name, rows, values in (
            ('rhs_indptr', self.phrasal, self.rhs),
            ('chain_indptr', len(self.chain_indptr) - 1, self.chain_rules),
        ):
            indptr = getattr(self, name)
            if len(indptr) != max(rows, 0) + 1 or indptr[0] or indptr[-1] != len(values) or (np.diff(indptr) < 1).any():
                raise ValueError(f'{name} is no table of rows')
        for name, least in (('lhs', labels), ('rhs', labels), ('lexical_tags', labels), ('open_tags', labels)):
            self._check_range(name, least)
        self._check_range('lexical_words', words)
        self._check_range('chain_rules', self.phrasal)
        if self.terminals not in (WORDS, TAGS) or (self.terminals == TAGS and len(self.lexical_tags)):
            raise ValueError('its terminals are neither words nor tags')
        if self.terminals == WORDS and not len(self.open_tags):
            raise ValueError('no tag is open to unknown words')
        if len(self.lexical_words) != len(self.lexical_tags):
            raise ValueError('lexical_words and lexical_tags are not of the same length')
        phrasal = [(label, self.children(rule)) for rule, label in enumerate(self.lhs.tolist())]
        lexical = list(zip(self.lexical_words.tolist(), self.lexical_tags.tolist(), strict=True))
        for c in range(1, len(self.chain_indptr)):
            steps = [phrasal[rule] for rule in self.chain(c)]
            if any(len(children) > 1 for _, children in steps) or any(a[1][0] != b[0] for a, b in pairwise(steps)):
                raise ValueError(f'chain {c} is none')
        chains = [self.chain_labels(c) for c in range(1, len(self.chain_indptr))]
        for what, rows in (('rules', phrasal), ('rules of words', lexical), ('chains', chains)):
            if any(a >= b for a, b in pairwise(rows)):
                raise ValueError(f'its {what} are not in order')

    def _check_range(self, name, size):
        values = getattr(self, name)
        if len(values) and not 0 <= values.min() <= values.max() < size:
            raise ValueError(f'{name} is not from 0 to {size - 1}')

    def codes(self, dataset):
        """The code of every tree as pairs (chain, rule) of its nodes, None where the grammar does not write it."""
        rules = {(int(a), self.children(r)): r for r, a in enumerate(self.lhs)}
        words = zip(self.lexical_words.tolist(), self.lexical_tags.tolist(), strict=True)
        lexical = {pair: self.phrasal + k for k, pair in enumerate(words)}
        known = {word for word, _ in lexical}
        chains = {self.chain(c): c for c in range(len(self.chain_indptr))}
        out = []
        for i in range(dataset.n):
            code, t = [], int(dataset.offsets[i])
            for labels, children in nodes_of(dataset, i):
                steps = tuple(rules.get((a, (b,))) for a, b in pairwise(labels))
                if children is not None:
                    rule = rules.get((labels[-1], tuple(children)))
                else:
                    rule = self._leaf(int(dataset.words[t]), labels[-1], lexical, known)
                    t += 1
                code += [chains.get(steps), rule]
            written = None not in code and bool(code) and next(iter(nodes_of(dataset, i)))[0][0] == self.start
            out.append(code if written else None)
        return out

    def tree(self, code):
        """(tags, labels, begins, ends) of a code (ints), as TreeDataset.with_trees takes them; None for no tree."""
        if code[0] < 0:
            return None
        written, chain_labels, arity, lexical_tags = self._lists
        tags, labels, begins, ends, open_nodes = [], [], [], [], []
        for number, rule in zip(code[::2], code[1::2], strict=True):
            if number < 0:
                break
            first, leaf = len(labels), not 0 <= rule < self.phrasal
            labels += chain_labels[number] if leaf else [*chain_labels[number], written[rule]]
            begins += [len(tags)] * (len(labels) - first)
            ends += [len(tags) + 1] * (len(labels) - first)
            if not leaf:
                open_nodes.append([arity[rule], first, len(labels)])
                continue
            tags.append(UNKNOWN_WORD - rule if rule < 0 else lexical_tags[rule - self.phrasal])
            while open_nodes:
                open_nodes[-1][0] -= 1
                if open_nodes[-1][0]:
                    break
                _, first, last = open_nodes.pop()
                ends[first:last] = [len(tags)] * (last - first)
        return tags, labels, begins, ends

    @cached_property
    def _lists(self):
        """What tree() looks up: labels of rules and chains, numbers of children, tags of lexical rules."""
        written = self.lhs.tolist()
        chain_labels = [[written[rule] for rule in self.chain(c)] for c in range(len(self.chain_indptr))]
        return written, chain_labels, np.diff(self.rhs_indptr).tolist(), self.lexical_tags.tolist()

    def _leaf(self, word, tag, lexical, known):
        """The rule of a leaf, or what stands for none; None where there is no such leaf."""
        if self.terminals == TAGS:
            return UNKNOWN_WORD - tag if tag >= 0 else None
        if word in known:
            return lexical.get((word, tag))
        return UNKNOWN_WORD - tag if tag in self.open_tags else None


def nodes_of(dataset, i):
    """The nodes of tree i: [(labels of the chain, outermost first, with the tag of a word last; labels of the children,
    or None for a word)]."""
    begin, end = int(dataset.node_offsets[i]), int(dataset.node_offsets[i + 1])
    labels = dataset.node_labels[begin:end].tolist()
    begins, ends = dataset.node_begins[begin:end].tolist(), dataset.node_ends[begin:end].tolist()
    tags = dataset.tags[dataset.offsets[i] : dataset.offsets[i + 1]].tolist()
    out, open_nodes, t, p = [], [], 0, 0
    while t < len(tags):
        if open_nodes and open_nodes[-1][0] == t:
            open_nodes.pop()
            continue
        to = ends[p] if p < len(labels) and begins[p] == t else t + 1
        chain = []
        while p < len(labels) and begins[p] == t and ends[p] == to:
            chain.append(labels[p])
            p += 1
        leaf = to == t + 1
        if leaf:
            chain.append(tags[t])
            t += 1
        if open_nodes:
            open_nodes[-1][1].append(chain[0])
        children = None if leaf else []
        out.append((tuple(chain), children))
        if not leaf:
            open_nodes.append((to, children))
    return out


def _open_tags(lexical):
    """Tags of the words that occur once, which an unknown word is most like; all tags if there is none."""
    totals = {}
    for (word, _), count in lexical.items():
        totals[word] = totals.get(word, 0) + count
    rare = sorted({tag for word, tag in lexical if totals[word] == 1})
    return rare or sorted({tag for _, tag in lexical})


def _int32(values):
    return np.fromiter(values, np.int32)


def _indptr(rows):
    return np.cumsum([0, *map(len, rows)], dtype=np.int64)
