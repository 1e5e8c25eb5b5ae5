cimport cython

from cython_ext.features.accumulators cimport Accumulator
from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.objectives.objective cimport Objective
from cython_ext.structures.structure cimport Structure
from cython_ext.structures.workspace cimport Workspace


cdef class Problem:
    cdef readonly Structure structure
    cdef readonly FeatureMap features
    cdef readonly Objective objective
    cdef readonly Py_ssize_t n, dim
    cdef readonly double lam
    cdef readonly str objective_name, loss_name, structure_name
    cdef readonly object pool
    cdef readonly dict log_values           # {column of a log: function of (problem, w, P(w))}
    cdef object _accumulator, _chunks

    @cython.final
    cdef inline void put_gradient(self, Accumulator total, Py_ssize_t chunk, Py_ssize_t i,
                                  Workspace work) noexcept nogil:
        """E[s] - s(y_i) into total, with E[s] in work.mean, which is overwritten."""
        cdef Py_ssize_t c, count = self.structure.parts(i, self.structure.gold(i), work.ids, work.counts)
        for c in range(count):
            work.mean[work.ids[c]] -= work.counts[c]
        total.put(chunk, i, work.mean)

    @cython.final
    cdef inline void put_expected(self, Accumulator total, Py_ssize_t chunk, Py_ssize_t i,
                                  Workspace work) noexcept nogil:
        """s(y_i) - E[s] into total, likewise."""
        cdef Py_ssize_t c, count, size = self.structure.num_parts(i)
        for c in range(size):
            work.mean[c] = -work.mean[c]
        count = self.structure.parts(i, self.structure.gold(i), work.ids, work.counts)
        for c in range(count):
            work.mean[work.ids[c]] += work.counts[c]
        total.put(chunk, i, work.mean)
