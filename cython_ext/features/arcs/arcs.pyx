"""First-order features of the arcs of dependency trees, computed on the fly (McDonald, Crammer and Pereira 2005).

theta and the parts are those of structures/dependency/dependency.pyx: the score of an arc with a relation is the sum of
the weights of the arc's features, and of those of its features with this relation. templates.py says which these are,
table.pyx where their weights stand. Everything is a sweep over the features of some arcs: they are gathered in a
batch, so that the memory that they need is asked for before it is used. Who makes many passes may have the places kept
(kept.pyx).
"""

from itertools import pairwise

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from cython_ext.features.accumulators cimport Accumulator
from cython_ext.features.arcs.reader cimport SHARE, ArcReader, bin_of
from cython_ext.features.arcs.table cimport BLOCK, NONE, ArcTable, first_of
from cython_ext.features.capabilities cimport Radius, Step, Tables
from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.features.arcs.kept cimport KeptArcs
from cython_ext.kernels.vectors cimport vector
from cython_ext.kernels.vectors.prefetch cimport prefetch_line
from cython_ext.common.arrays import aligned_zeros

KEPT_LIMIT = 2 << 30            # bytes, of features without and with relations each


cdef class ArcFeatures(FeatureMap):
    """reader: of the sentences; table: of the features of any sentences, of the same shape."""

    helpers = {Step: ArcStep, Radius: ArcRadius, Tables: ArcTables, Accumulator: ArcAccumulator}

    def __init__(self, ArcReader reader not None, ArcTable table not None):
        self.reader, self.table = reader, table
        self.n_labels, self.stride, self.dim = table.n_labels, table.stride, table.dim
        self.kept_limit = KEPT_LIMIT
        lengths = np.diff(reader.offsets)
        self.arc_indptr = np.concatenate([[0], np.cumsum(lengths * (lengths + 1))])
        cdef const int64_t[::1] first_arc = self.arc_indptr
        cdef double[::1] spare = aligned_zeros(self.dim + 1)
        self.first_arc, self.spare, self.spare_data = &first_arc[0], spare, &spare[0]

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.first_arc[i + 1] - self.first_arc[i]) * self.stride

    # ------------------------------------------------------------------------------------------------- sweeps

    cdef void start(self, Job *job, Op op, bint relation, double *w) noexcept nogil:
        """w: a weight vector, or only the rows of its features with relations for a job on these."""
        job.op, job.relation, job.w = op, relation, w
        job.low, job.high, job.scale, job.total, job.room = 0, NONE, 1.0, 0.0, True
        job.arcs = job.keys = 0

    cdef void visit(self, Py_ssize_t i, Py_ssize_t h, Py_ssize_t d, double value, Py_ssize_t which,
                    Job *job) noexcept nogil:
        """The features of one arc of sentence i, that of the job."""
        cdef Py_ssize_t at = 0, k, count, number = (d - 1) * (self.reader.length(i) + 1) + h
        cdef Arc *arc
        if self.keeps_places and job.op != KEEP:
            self.visit_kept(i, number, value, which, job)
            return
        while at >= 0:
            if job.keys + SHARE > KEYS or job.arcs == ARCS:
                self.flush(job)
            count = self.reader.next_keys(i, h, d, job.relation, &at, job.key + job.keys)
            for k in range(count):
                self.table.look_ahead(job.relation, job.key[job.keys + k])
            job.keys += count
            arc = &job.arc[job.arcs]
            arc.number, arc.which, arc.value, arc.end = number, which, value, job.keys
            job.arcs += 1

    cdef void visit_kept(self, Py_ssize_t i, Py_ssize_t number, double value, Py_ssize_t which,
                         Job *job) noexcept nogil:
        """The same, from the places that are kept."""
        cdef const int64_t *begin = self.kept_rows.begin if job.relation else self.kept_pairs.begin
        cdef const uint32_t *place = self.kept_rows.place if job.relation else self.kept_pairs.place
        cdef int64_t k = begin[self.first_arc[i] + number], end = begin[self.first_arc[i] + number + 1], stop
        cdef uint32_t p
        cdef Arc *arc
        while k < end:
            if job.keys + SHARE > KEYS or job.arcs == ARCS:
                self.flush(job)
            stop = min(end, k + SHARE)
            while k < stop:
                p = self.kept_rows.where(i, place[k]) if job.relation else self.kept_pairs.where(i, place[k])
                self.look_ahead(job, p)
                job.key[job.keys] = p
                job.keys += 1
                k += 1
            arc = &job.arc[job.arcs]
            arc.number, arc.which, arc.value, arc.end = number, which, value, job.keys
            job.arcs += 1

    cdef inline void look_ahead(self, Job *job, uint32_t place) noexcept nogil:
        """Asks for weights."""
        prefetch_line(job.w + (place * self.stride if job.relation else first_of(place)))

    cdef void flush(self, Job *job) noexcept nogil:
        """Does the batch."""
        cdef uint32_t[KEYS] place
        cdef Py_ssize_t[ARCS] end
        cdef Py_ssize_t a, k = 0, count = 0
        cdef bint located = self.keeps_places and job.op != KEEP
        for a in range(job.arcs):
            while k < job.arc[a].end:
                if located:
                    place[count] = <uint32_t> job.key[k]
                elif job.relation:
                    place[count] = self.table.locate_row(job.key[k])
                else:
                    place[count] = self.table.locate(job.key[k], job.arc[a].which)
                if place[count] != NONE:
                    if not located:
                        self.look_ahead(job, place[count])
                    count += 1
                k += 1
            end[a] = count
        k = 0
        for a in range(job.arcs):
            self.work(job, &job.arc[a], place + k, end[a] - k)
            k = end[a]
        job.arcs = job.keys = 0

    cdef void sweep(self, Py_ssize_t i, const double *a, Py_ssize_t width, Job *job) noexcept nogil:
        """The features of all arcs of a sentence. a: NULL, or a vector over its arcs, with `width` values (relations)
        for each: those that have none but 0 are left out, and the sum is the value of an arc."""
        cdef Py_ssize_t d, h, r, T = self.reader.length(i)
        cdef double value = 0.0
        cdef bint some = True
        for d in range(1, T + 1):
            for h in range(T + 1):
                if a != NULL:
                    some, value = False, 0.0
                    for r in range(width):
                        some |= a[r] != 0.0
                        value += a[r]
                    a += width
                if some and h != d:
                    self.visit(i, h, d, value, bin_of(h, d), job)
        self.flush(job)

    cdef void work(self, Job *job, const Arc *arc, const uint32_t *place, Py_ssize_t count) noexcept nogil:
        """Does the job on some features of one arc."""
        if job.op == KEEP and job.relation:
            job.room = job.room and self.kept_rows.put(job.first + arc.number, place, count)
        elif job.op == KEEP:
            job.room = job.room and self.kept_pairs.put(job.first + arc.number, place, count)
        elif job.relation:
            self.work_rows(job, arc, place, count)
        else:
            self.work_weights(job, arc, place, count)

    cdef void work_weights(self, Job *job, const Arc *arc, const uint32_t *place, Py_ssize_t count) noexcept nogil:
        cdef double *w = job.w
        cdef double x, y
        cdef Py_ssize_t k
        cdef uint32_t p, q
        if job.op == GATHER:
            x = job.theta[arc.number * self.stride]             # one sum, also where an arc comes in several shares
            for k in range(count):
                y = w[first_of(place[k])]
                if place[k] & 15:
                    y += w[self.table.second_of(place[k])]      # of two either may be the first
                x += y
            job.theta[arc.number * self.stride] = x
        elif job.op == ADD:
            x = job.scale * arc.value
            for k in range(count):
                p = first_of(place[k])
                if job.low <= p < job.high:
                    w[p] += x
                    if place[k] & 15:
                        w[self.table.second_of(place[k])] += x
        else:
            for k in range(count):
                p, q = first_of(place[k]), self.table.second_of(place[k])
                p, q = min(p, q), max(p, q)
                job.total += w[p] * w[p]
                w[p] = 0.0
                job.total += w[q] * w[q]
                w[q] = 0.0

    cdef void work_rows(self, Job *job, const Arc *arc, const uint32_t *place, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t k, r, S = self.stride
        cdef double *row
        cdef const double *a
        for k in range(count):
            row = job.w + place[k] * S
            if job.op == GATHER:
                vector.axpy(S, 1.0, row, job.theta + arc.number * S)
            elif job.op == ADD:
                row[arc.which] += job.scale * arc.value
            elif job.op == ADD_ROWS:
                a = job.a + arc.number * S
                for r in range(self.n_labels):
                    row[r] += job.scale * a[r]
            else:
                job.total += vector.dot(S, row, row)
                memset(row, 0, S * sizeof(double))

    # ------------------------------------------------------------------------------------------- places kept

    cdef bint _keep(self, bint relation, uint32_t block):
        cdef int64_t *mark = <int64_t *> self.spare_data            # zeros, as doubles are
        cdef Py_ssize_t i
        cdef Job job
        self.start(&job, KEEP, relation, NULL)
        with nogil:
            for i in range(self.reader.n):
                job.first = self.first_arc[i]
                self.sweep(i, NULL, 0, &job)
                if relation:
                    job.room = job.room and self.kept_rows.end_sentence(i, mark, block)
                else:
                    job.room = job.room and self.kept_pairs.end_sentence(i, mark, block)
                if not job.room:
                    return False
        if relation:
            self.kept_rows.settle()
        else:
            self.kept_pairs.settle()
        return True

    # ------------------------------------------------------------------------------------- what a feature map is

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        cdef Py_ssize_t arc, r, S = self.stride, arcs = self.num_parts(i) // S
        cdef Job job
        if self.keeps_places:
            self.kept_pairs.scores(i, w, S, theta)
            if self.n_labels > 1:
                self.kept_rows.scores(i, w + self.table.first_row, S, theta)
            return
        self.start(&job, GATHER, False, <double *> w)
        job.theta = theta
        for arc in range(arcs):
            theta[arc * S] = 0.0
        self.sweep(i, NULL, 0, &job)
        if self.n_labels == 1:
            return
        for arc in range(arcs):
            for r in range(1, S):
                theta[arc * S + r] = theta[arc * S]
        self.start(&job, GATHER, True, <double *> w + self.table.first_row)
        self.sweep(i, NULL, 0, &job)

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        self.add_arcs(i, a, self.stride, scale, 0, NONE, w)
        if self.n_labels > 1:
            self.add_rows(i, a, scale, w + self.table.first_row)

    cdef void add_arcs(self, Py_ssize_t i, const double *a, Py_ssize_t width, double scale, uint32_t low, uint32_t high,
                       double *w) noexcept nogil:
        """The part of add for features without relations, of which those that count alone stand in low..high-1; a: as
        in sweep."""
        cdef Job job
        self.start(&job, ADD, False, w)
        job.low, job.high, job.scale = low, high, scale
        self.sweep(i, a, width, &job)

    cdef void add_rows(self, Py_ssize_t i, const double *a, double scale, double *rows) noexcept nogil:
        """The part of add for features with relations."""
        cdef Job job
        self.start(&job, ADD_ROWS, True, rows)
        job.scale, job.a = scale, a
        self.sweep(i, a, self.stride, &job)

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        self.visit_parts(i, count, ids, a, ADD, scale, w)

    cdef double visit_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, Op op,
                            double scale, double *w) noexcept nogil:
        """A job on the features of some parts; its total."""
        cdef double total = self.visit_kind(i, count, ids, a, op, False, scale, w)
        if self.n_labels > 1:
            total += self.visit_kind(i, count, ids, a, op, True, scale, w + self.table.first_row)
        return total

    cdef double visit_kind(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, Op op,
                           bint relation, double scale, double *w) noexcept nogil:
        """The same for the features without, or with relations."""
        cdef Py_ssize_t c, arc, h, d, N = self.reader.length(i) + 1
        cdef Job job
        self.start(&job, op, relation, w)
        job.scale = scale
        for c in range(count):
            arc = ids[c] // self.stride
            h, d = arc % N, arc // N + 1
            self.visit(i, h, d, a[c], ids[c] - arc * self.stride if relation else bin_of(h, d), &job)
        self.flush(&job)
        return job.total

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        """By way of a weight vector of zeros, of which only what the parts touch is written and cleared again; or of
        the table of the sentence."""
        cdef Py_ssize_t c, arc
        if self.keeps_places:
            self.clear_held(i)
            for c in range(count):
                arc = ids[c] // self.stride
                self.kept_pairs.add_part(i, arc, 0, a[c])
                if self.n_labels > 1:
                    self.kept_rows.add_part(i, arc, ids[c] - arc * self.stride, a[c])
            self.kept_pairs.held_scores(i, self.stride, out)
            if self.n_labels > 1:
                self.kept_rows.held_scores(i, self.stride, out)
            return
        self.visit_parts(i, count, ids, a, ADD, 1.0, self.spare_data)
        self.scores(i, self.spare_data, out)
        self.visit_parts(i, count, ids, a, CLEAR, 1.0, self.spare_data)

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Job job
        cdef double total = 0.0
        self.add(i, a, 1.0, self.spare_data)
        self.start(&job, CLEAR, False, self.spare_data)
        self.sweep(i, a, self.stride, &job)
        total = job.total
        if self.n_labels > 1:
            self.start(&job, CLEAR, True, self.spare_data + self.table.first_row)
            self.sweep(i, a, self.stride, &job)
            total += job.total
        return total

    cdef void clear_held(self, Py_ssize_t i) noexcept nogil:
        self.kept_pairs.clear(i)
        if self.n_labels > 1:
            self.kept_rows.clear(i)

    def blocks(self, w):
        """The weights that are not 0, with the keys of their features; see table.pyx."""
        return self.table.blocks(w)

    def weights(self, blocks):
        return self.table.weights(blocks)


