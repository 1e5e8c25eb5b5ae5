"""What some feature maps do better than their calls alone could, and few solvers ask for.

Each class here works with any feature map. A map that knows better derives from it and names its own class in
`helpers`; whoever needs one asks `FeatureMap.helper` for it once, before a pass. Two more kinds of helpers have files
of their own: sums over examples (accumulators.pyx) and generative models (generative.py).
"""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.features.feature_map cimport FeatureMap


cdef class Helper:
    """Of one feature map; what it has to remember, the map does."""

    def __init__(self, FeatureMap features not None):
        self.features = features


cdef class Step(Helper):
    """A step w += scale Phi_i a whose length depends on ||Phi_i a||: of NaturalDual, for one thread at a time."""

    cdef double prepare(self, Py_ssize_t i, const double *a) noexcept nogil:
        """||Phi_i a||^2 of a step that may be applied next; Phi_i a may be kept until another method of the map or of
        this helper is called."""
        return self.features.norm2(i, a)

    cdef void apply(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        """w += scale * Phi_i a, for the i and a that prepare was last called with."""
        self.features.add(i, a, scale, w)


cdef class Prefetch(Helper):
    """Weights that belong to one example, asked for ahead of its visit: of BlockFrankWolfe."""

    cdef void fetch(self, Py_ssize_t i, const double *w) noexcept nogil:
        """Brings the weights of w that only example i has into the cache, since its scores are asked for soon."""


cdef class Radius(Helper):
    """How large features are, for step sizes and rates: of solvers/parts/radius.pyx."""

    def radius2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """An upper bound of max_y ||Phi_i (s(y_i) - s(y))||^2, float: here by the norms of all parts. ids, counts:
        s(y_i); most: the largest number of parts that an output of example i has."""
        cdef Py_ssize_t p, size = self.features.num_parts(i)
        cdef double[::1] column = np.empty(size + 1), norms = np.empty(size + 1), one = np.ones(1)
        cdef int32_t[::1] part = np.zeros(1, np.int32)
        for p in range(size):
            part[0] = <int32_t> p
            self.features.gram_parts(i, 1, &part[0], &one[0], &column[0])
            norms[p] = column[p] ** 0.5
        gold = np.asarray(counts) @ np.asarray(norms)[np.asarray(ids)]
        return (gold + most * np.max(norms[:size], initial=0.0)) ** 2


cdef class Tables(Helper):
    """What is computed once instead of at every visit of an example, in memory that the run has to spare."""

    def keep(self):
        """Called by Solver: every example will be visited many times."""

    def keep_gram(self):
        """Called by BlockDual and NaturalDual: every visit will call gram_parts and norm2."""

    def forget(self):
        """Called when training has ended: frees the memory. The map does without."""


cdef class Following(Helper):
    """The scores of one weight vector, kept for all examples where they are dear: of NSlack, which visits its examples
    more often than it changes w."""

    def follow(self, w, kept=None):
        """Computes the scores of w, once; add and add_parts keep them right from then on. To be called again when w has
        changed in another way. kept: an earlier `scores` of the same w."""

    def scores(self, w):
        """The scores kept of w, a vector, None where it is not followed. What add has made of them differs from what
        follow would by rounding."""
        return None


cdef class AtLambda(Helper):
    """Features that depend on lambda: of Problem.with_lambda."""

    def at_lambda(self, double lam):
        """The map of the same problem with another lambda."""
        return self.features
