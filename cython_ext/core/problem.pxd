from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.objectives.objective cimport Objective
from cython_ext.structures.structure cimport Structure


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
