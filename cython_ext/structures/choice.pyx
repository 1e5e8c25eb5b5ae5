"""One of several alternatives: parts are the alternatives, theta is one padded row of their scores."""

from libc.math cimport INFINITY, log
from libc.stdint cimport int32_t

from cython_ext.kernels.vectors cimport vector
from cython_ext.structures.structure cimport SummedStructure


def padded(count):
    """Row length for so many scores: the next multiple of 4, the width of the vector kernels."""
    return (count + 3) // 4 * 4


cdef class Choice(SummedStructure):
    """What alternatives there are is for subclasses to say: `count`, `num_parts` (the padded count) and, once they know
    the gold ones, `_set`."""

    cdef Py_ssize_t count(self, Py_ssize_t i) noexcept nogil:
        """How many alternatives example i has."""
        return 0

    def _set(self, const int32_t[::1] gold, Py_ssize_t most):
        """gold: int32[n], the number of the gold alternative of each example (-1 where unknown), kept by the caller;
        most: the largest count."""
        self.gold_data = &gold[0] if len(gold) else NULL
        self.n, self.most = len(gold), most
        self.max_size = padded(most)
        self.max_code = self.max_parts = 1
        self.one_part = True

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        return 1

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.gold_data + i

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        ids[0] = code[0]
        counts[0] = 1.0
        return 1

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        return 0 <= code[0] < self.count(i)

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        code[0] = <int32_t> vector.argmax(self.count(i), theta)
        return theta[code[0]]

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        cdef Py_ssize_t _rank, j, best, found = 0, count = self.count(i)
        cdef double before = INFINITY
        cdef int32_t last = -1
        # The next output is the first one with the largest score among those that come after the last one found.
        for _rank in range(min(k, count)):
            best = -1
            for j in range(count):
                if theta[j] < before or (theta[j] == before and j > last):
                    if best < 0 or theta[j] > theta[best]:
                        best = j
            if best < 0 or (found > 0 and theta[best] == -INFINITY):
                break
            before, last = theta[best], <int32_t> best
            values[found], codes[found] = before, last
            found += 1
        return found

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef Py_ssize_t count = self.count(i), size = self.num_parts(i), k
        cdef double top = vector.maximum(count, theta), total
        if top == -INFINITY:
            for k in range(size):
                mean[k] = 0.0
            return -INFINITY
        vector.exp_shifted(size, theta, top, mean)
        for k in range(count, size):
            mean[k] = 0.0
        total = vector.row_sum(size, mean)
        vector.scale(size, 1.0 / total, mean)
        return top + log(total)

    cdef void subtract_offsets(self, Py_ssize_t i, double *theta) noexcept nogil:
        cdef Py_ssize_t count = self.count(i), k
        cdef double top = vector.maximum(count, theta)
        if top > -INFINITY:
            for k in range(count):
                theta[k] -= top
