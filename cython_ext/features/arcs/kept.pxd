from libc.stdint cimport int64_t, uint8_t, uint32_t

cdef enum:
    TABLES = 16             # that threads may have at a time


cdef class KeptArcs:
    cdef readonly Py_ssize_t width              # of a row of weights; 1: weights alone
    cdef readonly bint hashed
    cdef readonly int64_t limit                 # bytes
    cdef const int64_t *first_arc               # [n + 1]
    cdef int64_t *begin                         # [arcs + 1] of the places of each arc
    cdef uint32_t *place                        # in the table of the sentence
    cdef int64_t *first_row                     # [n + 1] of the rows of each sentence
    cdef uint32_t *row                          # where they stand among the weights
    cdef int64_t places, place_room, row_room
    cdef Py_ssize_t most                        # rows of a sentence
    cdef object memory, first_arcs
    cdef double *table                          # [most, width] of what is held
    cdef double *tables                         # [TABLES, most, width] of threads
    cdef uint8_t[TABLES] busy

    cdef bint put(self, Py_ssize_t arc, const uint32_t *place, Py_ssize_t count) noexcept nogil
    cdef bint end_sentence(self, Py_ssize_t i, int64_t *mark, uint32_t block) noexcept nogil
    cdef Py_ssize_t rows_of(self, Py_ssize_t i) noexcept nogil
    cdef void pair(self, uint32_t place, uint32_t *low, uint32_t *high) noexcept nogil
    cdef uint32_t where(self, Py_ssize_t i, uint32_t place) noexcept nogil
    cdef void scores(self, Py_ssize_t i, const double *w, Py_ssize_t stride, double *theta) noexcept nogil
    cdef void sum(self, Py_ssize_t i, const double *table, Py_ssize_t stride, double *theta) noexcept nogil
    cdef void clear(self, Py_ssize_t i) noexcept nogil
    cdef void add(self, Py_ssize_t i, const double *a, Py_ssize_t stride) noexcept nogil
    cdef void add_part(self, Py_ssize_t i, Py_ssize_t arc, Py_ssize_t which, double a) noexcept nogil
    cdef void held_scores(self, Py_ssize_t i, Py_ssize_t stride, double *theta) noexcept nogil
    cdef double norm2(self, Py_ssize_t i) noexcept nogil
    cdef void store(self, Py_ssize_t i, double scale, double *w) noexcept nogil
