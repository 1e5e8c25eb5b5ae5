"""Forests that together cover the edges of a graph, of which tree-reweighted sums are made (Wainwright, Jaakkola and
Willsky 2005): each has the same weight, so that the appearance of an edge is the share of the forests that it is in."""

import numpy as np

MOST = 200  # forests: with more, none of them would count for much


def forests_of(nodes, edges):
    """Lists of (edge, whether its first node is the child), from the leaves to the roots, one for each forest.

    Args:
        nodes: how many there are.
        edges: pairs of nodes. Each forest takes as many of them as there is place for, those first that the earlier
            ones have least; there are forests until each edge is in one.
    """
    times, found = np.zeros(len(edges), int), []
    while (not found or (times == 0).any()) and len(found) < MOST:
        chosen = spanning(nodes, edges, np.argsort(times, kind='stable').tolist())
        times[chosen] += 1
        found.append(towards_roots(nodes, edges, chosen))
    return found


def spanning(nodes, edges, order):
    """The numbers of the edges that close no circle, taken in order."""
    top, chosen = list(range(nodes)), []

    def root(node):
        while top[node] != node:
            top[node] = top[top[node]]
            node = top[node]
        return node

    for e in order:
        a, b = (root(node) for node in edges[e])
        if a != b:
            top[a] = b
            chosen.append(e)
    return chosen


def towards_roots(nodes, edges, chosen):
    """The edges of a forest as forests_of has them; the first node of each tree is its root."""
    beside = [[] for _ in range(nodes)]
    for e in chosen:
        for node, place in zip(edges[e], (0, 1), strict=True):
            beside[node].append((e, edges[e][1 - place], place == 1))
    seen, out = [False] * nodes, []
    for root in range(nodes):
        waiting, seen[root] = [] if seen[root] else [root], True
        while waiting:
            node = waiting.pop()
            for e, other, first in beside[node]:
                if not seen[other]:
                    seen[other] = True
                    out.append((e, first))
                    waiting.append(other)
    return out[::-1]
