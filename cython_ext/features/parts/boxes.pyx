"""One weight for each word: a part is a word of a picture, and its feature how often it is in a box."""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.features.parts.weights cimport PartWeights
from cython_ext.structures.boxes.boxes cimport Boxes


cdef class WordFeatures(PartWeights):
    """structure: the Boxes whose parts they are; words: how many there are, the length of a weight vector."""

    cdef readonly object part_counts

    def __init__(self, Boxes structure not None, Py_ssize_t words):
        PartWeights.__init__(self, structure.part_at, structure.part_words, words)
        self.part_counts = structure.part_counts

    def spread2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """A box has all of a word that the right one has not, or nothing of what that has, at most."""
        cdef Py_ssize_t begin = self.part_at[i], size = self.size_of(i)
        right = np.bincount(np.asarray(ids), np.asarray(counts), minlength=size)
        there = self.part_counts[begin:begin + size]
        return float((np.maximum(right, there - right) ** 2).sum())

    def blocks(self, w):
        """feature [words]."""
        return {'feature': np.array(w, np.float64)[:self.dim]}

    def weights(self, blocks):
        """The weight vector of blocks(); ValueError when they do not fit."""
        shapes = {name: np.shape(block) for name, block in blocks.items()}
        if shapes != {'feature': (self.dim,)}:
            raise ValueError(f'weights of shapes {shapes} (expected {self.dim} words)')
        w = self.zeros()
        w[:] = blocks['feature']
        return w
