"""A sparse dual point: for each example some outputs with weights, as four arrays."""

import numpy as np

from cython_ext.duals.dual_point import WrittenPoint


class SparsePoint(WrittenPoint):
    """Attributes:
    indptr: int64[n + 1]; the outputs indptr[i]:indptr[i + 1] belong to example i.
    weights: float64, alpha_i(y), not negative, summing to 1 over an example (to anything with slack norm 2 or a hard
        margin).
    code_indptr: int64; codes[code_indptr[o]:code_indptr[o + 1]] is the code of output o.
    codes: int32.
    """

    NAMES = ('indptr', 'weights', 'code_indptr', 'codes')

    def __init__(self, indptr, weights, code_indptr, codes):
        """ValueError where the arrays do not fit together."""
        self.indptr = np.ascontiguousarray(indptr, np.int64)
        self.weights = np.ascontiguousarray(weights, np.float64)
        self.code_indptr = np.ascontiguousarray(code_indptr, np.int64)
        self.codes = np.ascontiguousarray(codes, np.int32)
        flat = all(array.ndim == 1 for array in self.arrays().values())
        if not flat or not _parts(self.indptr, self.weights) or not _parts(self.code_indptr, self.codes):
            raise ValueError('the arrays of the dual point do not fit together')
        if len(self.code_indptr) != len(self.weights) + 1:
            raise ValueError('the arrays of the dual point do not fit together')

    def expectations(self, problem, total):
        from cython_ext.duals.expectations import of_outputs

        if problem.sums:
            raise ValueError(f'{problem.objective_name} has no sparse dual points')
        if len(self.indptr) != problem.n + 1:
            raise ValueError(f'the dual point is of {len(self.indptr) - 1} examples (expected {problem.n})')
        return of_outputs(problem, self.indptr, self.weights, self.code_indptr, self.codes, total)

    def value(self, problem, w=None):
        from cython_ext.features.accumulators import NormWindows

        norm2 = 0.0
        for total in problem.features.helper(NormWindows).accumulators(problem.n):  # in little memory
            gain = self.expectations(problem, total)
            norm2 += total.norm2(problem.pool)
            del total  # before the next one is made
        return gain - norm2 / (2 * problem.lam * problem.n * problem.n)

    def outputs(self, i):
        begin, end = self.indptr[i : i + 2].tolist()
        codes = self.codes[self.code_indptr[begin] : self.code_indptr[end]]
        return self.weights[begin:end], codes.reshape(end - begin, len(codes) // max(end - begin, 1))


def listed(point):
    """The point, if it is a list of outputs; otherwise ValueError."""
    if not isinstance(point, SparsePoint):
        raise ValueError('the dual point is in natural parameters, and not a list of outputs')
    return point


def _parts(indptr, array):
    """Whether indptr parts an array into ranges."""
    return len(indptr) > 0 and indptr[0] == 0 and bool(np.all(np.diff(indptr) >= 0)) and indptr[-1] == len(array)
