"""The dual variables of a MaxObjective over working sets, w = w(alpha) beside them, and steps within one example.

    max D(alpha) = 1/n sum_i (sum_y alpha_i(y) b(y) - ridge/2 (sum_y alpha_i(y))^2) - lambda/2 ||w(alpha)||^2

On the cached outputs of an example the quadratic program is known completely: the values v_j = b_j - c_j <w, psi_j> and
the inner products <c_j psi_j, c_k psi_k>. It is solved in cache, pairwise (weight moves from the worst output that has
some to the best one) where the weights sum to 1, output by output where they are only not negative; then w is updated
once. Everything happens in part statistics; w is never copied.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, qsort, realloc

from cython_ext.features.capabilities cimport Tables
from cython_ext.common.arrays import aligned_zeros
from cython_ext.common.prefixes import prefixed, stripped
from cython_ext.core.problem cimport Problem
from cython_ext.duals.sparse import listed
from cython_ext.solvers.blocks.working_sets cimport WorkingSet, WorkingSets, cell
from cython_ext.structures.workspace cimport Workspace


cdef int ascending(const void *a, const void *b) noexcept nogil:
    return (<const int32_t *> a)[0] - (<const int32_t *> b)[0]


cdef void sort(int32_t *ids, Py_ssize_t count) noexcept nogil:
    """Most steps change few parts, for which the library's sort takes longer than all else."""
    cdef Py_ssize_t c, place
    cdef int32_t part
    if count > 16:
        qsort(ids, count, sizeof(int32_t), ascending)
        return
    for c in range(1, count):
        part, place = ids[c], c
        while place > 0 and ids[place - 1] > part:
            ids[place] = ids[place - 1]
            place -= 1
        ids[place] = part


