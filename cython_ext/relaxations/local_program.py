"""The local marginal polytope of a graph as constraints, which HiGHS maximises scores under.

The distribution of a count is one over the labelings of its nodes, which takes further variables: how much of each
node is in state 1 together with each bucket.
"""

from dataclasses import dataclass

import numpy as np

CONSTRAINT_ROUNDING = 1e-7  # by which a point may miss its constraints
MAX_DISTANCE = 1e-5  # of a point from the nearest one that meets them


@dataclass
class Program:
    """The polytope of a shape: points x >= 0 of its parts, and of further variables, with equations @ x = right, and
    limits @ x <= 0 (None: no limits)."""

    parts: int
    equations: object
    right: object
    limits: object

    def best(self, scores):
        """The point with the best score, float64[parts]."""
        from scipy.optimize import linprog

        more = self.equations.shape[1] - self.parts
        limits = {} if self.limits is None else {'A_ub': self.limits, 'b_ub': np.zeros(self.limits.shape[0])}
        costs = -np.append(scores, np.zeros(more))
        found = linprog(costs, A_eq=self.equations, b_eq=self.right, **limits, bounds=(0, None), method='highs-ds')
        return np.maximum(found.x[: self.parts], 0.0)

    def holds(self, point):
        """Whether a point, float64[parts], is in the polytope, but for rounding; not-a-number is not."""
        if not ((point >= 0) & (point <= 1 + CONSTRAINT_ROUNDING)).all():
            return False
        if self.limits is None:
            return bool((np.abs(self.equations @ point - self.right) <= CONSTRAINT_ROUNDING).all())
        return self.distance(point) <= MAX_DISTANCE

    def distance(self, point):
        """How far it is from a point to the nearest one that meets the constraints, as a sum over parts; infinite where
        there is none."""
        from scipy.optimize import linprog
        from scipy.sparse import hstack

        k, rest = self.parts, self.equations.shape[1] - self.parts
        both = [
            hstack([a[:, :k], -a[:, :k], a[:, k:]]) for a in (self.equations, self.limits)
        ]  # more and less of a part
        left = self.right - self.equations[:, :k] @ point, -self.limits[:, :k] @ point
        costs = np.repeat([1.0, 0.0], [2 * k, rest])
        found = linprog(
            costs, A_eq=both[0], b_eq=left[0], A_ub=both[1], b_ub=left[1], bounds=(0, None), method='highs-ds'
        )
        return found.fun if found.status == 0 else np.inf


def program_of(types, shape):
    """The Program of a shape: the states of each node sum to 1; then, for each factor, node and state, the factor
    says the same of the state as the node. For a count, with x_vk how much of node v is in state 1 together with
    bucket k, which has the counts from low to high, and has z_k:

        sum_k z_k = 1    sum_k x_vk = x_v(1)    x_vk <= z_k    low z_k <= sum_v x_vk <= high z_k

    For each k the last two are the labelings with such a count (their polytope is integral), z_k of them.
    """
    from scipy.sparse import csr_array

    sizes = [types[kind].size for kind in shape.types]
    place = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).tolist()
    entries, row = [], 0
    limits, limit, further = [], 0, place[-1]
    for node in range(shape.nodes):
        entries += [(row, place[node] + state, 1.0) for state in range(sizes[node])]
        row += 1
    for f in range(shape.nodes, len(shape.types)):
        kind, scope = types[shape.types[f]], shape.scopes[f]
        if kind.buckets is not None:
            entries += [(row, place[f] + k, 1.0) for k in range(kind.size)]
            entries += [(row, place[scope[0]] + state, -1.0) for state in range(2)]
            row += 1
            for v, node in enumerate(scope):
                entries += [(row, further + v * kind.size + k, 1.0) for k in range(kind.size)]
                entries.append((row, place[node] + 1, -1.0))
                row += 1
            highest = [first - 1 for first in kind.buckets[1:]] + [len(scope)]
            for k, (low, high) in enumerate(zip(kind.buckets, highest, strict=True)):
                together = [further + v * kind.size + k for v in range(len(scope))]
                for column in together:
                    limits += [(limit, column, 1.0), (limit, place[f] + k, -1.0)]
                    limit += 1
                limits += [(limit, place[f] + k, low)] + [(limit, column, -1.0) for column in together]
                limits += [(limit + 1, place[f] + k, -min(high, len(scope)))]
                limits += [(limit + 1, column, 1.0) for column in together]
                limit += 2
            further += len(scope) * kind.size
            continue
        joint = np.stack(np.unravel_index(np.arange(sizes[f]), kind.states), axis=1)
        for k, node in enumerate(scope):
            for state in range(kind.states[k]):
                entries += [(row, place[f] + a, 1.0) for a in np.flatnonzero(joint[:, k] == state)]
                entries.append((row, place[node] + state, -1.0))
                row += 1

    def matrix(entries, rows):
        if not further:  # no nodes
            return np.zeros((0, 0))
        at, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
        return csr_array((values, (at, columns)), shape=(rows, further))

    right = np.zeros(row)
    right[: shape.nodes] = 1.0
    return Program(place[-1], matrix(entries, row), right, matrix(limits, limit) if limits else None)
