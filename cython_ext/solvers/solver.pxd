from libc.stdint cimport int32_t, int64_t

from cython_ext.problem cimport Problem


cdef class Solver:
    cdef readonly Problem problem
    cdef public int64_t passes            # finished passes
    cdef public int64_t oracle_calls
    cdef public bint finished
