"""The rows of sparse matrices that differ, and where each one is."""

import hashlib

import numpy as np


class DistinctRows:
    """The distinct rows of CSR triples (indptr, indices, values or None when all are 1), in order of first appearance.

    Attributes:
        indptr, indices, values: the CSR triple of these rows.
    """

    def __init__(self, parts):
        self._places = {}
        kept = []
        for indptr, indices, values in parts:
            for key, begin, end in _rows(indptr, indices, values):
                if self._places.setdefault(key, len(kept)) == len(kept):
                    kept.append((indices[begin:end], None if values is None else values[begin:end]))
        self.indptr = np.zeros(len(kept) + 1, np.int64)
        np.cumsum([len(index) for index, _ in kept], out=self.indptr[1:])
        self.indices = np.concatenate([np.empty(0, np.int32), *(index for index, _ in kept)])
        self.values = None
        if any(value is not None for _, value in kept):
            values = [np.ones(len(index)) if value is None else value for index, value in kept]
            self.values = np.concatenate(values)
            if (self.values == 1).all():
                self.values = None

    def find(self, indptr, indices, values):
        """int32[n]: the place of each row of a CSR triple among the distinct ones, -1 for others."""
        return np.array([self._places.get(key, -1) for key, _, _ in _rows(indptr, indices, values)], np.int32)


def _rows(indptr, indices, values):
    """(key, begin, end) of each row; equal rows, however their ones are written, have equal keys."""
    indptr, indices = np.asarray(indptr), np.ascontiguousarray(indices, np.int32)
    if values is not None:
        values = np.ascontiguousarray(values, np.float64)
    for begin, end in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        text = indices[begin:end].tobytes()
        if values is not None and not (values[begin:end] == 1).all():
            text += b'=' + values[begin:end].tobytes()  # a length that no row of ones has
        yield hashlib.blake2b(text, digest_size=16).digest(), begin, end
