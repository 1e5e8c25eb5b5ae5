"""When to evaluate the certificate: a rule of passes and estimates, never of the clock, so that runs repeat exactly."""


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
