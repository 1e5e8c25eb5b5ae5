"""Threads for loops over ranges. The kernels release the GIL, so plain Python threads run them side by side."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np


class Pool:
    """`threads` workers; map() returns results in order and raises the first exception of a worker."""

    def __init__(self, threads=1):
        self.threads = max(1, int(threads))
        self._executor = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def map(self, function, items):
        items = list(items)
        if self._executor is None or len(items) < 2:
            return [function(*item) for item in items]
        futures = [self._executor.submit(function, *item) for item in items]
        return [f.result() for f in futures]


def ranges(cost, count):
    """At most `count` ranges (begin, end) of nearly equal cost. cost: cumulative, int64[n + 1], from 0."""
    n = len(cost) - 1
    if n < 1:
        return []
    marks = np.searchsorted(cost, np.linspace(0, cost[-1], count + 1))
    marks[0], marks[-1] = 0, n
    marks = np.maximum.accumulate(np.minimum(marks, n))
    return [(int(a), int(b)) for a, b in pairwise(marks) if b > a]
