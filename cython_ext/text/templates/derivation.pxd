from cython_ext.text.rows cimport Buffer


cdef class Derivation:
    cdef char kind             # of the macro: p, s or w
    cdef Py_ssize_t limit      # characters to keep (p, s)
    cdef object derive         # of cells that are not ASCII: bytes -> bytes
    cdef Buffer written        # the last shape
    cdef bytes kept            # what `derive` gave last
    cdef const char* text      # the result of `apply`, until the next one
    cdef Py_ssize_t size

    cdef int apply(self, const char* text, Py_ssize_t size) except -1 nogil
    cdef int _shape(self, const char* text, Py_ssize_t size) except -1 nogil
