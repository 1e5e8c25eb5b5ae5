from cython_ext.losses.strata cimport Strata
from cython_ext.structures.labels.chain cimport Chain
from cython_ext.structures.labels.chain2 cimport SecondOrderChain


cdef class HammingStrata(Strata):
    cdef Chain chain
    cdef Py_ssize_t n_labels, stride


cdef class SecondOrderHammingStrata(HammingStrata):
    cdef SecondOrderChain triplets
    cdef Py_ssize_t plane
