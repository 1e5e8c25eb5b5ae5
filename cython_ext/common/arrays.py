"""Arrays for the kernels."""

import numpy as np

CACHE_LINE = 64


def aligned_zeros(size, dtype=np.float64):
    """Zeros that begin at a cache line, so that a row of labels does not straddle more lines than it must."""
    dtype = np.dtype(dtype)
    raw = np.zeros(size * dtype.itemsize + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    return raw[start : start + size * dtype.itemsize].view(dtype)
