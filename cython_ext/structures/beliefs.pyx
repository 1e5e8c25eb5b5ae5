"""Distributions of the factors of a graph that are made to agree on the nodes they share: a point of the local marginal
polytope (Meshi, Srebro and Hazan 2015, (4)) out of any beliefs.
"""

from libc.stdint cimport int64_t

from cython_ext.structures.factor_graphs cimport FactorGraphs


def room(graphs):
    """How many numbers `agree` needs for what is missing."""
    return 1 + max([len(kind.states) * max(kind.states) for kind in graphs.layout.types], default=1)


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
