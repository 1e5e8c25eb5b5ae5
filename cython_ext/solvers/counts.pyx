"""Generative baselines by counting: a hidden Markov model for chains, naive Bayes for multiclass (Laplace smoothing).

Each attribute of a token is emitted by its label independently of the others (a real value is that many
occurrences), each edge attribute by its pair of labels. With c the counts of what occurs together in the right outputs
and s the smoothing,

    emission     p(a | y)    = (c_ay + s) / (sum_a c_ay + s A)          of A attributes
    transition   p(y' | y)   = (c_yy' + s) / (sum_y' c_yy' + s K)       of K labels
    start        p(y)        = (c_y + s) / (sum_y c_y + s K)            c_y: how often y begins a sequence

Their logarithms are weights of the same linear model. It has none for the start, so log p(y) is added to the score
of y at every token and taken off every transition into y, which leaves the first one. What is added at every token
stands on an attribute that has value 1 on all of them (--bias makes one) and tells nothing else. A chain without such
an attribute begins with any label equally likely. Where there are no transition weights the tokens are independent,
c_y counts all of them, and the attribute has to be there. What was never seen in training counts neither for nor
against any label.
"""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.features.feature_map cimport Accumulator
from cython_ext.features.observed import ObservedFeatures
from cython_ext.errors import UnfitDataError
from cython_ext.features.output_features import OutputFeatures
from cython_ext.features.sparse import SparseFeatures
from cython_ext.problem cimport Problem
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport Solver
from cython_ext.solvers.working_sets import WorkingSets
from cython_ext.workspace cimport Workspace


cdef class Counts(Solver):
    """options: as OPTIONS below; there is nothing random, seed is not used. Finished after one pass, without a single
    oracle call. Raises ValueError where the probabilities cannot be written as weights."""

    minimises = False

    cdef readonly object w
    cdef readonly double smoothing
    cdef object constant                        # bool[attributes]; of value 1 on every token

    def __init__(self, Problem problem not None, options, seed=0):
        Solver.__init__(self, problem)
        features = problem.features
        if isinstance(features, ObservedFeatures):
            raise ValueError('counts has a weight for every attribute and label, since a pair that was not seen has a '
                             'probability too (use --feature-set all)')
        if not (isinstance(features, SparseFeatures) and features.euclidean):
            raise ValueError('counts is for labels and sequences of labels with linear features')
        if isinstance(features, OutputFeatures):
            raise ValueError('counts has no use for features of classes')
        for rows in (features.tokens, features.edges):
            if rows is not None and np.min(_values(rows), initial=0) < 0:
                raise UnfitDataError('counts takes values for numbers of occurrences, and some are negative')
        self.w, self.smoothing = features.zeros(), options['smoothing']
        self.constant = _constant(features)
        if not (self.constant.any() or features.transitions):
            raise UnfitDataError('counts needs an attribute that every token has, for the probability of its label '
                                 '(use --bias)')

    def run_pass(self, stop):
        cdef Accumulator total = self.problem.features.accumulator(self.problem.n)
        problem = self.problem
        total.clear()
        chunks = enumerate(problem._parts(total.chunks))
        problem.pool.map(self._count, [(stop, total, c, *chunk) for c, chunk in chunks])
        if stop[0]:
            return False
        total.total(self.w, problem.pool)
        self.w[:] = problem.features.weights(self._probabilities(problem.features.blocks(self.w)))
        self.passes += 1
        self.finished = True
        return True

    def _count(self, const int32_t[::1] stop, Accumulator total, Py_ssize_t chunk, Py_ssize_t begin, Py_ssize_t end):
        """The statistics of the right outputs of a range of examples."""
        cdef Workspace work = Workspace(self.problem.structure)
        cdef Py_ssize_t i, count
        with nogil:
            for i in range(begin, end):
                if stop[0]:
                    break
                count = self.problem.structure.parts(i, self.problem.structure.gold(i), work.ids, work.counts)
                total.put_parts(chunk, i, count, work.ids, work.counts, 1.0)

    def _probabilities(self, counts):
        """The weights from the counts, both by block."""
        weights = {'state': np.zeros_like(counts['state'])}
        weights['state'][~self.constant] = self._logarithms(counts['state'][~self.constant], axis=0)
        if 'edge' in counts:
            weights['edge'] = self._logarithms(counts['edge'], axis=0)
        if 'transition' in counts:
            weights['transition'] = self._logarithms(counts['transition'], axis=1)
        if self.constant.any():
            begins = counts['state'][self.constant][0]      # how many tokens each label has
            if 'transition' in counts:
                begins = begins - counts['transition'].sum(axis=0)
            start = self._logarithms(begins, axis=0)
            weights['state'][self.constant] = start / self.constant.sum()
            if 'transition' in counts:
                weights['transition'] -= start
        return weights

    def _logarithms(self, counts, axis):
        """log p along an axis."""
        smoothed = counts + self.smoothing
        return np.log(smoothed) - np.log(smoothed.sum(axis=axis, keepdims=True))

    def candidates(self):
        return [('current', self.w)]

    def dual_value(self):
        return None if self.problem.sums else 0.0

    def dual_point(self):
        """That of the right outputs."""
        return None if self.problem.sums else WorkingSets(self.problem.structure).dual_point()

    def state(self):
        return {**Solver.state(self), 'w': self.w.copy()}

    def restore(self, state):
        Solver.restore(self, state)
        self.w[:] = state['w']


def _values(rows):
    return np.zeros(0) if rows.value_array is None else np.asarray(rows.value_array)


def _constant(features):
    """Which attributes have value 1 on every token."""
    tokens, groups = features.tokens, features.groups
    index = np.asarray(tokens.index_array)
    constant = np.bincount(index, minlength=tokens.columns) == tokens.n
    if groups is not None:                                  # made of attributes that are 1 wherever they occur
        return constant[groups.group]
    constant[index[:len(_values(tokens))][_values(tokens) != 1]] = False
    return constant


OPTIONS = {'smoothing': Option(float, 1.0, 'added to every count; 0.1 is often better where attributes are many',
                               minimum=1e-9)}

INFO = SolverInfo(
    name='counts',
    summary='probabilities by counting (hidden Markov model, naive Bayes): a baseline that minimises no objective, '
            'done after one pass',
    oracle={'hinge': 'max', 'log': 'exp', 'softmax-margin': 'exp'},
    options=OPTIONS,
    certificate='softmax of the scores (log losses); hinge: none, the lower bound is 0',
    paper='Tsochantaridis et al. 2005, section 5.2 (HMM)',
    make=Counts,
)
