from cython_ext.losses.strata cimport HammingStrata


cdef class SecondOrderHammingStrata(HammingStrata):
    cdef Py_ssize_t plane

    cdef const double *triples(self, Py_ssize_t T, const double *theta) noexcept nogil
