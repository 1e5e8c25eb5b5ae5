"""The algorithms of the papers in a few lines of numpy over enumerated problems, step by step."""

import numpy as np

from tests import optimum


class FrankWolfe:
    """Lacoste-Julien et al. (2013), Algorithm 4 with exact line search, one output distribution per example."""

    def __init__(self, plain):
        self.plain, self.visits = plain, 0
        self.alpha = [np.eye(1, len(delta), int(np.flatnonzero(delta == 0)[0]))[0] for delta in plain.delta]
        self.w, self.average = optimum.weights(plain, self.alpha), np.zeros(plain.psi[0].shape[1])

    def visit(self, i):
        psi, delta = self.plain.psi[i], self.plain.delta[i]
        scores = delta - psi @ self.w
        towards = np.eye(1, len(delta), int(scores.argmax()))[0] - self.alpha[i]
        change = towards @ psi / (self.plain.lam * self.plain.n)
        gap, curve = towards @ scores, self.plain.lam * self.plain.n * (change @ change)
        step = min(1.0, gap / curve) if curve > 0 else 1.0
        self.alpha[i] = self.alpha[i] + step * towards
        self.w = self.w + step * change
        self.visits += 1
        self.average += 2 / (self.visits + 1) * (self.w - self.average)


class SubgradientDescent:
    """w <- (1 - eta lam) w - eta grad l_i(w) with eta = gamma0 / (1 + t / t0), and the mean of all w weighted by t."""

    def __init__(self, plain, objective, gamma0, t0, start=0.0):
        self.plain, self.objective, self.gamma0, self.t0 = plain, objective, gamma0, t0
        self.t, self.average = 0, np.zeros(plain.psi[0].shape[1])
        self.w = self.average + start
        self.seen = [[] for _ in plain.psi]

    def visit(self, i):
        psi, offsets = self.plain.psi[i], self.plain.offsets(self.objective)[i]
        scores = offsets - psi @ self.w
        best = int(scores.argmax())
        slope = -psi[best] if self.objective == 'hinge' else -optimum.softmax(scores) @ psi
        step = self.gamma0 / (1 + self.t / self.t0)
        self.w = (1 - step * self.plain.lam) * self.w - step * slope
        self.t += 1
        self.average = self.average + 2 / (self.t + 1) * (self.w - self.average)
        self.seen[i].append(best)


class ExcessiveGap:
    """Zhang, Saha and Vishwanathan (2011), Algorithm 1 with Algorithm 2's choices, one output distribution per example:
    two prox-mappings a step, with nothing simplified."""

    def __init__(self, plain):
        self.plain, self.k = plain, 1
        lipschitz = max((psi**2).sum(axis=1).max() for psi in plain.psi) / plain.lam
        uniform = [np.full(len(delta), 1 / len(delta)) for delta in plain.delta]
        self.mu, self.w = lipschitz, optimum.weights(plain, uniform)
        self.alpha = self.prox(uniform, 1 / self.mu, self.w)

    def prox(self, alpha, step, w):
        """V(alpha, -step grad D) with the gradient of D where w(.) is w."""
        pairs = zip(alpha, self.plain.delta, self.plain.psi, strict=True)
        return [optimum.softmax(np.log(a) + step * (delta - psi @ w)) for a, delta, psi in pairs]

    def step(self):
        tau = 2 / (self.k + 3)
        pairs = zip(self.plain.delta, self.plain.psi, strict=True)
        best = [optimum.softmax((delta - psi @ self.w) / self.mu) for delta, psi in pairs]
        hat = optimum.weights(self.plain, self.mixed(tau, best))
        self.w = (1 - tau) * self.w + tau * hat
        self.alpha = self.mixed(tau, self.prox(best, tau / ((1 - tau) * self.mu), hat))
        self.mu *= 1 - tau
        self.k += 1

    def mixed(self, tau, other):
        return [(1 - tau) * a + tau * b for a, b in zip(self.alpha, other, strict=True)]


