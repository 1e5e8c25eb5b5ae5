from cython_ext.features.tokens.sparse cimport SparseFeatures


cdef class OutputFeatures(SparseFeatures):
    cdef readonly object similarity, root       # S [K, K]; L, lower triangular, L L' = S
    cdef object arrays
    cdef const double *rows                     # L [K, stride]
    cdef double *image                          # [stride], for L' a
    cdef const double *largest                  # [K]: max_y S_kk - 2 S_ky + S_yy

    cdef void turn(self, const double *a, double *out) noexcept nogil
