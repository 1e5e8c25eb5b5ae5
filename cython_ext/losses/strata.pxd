from libc.stdint cimport int32_t

from cython_ext.structures.structure cimport Structure
from cython_ext.structures.workspace cimport Workspace


cdef class Strata:
    cdef Structure structure
    cdef readonly Py_ssize_t most, table_size   # strata that an example has at most, and doubles of a table

    cdef Py_ssize_t find(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil
    cdef void decode(self, Py_ssize_t i, Py_ssize_t r, const double *theta, Workspace work,
                     int32_t *code) noexcept nogil
