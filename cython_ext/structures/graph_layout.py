"""Factor graphs as arrays: what structures and feature maps of graphs and label sets are made from.

A factor scores the joint states of its nodes, its *scope* (Meshi, Srebro and Hazan 2015, section 3). Every node has a
factor of its own, number v for node v; those of several nodes come after them. Factors of one type share their weights.
Examples whose graphs are alike share a *shape*, so that a corpus of label sets holds the graph of all labels once.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FactorType:
    """states: how many each node of the scope has; columns: int32[product of states], which column of the type's
    weights a joint state has (the last node's state changes fastest), -1 where its score is 0; attributes: how many
    rows the weights have; constant: whether the only feature is a 1, so that there are no rows of features."""

    states: tuple
    columns: np.ndarray
    attributes: int = 1
    constant: bool = False

    @classmethod
    def full(cls, states, attributes=1, constant=False):
        """Every joint state has weights of its own."""
        return cls(tuple(states), np.arange(np.prod(states), dtype=np.int32), attributes, constant)

    @property
    def size(self):
        """How many joint states there are."""
        return len(self.columns)

    @property
    def width(self):
        """How many columns the weights have."""
        return int(self.columns.max(initial=-1)) + 1


@dataclass
class Shape:
    """One graph: types and scopes of its factors, those of the nodes first, and for each factor its row of features,
    counted from the first row of the example (anything where the type is constant)."""

    nodes: int
    types: np.ndarray  # int32 [F]
    scopes: list  # of F tuples of nodes
    rows: np.ndarray  # int64 [F]


@dataclass
class GraphLayout:
    """n examples. Row r of the features is `indices[indptr[r]:indptr[r + 1]]`, ascending numbers of the attributes of
    the type of its factor; values None: all 1."""

    types: list  # of FactorType
    shapes: list  # of Shape
    shape_of: np.ndarray  # int32 [n]
    row_start: np.ndarray  # int64 [n], the first row of each example
    label_indptr: np.ndarray  # int64 [n + 1]
    labels: np.ndarray  # int32, the right state of each node; -1 where it is unknown
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray | None

    @property
    def n(self):
        return len(self.shape_of)
