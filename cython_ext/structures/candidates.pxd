from libc.stdint cimport int64_t

from cython_ext.structures.choice cimport Choice


cdef class Candidates(Choice):
    cdef readonly object offsets            # int64[n + 1]; the candidates of example i are offsets[i]:offsets[i + 1]
    cdef readonly Py_ssize_t total          # candidates N of all examples
    cdef readonly object costs              # float64[N], 0 for the best ones of each example
    cdef readonly object gold_places              # int32[n]
    cdef const int64_t *offset_data