cdef class BlockDual:
    """problem: one with a MaxObjective; average: also keep what the weighted average of all iterates needs."""

    def __init__(self, Problem problem not None, bint average=False):
        self.problem, self.objective = problem, problem.objective
        problem.features.helper(Tables).keep_gram()
        self.sets = WorkingSets(problem.structure, with_gram=True, gold_weight=0.0 if self.objective.free_mass else 1.0)
        self.work = Workspace(problem.structure, problem.objective)
        self.regularisation = problem.lam
        cdef double[::1] w = problem.features.zeros()
        self.w, self.w_data = np.asarray(w), &w[0] if len(w) else NULL
        if average:
            w = problem.features.zeros()
            self.correction, self.correction_data = np.asarray(w), &w[0] if len(w) else NULL
        size = problem.structure.max_size + 1
        cdef double[::1] change = aligned_zeros(size), image = aligned_zeros(size), amounts = np.zeros(size)
        cdef int32_t[::1] ids = np.zeros(size, np.int32)
        cdef uint8_t[::1] marked = np.zeros(size, np.uint8)
        self.vectors = change, image, amounts, ids, marked
        self.change, self.image, self.amounts = &change[0], &image[0], &amounts[0]
        self.ids, self.marked = &ids[0], &marked[0]
        if not self.make_room(self.sets.largest):
            raise MemoryError

    def __dealloc__(self):
        free(self.values)
        free(self.before)

    # ------------------------------------------------------------------------------------------------ a visit

    cdef bint evaluate(self, Py_ssize_t i, double *value, double *bias) noexcept nogil:
        """Rates the cached outputs of an example and asks the oracle: its maximum, the output in work.code, its b.
        False where it was stopped."""
        cdef double scale
        self.rate_outputs(i)
        value[0] = self.objective.loss_augmented_max(i, self.work.theta, self.work, self.work.code, bias, &scale)
        if self.problem.structure.stopped():
            return False
        self.clock += 1
        return True

    cdef void rate_outputs(self, Py_ssize_t i) noexcept nogil:
        """values, mass and mean of an example at the present w; its scores are in work.theta."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j, c, count, length = self.problem.structure.code_length(i)
        cdef double gold, value, mean = 0.0, mass = 0.0
        cdef const double *theta = self.work.theta
        cdef const double *counts = self.work.counts
        cdef const int32_t *ids = self.work.ids
        self.problem.features.scores(i, self.w_data, self.work.theta)
        gold = self.objective.gold_score(i, self.work.theta, self.work)
        for j in range(s.count):
            count = self.problem.structure.parts(i, s.codes + j * length, self.work.ids, self.work.counts)
            value = -gold
            for c in range(count):
                value += theta[ids[c]] * counts[c]
            self.values[j] = s.delta[j] + self.factor(s.delta[j]) * value
            mean += s.weight[j] * self.values[j]
            mass += s.weight[j]
        self.mean, self.mass = mean, mass
        if self.objective.free_mass:
            self.mean -= 0.5 * self.objective.ridge * self.mass * self.mass
        else:
            self.mean /= self.mass              # the sum drifts by rounding, a visit brings it back

    cdef double factor(self, double bias) noexcept nogil:
        """c of an output with this b."""
        return 1.0 if self.objective.plain else bias

    cdef Py_ssize_t place_of(self, Py_ssize_t i, double bias, double value) noexcept nogil:
        """Where the output in work.code stands in the working set, after it has been put there if it was not; -1 when
        there is no memory for it."""
        cdef Py_ssize_t j = self.sets.find(i, self.work.code)
        if j < 0:
            if not self.add_output(i, bias):
                return -1
            j = self.sets.sets[i].count - 1
            self.values[j] = value
        self.sets.sets[i].used[j] = self.clock
        return j

    cdef bint add_output(self, Py_ssize_t i, double bias) noexcept nogil:
        """Puts work.code into the working set with weight 0, and its inner products into the table."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t length = self.problem.structure.code_length(i)
        cdef Py_ssize_t j = self.sets.append(i, self.work.code, bias, 0.0), k, c, count
        cdef double inner, gold = 0.0
        if j < 0 or not self.make_room(s.capacity):
            return False
        # image = Phi' Phi (s(y) - s(y_i)); its inner products with the others' differences are the gram row
        count = self.collect(i, self.work.code, 1.0, 0)
        count = self.compress(self.collect(i, self.problem.structure.gold(i), -1.0, count))
        self.problem.features.gram_parts(i, count, self.ids, self.amounts, self.image)
        count = self.problem.structure.parts(i, self.problem.structure.gold(i), self.work.ids, self.work.counts)
        for c in range(count):
            gold += self.image[self.work.ids[c]] * self.work.counts[c]
        for k in range(s.count):
            count = self.problem.structure.parts(i, s.codes + k * length, self.work.ids, self.work.counts)
            inner = -gold
            for c in range(count):
                inner += self.image[self.work.ids[c]] * self.work.counts[c]
            s.gram[cell(j, k)] = inner * self.factor(bias) * self.factor(s.delta[k])
        self.radius2 = max(self.radius2, s.gram[cell(j, j)])
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

    cdef void begin(self, Py_ssize_t i) noexcept nogil:
        """Before a change of the weights of an example: apply() will compare. Makes their sum 1 to the last digit."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j
        for j in range(s.count):
            self.before[j] = s.weight[j]
            if not self.objective.free_mass:
                s.weight[j] /= self.mass

    cdef void optimise(self, Py_ssize_t i, double precision) noexcept nogil:
        """Raises the block's dual over its working set until no step gains more than `precision` per unit of weight;
        values follow."""
        if self.objective.free_mass:
            self.coordinatewise(i, precision)
        else:
            self.pairwise(i, precision, 8 + 4 * self.sets.sets[i].count)

    cdef void pairwise(self, Py_ssize_t i, double precision, Py_ssize_t most) noexcept nogil:
        """At most so many steps, each from the worst output that has weight to the best one."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t _step, j, up, down, count = s.count
        cdef double scale = 1.0 / (self.regularisation * self.problem.n), gain, curve, step
        cdef double *values = self.values
        cdef double *weight = s.weight
        cdef const double *gram = s.gram
        for _step in range(most):
            up, down = 0, -1
            for j in range(count):
                if values[j] > values[up]:
                    up = j
                if weight[j] > 0 and (down < 0 or values[j] < values[down]):
                    down = j
            gain = values[up] - values[down]
            if gain <= precision or up == down:
                break
            curve = (gram[cell(up, up)] + gram[cell(down, down)] - 2 * gram[cell(up, down)]) * scale
            step = weight[down]
            if curve > 0 and gain < step * curve:
                step = gain / curve
            weight[up] += step
            weight[down] = weight[down] - step if step < weight[down] else 0.0
            step *= scale
            for j in range(count):
                values[j] -= step * (gram[cell(j, up)] - gram[cell(j, down)])
            s.used[up] = self.clock

    cdef void coordinatewise(self, Py_ssize_t i, double precision) noexcept nogil:
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t _step, j, best
        cdef double slope, curve, step, ridge = self.objective.ridge
        cdef double scale = 1.0 / (self.regularisation * self.problem.n)
        for _step in range(8 + 16 * s.count):
            best, step = -1, precision
            for j in range(s.count):
                slope = self.values[j] - ridge * self.mass
                if slope < 0 and s.weight[j] > 0:
                    slope = -slope
                if slope > step:
                    best, step = j, slope
            if best < 0:
                break
            curve = s.gram[cell(best, best)] * scale + ridge
            if curve <= 0:                      # an output that cannot be told from the gold one
                break
            step = max((self.values[best] - ridge * self.mass) / curve, -s.weight[best])
            s.weight[best] += step
            self.mass += step
            for j in range(s.count):
                self.values[j] -= step * scale * s.gram[cell(j, best)]
            s.used[best] = self.clock

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
        curve /= self.regularisation * self.problem.n
        if curve > 0 and gap < curve:
            step = gap / curve
        for j in range(s.count):
            s.weight[j] *= 1.0 - step
        s.weight[best] += step

    cdef void apply(self, Py_ssize_t i) noexcept nogil:
        """w follows the weights: w -= 1/(regularisation n) sum_j (change of weight j) c_j Phi_i (s(y_j) - s(y_i))."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j, count = 0, length = self.problem.structure.code_length(i)
        cdef double scale = -1.0 / (self.regularisation * self.problem.n), amount, gold = 0.0
        for j in range(s.count):
            if s.weight[j] != self.before[j]:
                amount = (s.weight[j] - self.before[j]) * self.factor(s.delta[j])
                gold += amount
                count = self.collect(i, s.codes + j * length, amount, count)
        if self.objective.free_mass or not self.objective.plain:     # otherwise the changes sum to 0
            count = self.collect(i, self.problem.structure.gold(i), -gold, count)
        count = self.compress(count)
        self.problem.features.add_parts(i, count, self.ids, self.amounts, scale, self.w_data)
        if self.correction_data != NULL:
            self.problem.features.add_parts(i, count, self.ids, self.amounts,
                                            scale * (0.5 * self.clock * (self.clock - 1)), self.correction_data)

    cdef void prune(self, Py_ssize_t i, Py_ssize_t cache) noexcept nogil:
        """Forgets outputs without weight beyond the cache, the longest unused first."""
        cdef WorkingSet *s = self.sets.sets + i
        cdef Py_ssize_t j, oldest
        while s.count > cache:
            oldest = -1
            for j in range(s.count):
                if s.weight[j] <= 0 and (oldest < 0 or s.used[j] < s.used[oldest]):
                    oldest = j
            if oldest < 0:
                return
            self.sets.remove(i, oldest)

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
        sort(self.ids, kept)
        for c in range(kept):
            self.amounts[c] = self.change[self.ids[c]]
            self.change[self.ids[c]] = 0.0
        return kept

    # ------------------------------------------------------------------------------------------- all examples

    def linear_part(self):
        """1/n sum_i (sum_y alpha_i(y) b(y) - ridge/2 (sum_y alpha_i(y))^2), the dual but for the norm of w(alpha)."""
        return self.sets.mean_loss(self.objective.ridge)

    def average(self):
        """The weighted average 2 / (k (k + 1)) sum_l l w_l of the iterates after each of k visits: w_k less what came
        late."""
        return self.w - 2.0 / (self.clock * (self.clock + 1.0)) * self.correction

    def start(self, point):
        """Begin at a sparse dual point (of the same examples, for any lambda). Returns its dual value."""
        cdef const int64_t[::1] indptr, code_indptr
        cdef const int32_t[::1] codes
        cdef const double[::1] weights
        cdef Py_ssize_t i, o, place, c
        cdef WorkingSet *s
        cdef double mass, bias, scale
        dual, w = point.certify(self.problem)
        point = listed(point)
        indptr, code_indptr, codes, weights = point.indptr, point.code_indptr, point.codes, point.weights
        for i in range(self.problem.n):
            s = self.sets.sets + i
            for place in range(s.count):
                s.weight[place] = 0.0
            mass = 0.0
            for o in range(indptr[i], indptr[i + 1]):
                mass += weights[o]
            if self.objective.free_mass:
                mass = 1.0
            for o in range(indptr[i], indptr[i + 1]):
                for c in range(code_indptr[o + 1] - code_indptr[o]):
                    self.work.code[c] = codes[code_indptr[o] + c]
                self.objective.terms(i, self.work.code, &bias, &scale)
                place = self.place_of(i, bias, 0.0)
                if place < 0:
                    raise MemoryError
                s.weight[place] += weights[o] / mass
        self.w[:] = w
        return dual

    def state(self):
        return {
            **prefixed('sets', self.sets.state()),
            'w': self.w.copy(), 'correction': np.zeros(0) if self.correction is None else self.correction.copy(),
            'clock': self.clock, 'strength': self.regularisation, 'radius2': self.radius2,
        }

    def restore(self, state):
        self.sets.restore(stripped('sets', state))
        self.w[:] = state['w']
        if self.correction is not None:
            self.correction[:] = state['correction']
        self.clock, self.regularisation, self.radius2 = state['clock'], state['strength'], state['radius2']
        if not self.make_room(self.sets.largest):
            raise MemoryError
