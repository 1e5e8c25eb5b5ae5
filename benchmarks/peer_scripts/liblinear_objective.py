"""The Crammer-Singer objective of a liblinear -s 4 model, recomputed from its weights, and its test error.

liblinear_objective.py TRAIN TEST MODEL C prints a JSON line; the objective is 1/2 |w|^2 + C sum of slacks.
"""

import json
import sys

import numpy as np
from sklearn.datasets import load_svmlight_file


def read_model(path):
    """Weights [feature, class] and the labels of the classes."""
    with open(path, encoding='ascii') as lines:
        header = {}
        for line in lines:
            if line.strip() == 'w':
                break
            key, *values = line.split()
            header[key] = values
        weights = np.array([[float(word) for word in line.split()] for line in lines])
    return weights, np.array(header['label'], dtype=float)


def scores(path, weights):
    features, labels = load_svmlight_file(path, n_features=len(weights))
    return features @ weights, labels


def main(train, test, model, c):
    weights, classes = read_model(model)
    margins, labels = scores(train, weights)
    right = np.searchsorted(np.sort(classes), labels)
    right = np.argsort(classes)[right]
    rows = np.arange(len(labels))
    augmented = margins + 1.0
    augmented[rows, right] -= 1.0
    slack = augmented.max(axis=1) - margins[rows, right]
    test_scores, test_labels = scores(test, weights)
    error = float(np.mean(classes[test_scores.argmax(axis=1)] != test_labels))
    print(json.dumps({'objective': 0.5 * float((weights**2).sum()) + float(c) * float(slack.sum()), 'error': error}))


if __name__ == '__main__':
    main(*sys.argv[1:])
