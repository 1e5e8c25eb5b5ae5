"""Tree-reweighted sums as they are defined, over enumerated labelings: the least mean of the log sums of forests whose
scores have the given ones for their mean. No kernel is asked."""

import itertools

import numpy as np
from scipy.optimize import minimize

from cython_ext.relaxations.forests import forests_of


class Sums:
    """Of one example of a GraphLayout of nodes and pairs. The scores of a forest are a share of the given ones (those
    of an edge where it is in the forest, divided by how often it is) and variables that vanish in the mean."""

    def __init__(self, layout, i):
        shape = layout.shapes[layout.shape_of[i]]
        sizes = [layout.types[kind].size for kind in shape.types[: shape.nodes]]
        edges = shape.scopes[shape.nodes :]
        forests = [{e for e, _ in forest} for forest in forests_of(shape.nodes, edges)]
        keys = [(f, a) for f, kind in enumerate(shape.types) for a in range(layout.types[kind].size)]
        column = {key: k for k, key in enumerate(keys)}
        codes = list(itertools.product(*map(range, sizes)))
        self.labelings = np.zeros((len(codes), len(keys)))
        for row, code in zip(self.labelings, codes, strict=True):
            for f, scope in enumerate(shape.scopes):
                row[column[f, int(np.ravel_multi_index([code[v] for v in scope], [sizes[v] for v in scope]))]] = 1
        edge = [f - shape.nodes for f, _ in keys]
        self.inside = np.array([[e < 0 or e in forest for e in edge] for forest in forests], float)
        self.forests, self.parts = self.inside.shape
        self.share = self.inside / self.inside.mean(axis=0)

    def value(self, theta, variables):
        """(mean of the log sums, its gradient by theta, its gradient by the variables [forests, parts])."""
        variables = self.centred(variables)
        scores = (self.share * theta + variables) @ self.labelings.T
        top = scores.max(axis=1, keepdims=True)
        sums = top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
        means = np.exp(scores - sums) @ self.labelings / self.forests
        return sums.mean(), (self.share * means).sum(axis=0), self.centred(means * self.inside)

    def centred(self, variables):
        variables = variables * self.inside
        return (variables - variables.sum(axis=0) / self.inside.sum(axis=0)) * self.inside

    def best(self, theta):
        """The least value."""

        def function(x):
            value, _, gradient = self.value(theta, x.reshape(self.inside.shape))
            return value, gradient.ravel()

        return minimize(function, np.zeros(self.inside.size), jac=True, method='BFGS', options={'gtol': 1e-9}).fun


def optimum(layout, truth, lam, costs=0.0):
    """The least lambda/2 ||w||^2 + mean of (tree-reweighted sum of scores + costs) - right score, over weights and the
    variables of all forests at once. truth: the GraphEnumeration; costs: how much a wrong node costs."""
    several = [Sums(layout, i) for i in range(layout.n)]
    features = [truth.dense([truth.features_of(i, *key) for key in truth.part_keys(i)]) for i in range(layout.n)]
    right = [example.parts[example.gold] for example in truth.examples]
    ends = np.cumsum([truth.dim] + [sums.inside.size for sums in several])

    def function(x):
        w, *rest = np.split(x, ends[:-1])
        total, gradient, gradients = 0.0, lam * w, []
        for i, (sums, variables) in enumerate(zip(several, rest, strict=True)):
            nodes = layout.shapes[layout.shape_of[i]].nodes
            of_nodes = np.array([f < nodes for f, _ in truth.part_keys(i)])
            theta = features[i] @ w + costs * of_nodes * (1 - right[i])
            value, by_theta, by_variables = sums.value(theta, variables.reshape(sums.inside.shape))
            total += (value - right[i] @ (features[i] @ w)) / layout.n
            gradient = gradient + (by_theta - right[i]) @ features[i] / layout.n
            gradients.append(by_variables.ravel() / layout.n)
        return lam / 2 * w @ w + total, np.concatenate([gradient, *gradients])

    options = {'maxiter': 5000, 'maxfun': 10**5, 'ftol': 1e-15, 'gtol': 1e-9}
    return minimize(function, np.zeros(ends[-1]), jac=True, method='L-BFGS-B', options=options).fun
