"""Block-coordinate Frank-Wolfe for the structured hinge loss (Lacoste-Julien et al. 2013), with pairwise steps over
cached outputs and acceleration.

The dual is max D(alpha) = 1/n sum_i E_alpha_i[Delta] - lambda/2 ||w(alpha)||^2 over one distribution per example,
w(alpha) = 1/(lambda n) sum_i E_alpha_i[psi_i]. A visit of example i asks the max oracle for its most violating
output and adds that to the example's working set. On this small set the block's quadratic program is known
completely: the scores v_j = Delta_j - <w, psi_j> of the outputs and their inner products <psi_j, psi_k>. Pairwise
steps with exact line search (weight moves from the worst output that has some to the best one) solve it in cache;
then w is updated once. Everything happens in part statistics; w is never copied.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, qsort, realloc

from cython_ext.dual_point import checked
from cython_ext.memory import aligned_zeros
from cython_ext.problem cimport Problem
from cython_ext.rng cimport random_below, random_unit, shuffle
from cython_ext.solvers.acceleration cimport Acceleration
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.solver cimport Solver
from cython_ext.solvers.working_sets cimport WorkingSet, WorkingSets, cell
from cython_ext.workspace cimport Workspace


cdef int ascending(const void *a, const void *b) noexcept nogil:
    return (<const int32_t *> a)[0] - (<const int32_t *> b)[0]


cdef class BlockFrankWolfe(Solver):
    """options: as OPTIONS below; seed: of the order of visits."""

    def __init__(self, Problem problem not None, options, seed=0):
        Solver.__init__(self, problem)
        self.objective = problem.objective
        problem.features.keep_gram()
        self.sets = WorkingSets(problem.structure, with_gram=True)
        self.work = Workspace(problem.structure)
        self.sampling, self.cache = options['sampling'], options['cache']
        self.pairwise = options['steps'] == 'pairwise'
        self.acceleration = Acceleration(problem) if options['acceleration'] else None
        self.strength = problem.lam if self.acceleration is None else self.acceleration.strength()
        self.position = -1
        self.random = <uint64_t> (seed & 0xFFFFFFFFFFFFFFFF)
        cdef double[::1] w = problem.features.zeros()
        self.w, self.w_data = np.asarray(w), &w[0] if len(w) else NULL
        if options['average']:
            w = problem.features.zeros()
            self.correction, self.correction_data = np.asarray(w), &w[0] if len(w) else NULL
        self._allocate()
        if not self.make_room(self.sets.largest):
            raise MemoryError

    def _allocate(self):
        """Everything that a visit needs, so that it allocates only when a working set grows."""
        cdef int32_t[::1] order = np.zeros(self.problem.n, np.int32)
        cdef double[::1] gaps = np.full(self.problem.n, np.inf)
        self.order_array, self.order = np.asarray(order), &order[0]
        self.gap_array, self.gaps = np.asarray(gaps), &gaps[0]
        size = self.problem.structure.max_size + 1
        cdef double[::1] change = aligned_zeros(size), image = aligned_zeros(size), amounts = np.zeros(size)
        cdef int32_t[::1] ids = np.zeros(size, np.int32)
        cdef uint8_t[::1] marked = np.zeros(size, np.uint8)
        self.vectors = change, image, amounts, ids, marked
        self.change, self.image, self.amounts = &change[0], &image[0], &amounts[0]
        self.ids, self.marked = &ids[0], &marked[0]

    def __dealloc__(self):
        free(self.values)
        free(self.before)

    # ------------------------------------------------------------------------------------------------ passes

    def run_pass(self, int32_t[::1] stop):
        cdef Py_ssize_t q, n = self.problem.n
        cdef bint room = True
        if self.position < 0:
            self._begin_pass()
        with nogil:
            for q in range(self.position, n):
                if stop[0]:
                    break
                room = self.visit(self.order[q])
                if not room:
                    break
                self.position = q + 1
        if not room:
            raise MemoryError
        if self.position < n:
            return False
        self._end_pass()
        return True

    def _begin_pass(self):
        """Draws the order of visits; before that, the outer step of the acceleration, so that between passes w is the
        inner solution itself."""
        if self.acceleration is not None and self.passes > 0:
            self.acceleration.begin_pass(self.w, self.estimated_gap, self.last_estimate[1])
            self.strength = self.acceleration.strength()
        self._draw_order()
        self.loss_sum = self.gap_sum = 0.0
        self.position = 0

    def _end_pass(self):
        problem = self.problem
        self.position = -1
        self.passes += 1
        self.estimated_gap = self.gap_sum / problem.n
        norm2 = problem.features.inner(self.w, self.w)
        if self.acceleration is None:
            self.dual_norm2 = norm2
        else:
            self.acceleration.end_pass(self.w)
            self.dual_norm2 = self.acceleration.dual_norm2
        dual = self.sets.mean_loss() - problem.lam / 2 * self.dual_norm2
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
            for q in range(n):
                self.order[q] = <int32_t> q
            shuffle(&self.random, self.order, n)

    # ------------------------------------------------------------------------------------------------ a visit

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """One block step; False when there is no memory for another output."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j, c, count, length = self.problem.structure.code_of(i)
        cdef double right, value, delta, factor, mean = 0.0, mass = 0.0
        self.problem.features.scores(i, self.w_data, self.work.theta)
        right = self.objective.right_score(i, self.work.theta, self.work)
        for j in range(s.count):
            count = self.problem.structure.parts(i, s.codes + j * length, self.work.ids, self.work.counts)
            value = s.delta[j] - right
            for c in range(count):
                value += self.work.theta[self.work.ids[c]] * self.work.counts[c]
            self.values[j] = value
            mean += s.weight[j] * value
            mass += s.weight[j]
        mean /= mass                            # the sum of the weights drifts by rounding, a visit brings it back
        value = self.objective.best(i, self.work.theta, self.work, self.work.code, &delta, &factor)
        self.visits += 1
        self.oracle_calls += 1
        self.loss_sum += value
        self.gap_sum += value - mean
        self.gaps[i] = value - mean
        j = self.sets.find(i, self.work.code)
        if j < 0:
            if not self.add_output(i, delta):
                return False
            j = s.count - 1
            self.values[j] = value
        s.used[j] = self.visits
        if value > mean:
            for c in range(s.count):
                self.before[c] = s.weight[c]
                s.weight[c] /= mass
            self.optimise(i, j, value - mean)
            self.apply(i)
        self.prune(i)
        return True

    cdef bint add_output(self, Py_ssize_t i, double delta) noexcept nogil:
        """Puts work.code into the working set with weight 0, and its inner products into the table."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t length = self.problem.structure.code_of(i)
        cdef Py_ssize_t j = self.sets.append(i, self.work.code, delta, 0.0), k, c, count
        cdef double inner, right = 0.0
        if j < 0 or not self.make_room(s.capacity):
            return False
        # image = Phi' Phi (s(y) - s(y_i)); its inner products with the others' differences are the gram row
        count = self.collect(i, self.work.code, 1.0, 0)
        count = self.compress(self.collect(i, self.problem.structure.gold(i), -1.0, count))
        self.problem.features.gram_parts(i, count, self.ids, self.amounts, self.image)
        count = self.problem.structure.parts(i, self.problem.structure.gold(i), self.work.ids, self.work.counts)
        for c in range(count):
            right += self.image[self.work.ids[c]] * self.work.counts[c]
        for k in range(s.count):
            count = self.problem.structure.parts(i, s.codes + k * length, self.work.ids, self.work.counts)
            inner = -right
            for c in range(count):
                inner += self.image[self.work.ids[c]] * self.work.counts[c]
            s.gram[cell(j, k)] = inner
        return True

    cdef bint make_room(self, Py_ssize_t outputs) noexcept nogil:
        """values and before for so many outputs, and one more."""
        cdef double *values
        cdef double *before
        if outputs + 1 <= self.room:
            return True
        values = <double *> realloc(self.values, (outputs + 1) * sizeof(double))
        if values == NULL:
            return False
        self.values = values
        before = <double *> realloc(self.before, (outputs + 1) * sizeof(double))
        if before == NULL:
            return False
        self.before = before
        self.room = outputs + 1
        return True

    cdef void optimise(self, Py_ssize_t i, Py_ssize_t best, double gap) noexcept nogil:
        """Raises the block's dual over its working set; values follow. best: the oracle's output."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t steps, j, up, down
        cdef double scale = 1.0 / (self.strength * self.problem.n), gain, curve, step
        if not self.pairwise:
            self.frank_wolfe_step(i, best, gap)
            return
        for steps in range(8 + 4 * s.count):
            up, down = 0, -1
            for j in range(s.count):
                if self.values[j] > self.values[up]:
                    up = j
                if s.weight[j] > 0 and (down < 0 or self.values[j] < self.values[down]):
                    down = j
            gain = self.values[up] - self.values[down]
            if gain <= 1e-3 * gap or up == down:
                break
            curve = (s.gram[cell(up, up)] + s.gram[cell(down, down)] - 2 * s.gram[cell(up, down)]) * scale
            step = s.weight[down]
            if curve > 0 and gain < step * curve:
                step = gain / curve
            s.weight[up] += step
            s.weight[down] = s.weight[down] - step if step < s.weight[down] else 0.0
            for j in range(s.count):
                self.values[j] -= step * scale * (s.gram[cell(j, up)] - s.gram[cell(j, down)])
            s.used[up] = self.visits

    cdef void frank_wolfe_step(self, Py_ssize_t i, Py_ssize_t best, double gap) noexcept nogil:
        """Weight moves from all outputs to the best one; exact line search (Lacoste-Julien et al., Algorithm 4)."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j, k
        cdef double curve = 0.0, step = 1.0, row
        for j in range(s.count):
            row = 0.0
            for k in range(s.count):
                row += s.gram[cell(j, k)] * ((k == best) - s.weight[k])
            curve += row * ((j == best) - s.weight[j])
        curve /= self.strength * self.problem.n
        if curve > 0 and gap < curve:
            step = gap / curve
        for j in range(s.count):
            s.weight[j] *= 1.0 - step
        s.weight[best] += step

    cdef void prune(self, Py_ssize_t i) noexcept nogil:
        """Forgets outputs without weight beyond the cache, the longest unused first."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j, oldest
        while s.count > self.cache:
            oldest = -1
            for j in range(s.count):
                if s.weight[j] <= 0 and (oldest < 0 or s.used[j] < s.used[oldest]):
                    oldest = j
            if oldest < 0:
                return
            self.sets.remove(i, oldest)

    cdef void apply(self, Py_ssize_t i) noexcept nogil:
        """w follows the weights: w -= 1/(lambda n) sum_j (change of weight j) Phi_i s(y_j)."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j, count = 0, length = self.problem.structure.code_of(i)
        cdef double scale = -1.0 / (self.strength * self.problem.n)
        for j in range(s.count):
            if s.weight[j] != self.before[j]:
                count = self.collect(i, s.codes + j * length, s.weight[j] - self.before[j], count)
        count = self.compress(count)
        self.problem.features.add_parts(i, count, self.ids, self.amounts, scale, self.w_data)
        if self.correction_data != NULL:
            self.problem.features.add_parts(i, count, self.ids, self.amounts,
                                            scale * (0.5 * self.visits * (self.visits - 1)), self.correction_data)

    cdef Py_ssize_t collect(self, Py_ssize_t i, const int32_t *code, double weight, Py_ssize_t count) noexcept nogil:
        """change += weight * s(y); ids[:count] are the parts touched so far. Returns their new number."""
        cdef Py_ssize_t c, parts = self.problem.structure.parts(i, code, self.work.ids, self.work.counts)
        cdef int32_t part
        for c in range(parts):
            part = self.work.ids[c]
            if not self.marked[part]:
                self.marked[part] = 1
                self.ids[count] = part
                count += 1
            self.change[part] += weight * self.work.counts[c]
        return count

    cdef Py_ssize_t compress(self, Py_ssize_t count) noexcept nogil:
        """ids and amounts of the parts that change, ascending; change and marked are zero again. What is left of
        terms that cancel (weights are at most 1) is rounding."""
        cdef Py_ssize_t c, kept = 0
        cdef double amount
        for c in range(count):
            amount = self.change[self.ids[c]]
            self.change[self.ids[c]] = 0.0
            self.marked[self.ids[c]] = 0
            if amount > 1e-15 or amount < -1e-15:
                self.ids[kept] = self.ids[c]
                self.change[self.ids[c]] = amount
                kept += 1
        qsort(self.ids, kept, sizeof(int32_t), ascending)
        for c in range(kept):
            self.amounts[c] = self.change[self.ids[c]]
            self.change[self.ids[c]] = 0.0
        return kept

    # --------------------------------------------------------------------------------------- what others ask for

    def set_dual_point(self, point):
        """Begin at a sparse dual point (of the same examples, for any lambda) instead of the right outputs."""
        cdef const int64_t[::1] indptr, code_indptr
        cdef const int32_t[::1] codes
        cdef const double[::1] weights
        cdef Py_ssize_t i, o, place, c
        cdef WorkingSet *s
        cdef double mass
        dual, w = self.problem.certify(point)
        self.last_estimate = INFINITY, dual
        point = checked(point, self.problem.n)
        indptr, code_indptr, codes, weights = point['indptr'], point['code_indptr'], point['codes'], point['weights']
        for i in range(self.problem.n):
            s = self.sets.sets + i
            for place in range(s.count):
                s.weight[place] = 0.0
            mass = 0.0
            for o in range(indptr[i], indptr[i + 1]):
                mass += weights[o]
            for o in range(indptr[i], indptr[i + 1]):
                for c in range(code_indptr[o + 1] - code_indptr[o]):
                    self.work.code[c] = codes[code_indptr[o] + c]
                place = self.sets.find(i, self.work.code)
                if place < 0:
                    if not self.add_output(i, self.problem.objective.loss.value(i, self.work.code)):
                        raise MemoryError
                    place = s.count - 1
                s.weight[place] += weights[o] / mass
        self.w[:] = w
        if self.acceleration is not None:
            self.acceleration.start(self.w)

    def candidates(self):
        out = [('current', self.w)]
        if self.acceleration is not None and self.passes > 1:
            out.append(('mean', np.asarray(self.acceleration.mean)[:self.problem.dim]))
        if self.correction is not None and self.visits:
            # the weighted average 2 / (k (k + 1)) sum_l l w_l of all iterates: w_k less what came late
            out.append(('average', self.w - 2.0 / (self.visits * (self.visits + 1.0)) * self.correction))
        return out

    def estimate(self):
        return self.last_estimate

    def dual_value(self):
        return 0.0 if self.last_estimate is None else self.last_estimate[1]

    def dual_point(self):
        return self.sets.dual_point()

    def state(self):
        return {
            **Solver.state(self), **{f'sets.{name}': value for name, value in self.sets.state().items()},
            'w': self.w.copy(), 'correction': np.zeros(0) if self.correction is None else self.correction.copy(),
            'order': self.order_array.copy(), 'gaps': self.gap_array.copy(), 'position': self.position,
            'random': self.random, 'visits': self.visits, 'loss_sum': self.loss_sum, 'gap_sum': self.gap_sum,
            'estimated_gap': self.estimated_gap, 'dual_norm2': self.dual_norm2, 'strength': self.strength, 'estimate': list(self.last_estimate or ()),
            **({} if self.acceleration is None else {f'outer.{k}': v for k, v in self.acceleration.state().items()}),
        }

    def restore(self, state):
        Solver.restore(self, state)
        self.sets.restore({name[5:]: value for name, value in state.items() if name.startswith('sets.')})
        self.w[:] = state['w']
        if self.correction is not None:
            self.correction[:] = state['correction']
        self.order_array[:], self.gap_array[:] = state['order'], state['gaps']
        self.position, self.random, self.visits = state['position'], state['random'], state['visits']
        self.loss_sum, self.gap_sum, self.strength = state['loss_sum'], state['gap_sum'], state['strength']
        self.estimated_gap, self.dual_norm2 = state['estimated_gap'], state['dual_norm2']
        self.last_estimate = tuple(state['estimate']) or None
        if self.acceleration is not None:
            self.acceleration.restore({name[6:]: value for name, value in state.items() if name.startswith('outer.')})
        if not self.make_room(self.sets.largest):
            raise MemoryError


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
)
