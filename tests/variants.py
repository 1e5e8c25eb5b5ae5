"""Optima of the variants of the hinge loss on tiny problems, by the rows (b, a) that each output has in them.

With a_i(y) = c psi_i(y): slack norm 1 is the plain hinge of optimum.py on these rows. Without a bound on the sum of an
example's dual weights (slack norm 2, hard margin) the dual is a quadratic program over m >= 0, m = alpha / n,

    max  m'b - 1/(2 lam) |sum m a|^2 - ridge n/2 sum_i (sum_y m_i(y))^2

solved here by a primal-dual interior-point method and believed because of its certificate.
"""

import numpy as np

from tests import optimum


def terms(losses, variant):
    """b(y) and c(y) of outputs with these task losses."""
    if variant.hard_margin:
        return (losses > 0).astype(float), np.ones(len(losses))
    b = np.sqrt(losses) if variant.slack_norm == 2 else losses
    return b, b if variant.rescale == 'slack' else np.ones(len(losses))


def rows(truth, variant):
    """(a, b): for every example of an Enumeration the rows of its outputs."""
    pairs = [terms(example.losses, variant) for example in truth.examples]
    a = [c[:, None] * example.differences for example, (_, c) in zip(truth.examples, pairs, strict=True)]
    return a, [b for b, _ in pairs]


def primal(truth, variant, lam, w):
    """P(w); of the hard margin only where its constraints hold."""
    a, b = rows(truth, variant)
    margins = np.array([(mine - psi @ w).max() for psi, mine in zip(a, b, strict=True)])
    if variant.hard_margin:
        return w @ w / 2 if margins.max() <= 1e-9 else np.inf
    return lam / 2 * (w @ w) + np.mean(margins**2 / 2 if variant.slack_norm == 2 else margins)


def solve(truth, variant, lam, tolerance=1e-9):
    """The optimal value, certified."""
    a, b = rows(truth, variant)
    if variant.slack_norm == 1 and not variant.hard_margin:
        return optimum.solve(optimum.Problem(a, b, lam), 'hinge').primal
    n, owner = len(a), np.repeat(np.arange(len(a)), [len(mine) for mine in b])
    a, b = np.concatenate(a), np.concatenate(b)
    ridge = 0.0 if variant.hard_margin else 1.0
    use = b > 0
    a, b, owner = a[use], b[use], owner[use]
    shared = np.eye(n)[owner]
    q = a @ a.T / lam + ridge * n * shared @ shared.T
    m = _interior_point(q, b)
    w = a.T @ m / lam
    if variant.hard_margin:
        w = w / (a @ w).min()
    upper, lower = primal(truth, variant, lam, w), m @ b - m @ q @ m / 2
    if not -1e-12 <= upper - lower <= tolerance * upper:
        raise optimum.CertificateError(f'{variant}: primal {upper!r}, dual {lower!r}')
    return upper


def _interior_point(q, b, iterations=200):
    """max m'b - m'q m / 2 over m >= 0."""
    m = np.ones(len(b)) / max(1.0, np.abs(q).max())
    s = np.maximum(q @ m - b, 1.0)
    for _ in range(iterations):
        residual, mean = q @ m - b - s, s @ m / len(b)
        if mean < 1e-16 and np.abs(residual).max() < 1e-13:
            break
        target = s * m - 0.1 * mean
        try:
            step = np.linalg.solve(q + np.diag(s / m), -residual - target / m)
        except np.linalg.LinAlgError:
            break
        change = -(target + s * step) / m
        reach = 0.99 * min(_longest(m, step), _longest(s, change))
        m, s = m + reach * step, s + reach * change
    return m


def _longest(x, dx):
    falling = dx < 0
    return min(1.0 / 0.99, (-x[falling] / dx[falling]).min(initial=1.0 / 0.99))
