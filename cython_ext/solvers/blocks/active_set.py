"""Small concave quadratic programs, solved to the end however badly they are scaled.

    max b'x - 1/2 x'H x    over x >= 0, where the variables of each group keep their sum

An active-set method (Nocedal and Wright 2006, section 16.5). Among the variables that are not 0, the free ones, the
best point is found by linear algebra. Where the way there leaves x >= 0, it ends at the first variable that becomes
0, which is free no more; at the best point, the variable that promises most becomes free. Where H does not bend some
directions, as far as rounding can tell, the way first leads along these until one variable after another has become
0. Steps go up, so there are about as many as variables that change sides, whatever the condition of H, where steps on
pairs would go to and fro across a narrow ridge.
"""

import numpy as np

ROUNDING = 2.0**-52
LEAST_PIVOT = 1e-7  # squared, in a matrix with a diagonal of 1 that is trusted to have an inverse
STEPS_PER_VARIABLE = 20


def solve(b, hessian, x, groups=None, stop=None):
    """The best x, [m]. Returns None if it was stopped.

    b: [m]; hessian: [m, m], symmetric and positive semidefinite; x: [m], where to begin; groups: [m] the number of each
    variable's group, None where no sums are kept; stop: int32[1] that is set where the result is not wanted any more.
    """
    program = _Program(b, hessian, np.array(x, float), groups)
    for _ in range(STEPS_PER_VARIABLE * (len(b) + 1)):
        if stop is not None and stop[0]:
            return None
        if not program.climb() and not program.enter():
            break
    return program.x


class _Program:
    """free: the variables that may change; barred: those that stayed 0 when they might, since the last step that led
    anywhere; settled: whether the free ones are at their best."""

    def __init__(self, b, hessian, x, groups):
        self.b, self.hessian, self.x, self.groups = b, hessian, x, groups
        self.free, self.barred, self.settled = x > 0, np.zeros(len(x), bool), False

    def slopes(self):
        """Those of the objective, and how much of them is rounding."""
        size = np.abs(self.b) + np.abs(self.hessian) @ self.x
        return self.b - self.hessian @ self.x, 8 * ROUNDING * size

    def partners(self):
        """For each variable the largest of its group, from which its changes are taken; None without groups."""
        if self.groups is None:
            return None
        order, largest = np.argsort(self.x, kind='stable'), np.zeros(self.groups.max() + 1, np.int64)
        largest[self.groups[order]] = order
        return largest[self.groups]

    def climb(self):
        """A step towards the best point of the free variables; False if they are there."""
        if self.settled:
            return False
        face = _Face(self)
        self.settled = len(face.own) == 0 or not (self._walk(face) or self._move(face.newton(), 1.0) >= 0)
        return True

    def _walk(self, face):
        """Along directions without curvature until each has met a variable that becomes 0; whether there was one."""
        flat, moved = face.flat(), False
        while flat.shape[1]:
            rise = flat.T @ face.slope
            rise[np.abs(rise) <= np.abs(flat).T @ face.noise] = 0.0
            way = flat @ rise if rise.any() else flat[:, 0] if flat[:, 0].min() < 0 else -flat[:, 0]
            most, bend = np.inf, way @ self.hessian @ way
            if bend > 8 * ROUNDING * (np.abs(way) @ np.abs(self.hessian) @ np.abs(way)):
                most = face.slope @ way / bend if rise.any() else 0.0
            before = self.free.copy()
            if most == np.inf and way.min() >= 0:
                return moved  # up for ever
            met = most > 0 and self._move(way, most) >= 0
            moved |= met
            if not met:
                flat = _without(flat, flat.T @ (way * face.weight))
            for dropped in np.flatnonzero(before & ~self.free):
                flat = _without(flat, flat[dropped])
                flat[dropped] = 0.0  # what is left there is rounding
        return moved

    def _move(self, way, most):
        """x += step way with the longest step up to `most` that keeps x >= 0; the variable that becomes 0, or -1."""
        falling = np.flatnonzero(way < 0)
        reach = self.x[falling] / -way[falling]
        first = int(falling[reach.argmin()]) if len(falling) and reach.min() <= most else -1
        step = reach.min() if first >= 0 else most
        self.x += step * way
        if first >= 0:
            self.x[first] = 0.0
        self.x[self.x < 0] = 0.0
        if step > 0:
            self.barred[:] = False
        self.barred |= self.free & (self.x == 0)
        self.free &= self.x > 0
        return first

    def enter(self):
        """Lets the variable become free that promises most; False if none does."""
        slope, noise = self.slopes()
        partner, bend, room = self.partners(), np.diag(self.hessian).copy(), np.inf
        if partner is not None:
            slope, noise = slope - slope[partner], noise + noise[partner]
            bend += np.diag(self.hessian)[partner] - 2 * self.hessian[np.arange(len(bend)), partner]
            room = self.x[partner]
        wanted = ~self.free & ~self.barred & (slope > noise)
        if not wanted.any():
            return False
        with np.errstate(divide='ignore', over='ignore', invalid='ignore'):
            step = np.minimum(np.where(bend > 0, slope / bend, np.inf), room)
            gain = np.where(wanted, step * slope - 0.5 * step * step * np.maximum(bend, 0.0), -np.inf)
        self.free[int(np.argmax(gain))] = True
        self.settled = False
        return True


