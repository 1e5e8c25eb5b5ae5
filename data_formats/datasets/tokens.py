"""The in-memory form of multiclass and sequence data, what readers are asked for, and what predictors get."""

from dataclasses import dataclass, field, replace

import numpy as np

from cython_ext.text.rows import SparseRows
from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.base import Dataset, largest
from data_formats.errors import DataError


@dataclass(frozen=True)
class ReadOptions:
    """What a reader may be asked for. Every format takes the same options and ignores those it has no use for.

    template : text of a CRF++ template (CoNLL columns); None means the built-in one for the number of columns
    template_name : file name of that template, for messages
    task : 'chain' or 'multiclass'; None means the format's usual one
    min_freq : attributes that occur on fewer tokens are dropped (training only)
    bias : add an attribute named `bias` with value 1 to every token
    columns : number of columns of the training file, the label included (CoNLL columns; None while training)
    require_labels : refuse training data in which a token has no label
    single_root : refuse trees of several roots (treebanks)
    labelled : read relations; otherwise all are the same (treebanks)
    tag_column : which columns of tags to use, 'coarse', 'fine' or 'both' (treebanks; None: those that hold something)
    whole : refuse right alignments that do not read both sequences whole (FASTA)
    window : how many neighbours on each side a token gets the attributes of (formats with ready-made attributes)
    edge_features : whether a token's attributes are those of the transition into it too (the same formats)
    terminals : 'word' or 'pos', what the rules of a grammar end in (brackets)
    grades : targets are grades of relevance, not losses (candidates)
    top : the label that every tree has on top (brackets; None while training, or to leave trees as they are)
    scale : 'max' or 'std', what the values of each attribute are divided by; 'none' (scaling.py; training only)
    zero_based : feature numbers count from 0 (formats whose attributes are numbers)
    threads : that may read a whole file side by side, where the vocabularies are known
    """

    template: str | None = None
    template_name: str = '<template>'
    task: str | None = None
    min_freq: int = 1
    bias: bool = False
    columns: int | None = None
    require_labels: bool = True
    threads: int = 1
    window: int = 0
    edge_features: bool = False
    single_root: bool = False
    labelled: bool = True
    tag_column: str | None = None
    whole: bool = False
    terminals: str = 'word'
    top: str | None = None
    grades: bool = False
    scale: str = 'none'
    zero_based: bool = False


