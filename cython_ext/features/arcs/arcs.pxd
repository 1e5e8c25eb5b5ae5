cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from cython_ext.features.arcs.reader cimport ArcReader
from cython_ext.features.arcs.table cimport ArcTable
from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.features.arcs.kept cimport KeptArcs

cdef enum:
    KEYS = 512              # of a batch
    ARCS = 64


cdef enum Op:               # what a job does with the weights of a feature
    GATHER                  # adds them to the scores of the arc
    ADD                     # adds scale * value to them
    ADD_ROWS                # adds scale * the values of the arc with each relation
    CLEAR                   # makes them 0 and adds their squares to total
    KEEP                    # notes where they stand


cdef struct Arc:
    Py_ssize_t number       # (d - 1) (T + 1) + h
    Py_ssize_t which        # its direction and distance, or a relation
    double value            # for ADD
    Py_ssize_t end          # of its keys in the batch


cdef struct Job:
    Op op
    bint relation           # features with relations, not without
    uint32_t low, high      # ADD: weights alone that stand there only
    double *w
    double *theta           # GATHER: scores of arcs
    const double *a         # ADD_ROWS: values of arcs and relations
    double scale, total
    int64_t first           # KEEP: arc of the sentence
    bint room               # KEEP: so far there was some
    Py_ssize_t arcs, keys   # of the batch
    Arc[ARCS] arc
    uint64_t[KEYS] key      # or places, where these are kept


@cython.final
cdef class ArcFeatures(FeatureMap):
    cdef readonly ArcReader reader
    cdef readonly ArcTable table
    cdef readonly Py_ssize_t n_labels, stride
    cdef public int64_t kept_limit          # bytes of what is kept; above it places are computed when needed
    cdef readonly object arc_indptr         # int64[n + 1]: arcs of each sentence, those to itself included
    cdef const int64_t *first_arc
    cdef readonly bint keeps_places
    cdef KeptArcs kept_pairs, kept_rows     # features without and with relations
    cdef object spare
    cdef double *spare_data                 # [dim] zeros

    cdef bint _keep(self, bint relation, uint32_t block)
    cdef void look_ahead(self, Job *job, uint32_t place) noexcept nogil
    cdef void start(self, Job *job, Op op, bint relation, double *w) noexcept nogil
    cdef void visit(self, Py_ssize_t i, Py_ssize_t h, Py_ssize_t d, double value, Py_ssize_t which,
                    Job *job) noexcept nogil
    cdef void visit_kept(self, Py_ssize_t i, Py_ssize_t number, double value, Py_ssize_t which, Job *job) noexcept nogil
    cdef void flush(self, Job *job) noexcept nogil
    cdef void clear_held(self, Py_ssize_t i) noexcept nogil
    cdef void work(self, Job *job, const Arc *arc, const uint32_t *place, Py_ssize_t count) noexcept nogil
    cdef void work_weights(self, Job *job, const Arc *arc, const uint32_t *place, Py_ssize_t count) noexcept nogil
    cdef void work_rows(self, Job *job, const Arc *arc, const uint32_t *place, Py_ssize_t count) noexcept nogil
    cdef void sweep(self, Py_ssize_t i, const double *a, Py_ssize_t width, Job *job) noexcept nogil
    cdef void add_arcs(self, Py_ssize_t i, const double *a, Py_ssize_t width, double scale, uint32_t low, uint32_t high,
                       double *w) noexcept nogil
    cdef void add_rows(self, Py_ssize_t i, const double *a, double scale, double *rows) noexcept nogil
    cdef double visit_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, Op op,
                            double scale, double *w) noexcept nogil
    cdef double visit_kind(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, Op op,
                           bint relation, double scale, double *w) noexcept nogil
