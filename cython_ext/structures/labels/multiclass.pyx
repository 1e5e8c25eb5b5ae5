"""One label of K: the alternatives of every example are the labels."""

from cython_ext.structures.choice cimport Choice
from cython_ext.structures.choice import padded


cdef class Multiclass(Choice):
    """labels: int32[n], the right label of each example (-1 where unknown); n_labels: K."""

    def __init__(self, labels, Py_ssize_t n_labels):
        self.labels = labels
        self.n_labels, self.stride = n_labels, padded(n_labels)
        self._set(labels, n_labels)

    cdef Py_ssize_t count(self, Py_ssize_t i) noexcept nogil:
        return self.n_labels

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.stride

    def label_rows(self):
        return self.n_labels, self.stride
