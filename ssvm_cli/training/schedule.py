"""When to evaluate the certificate, and of which iterate: rules of passes and figures, never of the clock, so that runs
repeat exactly."""

WAIT_EVALUATIONS = 3  # evaluations of others after which an iterate that was not the best gets its turn again


class Schedule:
    """Every pass up to the eighth, then every quarter more passes (10, 12, 15, 18, 22, ...), or every N passes.

    Whenever the solver's own estimate says that the tolerance is reached, an evaluation is due at once; after one that
    did not confirm it, the next such try waits for a twentieth more passes.
    """

    def __init__(self, every=None):
        self.every = every
        self.next = every or 1
        self.next_try = 1

    def due(self, passes, promising):
        """Whether to evaluate after so many passes; promising: the estimate says that the tolerance is reached."""
        return passes >= self.next or (promising and passes >= self.next_try)

    def evaluated(self, passes):
        """Note that the state after so many passes has been evaluated."""
        if passes >= self.next:
            self.next = passes + (self.every or max(1, passes // 4))
        self.next_try = passes + max(1, passes // 20)

    def state(self):
        return {'next': self.next, 'next_try': self.next_try}

    def restore(self, state):
        self.next = state['next']
        self.next_try = state['next_try']


class Turns:
    """Which of a solver's iterates an evaluation looks at, as each look is an oracle pass: one that is new; otherwise
    the one that was the best when last looked at, unless another one has waited for WAIT_EVALUATIONS evaluations.

    Early in a run the current weights tend to be better than a mean of the last ones, later the mean is.
    """

    def __init__(self):
        self.count = 0
        self.primal = {}
        self.looked = {}

    def choose(self, names):
        new = [name for name in names if name not in self.primal]
        if new:
            return new[0]
        waiting = min(names, key=self.looked.get)
        if self.count - self.looked[waiting] >= WAIT_EVALUATIONS:
            return waiting
        return min(names, key=self.primal.get)

    def looked_at(self, name, primal):
        self.count += 1
        self.primal[name], self.looked[name] = primal, self.count

    def state(self):
        return {'count': self.count, 'primal': dict(self.primal), 'looked': dict(self.looked)}

    def restore(self, state):
        self.count, self.primal, self.looked = state['count'], dict(state['primal']), dict(state['looked'])
