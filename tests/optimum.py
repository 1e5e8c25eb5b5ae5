"""Optima of tiny problems, computed by generic methods over enumerated outputs and proved by their own certificate.

    P(w) = lam/2 |w|^2 + 1/n sum_i l_i(w),    w(alpha) = 1/(lam n) sum_i E_{alpha_i}[psi_i]
    hinge             l_i = max_y  delta_i(y) - <w, psi_i(y)>
    log               l_i = log sum_y exp(-<w, psi_i(y)>)
    softmax-margin    l_i = log sum_y exp(delta_i(y) - <w, psi_i(y)>)
    D(alpha) = 1/n sum_i (E_{alpha_i}[delta_i] + H(alpha_i)) - lam/2 |w(alpha)|^2   (no H for hinge, no delta for log)

The hinge problem is solved as a quadratic program with one constraint per output by a primal-dual interior-point
method (Mehrotra's predictor and corrector), the smooth ones by Newton's method. Whatever the method did, the result is
believed only because P(w) - D(alpha), evaluated from the formulas above, is below the tolerance (and, for the smooth
objectives, so is the bound that strong convexity gives); otherwise `CertificateError` is raised.
"""

from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-10


class CertificateError(AssertionError):
    """The bounds did not meet: the optimum is not known."""


@dataclass
class Problem:
    """psi: list of [Y_i, d] (a row of zeros for the right output), delta: list of [Y_i], lam > 0."""

    psi: list
    delta: list
    lam: float

    @classmethod
    def of(cls, enumeration, lam):
        """The problem that an Enumeration with losses stands for."""
        examples = enumeration.examples
        return cls([e.differences for e in examples], [e.losses for e in examples], lam)

    @property
    def n(self):
        return len(self.psi)

    def offsets(self, objective):
        """The constant that each output adds to its exponent or margin."""
        return [np.zeros_like(d) for d in self.delta] if objective == 'log' else self.delta


@dataclass
class Optimum:
    """w [d] with P(w) = primal, alpha (list of [Y_i]) with D(alpha) = dual, and dual <= optimum <= primal."""

    w: np.ndarray
    alpha: list
    primal: float
    dual: float


def losses(problem, objective, w):
    """l_i(w) of every example, [n]."""
    scores = [c - psi @ w for psi, c in zip(problem.psi, problem.offsets(objective), strict=True)]
    if objective == 'hinge':
        return np.array([s.max() for s in scores])
    return np.array([log_sum_exp(s) for s in scores])


def primal(problem, objective, w):
    """P(w)."""
    return problem.lam / 2 * (w @ w) + losses(problem, objective, w).mean()


def weights(problem, alpha):
    """w(alpha), [d]."""
    return sum(a @ psi for a, psi in zip(alpha, problem.psi, strict=True)) / (problem.lam * problem.n)


def dual(problem, objective, alpha):
    """D(alpha); alpha must be one distribution per example."""
    for a in alpha:
        if a.min() < 0 or abs(a.sum() - 1) > 1e-12:
            raise ValueError('not a distribution')
    w = weights(problem, alpha)
    gain = sum(a @ c for a, c in zip(alpha, problem.offsets(objective), strict=True))
    if objective != 'hinge':
        gain += sum(entropy(a) for a in alpha)
    return gain / problem.n - problem.lam / 2 * (w @ w)


def solve(problem, objective, tolerance=TOLERANCE):
    """The optimum, certified to `tolerance` relative to its value."""
    w, alpha = (interior_point if objective == 'hinge' else newton)(problem, objective)
    alpha = [np.maximum(a, 0) / np.maximum(a, 0).sum() for a in alpha]
    w = min((w, weights(problem, alpha)), key=lambda w: primal(problem, objective, w))
    result = Optimum(w, alpha, primal(problem, objective, w), dual(problem, objective, alpha))
    lower = [result.dual] if objective == 'hinge' else [result.dual, convexity_bound(problem, objective, w)]
    for bound in lower:
        if not -1e-12 * result.primal <= result.primal - bound <= tolerance * result.primal:
            raise CertificateError(f'{objective}: primal {result.primal!r}, bounds {lower!r}, lambda {problem.lam}')
    return result


def interior_point(problem, _objective='hinge', iterations=100):
    """min lam/2 |w|^2 + 1/n sum xi_i  subject to  <w, psi_i(y)> + xi_i >= delta_i(y).

    Slacks s > 0 and multipliers m = alpha/n > 0 have a row per (i, y); `owner` says which example a row belongs to.
    The starting point satisfies all equations, so the steps only have to bring the products s*m to zero. Near the end
    the equations are so badly conditioned that rounding can make a step one for the worse: the best w and the best
    alpha of all iterates are what is returned.
    """
    psi, delta, n = np.concatenate(problem.psi), np.concatenate(problem.delta), problem.n
    sizes = np.array([len(d) for d in problem.delta])
    owner = np.repeat(np.arange(n), sizes)
    m = (1 / (n * sizes))[owner]
    w = m @ psi / problem.lam
    slack = delta - psi @ w
    xi = np.array([slack[owner == i].max() for i in range(n)]) + 1 + np.ptp(slack)
    s = xi[owner] - slack
    best = _Best(problem, np.cumsum(sizes)[:-1])
    for _ in range(iterations):
        best.offer(w, m)
        mean = s @ m / len(s)
        objective = problem.lam / 2 * (w @ w) + xi.mean()
        if mean * len(s) < 1e-15 * abs(objective):
            break
        try:
            dw, dxi, ds, dm = _predictor_corrector(_KktSystem(problem.lam, psi, owner, n, s, m), w, xi, delta)
        except np.linalg.LinAlgError:
            break  # this is as far as double precision goes; the certificate says whether it is far enough
        reach = 0.995 * min(_reach(s, ds), _reach(m, dm))
        if reach < 1e-10:
            break
        w, xi, s, m = w + reach * dw, xi + reach * dxi, s + reach * ds, m + reach * dm
    best.offer(w, m)
    return best.w, best.alpha


