from libc.stdint cimport int32_t, uint64_t

from cython_ext.solvers.solver cimport Solver, Visit


cdef class VisitingSolver(Solver):
    cdef object order_array
    cdef int32_t *order                 # [n] examples as the pass visits them
    cdef readonly Py_ssize_t position   # in it, of the visit at hand; -1 between passes
    cdef uint64_t random

    cdef Visit visit(self, Py_ssize_t i) noexcept nogil
    cdef bint visit_until(self, Py_ssize_t end, const int32_t[::1] stop) except -1
