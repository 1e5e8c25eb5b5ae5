"""The packed parses of a sentence, an acyclic hypergraph, and the oracles over it; see forest.pyx."""

from libc.stdint cimport int32_t


cdef struct Forest:
    Py_ssize_t items, edges
    const int32_t *first        # [items + 1] edges into each item
    const int32_t *symbol       # [items]
    const int32_t *span         # [items] begin * (n + 1) + end
    const int32_t *left         # [edges] items
    const int32_t *right
    const int32_t *event        # what an edge is
    const int32_t *place        # [edges] where its score stands: its event, or where a structure has more scores


cdef struct Ranking:
    Py_ssize_t k
    double *value               # [items, k] the best derivations of an item, best first
    int32_t *count              # [items] how many there are
    int32_t *edge               # [items, k] the last edge of each,
    int32_t *left_rank          # and which derivation of the items before it
    int32_t *right_rank
    double *bid                 # [4 k] candidates for the next place
    int32_t *bidder             # [4 k, 3]


cdef Forest forest_at(const int32_t *memory, Py_ssize_t items, Py_ssize_t edges) noexcept nogil
cdef Py_ssize_t forest_size(Py_ssize_t items, Py_ssize_t edges) noexcept nogil
cdef double best(const Forest *f, const double *score, double *value, int32_t *edge) noexcept nogil
cdef Py_ssize_t rank(const Forest *f, const double *score, Ranking *r) noexcept nogil
cdef double sums(const Forest *f, const double *score, double *value, double *mass, double *share,
                 double *events) noexcept nogil
