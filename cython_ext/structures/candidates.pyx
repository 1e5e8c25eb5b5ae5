"""One of the candidates that come with each example: a choice among a number of alternatives of the example's own."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cython_ext.structures.choice cimport Choice
from cython_ext.structures.registry import StructureInfo

cdef enum:
    WIDTH = 4       # the scores of an example are padded to a multiple of this


cdef class Candidates(Choice):
    """offsets: int64[n + 1], where the candidates of each example begin, one at least; costs: float64[N], what each
    candidate costs more than the best one of its example. The right output is the first that costs nothing."""

    def __init__(self, offsets, costs):
        cdef const int64_t[::1] view = np.ascontiguousarray(offsets, np.int64)
        self.offsets, self.offset_data = np.asarray(view), &view[0]
        self.costs = np.ascontiguousarray(costs, np.float64)
        self.total = len(self.costs)
        starts, free = self.offsets[:len(view) - 1], np.flatnonzero(self.costs == 0)
        self.right = (free[np.searchsorted(free, starts)] - starts).astype(np.int32)
        self._set(self.right, np.diff(self.offsets).max(initial=0))

    cdef Py_ssize_t count(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offset_data[i + 1] - self.offset_data[i])

    cdef Py_ssize_t size_of(self, Py_ssize_t i) noexcept nogil:
        return (self.count(i) + WIDTH - 1) // WIDTH * WIDTH


def build(dataset, feature_set='all', merge=False, basis=None, similarity=None):
    """(Structure, FeatureMap) of a CandidateDataset."""
    from cython_ext.features.candidates import CandidateFeatures
    from cython_ext.features.sparse_rows import SparseRows

    if basis is not None or similarity is not None:
        raise ValueError('candidates have linear features: use the linear kernel')
    if feature_set != 'all':
        raise ValueError('every feature of candidates has a weight: use --feature-set all')
    rows = SparseRows(dataset.indptr, dataset.indices, dataset.values, len(dataset.attributes))
    structure = Candidates(dataset.offsets, dataset.costs)
    counts = np.diff(structure.offsets)
    return structure, CandidateFeatures(rows, structure.offsets, -counts % WIDTH)


def given(structure):
    """What the candidates cost."""
    from cython_ext.losses.given_costs import GivenCosts

    return GivenCosts(structure, structure.costs)


def zero_one(structure):
    """1 for every candidate that costs anything."""
    from cython_ext.losses.given_costs import GivenCosts

    return GivenCosts(structure, (structure.costs > 0).astype(np.float64))


def strata(structure, loss):
    from cython_ext.losses.strata import ChoiceStrata

    return ChoiceStrata(structure, loss)


INFO = StructureInfo(
    'candidates', 'one of the candidates that each example lists', build, {'given': given, 'zero-one': zero_one},
    'given', None, dict.fromkeys(('given', 'zero-one'), strata), ('given', 'zero-one'),
)
