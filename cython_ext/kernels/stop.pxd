"""A flag that another thread or a signal handler may set at any time: read anew at every look."""

from libc.stdint cimport int32_t

cdef extern from *:
    """
    #define ssvm_is_set(flag) __atomic_load_n(flag, __ATOMIC_RELAXED)
    """
    bint is_set "ssvm_is_set"(const int32_t *flag) noexcept nogil
