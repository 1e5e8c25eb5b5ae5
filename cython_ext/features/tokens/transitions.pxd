"""The weights of label pairs and triplets; see transitions.pyx."""

from libc.stdint cimport int64_t

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.features.tokens.sparse_rows cimport SparseRows


cdef class TransitionWeights(FeatureMap):
    cdef readonly SparseRows edges
    cdef readonly Py_ssize_t order                          # labels before a label that its parts look at
    cdef readonly bint transitions
    cdef readonly Py_ssize_t n_labels, stride, square
    cdef readonly Py_ssize_t transition_size, pair_size, triple_size        # numbers of weights
    cdef readonly object offsets
    cdef const int64_t *offset_data
    cdef object mask, triple_mask
    cdef const double *mask_data            # [stride, stride] 1 where a pair has a weight
    cdef const double *triple_mask_data     # [K, K, stride] 1 where a triplet has one; NULL: everywhere

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t pair_parts(self, Py_ssize_t i) noexcept nogil
    cdef void transition_scores(self, Py_ssize_t i, const double *block, double *theta) noexcept nogil
    cdef void add_transitions(self, Py_ssize_t i, const double *a, double scale, double *block) noexcept nogil
    cdef void add_transition(self, Py_ssize_t i, Py_ssize_t part, double scale, double *block) noexcept nogil
    cdef void gram_transition(self, Py_ssize_t i, Py_ssize_t part, double a, double *out) noexcept nogil
    cdef double transitions_norm2(self, Py_ssize_t i, const double *a) noexcept nogil
    cdef double clear_transitions(self, Py_ssize_t i, double *block) noexcept nogil
    cdef void pair_scores(self, Py_ssize_t i, const double *block, double *theta) noexcept nogil
    cdef void add_pairs(self, Py_ssize_t i, const double *a, double scale, double *block) noexcept nogil
    cdef void add_pair(self, Py_ssize_t i, Py_ssize_t part, double scale, double *block) noexcept nogil
    cdef void gram_pair(self, Py_ssize_t i, Py_ssize_t part, double a, double *out) noexcept nogil
    cdef double pairs_norm2(self, Py_ssize_t i, const double *a) noexcept nogil
    cdef double edge_gram(self, Py_ssize_t i, Py_ssize_t t, Py_ssize_t u, Py_ssize_t k) noexcept nogil