class _Face:
    """The program in the free variables, each scaled to a curvature of 1."""

    def __init__(self, program):
        hessian, partner = program.hessian, program.partners()
        self.slope, self.noise = program.slopes()
        self.own = np.flatnonzero(
            program.free if partner is None else program.free & (partner != np.arange(len(partner)))
        )
        own, self.partner = self.own, None if partner is None else partner[self.own]
        matrix, size = hessian[np.ix_(own, own)], np.diag(hessian)[own].copy()
        if partner is not None:
            cross = hessian[np.ix_(own, self.partner)]
            matrix = matrix - cross - cross.T + hessian[np.ix_(self.partner, self.partner)]
            size += np.diag(hessian)[self.partner]
        bend = np.maximum(np.diag(matrix), ROUNDING * size)
        self.scale = 1 / np.sqrt(np.where(bend > 0, bend, 1.0))
        self.matrix = matrix * self.scale[:, None] * self.scale
        self.rounding = 8 * len(own) * ROUNDING * max((self.scale**2 * size).max(initial=0.0), 1.0)
        self.values = None
        # x scaled the other way: what products of directions are measured in
        self.weight = np.zeros(len(self.slope))
        self.weight[own] = self.scale**-2

    def spread(self, change):
        """Changes of the scaled variables as changes of x; [k] or [k, columns]."""
        out = np.zeros((len(self.slope), *change.shape[1:]))
        scaled = (self.scale * change.T).T
        out[self.own] = scaled
        if self.partner is not None:
            np.subtract.at(out, self.partner, scaled)
        return out

    def flat(self):
        """Directions in which the objective is not curved, orthonormal in the scaled variables, as columns."""
        none = np.zeros((len(self.slope), 0))
        try:
            if np.diag(np.linalg.cholesky(self.matrix)).min() ** 2 > LEAST_PIVOT:
                return none
        except np.linalg.LinAlgError:
            pass
        self.values, self.vectors = np.linalg.eigh(self.matrix)
        return self.spread(self.vectors[:, self.values <= self.rounding])

    def newton(self):
        """The way to the best point, as far as there is curvature."""
        rise = self.slope[self.own] - (0.0 if self.partner is None else self.slope[self.partner])
        if self.values is None:
            return self.spread(np.linalg.solve(self.matrix, self.scale * rise))
        curved = self.values > self.rounding
        vectors = self.vectors[:, curved]
        return self.spread(vectors @ ((vectors.T @ (self.scale * rise)) / self.values[curved]))


def _without(columns, row):
    """A basis of those combinations of orthonormal columns on which a linear functional with these values is 0."""
    size = np.linalg.norm(row)
    if size == 0:
        return columns[:, 1:]
    mirror = row / size
    mirror[0] += 1.0 if mirror[0] >= 0 else -1.0
    return (columns - np.outer(columns @ mirror, mirror / abs(mirror[0])))[:, 1:]
