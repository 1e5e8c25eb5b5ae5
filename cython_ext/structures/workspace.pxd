from libc.stdint cimport int32_t

from cython_ext.structures.structure cimport Structure


cdef class Workspace:
    cdef double *theta          # [max_size] scores of an example
    cdef double *mean           # [max_size] mean statistics, or another vector over parts
    cdef double *scratch        # what the oracles need
    cdef int32_t *code          # [max_code] an output
    cdef int32_t *codes         # [2, max_code] two outputs
    cdef int32_t *ids           # [max_parts] its parts
    cdef double *counts         # [max_parts]
    cdef int32_t *gold_ids      # [max_parts] parts of the gold output
    cdef double *gold_counts    # [max_parts]
    cdef double *deltas         # [strata] see losses/strata.pyx
    cdef double *values         # [strata]
    cdef double *table          # [table_size]
    cdef readonly Py_ssize_t strata, table_size
    cdef object memory

    cdef double *_doubles(self, Py_ssize_t size) except NULL
    cdef int32_t *_integers(self, Py_ssize_t size) except NULL
