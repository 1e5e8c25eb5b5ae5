"""Messages between the factors of a graph and its nodes: block minimisation of the bound by delta, (2) of Meshi, Srebro
and Hazan 2015, for one example.

    g(delta) = sum_v max_s (theta_v(s) + sum_{c: v in c} delta_cv(s)) + sum_c max_y (theta_c(y) - sum_{v in c} delta_cv(y_v))

A block is delta_cv, all states of one node in one factor. With everything else fixed, let r be the reparameterised scores
and q(s) the maximum of r_c over the joint states that give v the state s: then max_s r_v(s) + max_s q(s) is at least
max_s (r_v(s) + q(s)), and equal to that when each gets half of the sum. The same step makes the marginals agree, and is the
minimum, where maxima are smoothed by a temperature (max-sum diffusion; Werner 2007, Hazan and Urtasun 2010).

delta: the messages of one example; theta: its scores, of all joint states of all factors, as they are reparameterised.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.agreements cimport Agreements
from cython_ext.structures.factor_graphs cimport FactorGraphs


cdef void reparameterise(FactorGraphs graphs, Agreements agreements, Py_ssize_t i, const double *delta, double *theta) noexcept nogil:
    """theta as delta makes it."""
    cdef Py_ssize_t s = graphs.shape_of[i]
    cdef int64_t f
    for f in range(graphs.factor_begin[s], graphs.factor_begin[s + 1]):
        # its arrays are of all examples
        agreements.scores(i, f, delta - agreements.begin[i], 1.0, theta + graphs.part[f])


cdef void sweep(FactorGraphs graphs, Agreements agreements, Py_ssize_t i, double temperature, double *delta,
                double *theta, double *scratch) noexcept nogil:
    """Minimises over every block once; scratch: room for the states of a node."""
    cdef Py_ssize_t s = graphs.shape_of[i], k, states, inner, size
    cdef int64_t f, first = graphs.factor_begin[s], at
    cdef const int32_t *of_places
    for f in range(first + graphs.nodes[s], graphs.factor_begin[s + 1]):
        size = inner = graphs.size[graphs.type_of[f]]
        of_places = graphs.states + graphs.state_begin[graphs.type_of[f]]
        for k in range(graphs.scope_begin[f + 1] - graphs.scope_begin[f]):
            at, states = graphs.scope_begin[f] + k, of_places[k]
            inner //= states
            balance(size // (inner * states), states, inner, temperature, theta + graphs.part[f],
                    theta + graphs.part[first + graphs.scope[at]], delta + agreements.place[at], scratch)


cdef void balance(Py_ssize_t outer, Py_ssize_t states, Py_ssize_t inner, double temperature, double *factor, double *node,
                  double *delta, double *change) noexcept nogil:
    """Minimises over one block. factor: its joint states, [outer, states of the node, inner]."""
    cdef Py_ssize_t s, o, a
    cdef double top, total
    cdef double *row
    for s in range(states):
        top = -INFINITY
        for o in range(outer):
            row = factor + (o * states + s) * inner
            for a in range(inner):
                top = max(top, row[a])
        if temperature > 0.0 and top > -INFINITY:
            total = 0.0
            for o in range(outer):
                row = factor + (o * states + s) * inner
                for a in range(inner):
                    total += exp((row[a] - top) / temperature)
            top += temperature * log(total)
        change[s] = 0.5 * (top - node[s]) if -INFINITY < top < INFINITY and -INFINITY < node[s] < INFINITY else 0.0
    for s in range(states):
        node[s] += change[s]
        delta[s] += change[s]
        for o in range(outer):
            row = factor + (o * states + s) * inner
            for a in range(inner):
                row[a] -= change[s]


cdef double beliefs_of(FactorGraphs graphs, Py_ssize_t i, const double *theta, double temperature, double *mean) noexcept nogil:
    """g, and for each factor what attains its maximum: the first of its best joint states, or a softmax."""
    cdef Py_ssize_t s = graphs.shape_of[i], a, best, size
    cdef int64_t f
    cdef const double *scores
    cdef double *chances
    cdef double bound = 0.0, total
    for f in range(graphs.factor_begin[s], graphs.factor_begin[s + 1]):
        scores, chances, size, best = theta + graphs.part[f], mean + graphs.part[f], graphs.size[graphs.type_of[f]], 0
        for a in range(1, size):
            if scores[a] > scores[best]:
                best = a
        bound += scores[best]
        for a in range(size):
            chances[a] = a == best
        if temperature > 0.0 and scores[best] > -INFINITY:
            total = 0.0
            for a in range(size):
                chances[a] = exp((scores[a] - scores[best]) / temperature)
                total += chances[a]
            for a in range(size):
                chances[a] /= total
            bound += temperature * log(total)
    return bound
