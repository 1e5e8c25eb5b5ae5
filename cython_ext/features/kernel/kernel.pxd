from libc.stdint cimport int32_t

from cython_ext.features.kernel.basis cimport KernelBasis
from cython_ext.features.tokens.sparse cimport SparseFeatures


cdef class KernelFeatures(SparseFeatures):
    cdef readonly KernelBasis basis
    cdef public object pool
    cdef object place_array
    cdef const int32_t *place               # [tokens] where each token is in the basis, -1: nowhere
    cdef readonly object followed           # the weight vector whose scores are kept, None: none
    cdef const double *followed_data
    cdef readonly object kept               # [basis, stride] scores of each token of the basis
    cdef double *kept_data
    cdef double *scaled                     # [stride]
    cdef object scaled_array
