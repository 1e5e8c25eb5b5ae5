"""A point of the local marginal polytope near a dual point of the soft-constraint problem, and what it proves.

The factors of a soft dual point need not agree on the nodes they share, so its value bounds the soft problem only. Made
to agree, they bound the relaxed one, (2) and (3) of Meshi, Srebro and Hazan 2015.
"""

import numpy as np

from libc.stdint cimport int64_t

from cython_ext.features.factors cimport FactorWeights
from cython_ext.features.soft cimport SoftAccumulator, SoftFeatures
from cython_ext.problem cimport Problem
from cython_ext.structures.factor_blocks cimport FactorBlocks
from cython_ext.structures.factor_graphs cimport FactorGraphs


def relaxed_dual(Problem problem not None, point):
    """The dual value of the relaxed problem at an agreeing point that is made of a dual point of a soft problem."""
    cdef SoftAccumulator sums = problem._expectations(point)[1]
    cdef SoftFeatures features = problem.features
    cdef FactorBlocks blocks = features.outputs
    cdef FactorGraphs graphs = features.graphs
    cdef FactorWeights factors = features.weights_of_factors
    widest = max([len(kind.states) * max(kind.states) for kind in graphs.layout.types], default=1)
    cdef double[::1] rest = np.empty(widest + 1), w = np.zeros(factors.dim + 1)
    cdef Py_ssize_t b, a, i, size
    cdef int64_t f, nodes
    cdef double loss = 0.0
    cdef double *mean
    cdef double *of_nodes
    for b in range(blocks.n):
        i, f = blocks.example[b], blocks.factor_of(b)
        nodes, mean, size = graphs.factor_begin[graphs.shape_of[i]], sums.block(b, f), blocks.count(b)
        for a in range(size):                               # what is summed up is s(y_i) - E[s]
            mean[a] = max(0.0, (a == blocks.right_data[b]) - mean[a])
        if blocks.is_node(b):
            loss += 1.0 - mean[blocks.right_data[b]]
        else:
            of_nodes = sums.block(b - blocks.factor[b], nodes)
            agree(graphs, f, nodes, of_nodes, mean, &rest[0])
        for a in range(size):
            factors.add_state(i, f, a, (a == blocks.right_data[b]) - mean[a], &w[0])
    loss /= graphs.n
    curve = float(np.asarray(w) @ np.asarray(w)) / (problem.lam * graphs.n * graphs.n)
    # the best point on the way from the right outputs to this one, which is in the polytope as well
    step = min(1.0, loss / curve) if curve > 0 else 1.0
    return step * loss - step * step / 2 * curve


cdef void agree(FactorGraphs graphs, int64_t f, int64_t nodes, const double *of_nodes, double *mean,
                double *rest) noexcept nogil:
    """Changes the distribution of a factor so that its marginals are those of its nodes.

    It loses what its marginals have too much, node by node; what is missing then, as much for each node, comes back as the
    product of what is missing at each. nodes: the factor of the example's first node; of_nodes: its distribution, with those
    of the other nodes behind; rest: room for what is missing.
    """
    cdef Py_ssize_t k, s, a, states, size = graphs.size[graphs.type_of[f]], at, K = graphs.scope_begin[f + 1] - graphs.scope_begin[f]
    cdef const int64_t *begin = graphs.state_begin + graphs.type_of[f]
    cdef const double *wanted
    cdef double missing = 0.0, product
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
        at += states
    if missing <= 0.0:
        return
    for a in range(size):
        product, at = missing, 0
        for k in range(K):
            product *= rest[at + graphs.state_in(f, a, k)] / missing
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
