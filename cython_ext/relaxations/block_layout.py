"""The blocks of a graph with soft constraints, and the graphs that its global factors are."""

from dataclasses import dataclass

import numpy as np

from cython_ext.structures.graph.layout import FactorType, GraphLayout, Shape


@dataclass(frozen=True)
class Block:
    """The factors first, ..., end - 1 of a shape; nodes: those they are over; whole: whether it is a global factor."""

    first: int
    end: int
    nodes: tuple
    whole: bool = False


def blocks_of(types, shape):
    """The Blocks of a Shape, those of the nodes first."""
    found, ends = [], dict(shape.groups)
    f = 0
    while f < len(shape.types):
        end = ends.get(f, f + 1)
        nodes = tuple(dict.fromkeys(node for scope in shape.scopes[f:end] for node in scope))
        found.append(Block(f, end, nodes, f in ends or types[shape.types[f]].buckets is not None))
        f = end
    return found


def has_global_factors(layout):
    """Whether some block of a GraphLayout is a global factor."""
    return any(block.whole for shape in layout.shapes for block in blocks_of(layout.types, shape))


def inner_layout(layout, blocks):
    """(the GraphLayout of the global factors among lists of Blocks, one for each shape; for each Block its example
    there, -1 for those that are none). Its nodes have no weights, and their states are not known."""
    types, shapes, known, numbers = list(layout.types), [], {}, []
    of_states = {}  # the type of nodes with so many states
    for shape, several in zip(layout.shapes, blocks, strict=True):
        for block in several:
            if not block.whole:
                numbers.append(-1)
                continue
            place = {node: k for k, node in enumerate(block.nodes)}
            kinds = []
            for node in block.nodes:
                states = layout.types[shape.types[node]].size
                if states not in of_states:
                    of_states[states] = len(types)
                    types.append(FactorType((states,), np.full(states, -1, np.int32)))
                kinds.append(of_states[states])
            kinds += [int(kind) for kind in shape.types[block.first : block.end]]
            scopes = [tuple(place[node] for node in scope) for scope in shape.scopes[block.first : block.end]]
            key = tuple(kinds), tuple(scopes)
            if key not in known:
                known[key] = len(shapes)
                scopes = [*((k,) for k in range(len(place))), *scopes]
                shapes.append(Shape(len(place), np.array(kinds, np.int32), scopes, np.zeros(len(kinds), np.int64)))
            numbers.append(known[key])
    nodes = np.array([shape.nodes for shape in shapes], np.int64)
    indptr = np.concatenate([[0], np.cumsum(nodes)])
    empty = np.zeros(0, np.int32)
    inner = GraphLayout(
        types,
        shapes,
        np.arange(len(shapes), dtype=np.int32),
        np.zeros(len(shapes), np.int64),
        indptr,
        np.full(indptr[-1], -1, np.int32),
        np.zeros(1, np.int64),
        empty,
        None,
    )
    return inner, np.array(numbers, np.int32)
