cimport cython
from libc.stdint cimport int32_t, int64_t

from cython_ext.features.accumulators cimport StatisticsAccumulator
from cython_ext.features.capabilities cimport AtLambda, Prefetch
from cython_ext.features.graph.factors cimport FactorWeights
from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.relaxations.agreements cimport Agreements
from cython_ext.relaxations.factor_blocks cimport FactorBlocks
from cython_ext.structures.graph.factor_graphs cimport FactorGraphs


@cython.final
cdef class SoftFeatures(FeatureMap):
    cdef readonly FactorBlocks outputs
    cdef readonly FactorWeights weights_of_factors
    cdef readonly double times              # B / M
    cdef readonly double rho, unit          # unit: sqrt(lambda / rho)
    cdef readonly double smoothing, own     # own: sqrt(gamma lambda M)
    cdef readonly Py_ssize_t n_agreements
    cdef Agreements agreements
    cdef object made                        # messages, once they were asked for
    cdef FactorGraphs graphs
    cdef object spare
    cdef double *spare_data                 # a weight vector of zeros, where there are global factors

    cdef double *delta(self, const double *w) noexcept nogil
    cdef double *own_weights(self, Py_ssize_t b, const double *w) noexcept nogil
    cdef void add_part(self, Py_ssize_t b, Py_ssize_t part, double amount, double *w) noexcept nogil
    cdef void add_weights(self, Py_ssize_t b, Py_ssize_t part, double amount, double *w) noexcept nogil
    cdef void add_agreements(self, Py_ssize_t b, Py_ssize_t part, double amount, double *delta) noexcept nogil
    cdef void whole_scores(self, Py_ssize_t b, const double *w, double *theta) noexcept nogil
    cdef double clear(self, Py_ssize_t b) noexcept nogil
    cdef double inner(self, Py_ssize_t b, int64_t f, double square, Py_ssize_t joint, Py_ssize_t other) noexcept nogil


cdef class SoftPrefetch(Prefetch):
    cdef SoftFeatures map


cdef class SoftAtLambda(AtLambda):
    pass


cdef class SoftAccumulator(StatisticsAccumulator):
    cdef SoftFeatures map

    cdef double *block(self, Py_ssize_t b) noexcept nogil
    cdef double *weights(self, Py_ssize_t chunk) noexcept nogil
