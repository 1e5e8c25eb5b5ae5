"""Scratch memory of one thread, sized once for the largest example: no allocation inside a pass."""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.common.arrays import aligned_zeros
from cython_ext.structures.structure cimport Structure


cdef class Workspace:
    def __init__(self, Structure structure not None, loss, Py_ssize_t k=2):
        """loss: the Objective, TaskLoss or Strata whose oracles are called with it, which says what room they take
        (room()); None where only those of the structure are. k: how many outputs top-k calls ask for."""
        self.memory = []
        self.strata, self.table_size = (0, 0) if loss is None else loss.room()
        self.theta = self._doubles(structure.max_size)
        self.mean = self._doubles(structure.max_size)
        self.scratch = self._doubles(structure.scratch_size(k))
        self.counts = self._doubles(structure.max_parts)
        self.gold_counts = self._doubles(structure.max_parts)
        self.deltas = self._doubles(self.strata)
        self.values = self._doubles(self.strata)
        self.table = self._doubles(self.table_size)
        self.code = self._integers(structure.max_code)
        self.codes = self._integers(k * structure.max_code)
        self.ids = self._integers(structure.max_parts)
        self.gold_ids = self._integers(structure.max_parts)

    cdef double *_doubles(self, Py_ssize_t size) except NULL:
        cdef double[::1] view = aligned_zeros(size + 1)
        self.memory.append(view)
        return &view[0]

    cdef int32_t *_integers(self, Py_ssize_t size) except NULL:
        cdef int32_t[::1] view = np.zeros(size + 1, np.int32)
        self.memory.append(view)
        return &view[0]
