"""The four parameter schemes of accelerated smoothing (Pillutla et al. 2018, Table 2) and its momentum.

With F_mu made of losses that are a/mu-smooth, `a` measured instead of bounded: a step size that works is mu / a, so
curvature = 1 / step stands for a / mu. q = lambda / (lambda + kappa).

    scheme  mu_k     kappa_k                 delta_k                      alpha_0
    1       mu       curvature/n - lambda    sqrt q / (2 - sqrt q)        sqrt q
    2       mu c^k   lambda                  1/4                          sqrt q
    3       mu       curvature/n             1/(k+1)^2                    (sqrt 5 - 1)/2
    4       mu/k     kappa_0 k               1/(k+1)^2                    (sqrt 5 - 1)/2

kappa_0 of scheme 4 is curvature/n at first. Schemes 3 and 4 do not count on lambda: it is 0 in their momentum. The
deltas make the factors (1 - alpha) / (1 - delta) of Theorem 1 less than 1: 1 - sqrt(q)/2 in scheme 1, 0.39 in scheme 2.
"""

GOLDEN = (5**0.5 - 1) / 2


class Scheme:
    """number: 1 to 4; lam: lambda; n: examples; kappa: a fixed (or first) kappa, 0 for the one of the table; decay: c
    of scheme 2."""

    def __init__(self, number, lam, n, kappa, decay):
        self.number, self.lam, self.n, self.given, self.decay = number, lam, n, kappa, decay

    @property
    def strong(self):
        """lambda as the momentum knows it."""
        return self.lam if self.number in (1, 2) else 0.0

    def kappa(self, k, curvature, first):
        """kappa_k for k = 1, 2, ...; first: kappa_1, None before it is known."""
        if self.number == 4:
            return k * (self.given or (curvature / self.n if first is None else first))
        if self.given:
            return self.given
        if self.number == 2:
            return self.lam
        return max(curvature / self.n - self.strong, 0.0)

    def decrease(self, k):
        """mu_k+1 / mu_k."""
        return {2: self.decay, 4: k / (k + 1)}.get(self.number, 1.0)

    def accuracy(self, k, kappa):
        """delta_k."""
        if self.number == 1:
            root = (self.lam / (self.lam + kappa)) ** 0.5
            return root / (2 - root)
        return 0.25 if self.number == 2 else 1 / (k + 1) ** 2

    def first_alpha(self, kappa):
        """alpha_0, for kappa_1."""
        return (self.lam / (self.lam + kappa)) ** 0.5 if self.strong else GOLDEN

    def momentum(self, alpha, kappa, after):
        """(alpha_k, beta_k) from alpha_k-1, kappa_k and kappa_k+1: alpha_k is the positive root of
        alpha^2 (after + lambda) = (1 - alpha) alpha_k-1^2 (kappa + lambda) + alpha lambda."""
        old, new = alpha * alpha * (kappa + self.strong), after + self.strong
        linear = old - self.strong
        root = (linear * linear + 4 * new * old) ** 0.5
        # the root of a sum of positive numbers, not of a difference
        result = 2 * old / (linear + root) if linear > 0 else (root - linear) / (2 * new)
        beta = alpha * (1 - alpha) * (kappa + self.strong) / (old + result * new)
        return min(result, 1.0), beta
