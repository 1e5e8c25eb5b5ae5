"""Factor graphs as arrays: what structures and feature maps of graphs and label sets are made from.

A factor scores the joint states of its nodes, its *scope* (Meshi, Srebro and Hazan 2015, section 3). Every node has a
factor of its own, number v for node v; those of several nodes come after them. Factors of one type share their weights.
Examples whose graphs are alike share a *shape*, so that a corpus of label sets holds the graph of all labels once.

Where constraints are soft (section 4), what is chosen at once is the output of a *block*: a node, the joint state of a
factor, or the states of all nodes of a *global factor*, which has a max oracle of its own (section 5). That is a group
of pairs that make a tree, or a factor whose score depends on how many of its binary nodes have state 1, a *count*.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class FactorType:
    """states: how many each node of the scope has; columns: int32[product of states], which column of the type's
    weights a joint state has (the last node's state changes fastest), -1 where its score is 0; attributes: how many
    rows the weights have; constant: whether the only feature is a 1, so that there are no rows of features;
    state_attributes: how many features there are that have a value for each joint state, and one weight each.

    buckets: of a count, which counts begin a bucket, ascending, the first one 0; None elsewhere. Buckets are its joint
    states, and it has any number of nodes: `states` is empty."""

    states: tuple
    columns: np.ndarray
    attributes: int = 1
    constant: bool = False
    buckets: tuple | None = None
    state_attributes: int = 0

    @classmethod
    def full(cls, states, attributes=1, constant=False, state_attributes=0):
        """Every joint state has weights of its own."""
        columns = np.arange(np.prod(states), dtype=np.int32)
        return cls(tuple(states), columns, attributes, constant, None, state_attributes)

    @classmethod
    def count(cls, buckets, attributes=1, constant=False, state_attributes=0):
        """Every bucket has weights of its own."""
        columns = np.arange(len(buckets), dtype=np.int32)
        return cls((), columns, attributes, constant, tuple(buckets), state_attributes)

    @property
    def size(self):
        """How many joint states there are."""
        return len(self.columns)

    def states_of(self, scope):
        """How many states each node of a scope has."""
        return self.states if self.buckets is None else (2,) * len(scope)

    @property
    def width(self):
        """How many columns the weights have."""
        return int(self.columns.max(initial=-1)) + 1

    @property
    def weights(self):
        """How many weights there are."""
        return self.attributes * self.width + self.state_attributes


class StateRows(NamedTuple):
    """Features that have a value for each joint state, and one weight: those of row r are the entries indptr[r] to
    indptr[r + 1], ascending by joint states and then by attributes; what has no entry is 0."""

    indptr: np.ndarray  # int64
    indices: np.ndarray  # int32, the attribute
    states: np.ndarray  # int32, the joint state
    values: np.ndarray  # float64


@dataclass
class Shape:
    """One graph: types and scopes of its factors, those of the nodes first, and for each factor its row of features,
    counted from the first row of the example (anything where the type is constant). groups: the factors of each global
    factor that is made of several, as (first, last + 1), ascending."""

    nodes: int
    types: np.ndarray  # int32 [F]
    scopes: list  # of F tuples of nodes
    rows: np.ndarray  # int64 [F]
    groups: list = field(default_factory=list)


@dataclass
class GraphLayout:
    """n examples. Row r of the features is `indices[indptr[r]:indptr[r + 1]]`, ascending numbers of the attributes of
    the type of its factor; values None: all 1. Where features have a value for each joint state, state_rows has the
    same rows."""

    types: list  # of FactorType
    shapes: list  # of Shape
    shape_of: np.ndarray  # int32 [n]
    row_start: np.ndarray  # int64 [n], the first row of each example
    label_indptr: np.ndarray  # int64 [n + 1]
    labels: np.ndarray  # int32, the right state of each node; -1 where it is unknown
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray | None
    untied: bool = False  # no two factors of an example share their type
    state_rows: StateRows | None = None

    @property
    def n(self):
        return len(self.shape_of)
