from libc.stdint cimport int32_t, int64_t

from cython_ext.features.tokens.sparse cimport SparseFeatures


cdef class ObservedFeatures(SparseFeatures):
    cdef readonly object label_indptr, label_index
    cdef const int64_t *first               # [attributes + 1] where an attribute's labels begin
    cdef const int32_t *label               # [state_size] ascending for each attribute

    cdef int64_t place(self, int32_t attribute, Py_ssize_t k) noexcept nogil
