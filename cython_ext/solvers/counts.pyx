"""Generative baselines by counting: a hidden Markov model for chains, naive Bayes for multiclass (Laplace smoothing).

Each attribute of a token is emitted by its label independently of the others (a real value is that many
occurrences), each edge attribute by its pair of labels. With c the counts of what occurs together in the right outputs
and s the smoothing,

    emission     p(a | y)    = (c_ay + s) / (sum_a c_ay + s A)          of A attributes
    transition   p(y' | y)   = (c_yy' + s) / (sum_y' c_yy' + s K)       of K labels
    start        p(y)        = (c_y + s) / (sum_y c_y + s K)            c_y: how often y begins a sequence

Their logarithms are weights of the same linear model. It has none for the start, so log p(y) is added to the score
of y at every token and taken off every transition into y, which leaves the first one. What is added at every token
needs attributes to stand on: those that have value 1 on all of them (--bias makes one), which tell nothing else; or all
attributes in equal shares, where the values of every token have the same sum, as those of a template do. Where there
are no transition weights the tokens are independent, and c_y counts all of them.
"""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.features.feature_map cimport Accumulator
from cython_ext.features.observed import ObservedFeatures
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
    cdef object carriers                        # float64[attributes]; Phi_i of it is 1 on every token
    cdef readonly bint shared                   # carriers are emitted too

    def __init__(self, Problem problem not None, options, seed=0):
        Solver.__init__(self, problem)
        features = problem.features
        if isinstance(features, ObservedFeatures):
            raise ValueError('counts has a weight for every attribute and label, since a pair that was not seen has a '
                             'probability too (use --feature-set all)')
        if not (isinstance(features, SparseFeatures) and features.euclidean):
            raise ValueError('counts works with linear features only')
        for rows in (features.tokens, features.edges):
            if rows is not None and np.min(_values(rows), initial=0) < 0:
                raise ValueError('counts takes values for numbers of occurrences, and some are negative')
        self.w, self.smoothing = features.zeros(), options['smoothing']
        self.carriers, self.shared = _carriers(features)

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
        states, transitions = counts['state'], counts.get('transition')
        begins = np.rint(self.carriers @ states)            # tokens of each label
        weights = {}
        if transitions is not None:
            begins -= transitions.sum(axis=0)
        start = np.log((begins + self.smoothing) / (begins.sum() + self.smoothing * len(begins)))
        if transitions is not None:
            weights['transition'] = self._logarithms(transitions, axis=1) - start
        if 'edge' in counts:
            weights['edge'] = self._logarithms(counts['edge'], axis=0)
        weights['state'] = np.outer(self.carriers, start)
        emitted = np.ones(len(states), bool) if self.shared else self.carriers == 0
        if emitted.any():
            weights['state'][emitted] += self._logarithms(states[emitted], axis=0)
        return weights

    def _logarithms(self, counts, axis):
        """log p along an axis."""
        return np.log(counts + self.smoothing) - np.log(
            counts.sum(axis=axis, keepdims=True) + self.smoothing * counts.shape[axis])

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


def _carriers(features):
    """(weights of the attributes that add up to 1 on every token, whether these are attributes that are emitted)."""
    tokens, groups = features.tokens, features.groups
    index, indptr = np.asarray(tokens.index_array), np.asarray(tokens.indptr_array)
    # a column of k attributes that are always 1 together has the value sqrt(k)
    sizes = np.ones(tokens.columns) if groups is None else groups.sizes.astype(float)
    member = np.arange(tokens.columns) if groups is None else groups.group
    values = np.ones(len(index)) if groups is not None or tokens.value_array is None else _values(tokens)
    constant = np.bincount(index, minlength=tokens.columns) == tokens.n
    constant[index[values != 1]] = False
    if constant.any():
        return constant[member] / sizes[constant].sum(), False
    sums = np.bincount(np.repeat(np.arange(tokens.n), np.diff(indptr)), values * sizes[index], tokens.n)
    if tokens.n and sums[0] > 0 and np.abs(sums - sums[0]).max() <= 1e-9 * sums[0]:
        return np.full(len(member), 1 / sums[0]), True
    raise ValueError('counts needs an attribute that every token has, for the probability of its label (use --bias)')


OPTIONS = {'smoothing': Option(float, 1.0, 'added to every count', minimum=1e-9)}

INFO = SolverInfo(
    name='counts',
    summary='probabilities by counting (hidden Markov model, naive Bayes): a baseline that minimises no objective, done '
            'after one pass',
    oracle={'hinge': 'max', 'log': 'exp', 'softmax-margin': 'exp'},
    options=OPTIONS,
    certificate='softmax of the scores (log losses); hinge: none, the lower bound is 0',
    paper='Tsochantaridis et al. 2005, section 5.2 (HMM)',
    make=Counts,
)
