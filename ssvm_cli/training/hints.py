"""What is said when a run ends short of what was hoped for: why that may be, and what would help."""

import numpy as np

# From here on it is likely the scale of the features that keeps a run from its tolerance: that of grey values up to 255
# does, at the default lambda, while counts of words seldom do.
LARGE_VALUE = 100.0
WIDE_GAP = 0.1


def large_features(path, largest, relative_gap):
    """Features so large that a run comes to nothing.

    Args:
        path: the training data.
        largest: the largest absolute value in them.
        relative_gap: what the run ended with; None where there are no weights, or no number, to tell it of.

    Returns:
        a sentence, or None where there is nothing to say; so do the other functions here.
    """
    if largest <= LARGE_VALUE or (relative_gap is not None and relative_gap <= WIDE_GAP):
        return None
    effect = 'be easier to learn from' if relative_gap is None else 'make the gap close sooner'
    return f'{path}: features have values up to {largest:.3g}; scaled to about 1 they would {effect} (--scale max)'


def short_steps(solver, settings):
    """The steps of the paper's excessive gap reduction, short enough for any data: hundreds of passes show nothing."""
    if solver == 'excessive-gap' and not settings['adaptive']:
        return 'excessive-gap takes steps that are short enough whatever the data: --set adaptive=true is much faster'
    return None


def no_weights(path, passes, bounds, relative_gap):
    """Training that has brought nothing, which a certificate does not show.

    Args:
        path: the model.
        passes: those made.
        bounds: the Bounds of the run; where the objective is 0 there was nothing to learn.
        relative_gap: what the run ended with; None without certificate.
    """
    if not passes or np.any(bounds.w) or bounds.primal == 0:
        return None
    if relative_gap is not None and relative_gap <= WIDE_GAP:
        advice = 'a smaller --lambda, that is a larger -c, lets them grow'
    else:
        advice = 'more passes or another --solver may find better ones'
    return f'{path}: all weights are 0, which had the lowest objective of all passes ({advice})'
