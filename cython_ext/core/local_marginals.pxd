from libc.stdint cimport int64_t

from cython_ext.structures.graph.factor_graphs cimport FactorGraphs

cdef void agree(FactorGraphs graphs, int64_t f, int64_t nodes, const double *of_nodes, double *mean,
                double *rest) noexcept nogil
