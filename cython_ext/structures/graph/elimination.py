"""The order in which the nodes of a factor graph are eliminated, and the layout of the tables (elimination.h).

The next node is always one whose table is smallest. On a tree no table has more than two nodes; where every node is
joined to every other the first table has all of them, and elimination is enumeration.
"""

from dataclasses import dataclass, field

import numpy as np

MAX_TABLE_DOUBLES = 1 << 22  # doubles of all tables and messages of one graph


class TooLargeError(ValueError):
    """The tables of a graph are larger than MAX_TABLE_DOUBLES."""


@dataclass
class Source:
    """What kernels call ssvm_source; the strides are of the nodes behind its level that are walked through."""

    at: int
    message: int
    level: int
    node_stride: int
    stride: int
    strides: list
    step: int
    run: int


@dataclass
class Bucket:
    """What kernels call ssvm_bucket. separator: nodes, the one that is eliminated next first."""

    node: int
    states: int
    separator: list
    dims: list
    table: int
    message: int
    sources: list = field(default_factory=list)

    @property
    def size(self):
        return int(np.prod(self.dims, dtype=np.int64))


def plan(states, scopes, places):
    """(buckets in the order of elimination, doubles of work space).

    Args:
        states: how many each node has.
        scopes: the nodes of each factor.
        places: where the joint states of each factor begin in theta.

    Raises:
        TooLargeError: more than MAX_TABLE_DOUBLES doubles.
    """
    order = elimination_order(states, scopes)
    rank = {node: k for k, node in enumerate(order)}
    waiting = [[] for _ in order]  # sources of each bucket: (nodes, where, number of message)
    for scope, place in zip(scopes, places, strict=True):
        waiting[min(rank[node] for node in scope)].append((scope, int(place), 0))
    buckets, work = [], 0
    for k, node in enumerate(order):
        separator = sorted({other for nodes, _, _ in waiting[k] for other in nodes} - {node}, key=rank.get)
        dims = [states[other] for other in separator]
        bucket = Bucket(
            node, states[node], separator, dims, work, work + states[node] * int(np.prod(dims, dtype=object))
        )
        bucket.sources = sorted((_source(bucket, states, *each) for each in waiting[k]), key=lambda s: -s.level)
        buckets.append(bucket)
        work = bucket.message + bucket.size
        if separator:
            waiting[rank[separator[0]]].append((tuple(separator), bucket.message, k + 1))
    return buckets, work


def elimination_order(states, scopes):
    """All nodes, each one that makes the smallest table among those that are left; the first of equal ones."""
    neighbours = [set() for _ in states]
    for scope in scopes:
        for node in scope:
            neighbours[node].update(scope)
    for node, others in enumerate(neighbours):
        others.discard(node)
    sizes = np.log2(np.array(states, float))
    cost = np.array([sizes[node] + sum(sizes[other] for other in others) for node, others in enumerate(neighbours)])
    order, total = [], 0.0
    for _ in states:
        node = int(cost.argmin())
        total += 2.0 ** min(cost[node], 100)
        if total > MAX_TABLE_DOUBLES:
            raise TooLargeError(f'the tables of a graph of {len(states)} nodes would be too large')
        order.append(node)
        cost[node] = np.inf
        others = neighbours[node]
        for other in others:
            neighbours[other] |= others
            neighbours[other] -= {node, other}
            cost[other] = sizes[other] + sum(sizes[each] for each in neighbours[other])
    return order


def _source(bucket, states, nodes, place, message):
    """Where a source's entries go in a table."""
    stride, strides = 1, {}
    for node in reversed(nodes):
        strides[node] = stride
        stride *= states[node]
    separator, dims = bucket.separator, bucket.dims
    places = [d for d, node in enumerate(separator) if node in strides]
    level = places[0] if places else len(separator)
    behind = [strides.get(node, 0) for node in separator[level + 1 :]]
    outer, step, run = _run(behind, dims[level + 1 :])
    own = strides[separator[level]] if places else 0
    return Source(place, message, level, strides[bucket.node], own, behind[:outer], step, run)


def _run(strides, dims):
    """(how many of the dimensions are walked through, step, length): the last ones are a run of one step."""
    outer, step, run = len(dims), 0, 1
    while outer and (run == 1 or strides[outer - 1] == step * run):
        step = strides[outer - 1] if run == 1 else step
        run *= dims[outer - 1]
        outer -= 1
    return outer, step, run
