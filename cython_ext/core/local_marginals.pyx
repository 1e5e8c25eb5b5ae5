"""A point of the local marginal polytope near a dual point of the soft-constraint problem, and what it proves.

The factors of a soft dual point need not agree on the nodes they share, so its value bounds the soft problem only. Made
to agree, they bound the relaxed one, (2) and (3) of Meshi, Srebro and Hazan 2015. Its polytope has a distribution over
labelings for each global factor.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from cython_ext.features.graph.factors cimport FactorWeights
from cython_ext.relaxations.soft cimport SoftAccumulator, SoftFeatures
from cython_ext.kernels.graph.counts cimport bucket_of
from cython_ext.core.problem cimport Problem
from cython_ext.relaxations.factor_blocks cimport FactorBlocks
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs


def relaxed_dual(Problem problem not None, point):
    """The dual value of the relaxed problem at an agreeing point that is made of a WrittenPoint of a soft problem."""
    cdef SoftFeatures features = problem.features
    cdef SoftAccumulator sums = problem.accumulator()
    cdef FactorBlocks blocks = features.outputs
    cdef FactorGraphs graphs = features.graphs
    cdef FactorWeights factors = features.weights_of_factors
    widest = max([len(kind.states) * max(kind.states) for kind in graphs.layout.types if kind.states], default=1)
    cdef double[::1] rest = np.empty(widest + 1), w = np.zeros(factors.dim + 1), counts = np.zeros(blocks.max_parts + 1)
    cdef int32_t[::1] ids = np.zeros(blocks.max_parts + 1, np.int32)
    cdef Py_ssize_t b, a, c, i, size, count
    cdef const int32_t[::1] stop = problem.pool.stop
    cdef int64_t f, nodes
    cdef double loss = 0.0
    cdef double *mean
    cdef double *joint
    cdef double *of_nodes
    point.expectations(problem, sums)
    for b in range(blocks.n):
        if stop[0]:
            problem.pool.check()
        i = blocks.example[b]
        nodes, mean, size = graphs.factor_begin[graphs.shape_of[i]], sums.block(b), blocks.count(b)
        of_nodes = sums.block(b - blocks.number(b))
        count = blocks.parts(b, blocks.gold(b), &ids[0], &counts[0])
        for a in range(size):                               # what is summed up is s(y_i) - E[s]
            mean[a] = -mean[a]
        for c in range(count):
            mean[ids[c]] += counts[c]
        for a in range(size):
            mean[a] = max(0.0, mean[a])
        if blocks.is_node(b):
            loss += 1.0 - mean[blocks.gold_data[b]]
        elif graphs.is_count(blocks.factor_of(b)):
            agree_count(blocks, b, nodes, of_nodes, point, mean + blocks.node_parts(b))
        else:                               # pairs that agree on the nodes of a tree are those of labelings
            for f in range(blocks.factor_of(b), blocks.end_of(b)):
                joint = mean if blocks.inner(b) < 0 else mean + blocks.offset(b, f)
                agree(graphs, f, nodes, of_nodes, joint, &rest[0])
        for a in range(size):
            features.add_weights(b, a, -mean[a] / features.times, &w[0])
        for c in range(count):
            features.add_weights(b, ids[c], counts[c] / features.times, &w[0])
    loss /= graphs.n
    curve = float(np.asarray(w) @ np.asarray(w)) / (problem.lam * graphs.n * graphs.n)
    # the best point on the way from the gold outputs to this one, which is in the polytope as well
    step = min(1.0, loss / curve) if curve > 0 else 1.0
    return step * loss - step * step / 2 * curve


cdef agree_count(FactorBlocks blocks, Py_ssize_t b, int64_t nodes, const double *of_nodes, point, double *buckets):
    """Writes the distribution of a count's buckets that is left when its distribution over labelings is made to agree
    with its nodes as in agree(); one that is not known by its labelings is nothing but what is missing."""
    cdef FactorGraphs graphs = blocks.graphs
    cdef int64_t f = blocks.factor_of(b), k, count, K = graphs.scope_begin[f + 1] - graphs.scope_begin[f]
    cdef const int32_t *scope = graphs.scope + graphs.scope_begin[f]
    cdef const int32_t *starts = graphs.buckets + graphs.bucket_begin[graphs.type_of[f]]
    cdef int32_t size = graphs.size[graphs.type_of[f]]
    wanted = np.empty((K, 2))
    for k in range(K):
        for state in range(2):
            wanted[k, state] = of_nodes[graphs.part[nodes + scope[k]] + state]
    share, labelings = np.zeros(0), np.zeros((0, K), np.int32)
    listed = point.outputs(b)
    if listed is not None and len(listed[0]):
        share, labelings = listed[0] / listed[0].sum(), listed[1]
    for k in range(K):
        found = np.bincount(labelings[:, k], share, minlength=2)
        share = share * np.minimum(1.0, wanted[k] / np.maximum(found, wanted[k] + 1e-300))[labelings[:, k]]
    for k in range(size):
        buckets[k] = 0.0
    for count, weight in zip(labelings.sum(axis=1).tolist(), share.tolist()):
        buckets[bucket_of(starts, size, count)] += weight
    lacking = np.stack([np.bincount(labelings[:, k], share, minlength=2) for k in range(K)])
    lacking = np.maximum(0.0, wanted - lacking)
    missing = lacking.sum(axis=1).min()
    if missing <= 0.0:
        return
    chances = np.ones(1)                                    # of each count, where the nodes are independent
    for one in (lacking[:, 1] / lacking.sum(axis=1)).tolist():
        chances = np.append(chances * (1 - one), 0.0) + np.append(0.0, chances * one)
    for count, chance in enumerate(chances.tolist()):
        buckets[bucket_of(starts, size, count)] += missing * chance


cdef void agree(FactorGraphs graphs, int64_t f, int64_t nodes, const double *of_nodes, double *mean,
                double *rest) noexcept nogil:
    """Changes the distribution of a factor so that its marginals are those of its nodes.

    It loses what its marginals have too much, node by node; what is missing then, as much for each node, comes back as
    the product of what is missing at each. nodes: the factor of the example's first node; of_nodes: its distribution,
    with those of the other nodes behind; rest: room for what is missing.
    """
    cdef Py_ssize_t K = graphs.scope_begin[f + 1] - graphs.scope_begin[f]
    cdef Py_ssize_t k, s, a, states, size = graphs.size[graphs.type_of[f]], at
    cdef const int64_t *begin = graphs.state_begin + graphs.type_of[f]
    cdef const double *wanted
    cdef double missing, least = INFINITY, product
    for k in range(K):
        states = graphs.states[begin[0] + k]
        wanted = of_nodes + graphs.part[nodes + graphs.scope[graphs.scope_begin[f] + k]]
        marginal(graphs, f, k, mean, rest, states)
        for a in range(size):
            s = graphs.state_in(f, a, k)
            if rest[s] > wanted[s]:
                mean[a] *= wanted[s] / rest[s]
    at = 0
    for k in range(K):
        states = graphs.states[begin[0] + k]
        wanted = of_nodes + graphs.part[nodes + graphs.scope[graphs.scope_begin[f] + k]]
        marginal(graphs, f, k, mean, rest + at, states)
        missing = 0.0
        for s in range(states):
            rest[at + s] = max(0.0, wanted[s] - rest[at + s])
            missing += rest[at + s]
        if missing <= 0.0:
            return
        for s in range(states):                             # each by its own sum: little is left of them but rounding
            rest[at + s] /= missing
        least = min(least, missing)
        at += states
    for a in range(size):
        product, at = least, 0
        for k in range(K):
            product *= rest[at + graphs.state_in(f, a, k)]
            at += graphs.states[begin[0] + k]
        mean[a] += product


cdef void marginal(FactorGraphs graphs, int64_t f, Py_ssize_t k, const double *mean, double *out,
                   Py_ssize_t states) noexcept nogil:
    """The marginal of a factor at a place of its scope."""
    cdef Py_ssize_t a, s
    for s in range(states):
        out[s] = 0.0
    for a in range(graphs.size[graphs.type_of[f]]):
        out[graphs.state_in(f, a, k)] += mean[a]
