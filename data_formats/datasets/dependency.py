"""The in-memory form of treebanks: sentences of words with tags, and the dependency tree over each."""

from dataclasses import dataclass, replace

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.base import Dataset
from data_formats.datasets.empties import joined
from data_formats.datasets.tokens import indptr_of, ranges_of


@dataclass
class SentenceDataset(Dataset):
    """Sentences with dependency trees. The root, number 0 of every sentence, is not stored."""

    offsets: np.ndarray  # int64 [n + 1]; the words of sentence i are offsets[i]:offsets[i + 1]
    words: np.ndarray  # int32 [N], ids of the forms in word_names; -1: one that the vocabulary does not know
    tags: np.ndarray  # int32 [N], ids of the part-of-speech tags in tag_names; -1: unknown
    coarse: np.ndarray | None  # int32 [N], coarse tags in tag_names too; None where there is one column of tags only
    heads: np.ndarray  # int32 [N]; the number of the head in the sentence, from 1, 0 for the root; -1: none given
    relations: np.ndarray  # int32 [N], ids in label_names; -1: none given, or one that the vocabulary does not know
    word_names: Vocabulary
    tag_names: Vocabulary
    label_names: Vocabulary
    punctuation: np.ndarray | None = None  # bool [N]; whether a form is nothing but punctuation characters
    tag_column: str = 'both'  # which columns of tags are used: 'coarse', 'fine' or 'both'
    empties: np.ndarray | None = None  # where sentences without words stand, which are no examples (empties.py)

    ARRAYS = ('words', 'tags', 'coarse', 'heads', 'relations', 'punctuation')  # of the words

    @property
    def tokens(self):
        """Number of words N."""
        return len(self.heads)

    @property
    def complete(self):
        """Whether every word has a head and a relation that is known."""
        return bool((self.heads >= 0).all() and (self.relations >= 0).all())

    def subset(self, examples):
        """The given sentences (ints, in the given order) as a dataset over the same vocabularies."""
        examples = np.asarray(examples, dtype=np.int64)
        counts = self.offsets[examples + 1] - self.offsets[examples]
        words = ranges_of(self.offsets[examples], counts)
        arrays = {name: None if array is None else array[words] for name, array in self._arrays().items()}
        return replace(self, offsets=indptr_of(counts), empties=None, **arrays)

    def without_inputs(self):
        """The same trees and names, and no words and tags."""
        empty = np.zeros(0, np.int32)
        return replace(self, words=empty, tags=empty, coarse=None, punctuation=None)

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the sentences of several that share their vocabularies."""
        blocks = list(blocks)
        counts = np.concatenate([np.diff(block.offsets) for block in blocks])
        parts = [block._arrays() for block in blocks]
        arrays = {
            name: None if array is None else np.concatenate([part[name] for part in parts])
            for name, array in parts[0].items()
        }
        return replace(blocks[0], offsets=indptr_of(counts), empties=joined(blocks), **arrays)

    def _arrays(self):
        return {name: getattr(self, name) for name in self.ARRAYS}
