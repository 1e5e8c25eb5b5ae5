"""The in-memory form of constituency treebanks: sentences of words with tags, and the phrases over each."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.base import Dataset
from data_formats.datasets.empties import joined
from data_formats.datasets.tokens import indptr_of, ranges_of


class Tree(NamedTuple):
    """One tree by names; None: a label that the vocabulary does not know."""

    tags: list  # of its words
    nodes: list  # (label, first word, the word after the last) of its phrases, in the order of a TreeDataset

    @property
    def top(self):
        """The outermost label."""
        return self.nodes[0][0] if self.nodes else self.tags[0]


@dataclass
class TreeDataset(Dataset):
    """Sentences with trees. A phrase is a node above the tags; phrases stand in the order of their first words, the
    outer ones first."""

    offsets: np.ndarray  # int64 [n + 1]; the words of sentence i are offsets[i]:offsets[i + 1]
    words: np.ndarray  # int32 [N], ids in word_names; -1: one that the vocabulary does not know
    tags: np.ndarray  # int32 [N], ids in label_names; -1: unknown
    node_offsets: np.ndarray  # int64 [n + 1]; the phrases of sentence i are node_offsets[i]:node_offsets[i + 1]
    node_labels: np.ndarray  # int32 [M], ids in label_names; -1: unknown
    node_begins: np.ndarray  # int32 [M], the first word, counted from 0 in the sentence
    node_ends: np.ndarray  # int32 [M], the word after the last one
    word_names: Vocabulary
    label_names: Vocabulary  # of phrases and tags
    forms: np.ndarray | None = None  # int32 [n], what a file has of each, as in cython_ext.text.formats.brackets
    # int64 [N, 4], where the text of a part of a file has each word, and its tag: from, to, from, to
    spelling: np.ndarray | None = None
    empties: np.ndarray | None = None  # where sentences without words stand, which are no examples (empties.py)

    WORD_ARRAYS = ('words', 'tags', 'spelling')
    NODE_ARRAYS = ('node_labels', 'node_begins', 'node_ends')

    @property
    def tokens(self):
        """Number of words N."""
        return int(self.offsets[-1])

    @property
    def complete(self):
        """Whether all labels and tags are known."""
        return bool((self.tags >= 0).all() and (self.node_labels >= 0).all())

    @property
    def given(self):
        """Whether any sentence has a tree."""
        return self.forms is None or bool(self.forms.any())

    def tree(self, i):
        """The Tree of sentence i."""
        words, nodes = slice(*self.offsets[i : i + 2]), slice(*self.node_offsets[i : i + 2])
        lists = [getattr(self, name)[nodes].tolist() for name in self.NODE_ARRAYS]
        return self.named(self.tags[words].tolist(), *lists)

    def named(self, tags, labels, begins, ends):
        """The Tree with these labels, by id."""
        names = self._names
        nodes = zip([names[k] for k in labels], begins, ends, strict=True)
        return Tree([names[k] for k in tags], list(nodes))

    @cached_property
    def _names(self):
        """Of all labels; the last, which -1 is the place of, is None."""
        return [*self.label_names.names(), None]

    def subset(self, examples):
        """The given sentences (ints, in the given order) as a dataset over the same vocabularies."""
        examples = np.asarray(examples, dtype=np.int64)
        counts = self.offsets[examples + 1] - self.offsets[examples]
        nodes = self.node_offsets[examples + 1] - self.node_offsets[examples]
        words, phrases = ranges_of(self.offsets[examples], counts), ranges_of(self.node_offsets[examples], nodes)
        arrays = {name: _taken(getattr(self, name), words) for name in self.WORD_ARRAYS}
        arrays |= {name: getattr(self, name)[phrases] for name in self.NODE_ARRAYS}
        arrays |= {'forms': _taken(self.forms, examples), 'empties': None}
        return replace(self, offsets=indptr_of(counts), node_offsets=indptr_of(nodes), **arrays)

    def with_trees(self, trees):
        """The same sentences with other trees, for each (tags, labels, begins, ends), lists of ids and of places."""
        columns = [np.fromiter(chain.from_iterable(lists), np.int32) for lists in zip(*trees, strict=True)]
        tags, *nodes = columns or [np.zeros(0, np.int32)] * 4
        counts = indptr_of([len(labels) for _, labels, _, _ in trees])
        return replace(self, tags=tags, node_offsets=counts, **dict(zip(self.NODE_ARRAYS, nodes, strict=True)))

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the sentences of several that share their vocabularies."""
        blocks = list(blocks)
        counts = np.concatenate([np.diff(block.offsets) for block in blocks])
        nodes = np.concatenate([np.diff(block.node_offsets) for block in blocks])
        names = (*cls.WORD_ARRAYS, *cls.NODE_ARRAYS, 'forms')
        parts = {name: [getattr(block, name) for block in blocks] for name in names}
        arrays = {name: None if part[0] is None else np.concatenate(part) for name, part in parts.items()}
        arrays['empties'] = joined(blocks)
        return replace(blocks[0], offsets=indptr_of(counts), node_offsets=indptr_of(nodes), **arrays)


def _taken(array, places):
    return None if array is None else array[places]
