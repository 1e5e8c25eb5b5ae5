"""Tiny training problems as the core builds them, each beside the same problem written out in full."""

import functools
from dataclasses import dataclass

import numpy as np

from cython_ext.decoding import Decoder, build_decoder
from cython_ext.parallel import Pool
from cython_ext.problem import Problem, build_problem
from cython_ext.text.vocabulary import Vocabulary
from data_formats.dataset import TokenDataset
from tests import optimum
from tests.enumeration import Enumeration
from tests.solvers import tiny


def dataset_of(data):
    """The TokenDataset of some tiny.arrays."""

    def names(letter, count):
        return Vocabulary([f'{letter}{k}'.encode() for k in range(count)])

    return TokenDataset(
        offsets=data.offsets,
        indptr=data.indptr,
        indices=data.indices,
        values=data.values,
        labels=data.labels,
        attributes=names('a', data.n_attributes),
        label_names=names('y', data.n_labels),
        edge_indptr=data.edge_indptr,
        edge_indices=data.edge_indices,
        edge_values=data.edge_values,
        edge_attributes=names('e', data.n_edge_attributes) if data.n_edge_attributes else None,
        transitions=getattr(data, 'transitions', True),
    )


@dataclass
class Twin:
    """One problem twice: `problem` of the core, `truth` (an Enumeration) and `plain` (an optimum.Problem).

    decoder: predictions for the same examples.
    """

    problem: Problem
    decoder: Decoder
    truth: Enumeration
    plain: optimum.Problem
    objective: str

    def to_core(self, w):
        """The core's weight vector for w[k] at the feature truth.keys[k]."""
        arrays = self.problem.export_weights(self.problem.features.zeros())
        weight = dict(zip(self.truth.keys, w, strict=True))
        for key, array, where in _cells(arrays):
            array[where] = weight.pop(key, 0.0)
        assert not any(weight.values()), f'no place for {weight}'
        return self.problem.import_weights(arrays)

    def from_core(self, vector):
        """w[k] at the features truth.keys; features that occur nowhere have no weight."""
        cells = {key: array[where] for key, array, where in _cells(self.problem.export_weights(vector))}
        w = np.array([cells.pop(key) for key in self.truth.keys])
        assert not any(cells.values()), 'a feature that no output has got a weight'
        return w

    def alpha_of(self, point):
        """The dual point (indptr, weights, code_indptr, codes) as one distribution per example, a list of [Y_i]."""
        alpha = []
        for i, example in enumerate(self.truth.examples):
            alpha.append(np.zeros(len(example.codes)))
            for o in range(point['indptr'][i], point['indptr'][i + 1]):
                code = point['codes'][point['code_indptr'][o] : point['code_indptr'][o + 1]]
                alpha[-1][example.codes.index(tuple(code.tolist()))] += point['weights'][o]
        return alpha

    def primal(self, vector):
        """P of a core weight vector, by enumeration."""
        return optimum.primal(self.plain, self.objective, self.from_core(vector))

    @functools.cached_property
    def best(self):
        """The independent optimum."""
        return optimum.solve(self.plain, self.objective)


def _cells(arrays):
    """(feature key, array, index into it) of every weight in the arrays of Model.weights."""
    if 'state' in arrays:
        for a, y in np.ndindex(arrays['state'].shape):
            yield ('state', a, y), arrays['state'], (a, y)
    else:
        for a in range(len(arrays['state.indptr']) - 1):
            for k in range(arrays['state.indptr'][a], arrays['state.indptr'][a + 1]):
                yield ('state', a, int(arrays['state.labels'][k])), arrays['state.weights'], k
    for name, kind in (('transition', 'transition'), ('edge', 'edge')):
        for where in np.ndindex(arrays[name].shape) if name in arrays else ():
            yield (kind, *where), arrays[name], where


# task, further arguments of tiny.arrays; together every kind of theta that the two structures have
DATA = {
    'multiclass': {'task': 'multiclass', 'lengths': (1,) * 7, 'n_labels': 3, 'attributes': 4, 'seed': 1},
    'multiclass-binary': {'task': 'multiclass', 'lengths': (1,) * 6, 'n_labels': 5, 'attributes': 5, 'binary': True},
    'chain': {'lengths': (3, 1, 4, 2), 'n_labels': 3, 'attributes': 4, 'seed': 2},
    'chain-binary': {'lengths': (2, 3, 1, 3), 'n_labels': 5, 'attributes': 3, 'binary': True, 'seed': 3},
    'chain-empty': {'lengths': (2, 0, 3, 1), 'n_labels': 2, 'attributes': 3, 'seed': 4},
    'chain-edges': {'lengths': (3, 1, 4, 2), 'n_labels': 3, 'attributes': 3, 'edges': 2, 'seed': 5},
    'chain-edges-only': {'lengths': (3, 2, 4), 'n_labels': 2, 'attributes': 3, 'edges': 3, 'seed': 6, 'plain': False},
    'chain-unlinked': {'lengths': (3, 1, 2), 'n_labels': 3, 'attributes': 4, 'seed': 7, 'plain': False},
}


def arrays_of(name):
    """The tiny.arrays of that name, with `transitions` as TokenDataset has it."""
    options = dict(DATA[name])
    plain = options.pop('plain', True)
    data = tiny.arrays(**options)
    data.transitions = plain
    return data


def twin(name, objective, loss='hamming', lam_times_n=1.0, feature_set='all', threads=1):
    """The problem on DATA[name] with lambda = lam_times_n / n; loss 'matrix' is a random cost matrix."""
    data = arrays_of(name)
    task = DATA[name].get('task', 'chain')
    cost = tiny.cost_matrix(data.n_labels) if loss == 'matrix' else loss
    lam = lam_times_n / (len(data.offsets) - 1)
    dataset = dataset_of(data)
    problem = build_problem(
        dataset, task=task, objective=objective, loss=cost, lam=lam, feature_set=feature_set, threads=threads
    )
    decoder = build_decoder(dataset, task, feature_set, Pool(threads))
    truth = Enumeration(task, data, data.n_labels, cost, feature_set)
    return Twin(problem, decoder, truth, optimum.Problem.of(truth, lam), objective)
