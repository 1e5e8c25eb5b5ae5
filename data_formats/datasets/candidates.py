"""The in-memory form of examples that list their candidate outputs, each with sparse features and a loss or a grade."""

from dataclasses import dataclass, replace

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.base import Dataset, largest
from data_formats.datasets.tokens import indptr_of, join_rows, ranges_of, rows_of


@dataclass
class CandidateDataset(Dataset):
    """n examples with N candidates in all, whose features are the rows of a CSR triple as in TokenDataset."""

    offsets: np.ndarray  # int64 [n + 1]; the candidates of example i are offsets[i]:offsets[i + 1], one at least
    indptr: np.ndarray  # int64 [N + 1]
    indices: np.ndarray  # int32 [nnz], attribute ids
    values: np.ndarray | None  # float64 [nnz]; None: all are 1
    targets: np.ndarray  # float64 [N], losses, or grades of relevance
    qids: np.ndarray  # int64 [n], the numbers of the examples in the file
    attributes: Vocabulary
    graded: bool = False  # targets are grades: higher ones are better
    scale: np.ndarray | None = None  # float64 [attributes], as of TokenDataset

    @property
    def tokens(self):
        """Number of candidates N."""
        return len(self.targets)

    @property
    def label_names(self):
        """There are no labels."""
        return Vocabulary()

    @property
    def largest_value(self):
        """The largest absolute value of an attribute."""
        return largest(self.values)

    @property
    def losses(self):
        """float64 [N], smaller ones are better."""
        return -self.targets if self.graded else self.targets

    @property
    def costs(self):
        """float64 [N], how much larger the loss of a candidate is than the smallest of its example."""
        return self.losses - np.repeat(self._smallest(), np.diff(self.offsets))

    @property
    def decided(self):
        """bool [n], whether the candidates of an example differ in loss."""
        return np.maximum.reduceat(self.losses, self.offsets[:-1]) > self._smallest()

    def without_zero(self):
        """How many examples have no candidate whose loss is 0."""
        return 0 if self.graded else int((self._smallest() > 0).sum())

    def _smallest(self):
        return np.minimum.reduceat(self.losses, self.offsets[:-1])

    def subset(self, examples):
        """The given examples (ints, in the given order) as a dataset over the same attributes."""
        examples = np.asarray(examples, dtype=np.int64)
        counts = self.offsets[examples + 1] - self.offsets[examples]
        rows = ranges_of(self.offsets[examples], counts)
        indptr, indices, values = rows_of(self.indptr, self.indices, self.values, rows)
        targets, qids = self.targets[rows], self.qids[examples]
        changed = {'indptr': indptr, 'indices': indices, 'values': values, 'targets': targets, 'qids': qids}
        return replace(self, offsets=indptr_of(counts), **changed)

    def without_inputs(self):
        """The same examples, targets and names, and no attribute occurrences: most of the memory."""
        return replace(self, indptr=np.zeros(1, np.int64), indices=np.zeros(0, np.int32), values=None)

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the examples of several that share their attributes."""
        blocks = list(blocks)
        rows = join_rows((block.indptr, block.indices, block.values) for block in blocks)
        return replace(
            blocks[0],
            offsets=indptr_of(np.concatenate([np.diff(block.offsets) for block in blocks])),
            **dict(zip(('indptr', 'indices', 'values'), rows, strict=True)),
            targets=np.concatenate([block.targets for block in blocks]),
            qids=np.concatenate([block.qids for block in blocks]),
        )
