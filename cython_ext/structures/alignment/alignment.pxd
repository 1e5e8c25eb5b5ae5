from libc.stdint cimport int32_t, int64_t, uint8_t

from cython_ext.kernels.alignment cimport alignment as kernel
from cython_ext.structures.structure cimport SummedStructure


cdef class Alignment(SummedStructure):
    cdef readonly Py_ssize_t n_letters, gap_parts
    cdef readonly bint local, free
    cdef readonly object layout
    cdef readonly Py_ssize_t most_candidates, longest, cells
    cdef const int64_t *offsets
    cdef const int64_t *starts
    cdef const uint8_t *letters
    cdef const int32_t *gold_candidates
    cdef const int32_t *by_length
    cdef const int64_t *gold_starts
    cdef const int32_t *gold_codes

    cdef Py_ssize_t candidates(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t length(self, Py_ssize_t i, Py_ssize_t c) noexcept nogil
    cdef const uint8_t *sequence(self, Py_ssize_t i, Py_ssize_t c) noexcept nogil
    cdef Py_ssize_t first_candidate_part(self) noexcept nogil
    cdef Py_ssize_t step(self, const int32_t *code, bint first, const uint8_t **x, const uint8_t **y) noexcept nogil
    cdef void add_gold(self, Py_ssize_t i, double scale, double *a) noexcept nogil
    cdef double gold_score(self, Py_ssize_t i, const double *theta) noexcept nogil
    cdef kernel.Costs costs(self, const double *theta) noexcept nogil
    cdef void tops(self, Py_ssize_t i, const double *theta, Py_ssize_t skip, double *scratch,
                   double *values) noexcept nogil
    cdef double nothing(self, Py_ssize_t i, int32_t *code) noexcept nogil
    cdef double best_of(self, Py_ssize_t i, const double *theta, Py_ssize_t skip, double *scratch,
                        int32_t *code) noexcept nogil
    cdef void any_code(self, Py_ssize_t i, Py_ssize_t c, int32_t *code) noexcept nogil
    cdef void prepare(self, Py_ssize_t i, Py_ssize_t c, Py_ssize_t k, const kernel.Costs *costs, double *scratch,
                      kernel.Paths *paths) noexcept nogil
    cdef void write(self, Py_ssize_t i, Py_ssize_t c, const kernel.Paths *paths, Py_ssize_t number, int32_t start_i,
                    int32_t start_j, int32_t *code) noexcept nogil
