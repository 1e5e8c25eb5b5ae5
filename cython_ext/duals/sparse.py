"""A sparse dual point: for each example some outputs with weights, as a dict of arrays.

indptr int64[n + 1]     outputs indptr[i]:indptr[i + 1] belong to example i
weights float64         alpha_i(y), not negative, summing to 1 over an example (to anything with slack norm 2 or a
                        hard margin)
code_indptr int64       codes[code_indptr[o]:code_indptr[o + 1]] is the code of output o
codes int32
"""

import numpy as np


def checked(point, n):
    """The point with the dtypes that kernels expect; ValueError when its arrays do not fit together or do not belong
    to n examples."""
    if 'theta' in point:
        raise ValueError('the dual point is in natural parameters, and not a list of outputs')
    try:
        indptr = np.ascontiguousarray(point['indptr'], np.int64)
        weights = np.ascontiguousarray(point['weights'], np.float64)
        code_indptr = np.ascontiguousarray(point['code_indptr'], np.int64)
        codes = np.ascontiguousarray(point['codes'], np.int32)
    except KeyError as missing:
        raise ValueError(f'the dual point has no {missing.args[0]}') from None
    if len(indptr) != n + 1:
        raise ValueError(f'the dual point is of {len(indptr) - 1} examples (expected {n})')
    fits = (
        indptr[0] == 0
        and np.all(np.diff(indptr) >= 0)
        and indptr[-1] == len(weights) == len(code_indptr) - 1
        and code_indptr[0] == 0
        and np.all(np.diff(code_indptr) >= 0)
        and code_indptr[-1] == len(codes)
    )
    if not fits:
        raise ValueError('the arrays of the dual point do not fit together')
    return {'indptr': indptr, 'weights': weights, 'code_indptr': code_indptr, 'codes': codes}
