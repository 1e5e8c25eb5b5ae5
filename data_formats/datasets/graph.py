"""The in-memory form of factor graphs: nodes with states, and factors over some of them."""

from dataclasses import dataclass, replace

import numpy as np

from cython_ext.structures.graph.layout import StateRows
from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.base import Dataset, largest
from data_formats.datasets.state_rows import joined_states, states_of
from data_formats.datasets.tokens import indptr_of, join_rows, ranges_of, rows_of, scale_with_bias, with_entries


@dataclass
class GraphDataset(Dataset):
    """n graphs with V nodes and F factors in all. Nodes and factors have sparse inputs over the same attributes: rows
    of CSR triples, as in TokenDataset, and those that have a value for each (joint) state of StateRows."""

    node_indptr: np.ndarray  # int64 [n + 1]; the nodes of example i are node_indptr[i]:node_indptr[i + 1]
    node_type: np.ndarray  # int32 [V], ids in node_types
    labels: np.ndarray  # int32 [V], numbers of states of the type; -1: none given
    indptr: np.ndarray  # int64 [V + 1], the rows of nodes
    indices: np.ndarray  # int32
    values: np.ndarray | None  # float64; None where every value is 1
    factor_indptr: np.ndarray  # int64 [n + 1]; the factors of example i are factor_indptr[i]:factor_indptr[i + 1]
    factor_type: np.ndarray  # int32 [F], ids in factor_types
    scope_indptr: np.ndarray  # int64 [F + 1]
    scope: np.ndarray  # int32; factor f is over the nodes scope[scope_indptr[f]:scope_indptr[f + 1]] of its example
    group: np.ndarray  # int32 [F]; of the pairs of a global factor its number in the example, ascending; others -1
    factor_row_indptr: np.ndarray  # int64 [F + 1], the rows of factors
    factor_indices: np.ndarray  # int32
    factor_values: np.ndarray | None  # float64
    state_indptr: np.ndarray  # int64 [V + 1], the rows of nodes, of features that have a value for each state:
    state_indices: np.ndarray  # int32, their attributes,
    states_at: np.ndarray  # int32, of which state each value is; rows ascend by states, and then by attributes
    state_values: np.ndarray  # float64, and not 0
    factor_state_indptr: np.ndarray  # int64 [F + 1], the same of factors, of their joint states or buckets
    factor_state_indices: np.ndarray
    factor_states_at: np.ndarray
    factor_state_values: np.ndarray
    attributes: Vocabulary
    node_types: Vocabulary
    factor_types: Vocabulary
    states: list  # for each type of nodes the names of its states, a tuple of str
    scopes: list  # for each type of factors the types of its nodes, a tuple of ids, empty for those that count
    buckets: list  # for each type of factors that count the first counts of its buckets, a tuple of int; others None
    scale: np.ndarray | None = None  # float64 [attributes], as of TokenDataset

    NODE_ROWS = ('indptr', 'indices', 'values')
    FACTOR_ROWS = ('factor_row_indptr', 'factor_indices', 'factor_values')
    NODE_STATES = ('state_indptr', 'state_indices', 'states_at', 'state_values')
    FACTOR_STATES = tuple(f'factor_{name}' for name in NODE_STATES)
    NAMES = ('attributes', 'node_types', 'factor_types')

    @property
    def tokens(self):
        """Number of nodes V."""
        return len(self.labels)

    @property
    def offsets(self):
        """int64 [n + 1]; as of TokenDataset, where nodes are tokens."""
        return self.node_indptr

    @property
    def nnz(self):
        """Number of attribute occurrences."""
        return len(self.indices) + len(self.factor_indices) + len(self.state_indices) + len(self.factor_state_indices)

    @property
    def complete(self):
        """Whether every node has a label."""
        return bool((self.labels >= 0).all())

    @property
    def global_factors(self):
        """How many factors have a max oracle of their own."""
        example = np.repeat(np.arange(self.n), np.diff(self.factor_indptr))[self.group >= 0]
        counting = np.array([buckets is not None for buckets in self.buckets], bool)[self.factor_type]
        return len(set(zip(example.tolist(), self.group[self.group >= 0].tolist(), strict=True))) + int(counting.sum())

    @property
    def largest_value(self):
        """The largest absolute value of an attribute."""
        return largest(self.values, self.factor_values, self.state_values, self.factor_state_values)

    @property
    def label_names(self):
        """The vocabulary of all names of states, in the order of the types."""
        return Vocabulary(name for names in self.states for name in names)

    def node_rows(self):
        """The CSR triple of the nodes."""
        return tuple(getattr(self, name) for name in self.NODE_ROWS)

    def factor_rows(self):
        """The CSR triple of the factors."""
        return tuple(getattr(self, name) for name in self.FACTOR_ROWS)

    def node_states(self):
        """The StateRows of the nodes."""
        return StateRows(*(getattr(self, name) for name in self.NODE_STATES))

    def factor_states(self):
        """The StateRows of the factors."""
        return StateRows(*(getattr(self, name) for name in self.FACTOR_STATES))

    def with_rows(self, nodes, factors, node_states=None, factor_states=None, **changes):
        """The same graphs with other CSR triples, and StateRows where they are given."""
        rows = dict(zip((*self.NODE_ROWS, *self.FACTOR_ROWS), (*nodes, *factors), strict=True))
        if node_states is not None:
            rows |= zip((*self.NODE_STATES, *self.FACTOR_STATES), (*node_states, *factor_states), strict=True)
        return replace(self, **rows, **changes)

    def subset(self, examples):
        """The given graphs (ints, in the given order) as a dataset over the same vocabularies."""
        examples = np.asarray(examples, dtype=np.int64)
        node_counts, factor_counts = np.diff(self.node_indptr)[examples], np.diff(self.factor_indptr)[examples]
        nodes = ranges_of(self.node_indptr[examples], node_counts)
        factors = ranges_of(self.factor_indptr[examples], factor_counts)
        scope_indptr, scope, _ = rows_of(self.scope_indptr, self.scope, None, factors)
        return self.with_rows(
            rows_of(*self.node_rows(), nodes),
            rows_of(*self.factor_rows(), factors),
            states_of(self.node_states(), nodes),
            states_of(self.factor_states(), factors),
            node_indptr=indptr_of(node_counts),
            node_type=self.node_type[nodes],
            labels=self.labels[nodes],
            factor_indptr=indptr_of(factor_counts),
            factor_type=self.factor_type[factors],
            scope_indptr=scope_indptr,
            scope=scope,
            group=self.group[factors],
        )

    def without_inputs(self):
        """The same graphs and labels, with empty rows."""
        starts = [np.zeros_like(indptr) for indptr in (self.indptr, self.factor_row_indptr)]
        ids = np.empty(0, np.int32)
        rows = [(indptr, ids, None) for indptr in starts]
        return self.with_rows(*rows, *(StateRows(indptr, ids, ids, np.empty(0)) for indptr in starts))

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the graphs of several that share their vocabularies."""
        blocks = list(blocks)

        def counts(name):
            return indptr_of(np.concatenate([np.diff(getattr(block, name)) for block in blocks]))

        def joined(name):
            return np.concatenate([getattr(block, name) for block in blocks])

        return blocks[0].with_rows(
            join_rows(block.node_rows() for block in blocks),
            join_rows(block.factor_rows() for block in blocks),
            joined_states([block.node_states() for block in blocks]),
            joined_states([block.factor_states() for block in blocks]),
            **{name: counts(name) for name in ('node_indptr', 'factor_indptr', 'scope_indptr')},
            **{name: joined(name) for name in ('node_type', 'labels', 'factor_type', 'scope', 'group')},
        )

    def with_bias(self, name='bias'):
        """The dataset with an attribute of value 1 on every node and factor that has none of that name.

        The vocabulary gets the attribute if it lacks it (training).
        """
        attributes, bias = self.attributes, self.attributes.get(name.encode())
        if bias < 0:
            attributes = attributes.copy()
            bias = attributes.add(name.encode())
        rows = [
            with_entries(*rows, rows_without(*rows[:2], bias), bias) for rows in (self.node_rows(), self.factor_rows())
        ]
        return self.with_rows(*rows, attributes=attributes, scale=scale_with_bias(self.scale, attributes))


def rows_without(indptr, indices, k):
    """The numbers of the rows that have no entry of index k."""
    lacking = np.ones(len(indptr) - 1, bool)
    lacking[np.repeat(np.arange(len(lacking)), np.diff(indptr))[indices == k]] = False
    return np.flatnonzero(lacking)
