"""Seconds of one pass over the data: evaluate_with_ssvm.py FILE all|observed LAMBDA_TIMES_N [OBJECTIVE [THREADS]].

The objective with its gradient (log), or with what a certificate takes (hinge); CPU seconds on one thread where THREADS
is not given, elapsed seconds where it is.
"""

import sys
import time

import numpy as np

from cython_ext.tasks.build import build_problem
from ssvm_cli.examples.reading import read_training_data

TIMES = 7


def main(path, feature_set, factor, objective='log', threads=None):
    dataset, facts = read_training_data(path, 'auto', None, None, 1, False)
    loss = None if objective == 'log' else 'hamming'
    how = {'merge': True, 'threads': int(threads or 1)}
    problem = build_problem(dataset, facts['task'], objective, loss, float(factor) / dataset.n, feature_set, **how)
    w, gradient, seconds = problem.features.zeros(), problem.features.zeros(), []
    clock = time.process_time if threads is None else time.perf_counter
    for _ in range(TIMES):
        start = clock()
        if objective == 'log':
            problem.value_and_gradient(w, gradient)
        else:
            problem.evaluate(w)
        seconds.append(clock() - start)
        w -= gradient  # a point on the way, where probabilities differ
    print(np.median(seconds))


if __name__ == '__main__':
    main(*sys.argv[1:])