class VarianceReduced:
    """Pass by pass: w <- w - step (grad_i(w) - grad_i(anchor) + grad(anchor) + lam (w - anchor) + kappa (w - z)), z the
    anchor; a step of at most 0.999 / (lam + kappa); entropy smoothing mu for the hinge loss. The result is the mean of
    `tail` iterates from the second half. inner: saga, miso or sdca instead of svrg, each with a table that the pass
    begins with at the anchor."""

    def __init__(self, plain, objective, mu, step, tail=1, inner='svrg'):
        self.inner = inner
        self.plain, self.mu, self.step = plain, mu if objective == 'hinge' else 1.0, step
        half = plain.n - plain.n // 2
        self.marks = {plain.n - half * j // tail for j in range(tail)}
        self.offsets = plain.offsets(objective)
        self.w = np.zeros(plain.psi[0].shape[1])

    def slope(self, i, w):
        psi = self.plain.psi[i]
        return -optimum.softmax((self.offsets[i] - psi @ w) / self.mu) @ psi

    def run(self, order, kappa):
        lam, anchor, step = self.plain.lam, self.w, min(self.step, 0.999 / (self.plain.lam + kappa))
        whole = np.mean([self.slope(i, anchor) for i in range(self.plain.n)], axis=0)
        table, iterates, n, rho = [self.slope(i, anchor) for i in range(self.plain.n)], [], self.plain.n, lam + kappa
        delta = {'miso': min(1, n * rho / (2 * (1 / step - rho))), 'sdca': n * rho / (1 / step + n * rho)}
        if self.inner in delta:
            self.w = (kappa * anchor - np.mean(table, axis=0)) / rho
        for i in order:
            slope = self.slope(i, self.w)
            if self.inner in delta:
                table[i] = table[i] + delta[self.inner] * (slope - table[i])
                self.w = (kappa * anchor - np.mean(table, axis=0)) / rho
            else:
                self.w = self.w - step * (slope - table[i] + whole + lam * self.w + kappa * (self.w - anchor))
            if self.inner == 'saga':
                table[i] = slope
                whole = np.mean(table, axis=0)
            iterates.append(self.w)
        self.w = np.mean([iterates[q - 1] for q in self.marks], axis=0)


class CatalystSmoothing:
    """Pillutla et al. (2018), Algorithm 1 with a pass of VarianceReduced for each outer step, mu_k and kappa_k as in
    Table 2, and one fixed step. A step against the momentum that led to it starts anew, without momentum."""

    def __init__(self, plain, scheme, mu, step, kappa=None, decay=0.9):
        self.inner, self.scheme, self.first_mu, self.decay = (
            VarianceReduced(plain, 'hinge', mu, step),
            scheme,
            mu,
            decay,
        )
        self.lam, self.curvature = plain.lam, 1 / (step * plain.n)
        self.first_kappa = self.curvature if kappa is None else kappa
        self.strong = plain.lam if scheme <= 2 else 0.0
        self.k, self.before, self.alpha = 1, self.inner.w, self.first_alpha()

    @property
    def w(self):
        return self.before

    def mu(self, k):
        return self.first_mu * {1: 1.0, 2: self.decay ** (k - 1), 3: 1.0, 4: 1 / k}[self.scheme]

    def kappa(self, k):
        return {1: self.curvature - self.lam, 2: self.lam, 3: self.curvature, 4: k * self.first_kappa}[self.scheme]

    def first_alpha(self):
        """The fixed point of constant kappa, or the golden section where lambda does not count."""
        return np.sqrt(self.lam / (self.lam + self.kappa(1))) if self.strong else (np.sqrt(5) - 1) / 2

    def outer_step(self, order):
        z, now, after = self.inner.w, self.kappa(self.k) + self.strong, self.kappa(self.k + 1) + self.strong
        self.inner.mu = self.mu(self.k)
        self.inner.run(order, self.kappa(self.k))
        w, old = self.inner.w, self.alpha
        self.alpha = max(np.roots([after, old**2 * now - self.strong, -(old**2) * now]).real)
        beta = old * (1 - old) * now / (old**2 * now + self.alpha * after)
        if (z - w) @ (w - self.before) > 0:
            self.alpha, beta = self.first_alpha(), 0.0
        self.inner.w, self.before = w + beta * (w - self.before), w
        self.k += 1


class Extragradient:
    """Taskar, Lacoste-Julien and Jordan (2006) with entropies, from w = 0 and uniform distributions: each step is from
    where the last one led, with the gradients of half of it; the averages of the halves."""

    def __init__(self, plain, eta, tau):
        self.plain, self.eta, self.tau, self.t = plain, eta, tau, 0
        self.w = np.zeros(plain.psi[0].shape[1])
        self.theta = [np.zeros(len(delta)) for delta in plain.delta]
        self.average, self.average_alpha = 0 * self.w, [0 * theta for theta in self.theta]

    def led(self, w, theta):
        """One step with the gradients at w and softmax(theta)."""
        mean = np.mean([optimum.softmax(t) @ psi for t, psi in zip(theta, self.plain.psi, strict=True)], axis=0)
        pairs = zip(self.theta, self.plain.delta, self.plain.psi, strict=True)
        forward = [t + self.tau * (delta - psi @ w) for t, delta, psi in pairs]
        return (self.w + self.eta * mean) / (1 + self.eta * self.plain.lam), forward

    def step(self):
        half = self.led(self.w, self.theta)
        self.w, self.theta = self.led(*half)
        self.t += 1
        self.average = self.average + (half[0] - self.average) / self.t
        pairs = zip(self.average_alpha, half[1], strict=True)
        self.average_alpha = [a + (optimum.softmax(t) - a) / self.t for a, t in pairs]
