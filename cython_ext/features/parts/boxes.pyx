"""One weight for each word: a part is a word of a picture, and its feature how often it is in a box."""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.features.capabilities cimport Radius
from cython_ext.features.parts.weights cimport PartWeights
from cython_ext.structures.boxes.boxes cimport Boxes


cdef class WordFeatures(PartWeights):
    """structure: the Boxes whose parts they are; words: how many there are, the length of a weight vector."""

    helpers = {Radius: WordRadius}

    cdef readonly object part_counts

    def __init__(self, Boxes structure not None, Py_ssize_t words):
        PartWeights.__init__(self, structure.part_at, structure.part_words, words)
        self.part_counts = structure.part_counts

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


cdef class WordRadius(Radius):
    def radius2(self, Py_ssize_t i, const int32_t[::1] ids, const double[::1] counts, double most):
        """A box has all of a word that the gold one has not, or nothing of what that has, at most."""
        cdef WordFeatures map = self.features
        cdef Py_ssize_t begin = map.part_at[i], size = map.num_parts(i)
        gold = np.bincount(np.asarray(ids), np.asarray(counts), minlength=size)
        there = map.part_counts[begin:begin + size]
        return float((np.maximum(gold, there - gold) ** 2).sum())