class _Best:
    """The w with the lowest P(w) and the alpha with the highest D(alpha) of all that were offered."""

    def __init__(self, problem, cuts):
        self.problem, self.cuts = problem, cuts
        self.primal, self.dual = np.inf, -np.inf

    def offer(self, w, m):
        """m: multipliers, in proportion to alpha."""
        alpha = [a / a.sum() for a in np.split(m, self.cuts)]
        primal_now, dual_now = primal(self.problem, 'hinge', w), dual(self.problem, 'hinge', alpha)
        if primal_now < self.primal:
            self.primal, self.w = primal_now, w
        if dual_now > self.dual:
            self.dual, self.alpha = dual_now, alpha


def _predictor_corrector(system, w, xi, delta):
    """Mehrotra's direction: how far a step straight to zero would get says how much to centre, and what to correct."""
    s, m = system.s, system.m
    ds, dm = system.step(w, xi, delta, s * m)[2:]
    reach = min(_reach(s, ds), _reach(m, dm))
    mean, ahead = s @ m / len(s), (s + reach * ds) @ (m + reach * dm) / len(s)
    return system.step(w, xi, delta, s * m + ds * dm - (ahead / mean) ** 3 * mean)


class _KktSystem:
    """Newton's equations of the optimality conditions at slacks s and multipliers m, reduced to w and factorised once.

    lam w = sum m psi;   sum_y m_iy = 1/n;   s = <w, psi> + xi - delta;   s m = target
    """

    def __init__(self, lam, psi, owner, n, s, m):
        self.lam, self.psi, self.owner, self.n, self.s, self.m = lam, psi, owner, n, s, m
        self.ratio = m / s
        scaled = self.ratio[:, None] * psi
        self.total = self._by_example(self.ratio)
        self.cross = np.zeros((n, psi.shape[1]))
        np.add.at(self.cross, owner, scaled)
        hessian = lam * np.eye(psi.shape[1]) + psi.T @ scaled - self.cross.T @ (self.cross / self.total[:, None])
        self.hessian = (hessian + hessian.T) / 2

    def _by_example(self, row):
        return np.bincount(self.owner, weights=row, minlength=self.n)

    def step(self, w, xi, delta, product):
        """Directions dw, dxi, ds, dm that bring the residuals and `product` (the wanted change of s*m) to zero."""
        r_s = self.psi @ w + xi[self.owner] - delta - self.s
        pull = -(product + self.m * r_s) / self.s
        r_w = -self.lam * w + self.psi.T @ (self.m + pull)
        r_xi = self._by_example(self.m + pull) - 1 / self.n
        dw = np.linalg.solve(self.hessian, r_w - self.cross.T @ (r_xi / self.total))
        dxi = (r_xi - self.cross @ dw) / self.total
        ds = self.psi @ dw + dxi[self.owner] + r_s
        return dw, dxi, ds, -(product + self.m * ds) / self.s


def _reach(x, dx):
    """The longest step up to 1 that keeps x + step*dx non-negative."""
    falling = dx < 0
    return min(1.0, (-x[falling] / dx[falling]).min(initial=1.0))


def newton(problem, objective, iterations=60):
    """Damped Newton steps on the smooth objectives until the next one promises less than a rounding error."""
    w = np.zeros(problem.psi[0].shape[1])
    for _ in range(iterations):
        value, slopes = primal(problem, objective, w), gradient(problem, objective, w)
        direction = -np.linalg.solve(curvature(problem, objective, w), slopes)
        slope, step = slopes @ direction, 1.0
        if -slope <= 1e-18 * value:
            break
        # The allowance of a few rounding errors of P lets the last, quadratically convergent steps through.
        while primal(problem, objective, w + step * direction) > value + 1e-4 * step * slope + 4e-16 * value:
            step /= 2
        w = w + step * direction
    return w, posteriors(problem, objective, w)


def posteriors(problem, objective, w, temperature=1.0):
    """alpha_i(y) proportional to exp((offset_i(y) - <w, psi_i(y)>) / temperature), a list of [Y_i]."""
    return [
        softmax((c - psi @ w) / temperature) for psi, c in zip(problem.psi, problem.offsets(objective), strict=True)
    ]


def gradient(problem, objective, w):
    """Gradient of P for the smooth objectives, [d]."""
    return problem.lam * (w - weights(problem, posteriors(problem, objective, w)))


def curvature(problem, objective, w):
    """Hessian of P for the smooth objectives, [d, d]."""
    hessian = problem.lam * np.eye(len(w))
    for psi, p in zip(problem.psi, posteriors(problem, objective, w), strict=True):
        centred = psi - p @ psi
        hessian += centred.T @ (p[:, None] * centred) / problem.n
    return hessian


def convexity_bound(problem, objective, w):
    """P(w) - |gradient|^2 / (2 lam), below the optimum because P is lam-strongly convex (smooth objectives)."""
    slope = gradient(problem, objective, w)
    return primal(problem, objective, w) - slope @ slope / (2 * problem.lam)


def log_sum_exp(x):
    """log sum exp x of a vector with at least one finite entry."""
    top = x.max()
    return top + np.log(np.exp(x - top).sum())


def softmax(x):
    """exp x over its sum."""
    e = np.exp(x - x.max())
    return e / e.sum()


def entropy(p):
    """-sum p log p with 0 log 0 = 0."""
    p = p[p > 0]
    return -(p @ np.log(p))
