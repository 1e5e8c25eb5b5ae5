cdef extern from *:
    """
    #define ssvm_prefetch(address) __builtin_prefetch(address)
    """
    void prefetch_line "ssvm_prefetch"(const void *address) noexcept nogil     # what is there will be needed soon
