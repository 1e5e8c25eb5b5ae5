"""FeatureMap: Phi_i, the linear map with <w, phi(x_i, y)> = <Phi_i' w, s(y)>.

`scores` computes theta = Phi_i' w, `add` its adjoint w += scale * Phi_i a. Because <w, Phi_i a> = <theta, a>, a
solver never needs the feature space itself; a weight vector is `dim` doubles that only the map understands, and
`inner` is its inner product. Vectors over parts come dense (m_i doubles) or as parts: numbers with values, a part
may be listed twice.
"""

from libc.stdint cimport int32_t

from cython_ext.kernels.vectors cimport vector
from cython_ext.common.arrays import aligned_zeros


cdef class FeatureMap:
    """A map sets `dim` and has the six methods without the GIL, `blocks` and `weights`. All but scores may use scratch
    memory of the map: for one thread at a time."""

    helpers = {}                # {class of a helper: the class, or a function of the map, that makes it for this map}
    euclidean = True            # `inner` is the sum of products, so that a gradient is a weight vector like any other

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        """m_i, as the structure has it."""
        return 0

    cdef void scores(self, Py_ssize_t i, const double *w, double *theta) noexcept nogil:
        """theta[:] = Phi_i' w, all m_i of them."""

    cdef void add(self, Py_ssize_t i, const double *a, double scale, double *w) noexcept nogil:
        """w += scale * Phi_i a."""

    cdef void add_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        """w += scale * Phi_i a for a sparse a."""

    cdef void gram_parts(self, Py_ssize_t i, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        """out[:] = Phi_i' Phi_i a, dense, for a sparse a: what a step along a does to the example's own scores."""

    cdef double norm2(self, Py_ssize_t i, const double *a) noexcept nogil:
        """|| Phi_i a ||^2 for a dense a."""
        return 0.0

    def inner(self, const double[::1] v, const double[::1] w):
        """The inner product of two weight vectors; ValueError where they are not `dim` long."""
        if len(v) != self.dim or len(w) != self.dim:
            raise ValueError(f'vectors of {len(v)} and {len(w)} numbers (expected {self.dim})')
        return vector.dot(self.dim, &v[0], &w[0]) if self.dim else 0.0

    def zeros(self):
        """A new weight vector."""
        return aligned_zeros(self.dim)

    def blocks(self, w):
        """The weights as the model file names them: dict of arrays."""
        return {}

    def weights(self, blocks):
        """The weight vector of blocks(); ValueError when they do not fit."""
        return self.zeros()

    def helper(self, kind, *arguments):
        """What the map has for those who need more than this contract (capabilities.pyx): kind(map, *arguments), or
        what `helpers` has in the place of that class. Asked for once, before a pass."""
        return self.helpers.get(kind, kind)(self, *arguments)
