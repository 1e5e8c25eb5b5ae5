"""Read an SVMlight file with scikit-learn: read_svmlight.py FILE."""

import sys

from sklearn.datasets import load_svmlight_file

if __name__ == '__main__':
    features, labels = load_svmlight_file(sys.argv[1])
    print(features.nnz, 'values in', len(labels), 'rows')
