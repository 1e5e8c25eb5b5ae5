from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.cfg.bracket_counts cimport BracketCounts
from cython_ext.structures.cfg.cfg cimport Cfg
from cython_ext.structures.cfg.forest cimport Forest


cdef class BracketedCfg(Cfg):
    cdef readonly BracketCounts counts
    cdef object edge_arrays
    cdef const int64_t *edge_at         # [n + 1] where the edges of each forest that is kept begin in
    cdef const int32_t *edge_wrong      # what they add to the two numbers
    cdef const int32_t *edge_missed
    cdef const int32_t *numbers         # [most_edges] 0, 1, 2, ...

    cdef void of_edge(self, Py_ssize_t i, const Forest *f, Py_ssize_t x, int32_t e, int32_t *wrong,
                      int32_t *missed) noexcept nogil