@dataclass
class TokenDataset(Dataset):
    """Examples of labelled tokens with sparse inputs. Multiclass data are examples of one token.

    Row t of a CSR triple (indptr, indices, values) is `indices[indptr[t]:indptr[t + 1]]`, ascending, no duplicates;
    `values` is None when every value is 1.
    """

    offsets: np.ndarray  # int64 [n + 1]; the tokens of example i are offsets[i]:offsets[i + 1]
    indptr: np.ndarray  # int64 [N + 1]
    indices: np.ndarray  # int32 [nnz], attribute ids
    values: np.ndarray | None  # float64 [nnz]
    labels: np.ndarray  # int32 [N]; -1: none, or one that the vocabulary does not know
    attributes: Vocabulary
    label_names: Vocabulary
    # input features of the transition into a token; rows of first tokens are empty; all None without such features
    edge_indptr: np.ndarray | None = None
    edge_indices: np.ndarray | None = None
    edge_values: np.ndarray | None = None
    edge_attributes: Vocabulary | None = None
    transitions: bool = True  # False: a template without a plain B, so label pairs have no weight of their own
    template: str | None = None  # the template that made the attributes, and
    columns: int | None = None  # the number of columns of the file, both for CoNLL columns only
    unknown_labels: dict = field(default_factory=dict)  # token -> name, where labels is -1 but the file has a label
    scale: np.ndarray | None = None  # float64 [attributes], what their values were divided by (training data)

    @property
    def tokens(self):
        """Number of tokens N."""
        return len(self.labels)

    @property
    def complete(self):
        """Whether every token has a label that is known."""
        return bool((self.labels >= 0).all())

    @property
    def largest_value(self):
        """The largest absolute value of an attribute."""
        return largest(self.values, self.edge_values)

    def label(self, token):
        """The label of a token as the file has it (str), also when the vocabulary lacks it; None without one."""
        label = self.labels[token]
        return self.label_names.name(label) if label >= 0 else self.unknown_labels.get(token)

    def subset(self, examples):
        """The given examples (ints, in the given order) as a dataset over the same vocabularies."""
        examples = np.asarray(examples, dtype=np.int64)
        counts = self.offsets[examples + 1] - self.offsets[examples]
        tokens = ranges_of(self.offsets[examples], counts)
        indptr, indices, values = rows_of(self.indptr, self.indices, self.values, tokens)
        edges = (None, None, None)
        if self.edge_indptr is not None:
            edges = rows_of(self.edge_indptr, self.edge_indices, self.edge_values, tokens)
        unknown = {}
        if self.unknown_labels:
            unknown = {i: self.unknown_labels[t] for i, t in enumerate(tokens.tolist()) if t in self.unknown_labels}
        return replace(
            self,
            offsets=indptr_of(counts),
            indptr=indptr,
            indices=indices,
            values=values,
            labels=self.labels[tokens],
            edge_indptr=edges[0],
            edge_indices=edges[1],
            edge_values=edges[2],
            unknown_labels=unknown,
        )

    def without_inputs(self):
        """The same examples, labels and names, and no attribute occurrences: most of the memory."""
        empty = {'indptr': np.zeros(1, np.int64), 'indices': np.zeros(0, np.int32), 'values': None}
        return replace(self, **empty, edge_indptr=None, edge_indices=None, edge_values=None)

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the examples of several that share their vocabularies, of which none is kept."""
        rows, edges, unknown, tokens = SparseRows(), SparseRows(), {}, 0
        counts, labels = [], []
        for block in blocks:
            rows.extend(block.indptr, block.indices, block.values)
            if block.edge_indptr is not None:
                edges.extend(block.edge_indptr, block.edge_indices, block.edge_values)
            unknown.update((tokens + token, name) for token, name in block.unknown_labels.items())
            tokens += block.tokens
            counts.append(np.diff(block.offsets))
            labels.append(block.labels)
        parts = dict(zip(('indptr', 'indices', 'values'), rows.take(), strict=True))
        if block.edge_indptr is not None:
            parts |= dict(zip(('edge_indptr', 'edge_indices', 'edge_values'), edges.take(), strict=True))
        offsets = indptr_of(np.concatenate(counts))
        return replace(block, offsets=offsets, labels=np.concatenate(labels), unknown_labels=unknown, **parts)

    def as_multiclass(self):
        """Every token an example of its own; transition features go."""
        return replace(
            self,
            offsets=np.arange(self.tokens + 1, dtype=np.int64),
            edge_indptr=None,
            edge_indices=None,
            edge_values=None,
            edge_attributes=None,
        )

    def with_bias(self, name='bias'):
        """The dataset with one more attribute, of value 1, on every token.

        The vocabulary gets the attribute if it lacks it (training); tokens that carry an attribute of that name
        already are refused.
        """
        return replace(self, **biased(self, name))


@dataclass
class Block:
    """A part of a file on its way through a predictor: its examples, and its text for writers that echo it."""

    dataset: TokenDataset
    rows: bytes  # the lines these examples were read from, whole
    sequences: np.ndarray  # int64; where sequences of tokens end in the file, also when every token is an example


def biased(dataset, name):
    """The attributes and the CSR rows (a dict of fields) of a dataset with one more attribute, of value 1, in each row.

    The vocabulary gets the attribute if it lacks it. DataError where a row has one of that name already.
    """
    bias = dataset.attributes.get(name.encode())
    if bias >= 0 and (dataset.indices == bias).any():
        raise DataError('data', None, f'an attribute is named {name!r} already', f'expected no {name!r} with --bias')
    attributes = dataset.attributes
    if bias < 0:
        attributes = attributes.copy()
        bias = attributes.add(name.encode())
    rows = np.arange(len(dataset.indptr) - 1)
    indptr, indices, values = with_entries(dataset.indptr, dataset.indices, dataset.values, rows, bias)
    scale = scale_with_bias(dataset.scale, attributes)
    return {'attributes': attributes, 'indptr': indptr, 'indices': indices, 'values': values, 'scale': scale}


def scale_with_bias(scale, attributes):
    """The scale, or None, of a vocabulary that a bias may have been added to: that stays as it is."""
    return None if scale is None else np.append(scale, np.ones(len(attributes) - len(scale)))


def with_entries(indptr, indices, values, rows, k):
    """The CSR triple with one more entry of index k and value 1, which they lack, in the given rows (ascending)."""
    below = np.concatenate([[0], np.cumsum(indices < k)])
    at = indptr[rows] + below[indptr[rows + 1]] - below[indptr[rows]]
    counts = np.diff(indptr)
    counts[rows] += 1
    return (
        indptr_of(counts),
        np.insert(indices, at, np.int32(k)),
        None if values is None else np.insert(values, at, 1.0),
    )


def indptr_of(counts):
    """int64 [n + 1] from n counts."""
    out = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=out[1:])
    return out


def ranges_of(starts, counts):
    """starts[0], starts[0] + 1, ... (counts[0] of them), starts[1], ..."""
    before = indptr_of(counts)
    return np.repeat(starts - before[:-1], counts) + np.arange(before[-1])


def rows_of(indptr, indices, values, rows):
    """The CSR triple of the given rows."""
    counts = indptr[rows + 1] - indptr[rows]
    entries = ranges_of(indptr[rows], counts)
    return indptr_of(counts), indices[entries], None if values is None else values[entries]


def join_rows(parts):
    """One CSR triple from several; values are written out where any part has them."""
    rows = SparseRows()
    for part in parts:
        rows.extend(*part)
    return rows.take()
