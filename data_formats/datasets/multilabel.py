"""The in-memory form of multilabel data: sparse inputs, each with a set of labels."""

from dataclasses import dataclass, field, replace

import numpy as np

from cython_ext.text.rows import keep_ids
from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.base import Dataset, largest
from data_formats.datasets.tokens import biased, indptr_of, join_rows, rows_of


@dataclass
class LabelSetDataset(Dataset):
    """Examples with sets of labels. Row i of (indptr, indices, values) is the input of example i."""

    indptr: np.ndarray  # int64 [n + 1]
    indices: np.ndarray  # int32 [nnz], attribute ids, ascending in a row
    values: np.ndarray | None  # float64 [nnz]; None where every value is 1
    label_indptr: np.ndarray  # int64 [n + 1]
    label_ids: np.ndarray  # int32; the labels of example i, ascending, are label_indptr[i]:label_indptr[i + 1]
    attributes: Vocabulary
    label_names: Vocabulary
    unknown_labels: dict = field(default_factory=dict)  # example -> names of its labels that the vocabulary lacks
    scale: np.ndarray | None = None  # float64 [attributes], as of TokenDataset

    @property
    def tokens(self):
        """Number of examples: each is one input."""
        return self.n

    @property
    def offsets(self):
        """int64 [n + 1]; as of TokenDataset, where an example is one token."""
        return np.arange(len(self.indptr))

    @property
    def complete(self):
        """Whether all labels are known."""
        return not self.unknown_labels

    @property
    def largest_value(self):
        """The largest absolute value of an attribute."""
        return largest(self.values)

    def labels(self, i):
        """int32, the known labels of example i, ascending."""
        return self.label_ids[self.label_indptr[i] : self.label_indptr[i + 1]]

    def subset(self, examples):
        """The given examples (ints, in the given order) as a dataset over the same vocabularies."""
        examples = np.asarray(examples, dtype=np.int64)
        indptr, indices, values = rows_of(self.indptr, self.indices, self.values, examples)
        label_indptr, label_ids, _ = rows_of(self.label_indptr, self.label_ids, None, examples)
        unknown = {k: self.unknown_labels[i] for k, i in enumerate(examples.tolist()) if i in self.unknown_labels}
        rows = {'indptr': indptr, 'indices': indices, 'values': values}
        labels = {'label_indptr': label_indptr, 'label_ids': label_ids, 'unknown_labels': unknown}
        return replace(self, **rows, **labels)

    def without_inputs(self):
        """The same examples and labels, with empty rows."""
        return replace(self, indptr=np.zeros_like(self.indptr), indices=np.empty(0, np.int32), values=None)

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the examples of several that share their vocabularies."""
        blocks = list(blocks)
        starts = indptr_of([block.n for block in blocks]).tolist()
        unknown = {start + i: v for start, b in zip(starts, blocks, strict=False) for i, v in b.unknown_labels.items()}
        rows = join_rows((block.indptr, block.indices, block.values) for block in blocks)
        label_indptr, label_ids, _ = join_rows((block.label_indptr, block.label_ids, None) for block in blocks)
        return cls(*rows, label_indptr, label_ids, blocks[0].attributes, blocks[0].label_names, unknown)

    def with_bias(self, name='bias'):
        """The dataset with one more attribute, of value 1, in each example; as TokenDataset.with_bias."""
        return replace(self, **biased(self, name))


def ascending_sets(indptr, ids, size):
    """(indptr, ids) of sets of ids below `size` with each set in ascending order."""
    return keep_ids(indptr, ids, None, np.arange(size, dtype=np.int32))[:2]
