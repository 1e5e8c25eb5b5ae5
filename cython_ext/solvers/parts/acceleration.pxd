cdef class Acceleration:
    cdef readonly double lam, kappa, ceiling
    cdef object features
    cdef bint euclidean, eager
    cdef readonly object center, before, mean
    cdef float *center_data
    cdef float *before_data
    cdef float *mean_data
    cdef readonly double dual_norm2             # ||w(alpha)||^2 after the last pass
    cdef readonly double uphill                 # of the last outer step
    cdef readonly double best_dual, first_gap
    cdef readonly long steps, passes, since_best, next_probe, probes
    cdef readonly bint probing

    cpdef double regularisation(self)
    cdef bint idle(self)
    cdef double share(self)
    cdef _limit(self, double[::1] w)
    cdef _step(self, double[::1] w)
    cdef _adapt(self, double[::1] w, double contraction)
    cdef _set_kappa(self, double[::1] w, double kappa)
