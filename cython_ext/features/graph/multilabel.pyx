"""Features of sets of labels where every label of every example is an example by itself
(structures/graph/labels_apart.pyx): the inputs of the example times the number of labels, with weights for each label.
Weights are those of GraphFeatures."""

from libc.stdint cimport int32_t
from libc.string cimport memset

from cython_ext.features.graph.factors cimport FactorMap, FactorWeights
from cython_ext.structures.graph.labels_apart cimport LabelsApart


cdef class LabelColumns(FactorMap):
    """outputs: the LabelsApart; weights: the FactorWeights of the same sets, whose nodes are the labels."""

    cdef readonly LabelsApart outputs

    def __init__(self, LabelsApart outputs not None, FactorWeights weights not None):
        super().__init__(weights)
        self.outputs = outputs

    cdef Py_ssize_t num_parts(self, Py_ssize_t b) noexcept nogil:
        return self.outputs.stride

    cdef void scores(self, Py_ssize_t b, const double *w, double *theta) noexcept nogil:
        memset(theta + 2, 0, (self.outputs.stride - 2) * sizeof(double))
        self.weights_of_factors.scores(b % self.outputs.examples, b // self.outputs.examples, w, self.outputs.times,
                                       theta)

    cdef void add_amount(self, Py_ssize_t b, double amount, double *w) noexcept nogil:
        """w += amount * the features of the label in the set."""
        if amount != 0.0:
            self.weights_of_factors.add_state(b % self.outputs.examples, b // self.outputs.examples, 1,
                                              amount * self.outputs.times, w)

    cdef void add(self, Py_ssize_t b, const double *a, double scale, double *w) noexcept nogil:
        self.add_amount(b, scale * a[1], w)

    cdef void add_parts(self, Py_ssize_t b, Py_ssize_t count, const int32_t *ids, const double *a, double scale,
                        double *w) noexcept nogil:
        cdef Py_ssize_t c
        cdef double total = 0.0
        for c in range(count):
            if ids[c] == 1:
                total += a[c]
        self.add_amount(b, scale * total, w)

    cdef double square(self, Py_ssize_t b) noexcept nogil:
        """The squared norm of the features of the label in the set."""
        return self.weights_of_factors.square(b % self.outputs.examples, b // self.outputs.examples) * (
            <double> self.outputs.times * self.outputs.times)

    cdef void gram_parts(self, Py_ssize_t b, Py_ssize_t count, const int32_t *ids, const double *a,
                         double *out) noexcept nogil:
        cdef Py_ssize_t c
        cdef double total = 0.0
        memset(out, 0, self.outputs.stride * sizeof(double))
        for c in range(count):
            if ids[c] == 1:
                total += a[c]
        out[1] = total * self.square(b)

    cdef double norm2(self, Py_ssize_t b, const double *a) noexcept nogil:
        return a[1] * a[1] * self.square(b) if a[1] != 0.0 else 0.0
