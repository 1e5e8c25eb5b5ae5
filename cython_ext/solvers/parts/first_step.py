"""The first step size of stochastic methods: the best of some on a few examples."""

LEAST_POWER, MOST_POWER = -3, 7  # of 4, times the step that is surely not too long


def best_first_step(trial, short, longest):
    """The step size for which trial(step) is least, among short times powers of 4 below longest; 1 if none is finite.

    short: a step that is surely not too long; trial: makes constant steps from where the method begins and returns the
    objective that they lead to.
    """
    best, chosen = float('inf'), 1.0
    for power in range(LEAST_POWER, MOST_POWER + 1):
        step = short * 4.0**power
        if step >= longest:
            break
        value = trial(step)
        if value < best:
            best, chosen = value, step
    return chosen
