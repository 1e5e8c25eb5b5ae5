cdef class Acceleration:
    cdef readonly double lam, kappa
