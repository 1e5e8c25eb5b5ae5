"""DualPoint: what every kind of dual points offers."""


class DualPoint:
    """One distribution alpha_i over the outputs of each example (of any mass, where the objective says so)."""

    @classmethod
    def has(cls, names):
        """Whether arrays with these names, a set, are those of a point of this kind."""
        raise NotImplementedError

    @classmethod
    def from_arrays(cls, arrays):
        """The point of arrays(). ValueError where they do not fit together; whether they belong to some examples is
        found out by value()."""
        raise NotImplementedError

    def arrays(self):
        """{name: array}, as models and checkpoints hold it."""
        raise NotImplementedError

    def value(self, problem, w=None):
        """D(alpha), computed from the data alone. w: the weights of the model that holds the point, of which one kind
        is made. ValueError where it is no dual point of the problem."""
        raise NotImplementedError

    def certify(self, problem, following=None):
        """(D(alpha), w(alpha)). following: the features' Following, to follow w(alpha) from then on. ValueError
        where it is no dual point of the problem that solvers can begin at."""
        raise ValueError('the dual point is the softmax of the scores of weights, and not written down')

    def outputs(self, i):
        """(weights, codes) of the outputs of example i; None where they are not listed."""
        return


class WrittenPoint(DualPoint):
    """One whose expectations are sums over what is written down for each example: the arrays NAMES, which are its
    attributes and the arguments that it is made of."""

    NAMES = ()

    @classmethod
    def has(cls, names):
        return set(names) == set(cls.NAMES)

    @classmethod
    def from_arrays(cls, arrays):
        missing = [name for name in cls.NAMES if name not in arrays]
        if missing:
            raise ValueError(f'the dual point has no {missing[0]}')
        return cls(*(arrays[name] for name in cls.NAMES))

    def arrays(self):
        return {name: getattr(self, name) for name in self.NAMES}

    def expectations(self, problem, total):
        """The mean of E[b] - ridge/2 mass^2 (of E[Delta] + H for the log losses); puts E[c psi_i] into total, an
        Accumulator at 0. ValueError where it is no dual point of the problem."""
        raise NotImplementedError

    def certify(self, problem, following=None):
        total = problem.kept_accumulator()
        gain = self.expectations(problem, total)
        w = problem.features.zeros()
        total.total(w, problem.pool)
        w /= problem.lam * problem.n
        if following is not None:
            following.follow(w)
        return gain - problem.lam / 2 * problem.features.inner(w, w), w
