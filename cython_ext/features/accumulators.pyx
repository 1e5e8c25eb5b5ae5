"""Sums Phi_i a_i over many examples, for gradients and for w(alpha)."""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memset

from cython_ext.features.capabilities cimport Helper
from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.kernels.vectors cimport vector
from cython_ext.common.arrays import aligned_zeros
from cython_ext.common.parallel import even_ranges

cdef enum:
    BLOCK = 1024                                            # weights summed while they are in the fastest cache


cdef class Accumulator(Helper):
    """Sums Phi_i a_i over many examples, in an order that does not depend on the number of threads.

    The examples are parted into `chunks` ranges; whoever works on a chunk puts its examples in order and alone.
    This one adds into a weight vector for each chunk and needs no more than the map's `add`. A new one is at 0.
    """

    def __init__(self, FeatureMap features, Py_ssize_t n):
        self.features = features
        # as many as leave the threads enough to do, unless the weight vectors are large
        self.chunks = max(1, min(n, 16 if features.dim * 16 * 8 <= 1 << 28 else 4))
        self.totals = np.zeros((self.chunks, features.dim))
        cdef double[:, ::1] view = self.totals
        self.total_data = &view[0, 0] if features.dim else NULL

    cdef void put(self, Py_ssize_t chunk, Py_ssize_t i, const double *a) noexcept nogil:
        self.features.add(i, a, 1.0, self.total_data + chunk * self.features.dim)

    cdef void put_parts(self, Py_ssize_t chunk, Py_ssize_t i, Py_ssize_t count, const int32_t *ids,
                        const double *a, double scale) noexcept nogil:
        self.features.add_parts(i, count, ids, a, scale, self.total_data + chunk * self.features.dim)

    def clear(self, pool):
        """Set the sum to 0. pool: a cython_ext.common.parallel.Pool."""
        pool.map(self._clear, even_ranges(self.totals.shape[1], pool.threads))

    def _clear(self, Py_ssize_t begin, Py_ssize_t end):
        self.totals[:, begin:end] = 0

    def total(self, double[::1] out, pool):
        """out[:] = sum of everything put since clear()."""
        pool.map(self._sum, [(out, *part) for part in even_ranges(len(out), pool.threads)])

    def _sum(self, double[::1] out, Py_ssize_t begin, Py_ssize_t end):
        cdef Py_ssize_t c, size
        with nogil:
            while begin < end:
                size = min(BLOCK, end - begin)
                memset(&out[begin], 0, size * sizeof(double))
                for c in range(self.chunks):
                    vector.axpy(size, 1.0, self.total_data + c * self.features.dim + begin, &out[begin])
                begin += size

    def norm2(self, pool):
        """The squared norm of total()."""
        out = self.features.zeros()
        self.total(out, pool)
        return self.features.inner(out, out)


cdef class StatisticsAccumulator(Accumulator):
    """One that keeps the statistics of all examples, float64 `statistics`, beside the sums of `totals` [chunks, ...],
    for weights that are cheaper to make of all of them at once."""

    cdef keep(self, Py_ssize_t chunks, Py_ssize_t size, Py_ssize_t numbers):
        """Room for sums of `size` numbers in each chunk and for that many numbers of statistics, all at 0."""
        self.chunks = chunks
        self.totals = np.zeros((chunks, size + 1))
        cdef double[:, ::1] view = self.totals
        self.total_data = &view[0, 0]
        self.statistics = aligned_zeros(numbers + 1)
        cdef double[::1] statistics = self.statistics
        self.statistic_data = &statistics[0]

    def clear(self, pool):
        self.totals[...] = 0
        pool.map(self._clear_statistics, even_ranges(len(self.statistics), pool.threads))

    def _clear_statistics(self, Py_ssize_t begin, Py_ssize_t end):
        self.statistics[begin:end] = 0


cdef class NormWindows(Helper):
    """The squared norm of a sum in little memory: of SparsePoint.value."""

    def accumulators(self, Py_ssize_t n):
        """Accumulators of which each is given everything and forgotten before the next one is made: their norm2 add
        up to that of the whole sum. Here one."""
        yield self.features.helper(Accumulator, n)
