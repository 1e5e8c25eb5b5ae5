"""Sets of labels without weights for pairs, as binary problems of their own: whether label k is in the set of example
i.

The hinge of a set with Hamming costs is the sum of those of its labels, so that the problem is the same when every
label of every example is an example by itself, and a solver can step along each label alone. All features and costs are
those of the label times the number of labels: the mean over the labels of all examples is then that over the examples.
(Logarithms of sums are no multiples of those of smaller scores, and are taken over whole sets.)
"""

import numpy as np

from cython_ext.structures.labels.multiclass cimport Multiclass


cdef class LabelsApart(Multiclass):
    """gold: int32[examples, labels], 1 where a label is in the set. Examples of this structure are first those of the
    first label, then those of the second, ..."""

    def __init__(self, gold):
        self.examples, self.times = gold.shape
        Multiclass.__init__(self, np.ascontiguousarray(gold.T, np.int32).ravel(), 2)

    def neighbours(self):
        """The examples of a label share its weights, and no others."""
        return self.examples * np.arange(self.times + 1, dtype=np.int64)

    def by_example(self, values):
        """The mean over all labels of all examples is that over the examples."""
        return values.reshape(self.times, self.examples).mean(axis=0)
