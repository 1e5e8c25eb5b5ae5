"""Predictions of a structure under given weights: best outputs, lists of the best, marginals."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.common.parallel import Pool, ranges
from cython_ext.structures.structure cimport RankedStructure, Structure, SummedStructure
from cython_ext.structures.workspace cimport Workspace


cdef class Decoder:
    """structure and features of the examples to predict; their gold outputs are not looked at. When the stop flag of
    the pool is set, predict raises Interrupted."""

    cdef readonly Structure structure
    cdef readonly FeatureMap features
    cdef readonly object pool, code_indptr, _parts

    def __init__(self, Structure structure not None, FeatureMap features not None, pool=None):
        cdef Py_ssize_t i
        self.structure, self.features, self.pool = structure, features, pool or Pool(1)
        cdef int64_t[::1] indptr = np.zeros(structure.n + 1, np.int64)
        for i in range(structure.n):
            indptr[i + 1] = indptr[i] + structure.code_length(i)
        self.code_indptr = np.asarray(indptr)
        self._parts = ranges(structure.part_indptr(), 4 * self.pool.threads if self.pool.threads > 1 else 1)

    def predict(self, w):
        """(codes, scores): the best output of each example, codes int32 one after the other as code_indptr (int64
        [n + 1]) says, and its score, float64[n]."""
        w = np.ascontiguousarray(w, np.float64)
        codes, scores = np.empty(int(self.code_indptr[self.structure.n]), np.int32), np.empty(self.structure.n)
        self.pool.map(self._predict, [(w, codes, scores, *part) for part in self._parts])
        self.structure.check()
        return codes, scores

    def _predict(self, const double[::1] w, int32_t[::1] codes, double[::1] scores, Py_ssize_t begin, Py_ssize_t end):
        cdef Workspace work = Workspace(self.structure, None)
        cdef const int64_t[::1] indptr = self.code_indptr
        cdef const int32_t[::1] stop = self.pool.stop
        cdef Py_ssize_t i, length
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                self.features.scores(i, &w[0], work.theta)
                scores[i] = self.structure.max(i, work.theta, work.scratch, work.code)
                length = indptr[i + 1] - indptr[i]
                if length:
                    memcpy(&codes[indptr[i]], work.code, length * sizeof(int32_t))

    def nbest(self, const double[::1] w, Py_ssize_t k):
        """Per example (codes int32[r, length], scores float64[r]) of the r <= k best outputs."""
        if not isinstance(self.structure, RankedStructure):
            raise TypeError('this structure has no topk oracle')
        cdef Workspace work = Workspace(self.structure, None, k)
        cdef RankedStructure structure = self.structure
        cdef Py_ssize_t i, length, count
        cdef double[::1] values = np.empty(k)
        out = []
        for i in range(structure.n):
            length = structure.code_length(i)
            with nogil:
                self.features.scores(i, &w[0], work.theta)
                count = structure.topk(i, work.theta, k, work.scratch, &values[0], work.codes)
            codes = np.empty((count, length), np.int32)
            if count and length:
                codes.ravel()[:] = <int32_t[:count * length]> work.codes
            out.append((codes, np.array(values[:count])))
        structure.check()
        return out

    def log_partitions(self, w):
        """log sum_y exp(score of y) of each example, float64[n]."""
        return self._sums(w, None)

    def means(self, w):
        """For each example its mean statistics, float64[m_i]."""
        if 'exp' not in self.structure.oracles:
            raise TypeError('this structure has no exp oracle')
        cdef Workspace work = Workspace(self.structure, None)
        cdef SummedStructure structure = self.structure
        cdef const double[::1] weights = np.ascontiguousarray(w, np.float64)
        cdef Py_ssize_t i, size
        out = []
        for i in range(structure.n):
            size = structure.num_parts(i)
            with nogil:
                self.features.scores(i, &weights[0], work.theta)
                structure.log_partition(i, work.theta, work.scratch, work.mean)
            out.append(np.array(<double[:size]> work.mean) if size else np.empty(0))
        return out

    def marginals(self, w):
        """(log-partitions float64[n], position marginals float64[tokens, K]) for structures with label_rows."""
        n_labels, stride = self.structure.label_rows()
        means = np.empty((int(self.code_indptr[self.structure.n]), stride))
        return self._sums(w, means), means[:, :n_labels]

    def _sums(self, w, means):
        if 'exp' not in self.structure.oracles:
            raise TypeError('this structure has no exp oracle')
        w, out = np.ascontiguousarray(w, np.float64), np.empty(self.structure.n)
        self.pool.map(self._exp, [(w, out, means, *part) for part in self._parts])
        return out

    def _exp(self, const double[::1] w, double[::1] out, double[:, ::1] means, Py_ssize_t begin, Py_ssize_t end):
        cdef Workspace work = Workspace(self.structure, None)
        cdef SummedStructure structure = self.structure
        cdef const int64_t[::1] indptr = self.code_indptr
        cdef Py_ssize_t i, length, width = 0
        cdef double *rows = NULL
        if means is not None and means.shape[0]:
            width, rows = means.shape[1], &means[0, 0]
        with nogil:
            for i in range(begin, end):
                self.features.scores(i, &w[0], work.theta)
                out[i] = structure.log_partition(i, work.theta, work.scratch, work.mean)
                length = indptr[i + 1] - indptr[i]
                if rows != NULL and length:
                    memcpy(rows + indptr[i] * width, work.mean, length * width * sizeof(double))
