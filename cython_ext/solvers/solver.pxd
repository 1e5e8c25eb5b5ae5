from libc.stdint cimport int32_t, int64_t

from cython_ext.core.problem cimport Problem


cdef enum Visit:                # how the visit of an example ended
    DONE
    STOPPED                     # in the oracle: it has changed nothing
    NO_ROOM                     # no memory for another output


cdef class Solver:
    cdef readonly Problem problem
    cdef public int64_t passes            # finished passes
    cdef public int64_t oracle_calls
    cdef public bint finished
