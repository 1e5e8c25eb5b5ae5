"""Trees whose wrong and missed brackets are statistics too, so that their number is a sum over parts.

Behind the rules of a sentence stand two more parts: how many brackets of a tree are not gold, and how many gold ones it
does not have. An edge of a forest adds to both (a missed bracket is one of all that are gold, which the edge into the
goal adds, less those that other edges find), so each edge has a score of its own: that of its event and those of its
brackets. The scores of the two parts are costs, which are finite.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from cython_ext.structures.cfg cimport forest as packed
from cython_ext.structures.cfg.bracket_counts cimport BracketCounts
from cython_ext.structures.cfg.cfg cimport Cfg
from cython_ext.structures.cfg.cfg import KEPT_FOREST_BYTES
from cython_ext.structures.cfg.forest cimport Forest


cdef class BracketedCfg(Cfg):
    """Arguments as of Cfg, with the codes of gold trees."""

    def __init__(self, grammar, dataset, codes not None, Py_ssize_t limit=KEPT_FOREST_BYTES):
        Cfg.__init__(self, grammar, dataset, codes, limit)
        self.unweighted, self.max_size, self.max_parts = 2, self.max_size + 2, self.max_parts + 2
        self.counts = BracketCounts(self)
        self._set_edges()

    def _set_edges(self):
        """Lists what the edges of the forests that are kept add."""
        cdef Py_ssize_t i, x
        cdef int32_t e
        cdef Forest f
        cdef double *score
        cdef double[::1] theta = np.zeros(self.max_size + 1), scratch = np.empty(Cfg.scratch_size(self, 1) + 1)
        edges = [self.sizes[4 * i + 1] if self.forest_data[i] else 0 for i in range(self.n)]
        cdef const int64_t[::1] at = np.cumsum([0, *edges], dtype=np.int64)
        cdef int32_t[::1] wrong = np.zeros(at[self.n] + 1, np.int32), missed = np.zeros(at[self.n] + 1, np.int32)
        cdef const int32_t[::1] numbers = np.arange(self.most_edges + 1, dtype=np.int32)
        for i in range(self.n):
            if self.forest_data[i]:
                Cfg.forest(self, i, &theta[0], &scratch[0], &f, &score)
                for x in range(f.items):
                    for e in range(f.first[x], f.first[x + 1]):
                        self.of_edge(i, &f, x, e, &wrong[at[i] + e], &missed[at[i] + e])
        self.edge_arrays = at, wrong, missed, numbers
        self.edge_at, self.edge_wrong, self.edge_missed = &at[0], &wrong[0], &missed[0]
        self.numbers = &numbers[0]

    cdef void of_edge(self, Py_ssize_t i, const Forest *f, Py_ssize_t x, int32_t e, int32_t *wrong,
                      int32_t *missed) noexcept nogil:
        """What an edge into item x adds to the numbers of wrong and of missed brackets."""
        cdef Py_ssize_t hits, brackets
        self.counts.of_edge(i, f, x, e, &hits, &brackets)
        wrong[0], missed[0] = <int32_t> (brackets - hits), <int32_t> -hits
        if x == f.items - 1:
            missed[0] += <int32_t> self.counts.gold_count(i)

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef Py_ssize_t count = Cfg._parts(self, i, code, ids, counts), hits, brackets
        self.counts.of_code(i, code, &hits, &brackets)
        if brackets > hits:
            ids[count], counts[count] = <int32_t> self.rules_of(i), <double> (brackets - hits)
            count += 1
        if code[0] >= 0 and self.counts.gold_count(i) > hits:
            ids[count], counts[count] = <int32_t> self.rules_of(i) + 1, <double> (self.counts.gold_count(i) - hits)
            count += 1
        return count

    cdef double *forest(self, Py_ssize_t i, const double *theta, double *scratch, Forest *f,
                        double **score) noexcept nogil:
        """The same with a score for each edge."""
        cdef const double *brackets = theta + self.rules_of(i)
        cdef const double *event_score
        cdef const int32_t *wrong
        cdef const int32_t *missed
        cdef int32_t w = 0, m = 0
        cdef Py_ssize_t x
        cdef int32_t e
        scratch = Cfg.forest(self, i, theta, scratch, f, score)
        if f.items == 0:
            return scratch
        event_score, score[0], f.place = score[0], scratch, self.numbers
        if self.forest_data[i]:
            wrong, missed = self.edge_wrong + self.edge_at[i], self.edge_missed + self.edge_at[i]
            for e in range(f.edges):
                scratch[e] = event_score[f.event[e]] + scaled(wrong[e], brackets[0]) + scaled(missed[e], brackets[1])
            return scratch + f.edges
        for x in range(f.items):
            for e in range(f.first[x], f.first[x + 1]):
                self.of_edge(i, f, x, e, &w, &m)
                scratch[e] = event_score[f.event[e]] + scaled(w, brackets[0]) + scaled(m, brackets[1])
        return scratch + f.edges

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        return Cfg.scratch_size(self, k) + 2 * self.most_edges      # scores and means of edges

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef Forest f
        cdef double *score
        cdef double *edges
        cdef double *events
        cdef double value, found = 0.0, lost = 0.0
        cdef Py_ssize_t x, m = self.rules_of(i)
        cdef int32_t e, wrong = 0, missed = 0
        scratch = self.forest(i, theta, scratch, &f, &score)
        memset(mean, 0, (m + 2) * sizeof(double))
        if f.items == 0:
            return -INFINITY
        edges = scratch + 2 * f.items + f.edges
        events = edges + f.edges
        memset(edges, 0, (f.edges + self.events(i)) * sizeof(double))
        value = packed.sums(&f, score, scratch, scratch + f.items, scratch + 2 * f.items, edges)
        if value == -INFINITY:
            return value
        for x in range(f.items):
            for e in range(f.first[x], f.first[x + 1]):
                if self.forest_data[i]:
                    wrong, missed = self.edge_wrong[self.edge_at[i] + e], self.edge_missed[self.edge_at[i] + e]
                else:
                    self.of_edge(i, &f, x, e, &wrong, &missed)
                events[f.event[e]] += edges[e]
                found += wrong * edges[e]
                lost += missed * edges[e]
        self.means(i, events, mean)
        mean[m], mean[m + 1] = found, lost
        return value


cdef inline double scaled(int32_t count, double score) noexcept nogil:
    """count * score, and 0 where there is nothing to score, whatever the score."""
    return count * score if count else 0.0
