"""CPU seconds of one objective and gradient of the log loss: evaluate_with_ssvm.py FILE all|observed LAMBDA_TIMES_N."""

import sys
import time

import numpy as np

from cython_ext.problem import build_problem
from ssvm_cli.inputs import read_training_data

TIMES = 7

if __name__ == '__main__':
    path, feature_set, factor = sys.argv[1:]
    dataset, facts = read_training_data(path, 'auto', None, None, 1, False)
    lam = float(factor) / dataset.n
    problem = build_problem(dataset, facts['task'], 'log', None, lam, feature_set, merge=True)
    w, gradient, seconds = problem.features.zeros(), problem.features.zeros(), []
    for _ in range(TIMES):
        start = time.process_time()
        problem.value_and_gradient(w, gradient)
        seconds.append(time.process_time() - start)
        w -= gradient  # a point on the way, where probabilities differ
    print(np.median(seconds))
