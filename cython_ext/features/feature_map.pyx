"""FeatureMap: Phi_i, the linear map with <w, phi(x_i, y)> = <Phi_i' w, s(y)>.

`scores` computes theta = Phi_i' w, `add` its adjoint w += scale * Phi_i a. Because <w, Phi_i a> = <theta, a>, a
solver never needs the feature space itself; a weight vector is `dim` doubles that only the map understands, and
`inner` is its inner product. Vectors over parts come dense (m_i doubles) or as parts: numbers with values, a part
may be listed twice.
"""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memset

from cython_ext.kernels.vectors cimport vector
from cython_ext.common.arrays import aligned_zeros
from cython_ext.common.parallel import even_ranges
from cython_ext.structures.structure import padded

cdef enum:
    BLOCK = 1024                                            # weights summed while they are in the fastest cache


cdef class FeatureMap:
    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil:
        """m_i, as the structure has it."""
        return 0

    cdef void fetch(self, Py_ssize_t i, const double *w) noexcept nogil:
        """The scores of example i will be asked for soon: those that read weights of its own may bring them into the
        cache."""

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        """theta[:] = Phi_i' w, all m_i of them."""
        pass

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        """w += scale * Phi_i a. It and all below may use scratch memory of the map: for one thread at a time."""
        pass

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        """w += scale * Phi_i a for a sparse a."""
        pass

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        """out[:] = Phi_i' Phi_i a, dense, for a sparse a: what a step along a does to the example's own scores."""
        pass

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        """|| Phi_i a ||^2 for a dense a."""
        return 0.0

    cdef double hold(self, Py_ssize_t i, const double *a) noexcept nogil:
        """norm2, for a vector that add_held may be asked for next: maps may hold Phi_i a until another method is called."""
        return self.norm2(i, a)

    cdef void add_held(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        """add, for what hold was last asked for."""
        self.add(i, a, scale, w)

    @property
    def euclidean(self):
        """Whether `inner` is the sum of products, so that a gradient is a weight vector like any other."""
        return True

    def inner(self, const double[::1] v, const double[::1] w):
        """The inner product of two weight vectors."""
        if len(v) != self.dim or len(w) != self.dim:
            raise ValueError(f'vectors of {len(v)} and {len(w)} numbers (expected {self.dim})')
        return vector.dot(self.dim, &v[0], &w[0]) if self.dim else 0.0

    def zeros(self):
        """A new weight vector."""
        return aligned_zeros(self.dim)

    def spread2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """An upper bound of max_y ||Phi_i (s(y_i) - s(y))||^2. ids, counts: s(y_i); most: parts that an output of example
        i has, at most. Maps that know how their parts are related have better ones."""
        cdef Py_ssize_t p, size = self.size_of(i)
        cdef double[::1] column = np.empty(size + 1), norms = np.empty(size + 1), one = np.ones(1)
        cdef int32_t[::1] part = np.zeros(1, np.int32)
        for p in range(size):
            part[0] = <int32_t> p
            self.gram_parts(i, 1, &part[0], &one[0], &column[0])
            norms[p] = column[p] ** 0.5
        right = np.asarray(counts) @ np.asarray(norms)[np.asarray(ids)]
        return (right + most * np.max(norms[:size], initial=0.0)) ** 2

    def prepare(self):
        """Asked for by solvers, which visit every example many times: the time to keep what is computed each time."""

    def keep_gram(self):
        """Asked for by solvers that call gram_parts and norm2 at every visit: the time to build tables for them."""

    def follow(self, w, kept=None):
        """Asked for by solvers that visit an example many times between two changes of w, and again when w has changed in
        another way than by add and add_parts: the time to compute the scores of w once, where they are dear. kept: an
        earlier followed_scores of the same w."""

    def followed_scores(self, w):
        """The scores that are kept of w, a vector: what add has made of them differs by rounding from what follow would.
        None where w is not followed."""
        return None

    def forget_gram(self):
        """After the last visit: the memory of these tables, and of what `prepare` keeps, is free; they can do without."""

    def blocks(self, w):
        """The weights as the model file names them: dict of arrays."""
        return {}

    def weights(self, blocks):
        """The weight vector of blocks(); ValueError when they do not fit."""
        return self.zeros()

    def generative(self):
        """The generative model that has these weights, for `counts`: a function of (weight vector of counts, smoothing), see
        generative.py. ValueError where there is none, UnfitDataError where the data lack what it needs."""
        raise ValueError('counts is for labels, sequences of labels and trees of a grammar, with linear features')

    def accumulator(self, Py_ssize_t n, window=None):
        """An Accumulator for sums over the n examples; window: one of windows(), for the squared norm of that part only."""
        return Accumulator(self, n)

    def at_lambda(self, double lam):
        """The map of the same problem with another lambda: the same one, unless lambda is in the features."""
        return self

    def figures(self, problem=None, w=None, primal=None):
        """Further figures for a log, of weights of a problem with P(w) = primal: column -> number, or None without weights."""
        return {}

    def windows(self):
        """Parts of the weights, small enough to be accumulated in little memory one after the other."""
        return [None]

    # The same for Python.

    def scores_of(self, Py_ssize_t i, const double[::1] w):
        """theta_i(w), float64[m_i]."""
        theta = np.empty(self.size_of(i) + 1)
        cdef double[::1] view = theta, weights = padded(w)
        self.scores(i, &weights[0], &view[0])
        return theta[:self.size_of(i)]

    def adjoint(self, Py_ssize_t i, const double[::1] a):
        """Phi_i a, float64[dim]."""
        w = padded(self.zeros())
        cdef double[::1] view = w, values = padded(a)
        self.add(i, &values[0], 1.0, &view[0])
        return w[:self.dim]

    def add_parts_to(self, double[::1] w, Py_ssize_t i, const int32_t[::1] ids, const double[::1] a):
        """w += Phi_i a for a sparse a, in place."""
        if len(ids) and len(w):
            self.add_parts(i, len(ids), &ids[0], &a[0], 1.0, &w[0])

    def gram_of(self, Py_ssize_t i, const double[::1] a):
        """Phi_i' Phi_i a by gram_parts, float64[m_i]."""
        out = np.zeros(self.size_of(i))
        cdef int32_t[::1] ids = np.flatnonzero(a).astype(np.int32)
        cdef double[::1] view = out, values = np.asarray(a)[np.asarray(ids)]
        if len(ids):
            self.gram_parts(i, len(ids), &ids[0], &values[0], &view[0])
        return out

    def norm2_of(self, Py_ssize_t i, const double[::1] a):
        """|| Phi_i a ||^2."""
        cdef double[::1] values = padded(a)
        return self.norm2(i, &values[0])

    def add_held_to(self, double[::1] w, Py_ssize_t i, const double[::1] a, double scale):
        """w += scale * Phi_i a by add_held, in place; what hold says."""
        cdef double[::1] values = padded(a)
        norm2 = self.hold(i, &values[0])
        if len(w):
            self.add_held(i, &values[0], scale, &w[0])
        return norm2


cdef class Accumulator:
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

    def put_of(self, Py_ssize_t chunk, Py_ssize_t i, const double[::1] a):
        """put() for Python."""
        cdef double[::1] values = padded(a)
        self.put(chunk, i, &values[0])

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
