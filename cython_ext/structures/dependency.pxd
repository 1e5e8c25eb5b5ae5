from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.structure cimport SummedStructure


cdef class Dependency(SummedStructure):
    cdef readonly Py_ssize_t n_labels, stride, longest
    cdef readonly bint single_root
    cdef readonly object codes, offsets
    cdef const int32_t *code_data
    cdef const int64_t *offset_data

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t tree_scratch(self) noexcept nogil
    cdef double best_tree(self, Py_ssize_t T, const double *arcs, double *scratch, int32_t *heads) noexcept nogil
    cdef double all_trees(self, Py_ssize_t T, const double *arcs, double *scratch, double *mean) noexcept nogil
    cdef Py_ssize_t first_relation(self, const double *row, double value) noexcept nogil
    cdef void best_relations(self, Py_ssize_t T, const double *theta, double *arcs) noexcept nogil
    cdef double decode(self, Py_ssize_t T, const double *theta, const double *arcs, double *scratch,
                       int32_t *code) noexcept nogil
    cdef void forbid(self, Py_ssize_t T, Py_ssize_t d, const double *theta, const int32_t *codes, Py_ssize_t count,
                     double *arcs) noexcept nogil
    cdef bint found(self, Py_ssize_t T, Py_ssize_t d, Py_ssize_t h, Py_ssize_t r, const int32_t *codes,
                    Py_ssize_t count) noexcept nogil
    cdef void fix(self, Py_ssize_t T, Py_ssize_t d, const double *theta, const int32_t *code,
                  double *arcs) noexcept nogil
    cdef Py_ssize_t consider(self, Py_ssize_t T, Py_ssize_t d, const double *theta, const double *arcs, double *tree,
                             const int32_t *codes, Py_ssize_t count, int32_t *code, Py_ssize_t most,
                             Py_ssize_t candidates, double *value, int32_t *begin, int32_t *candidate) noexcept nogil


cdef class ProjectiveTrees(Dependency):
    pass


cdef class SpanningTrees(Dependency):
    pass
