"""Tiny training problems as the core builds them, each beside the same problem written out in full."""

import functools
from dataclasses import dataclass

import numpy as np

from cython_ext.common.parallel import Pool
from cython_ext.core.decoder import Decoder
from cython_ext.core.problem import Problem
from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.natural import NaturalPoint
from cython_ext.tasks.build import build_decoder, build_problem
from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.tokens import TokenDataset
from tests import optimum
from tests.enumeration import Enumeration
from tests.oracles.cases import theta_column
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
        arrays = self.problem.features.blocks(self.problem.features.zeros())
        weight = dict(zip(self.truth.keys, w, strict=True))
        for key, array, where in _cells(arrays):
            array[where] = weight.pop(key, 0.0)
        assert not any(weight.values()), f'no place for {weight}'
        return self.problem.features.weights(arrays)

    def from_core(self, vector):
        """w[k] at the features truth.keys; features that occur nowhere have no weight."""
        cells = {key: array[where] for key, array, where in _cells(self.problem.features.blocks(vector))}
        w = np.array([cells.pop(key) for key in self.truth.keys])
        assert not any(cells.values()), 'a feature that no output has got a weight'
        return w

    def alpha_of(self, point):
        """A SparsePoint, NaturalPoint or MixturePoint as one distribution per example, a list of [Y_i]."""
        alpha = []
        if isinstance(point, MixturePoint):
            return self.mixed(point)
        if isinstance(point, NaturalPoint):
            return [self._softmax(i, point) for i in range(len(self.truth.examples))]
        for i, example in enumerate(self.truth.examples):
            alpha.append(np.zeros(len(example.codes)))
            for o in range(point.indptr[i], point.indptr[i + 1]):
                code = point.codes[point.code_indptr[o] : point.code_indptr[o + 1]]
                alpha[-1][example.codes.index(tuple(code.tolist()))] += point.weights[o]
        return alpha

    def mixed(self, point):
        """alpha of a MixturePoint, by listing the outputs: a list of [Y_i]."""
        return [sum(share * a for share, a in zip(*parts, strict=True)) for parts in self.parts_of(point)]

    def parts_of(self, point):
        """For each example (shares, distributions of the parts of a MixturePoint)."""
        shares, alphas = point.shares / point.shares.sum(), []
        for part in point.points:
            w, heat = self.from_core(part.vector(self.problem)), part.temperature
            alphas.append(optimum.posteriors(self.plain, self.objective, w, 1.0 if heat is None else heat[0]))
        return [(shares, parts) for parts in zip(*alphas, strict=True)]

    def lost_entropy(self, point):
        """How much the mean entropy of a MixturePoint is above the mixed entropies of its parts."""
        lost = 0.0
        for shares, parts in self.parts_of(point):
            lost += _entropy(shares @ np.array(parts)) - shares @ [_entropy(a) for a in parts]
        return lost / self.problem.n

    def _softmax(self, i, point):
        """alpha_i of natural parameters, by listing the outputs."""
        example, features = self.truth.examples[i], self.problem.features
        theta = point.theta[point.theta_indptr[i] : point.theta_indptr[i + 1]].astype(float)
        length = len(example.codes[0])
        places = [theta_column(key, length, features.n_labels, features.edges is None) for key in example.part_keys]
        return optimum.softmax(example.parts @ theta[places])

    def primal(self, vector):
        """P of a core weight vector, by enumeration."""
        return optimum.primal(self.plain, self.objective, self.from_core(vector))

    def rounding(self, passes=1):
        """What the rounding of the weights alpha, numbers up to 1, makes of D(alpha): a few units in the last place of
        the largest loss in every pass."""
        return 5e-15 * passes * max(1.0, *(delta.max() for delta in self.plain.delta))

    @functools.cached_property
    def best(self):
        """The independent optimum."""
        return optimum.solve(self.plain, self.objective)


def _entropy(a):
    return -(a[a > 0] @ np.log(a[a > 0]))


def _cells(arrays):
    """(feature key, array, index into it) of every weight in the arrays of Model.weights."""
    if 'state' in arrays:
        for a, y in np.ndindex(arrays['state'].shape):
            yield ('state', a, y), arrays['state'], (a, y)
    else:
        for a in range(len(arrays['state.indptr']) - 1):
            for k in range(arrays['state.indptr'][a], arrays['state.indptr'][a + 1]):
                yield ('state', a, int(arrays['state.labels'][k])), arrays['state.weights'], k
    for name in ('transition', 'edge', 'triple'):
        for where in np.ndindex(arrays[name].shape) if name in arrays else ():
            yield (name, *where), arrays[name], where


def twin(name, objective, loss='hamming', lam_times_n=1.0, feature_set='all', threads=1):
    """The problem on tiny.DATA[name] with lambda = lam_times_n / n; loss 'matrix' is a random cost matrix."""
    data = tiny.named(name)
    task = data.task
    cost = tiny.cost_matrix(data.n_labels) if loss == 'matrix' else loss
    lam = lam_times_n / (len(data.offsets) - 1)
    dataset = dataset_of(data)
    problem = build_problem(
        dataset, task, objective, cost, lam, feature_set=feature_set, threads=threads, structure=data.structure
    )
    decoder = build_decoder(dataset, task, feature_set, Pool(threads), structure=data.structure)
    truth = Enumeration(task, data, data.n_labels, cost, feature_set)
    return Twin(problem, decoder, truth, optimum.Problem.of(truth, lam), objective)
