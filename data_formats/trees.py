"""The in-memory form of constituency treebanks: sentences of words with tags, and the phrases over each."""

from dataclasses import dataclass, replace

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.dataset import indptr_of, ranges_of


@dataclass
class TreeDataset:
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

    WORD_ARRAYS = ('words', 'tags')
    NODE_ARRAYS = ('node_labels', 'node_begins', 'node_ends')

    @property
    def n(self):
        """Number of sentences."""
        return len(self.offsets) - 1

    @property
    def tokens(self):
        """Number of words N."""
        return len(self.words)

    @property
    def largest_value(self):
        """The largest absolute value of a feature: of a count of one rule, which no scale has to be found for."""
        return 1.0

    @property
    def complete(self):
        """Whether all labels and tags are known."""
        return bool((self.tags >= 0).all() and (self.node_labels >= 0).all())

    def subset(self, examples):
        """The given sentences (ints, in the given order) as a dataset over the same vocabularies."""
        examples = np.asarray(examples, dtype=np.int64)
        counts = self.offsets[examples + 1] - self.offsets[examples]
        nodes = self.node_offsets[examples + 1] - self.node_offsets[examples]
        words, phrases = ranges_of(self.offsets[examples], counts), ranges_of(self.node_offsets[examples], nodes)
        arrays = {name: getattr(self, name)[words] for name in self.WORD_ARRAYS}
        arrays |= {name: getattr(self, name)[phrases] for name in self.NODE_ARRAYS}
        return replace(self, offsets=indptr_of(counts), node_offsets=indptr_of(nodes), **arrays)

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the sentences of several that share their vocabularies."""
        counts = np.concatenate([np.diff(block.offsets) for block in blocks])
        nodes = np.concatenate([np.diff(block.node_offsets) for block in blocks])
        names = cls.WORD_ARRAYS + cls.NODE_ARRAYS
        arrays = {name: np.concatenate([getattr(block, name) for block in blocks]) for name in names}
        return replace(blocks[0], offsets=indptr_of(counts), node_offsets=indptr_of(nodes), **arrays)
