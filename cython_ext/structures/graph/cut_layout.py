"""Graphs of binary nodes as the kernel of cuts reads them (kernels/graph/cut.h)."""

import numpy as np

TERM = np.dtype([('at', np.int64), ('u', np.int32), ('v', np.int32), ('pair', np.int32)], align=True)


def are_binary(layout):
    """Whether all graphs of a GraphLayout have binary nodes, and factors of one or two of them."""
    return all(set(layout.types[kind].states) == {2} and len(layout.types[kind].states) < 3 for kind in used(layout))


def used(layout):
    """The types that occur in a GraphLayout, ascending."""
    return np.unique(np.concatenate([np.zeros(0, np.int32), *(shape.types for shape in layout.shapes)]))


def terms_and_arcs(types, shape):
    """(terms, begin, other, pair, back) of a Shape, as of ssvm_cut_graph. Factors of the same nodes are one pair."""
    sizes = np.array([kind.size for kind in types], np.int64)[shape.types]
    terms, pairs = np.zeros(len(sizes), TERM), {}
    terms['at'], terms['v'] = np.cumsum(sizes) - sizes, -1
    for f, scope in enumerate(shape.scopes):
        terms['u'][f] = scope[0]
        if len(scope) == 2:
            terms['v'][f] = scope[1]
            terms['pair'][f] = pairs.setdefault(tuple(sorted(scope)), len(pairs))
    ends = np.array(list(pairs), np.int32).reshape(-1, 2)
    start = ends.ravel()  # arc 2 p goes from the first node of pair p, 2 p + 1 from the second
    order = np.argsort(start, kind='stable')
    place = np.argsort(order)
    begin = np.concatenate([[0], np.cumsum(np.bincount(start, minlength=shape.nodes))])
    other, pair, back = ends[:, ::-1].ravel()[order], order // 2, place[order ^ 1]
    return terms, *(np.append(each, 0).astype(np.int32) for each in (begin, other, pair, back))