cdef class ArcStep(Step):
    """Phi_i a is kept in the tables of the sentence, where places are kept."""

    cdef ArcFeatures map

    def __init__(self, ArcFeatures features not None):
        self.features = self.map = features

    cdef double prepare(self, Py_ssize_t i, const double *a) noexcept nogil:
        if not self.map.keeps_places:
            return self.map.norm2(i, a)
        self.map.clear_held(i)
        self.map.kept_pairs.add(i, a, self.map.stride)
        if self.map.n_labels == 1:
            return self.map.kept_pairs.norm2(i)
        self.map.kept_rows.add(i, a, self.map.stride)
        return self.map.kept_pairs.norm2(i) + self.map.kept_rows.norm2(i)

    cdef void apply(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        if not self.map.keeps_places:
            self.map.add(i, a, scale, w)
            return
        self.map.kept_pairs.store(i, scale, w)
        if self.map.n_labels > 1:
            self.map.kept_rows.store(i, scale, w + self.map.table.first_row)


cdef class ArcRadius(Radius):
    def radius2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """As of Radius: (||Phi_i s(y_i)|| + the sum over words of the largest norm of an arc)^2."""
        cdef ArcFeatures map = self.features
        cdef Py_ssize_t d, h, N = map.reader.length(i) + 1
        cdef double largest, total = 0.0, one = 1.0
        cdef int32_t part
        if len(ids) == 0:
            return 0.0
        map.visit_parts(i, len(ids), &ids[0], &counts[0], ADD, 1.0, map.spare_data)
        total = map.visit_parts(i, len(ids), &ids[0], &counts[0], CLEAR, 1.0, map.spare_data) ** 0.5
        for d in range(N - 1):
            largest = 0.0
            for h in range(N):
                if h != d + 1:
                    part = <int32_t> ((d * N + h) * map.stride)
                    map.visit_parts(i, 1, &part, &one, ADD, 1.0, map.spare_data)
                    largest = max(largest, map.visit_parts(i, 1, &part, &one, CLEAR, 1.0, map.spare_data))
            total += largest ** 0.5
        return total * total


cdef class ArcTables(Tables):
    """The places of the features of all arcs (kept.pyx)."""

    def keep(self):
        """Keeps them, unless they take too much memory."""
        cdef ArcFeatures map = self.features
        if map.keeps_places or not map.reader.n:
            return
        hashed = map.table.hash_bits > 0
        map.kept_pairs = KeptArcs(map.arc_indptr, 1, hashed, map.kept_limit)
        room = map._keep(False, BLOCK - 1 if hashed else 0)
        if room and map.n_labels > 1:
            map.kept_rows = KeptArcs(map.arc_indptr, map.stride, False, map.kept_limit)
            room = map._keep(True, 0)
        if room:
            map.keeps_places = True
        else:
            self.forget()

    def forget(self):
        cdef ArcFeatures map = self.features
        map.kept_pairs = map.kept_rows = None
        map.keeps_places = False


cdef class ArcAccumulator(Accumulator):
    """Sums over all sentences without a weight vector for each of several threads; n: the sentences.

    What is put for every arc is kept until the end; then each weight is a sum over the sentences, in their order, and
    threads have ranges of weights of their own. What is put for arcs with relations, which would be too much to keep,
    is added up in chunks of sentences."""

    cdef ArcFeatures map
    cdef Py_ssize_t row_weights
    cdef object arcs
    cdef double *arc_data

    def __init__(self, ArcFeatures features, Py_ssize_t n):
        self.features = self.map = features
        self.row_weights = features.dim - features.table.first_row if features.n_labels > 1 else 0
        self.chunks = max(1, min(n, 16 if self.row_weights * 16 * 8 <= 1 << 28 else 4))
        self.totals = np.zeros((self.chunks, self.row_weights + 1))
        cdef double[:, ::1] totals = self.totals
        cdef double[::1] arcs = aligned_zeros(features.arc_indptr[n] + 1)
        self.total_data, self.arcs, self.arc_data = &totals[0, 0], np.asarray(arcs), &arcs[0]

    cdef void put(self, Py_ssize_t chunk, Py_ssize_t i, const double *a) noexcept nogil:
        cdef Py_ssize_t arc, r
        for arc in range(self.map.first_arc[i + 1] - self.map.first_arc[i]):
            for r in range(self.map.n_labels):
                self.arc_data[self.map.first_arc[i] + arc] += a[arc * self.map.stride + r]
        if self.row_weights:
            self.map.add_rows(i, a, 1.0, self.total_data + chunk * (self.row_weights + 1))

    cdef void put_parts(self, Py_ssize_t chunk, Py_ssize_t i, Py_ssize_t count, const int32_t *ids,
                        const double *a, double scale) noexcept nogil:
        cdef Py_ssize_t c
        for c in range(count):
            self.arc_data[self.map.first_arc[i] + ids[c] // self.map.stride] += scale * a[c]
        if self.row_weights:
            self.map.visit_kind(i, count, ids, a, ADD, True, scale, self.total_data + chunk * (self.row_weights + 1))

    def clear(self, pool):
        self.totals[...] = 0
        self.arcs[...] = 0

    def total(self, double[::1] out, pool):
        out[:] = 0.0
        weights = self.map.table.arc_weights
        bounds = np.linspace(0, weights, pool.threads + 1).astype(np.int64) // BLOCK * BLOCK
        bounds[pool.threads] = weights
        pool.map(self._arcs, [(out, low, high) for low, high in pairwise(bounds.tolist())])
        if self.row_weights:
            np.asarray(out)[self.map.table.first_row:] = self.totals[:, :self.row_weights].sum(axis=0)

    def _arcs(self, double[::1] out, uint32_t low, uint32_t high):
        """The weights of a range of arc features."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.map.reader.n):
                self.map.add_arcs(i, self.arc_data + self.map.first_arc[i], 1, 1.0, low, high, &out[0])
