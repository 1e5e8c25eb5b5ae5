"""The in-memory form of matching data: rows and columns with the links that there may be between them."""

from dataclasses import dataclass, replace

import numpy as np

from cython_ext.structures.matching.layout import numbered
from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.base import Dataset
from data_formats.datasets.tokens import biased, indptr_of, join_rows, ranges_of, rows_of

NO, SURE, POSSIBLE = 0, 1, 2  # targets


@dataclass
class MatchingDataset(Dataset):
    """n examples with L links in all.

    The attributes of link l are a row of the CSR triple (indptr, indices, values), ascending, no duplicates; `values`
    is None when every value is 1.
    """

    offsets: np.ndarray  # int64 [n + 1]; the links of example i are offsets[i]:offsets[i + 1]
    link_rows: np.ndarray  # int32 [L], from 0 as in the file
    link_columns: np.ndarray  # int32 [L]
    targets: np.ndarray  # int32 [L], NO, SURE (in the right output) or POSSIBLE (not in it, but no error)
    indptr: np.ndarray  # int64 [L + 1]
    indices: np.ndarray  # int32 [nnz], attribute ids
    values: np.ndarray | None  # float64 [nnz]
    attributes: Vocabulary
    scale: np.ndarray | None = None  # float64 [attributes], as of TokenDataset

    @property
    def tokens(self):
        """Number of links L."""
        return len(self.link_rows)

    @property
    def sure(self):
        """bool [L]."""
        return self.targets == SURE

    @property
    def possible(self):
        """bool [L]."""
        return self.targets == POSSIBLE

    @property
    def label_names(self):
        """Links have no labels."""
        return Vocabulary()

    @property
    def largest_value(self):
        """The largest absolute value of an attribute."""
        return 1.0 if self.values is None else float(np.abs(self.values).max(initial=1.0))

    @property
    def complete(self):
        """Whether the sure links of every example are a matching."""
        return self._sides(self.sure) == [int(self.sure.sum())] * 2

    @property
    def sides(self):
        """[number of rows, number of columns] that have a link, in all."""
        return self._sides(np.ones(self.tokens, bool))

    def _sides(self, links):
        """The same of some of the links."""
        example = np.repeat(np.arange(self.n), np.diff(self.offsets))[links]
        return [
            int(numbered(example, places[links], self.n)[1].sum()) for places in (self.link_rows, self.link_columns)
        ]

    def subset(self, examples):
        """The given examples (ints, in the given order) as a dataset over the same attributes."""
        examples = np.asarray(examples, np.int64)
        counts = self.offsets[examples + 1] - self.offsets[examples]
        links = ranges_of(self.offsets[examples], counts)
        indptr, indices, values = rows_of(self.indptr, self.indices, self.values, links)
        return replace(
            self,
            offsets=indptr_of(counts),
            link_rows=self.link_rows[links],
            link_columns=self.link_columns[links],
            targets=self.targets[links],
            indptr=indptr,
            indices=indices,
            values=values,
        )

    def without_inputs(self):
        """The same links, and no attribute occurrences."""
        return replace(self, indptr=np.zeros(1, np.int64), indices=np.zeros(0, np.int32), values=None)

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the examples of several that share their attributes."""
        blocks = list(blocks)
        indptr, indices, values = join_rows((b.indptr, b.indices, b.values) for b in blocks)
        return replace(
            blocks[0],
            offsets=indptr_of(np.concatenate([np.diff(b.offsets) for b in blocks])),
            **{
                name: np.concatenate([getattr(b, name) for b in blocks])
                for name in ('link_rows', 'link_columns', 'targets')
            },
            indptr=indptr,
            indices=indices,
            values=values,
        )

    def with_bias(self, name='bias'):
        """The dataset with one more attribute, of value 1, of every link; as TokenDataset.with_bias."""
        return replace(self, **biased(self, name))
