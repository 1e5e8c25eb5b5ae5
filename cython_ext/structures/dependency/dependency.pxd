from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.partition cimport Choices
from cython_ext.structures.structure cimport SummedStructure


cdef class Dependency(SummedStructure):
    cdef readonly Py_ssize_t n_labels, stride, longest
    cdef readonly bint single_root
    cdef readonly object codes, offsets
    cdef Choices choices
    cdef const int32_t *code_data
    cdef const int64_t *offset_data

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t tree_scratch(self) noexcept nogil
    cdef double best_tree(self, Py_ssize_t T, const double *arcs, double *scratch, int32_t *heads) noexcept nogil
    cdef double all_trees(self, Py_ssize_t T, const double *arcs, double *scratch, double *mean) noexcept nogil
    cdef Py_ssize_t first_relation(self, const double *row, double value) noexcept nogil
    cdef void best_relations(self, Py_ssize_t T, Py_ssize_t first, Py_ssize_t last, const double *theta,
                             double *arcs) noexcept nogil
    cdef double decode(self, Py_ssize_t T, Py_ssize_t first, const double *theta, const double *arcs, double *scratch,
                       int32_t *code) noexcept nogil


cdef class ArcChoices(Choices):
    cdef Dependency trees


cdef class ProjectiveTrees(Dependency):
    pass


cdef class SpanningTrees(Dependency):
    pass
