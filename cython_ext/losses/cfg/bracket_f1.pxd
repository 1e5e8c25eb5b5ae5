from libc.stdint cimport int32_t, int64_t

from cython_ext.losses.loss cimport TaskLoss
from cython_ext.losses.strata cimport Strata
from cython_ext.structures.cfg.bracket_counts cimport BracketCounts
from cython_ext.structures.cfg.cfg cimport Cfg
from cython_ext.structures.cfg.forest cimport Forest
from cython_ext.structures.workspace cimport Workspace


cdef struct Grid:
    double *cells               # [hits + 1, width] of each item, one after the other
    int64_t *at                 # [items] where those of an item begin
    int32_t *hits               # [items] most that a derivation of the item has
    int32_t *least              # [items] fewest brackets that one has,
    int32_t *width              # and how many numbers of them there are from there on
    int32_t *more_hits          # [edges] by how much numbers of hits, and of columns, grow from the items before it
    int32_t *shift


cdef class BracketF1(TaskLoss):
    cdef Cfg tree
    cdef readonly BracketCounts counts
    cdef readonly BracketStrata strata

    cdef double delta(self, Py_ssize_t i, Py_ssize_t hits, Py_ssize_t brackets) noexcept nogil
    cdef void _shares(self, const Forest *f, const double *share, const Grid *grid) noexcept nogil
    cdef void _outside(self, const Forest *f, const double *share, const Grid *grid, double *outside,
                       double *events) noexcept nogil
    cdef Py_ssize_t lay(self, Py_ssize_t i, const Forest *f, double *table, Grid *grid) noexcept nogil


cdef class BracketStrata(Strata):
    cdef BracketF1 loss

    cdef bint _fill(self, const Forest *f, const double *score, const Grid *grid, Py_ssize_t cells) noexcept nogil
    cdef void _choose(self, const Forest *f, const double *score, const Grid *grid, Py_ssize_t x, Py_ssize_t h,
                      Py_ssize_t b, int32_t *edge) noexcept nogil
