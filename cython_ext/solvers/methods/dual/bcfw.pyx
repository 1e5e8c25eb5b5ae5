"""Block-coordinate Frank-Wolfe for the structured hinge loss (Lacoste-Julien et al. 2013), with pairwise steps over
cached outputs and acceleration.

A visit of example i asks the max oracle for its most violating output and adds that to the example's working set;
block_dual.pyx then solves the quadratic program over the set. acceleration.pyx is the outer loop.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from cython_ext.features.capabilities cimport Prefetch
from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.core.problem cimport Problem
from cython_ext.common.rng cimport random_below, random_unit, shuffle
from cython_ext.solvers.parts.acceleration cimport Acceleration
from cython_ext.solvers.blocks.block_dual cimport BlockDual
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport DONE, NO_ROOM, STOPPED, Solver, Visit
from cython_ext.solvers.visiting cimport VisitingSolver

cdef enum:
    VISITS_AHEAD = 4
    PLAIN, PAIR, PAIRWISE               # steps
cdef double BLOCK_PRECISION = 1e-3      # of the steps within an example, relative to its gap


cdef class BlockFrankWolfe(VisitingSolver):
    """options: as OPTIONS below; seed: of the order of visits."""

    def __init__(self, Problem problem not None, options, seed=0):
        VisitingSolver.__init__(self, problem, seed)
        self.block = BlockDual(problem, options['average'])
        self.prefetch = problem.features.helper(Prefetch)
        self.sampling, self.cache = options['sampling'], options['cache']
        self.steps = {'plain': PLAIN, 'pair': PAIR, 'pairwise': PAIRWISE}[options['steps']]
        if self.steps != PAIRWISE and self.block.objective.free_mass:
            raise ValueError('plain steps need dual weights that sum to 1, which slack norm 2 has not (steps=pairwise)')
        self.acceleration = Acceleration(problem) if options['acceleration'] else None
        self.block.regularisation = problem.lam if self.acceleration is None else self.acceleration.regularisation()
        self.neighbours = problem.structure.neighbours()
        cdef double[::1] gaps = np.full(problem.n, np.inf)
        self.gap_array, self.gaps = np.asarray(gaps), &gaps[0]

    @property
    def w(self):
        return self.block.w

    # ------------------------------------------------------------------------------------------------ passes

    def begin_pass(self, stop):
        """Draws the order of visits; before that, the outer step of the acceleration, so that between passes w is the
        inner solution itself."""
        if self.acceleration is not None and self.passes > 0:
            self.acceleration.begin_pass(self.block.w, self.estimated_gap, self.last_estimate[1])
            self.block.regularisation = self.acceleration.regularisation()
        self._draw_order()
        self.loss_sum = self.gap_sum = 0.0
        return True

    def end_pass(self):
        problem = self.problem
        self.estimated_gap = self.gap_sum / problem.n
        if self.acceleration is not None:
            self.acceleration.end_pass(self.block.w)
            norm2 = self.dual_norm2 = self.acceleration.dual_norm2
        if self.acceleration is None or problem.features.euclidean:     # else it takes long, and this one is near it
            norm2 = problem.features.inner(self.block.w, self.block.w)
        if self.acceleration is None:
            self.dual_norm2 = norm2
        dual = self.block.linear_part() - problem.lam / 2 * self.dual_norm2
        self.last_estimate = problem.lam / 2 * norm2 + self.loss_sum / problem.n, dual

    def _draw_order(self):
        cdef Py_ssize_t q, n = self.problem.n
        cdef double total
        if self.sampling == 'uniform':
            for q in range(n):
                self.order[q] = <int32_t> random_below(&self.random, n)
        elif self.sampling == 'gap' and self.passes % 10 > 0:
            # in proportion to the gaps last seen; every tenth pass visits all and brings the gaps up to date
            cumulative = np.cumsum(np.maximum(self.gap_array, 0.01 * self.gap_array.mean() + 1e-300))
            total = cumulative[n - 1]
            draws = np.array([random_unit(&self.random) for _ in range(n)]) * total
            self.order_array[:] = np.minimum(np.searchsorted(cumulative, draws, side='right'), n - 1)
        else:
            self.permute()

    def permute(self):
        """A new permutation; examples that share memory stay together, in an order of their own."""
        cdef Py_ssize_t q, g, at = 0
        cdef int64_t[::1] begin
        cdef int32_t[::1] runs
        if self.neighbours is None:
            VisitingSolver.permute(self)
            return
        begin, runs = self.neighbours, np.arange(len(self.neighbours) - 1, dtype=np.int32)
        shuffle(&self.random, &runs[0], len(runs))
        for g in runs:
            for q in range(begin[g], begin[g + 1]):
                self.order[at + q - begin[g]] = <int32_t> q
            shuffle(&self.random, self.order + at, begin[g + 1] - begin[g])
            at += begin[g + 1] - begin[g]

    # ------------------------------------------------------------------------------------------------ a visit

    cdef Visit visit(self, Py_ssize_t i) noexcept nogil:
        """One block step."""
        cdef double bias, value, loss, gap
        cdef Py_ssize_t place
        self.look_ahead()
        if not self.block.evaluate(i, &value, &bias):
            return STOPPED
        loss = self.block.objective.loss_of(value)
        gap = loss - self.block.mean
        place = self.block.place_of(i, bias, value)
        if place < 0:
            return NO_ROOM
        self.oracle_calls += 1
        self.loss_sum += loss
        self.gap_sum += gap
        self.gaps[i] = gap
        if gap > 0:
            self.block.begin(i)
            if self.steps == PAIR:
                self.block.pairwise(i, 0.0, 1)
            elif self.steps == PAIRWISE:
                if self.block.objective.free_mass:
                    gap = value - self.block.mass
                self.block.optimise(i, BLOCK_PRECISION * gap)
            else:
                self.block.frank_wolfe_step(i, place, gap)
            self.block.apply(i)
        self.block.prune(i, self.cache)
        return DONE

    cdef void look_ahead(self) noexcept nogil:
        """Fetches the memory of visits to come: working sets lie far apart."""
        cdef Py_ssize_t q = self.position
        if q + 2 * VISITS_AHEAD < self.problem.n:
            self.block.sets.announce(self.order[q + 2 * VISITS_AHEAD])
            self.block.sets.fetch(self.order[q + VISITS_AHEAD])
            self.prefetch.fetch(self.order[q + VISITS_AHEAD], self.block.w_data)

    # --------------------------------------------------------------------------------------- what others ask for

    def set_dual_point(self, point):
        """Begin at a sparse dual point (of the same examples, for any lambda) instead of the gold outputs."""
        self.last_estimate = INFINITY, self.block.start(point)
        if self.acceleration is not None:
            self.acceleration.start(self.block.w)

    def iterates(self):
        out = [('current', self.block.w)]
        if self.acceleration is not None and self.passes > 1:
            out.append(('mean', np.asarray(self.acceleration.mean)[:self.problem.dim]))
        if self.block.correction is not None and self.block.clock:
            out.append(('average', self.block.average()))
        return out

    def estimate(self):
        return self.last_estimate

    def dual_value(self):
        return 0.0 if self.last_estimate is None else self.last_estimate[1]

    def dual_point(self):
        return self.block.sets.dual_point()

    def state(self):
        return {
            **Solver.state(self), **prefixed('block', self.block.state()),
            **self.pass_state(), 'gaps': self.gap_array.copy(), 'loss_sum': self.loss_sum, 'gap_sum': self.gap_sum,
            'estimated_gap': self.estimated_gap, 'dual_norm2': self.dual_norm2,
            'estimate': list(self.last_estimate or ()),
            **({} if self.acceleration is None else prefixed('outer', self.acceleration.state())),
        }

    def restore(self, state):
        VisitingSolver.restore(self, state)
        self.block.restore(stripped('block', state))
        self.gap_array[:] = state['gaps']
        self.loss_sum, self.gap_sum = state['loss_sum'], state['gap_sum']
        self.estimated_gap, self.dual_norm2 = state['estimated_gap'], state['dual_norm2']
        self.last_estimate = tuple(state['estimate']) or None
        if self.acceleration is not None:
            self.acceleration.restore(stripped('outer', state))


OPTIONS = {
    'acceleration': Option(bool, True, 'outer proximal-point loop with extrapolation (Catalyst)'),
    'steps': Option(('pairwise', 'plain'), 'pairwise', 'steps within an example: pairwise over its cached outputs, or '
                    'one plain Frank-Wolfe step'),
    'cache': Option(int, 10, 'outputs without weight that an example keeps', minimum=1),
    'sampling': Option(('permuted', 'uniform', 'gap'), 'permuted', 'order of visits: a new permutation each pass, at '
                       'random, or in proportion to the last duality gaps'),
    'average': Option(bool, False, 'also try the weighted average of all iterates'),
}

INFO = SolverInfo(
    name='bcfw',
    summary='block-coordinate Frank-Wolfe with pairwise steps and acceleration',
    oracle={'hinge': 'max'},
    options=OPTIONS,
    certificate='its own dual point',
    paper='Lacoste-Julien et al. 2013; Pillutla et al. 2018, Algorithm 1',
    make=BlockFrankWolfe,
    starts=('dual-point',),
    variants=('slack', 'squared'),
    kernels=True,
)
