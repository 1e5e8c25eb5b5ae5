from cython_ext.losses.strata cimport HammingStrata
from cython_ext.structures.labels.chain2 cimport SecondOrderChain


cdef class SecondOrderHammingStrata(HammingStrata):
    cdef SecondOrderChain triplets
    cdef Py_ssize_t plane
