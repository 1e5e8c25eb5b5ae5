"""Losses and strata that several tasks have, imported when they are needed: predicting needs none."""


def zero_one(structure):
    """1 for every output but the right one."""
    from cython_ext.losses.zero_one import ZeroOne

    return ZeroOne(structure)


def zero_one_strata(structure, loss):
    from cython_ext.losses.strata import ZeroOneStrata

    return ZeroOneStrata(structure, loss)


def choice_strata(structure, loss):
    """Of one of several alternatives: each is a stratum."""
    from cython_ext.losses.strata import ChoiceStrata

    return ChoiceStrata(structure, loss)


def position_costs(structure, matrix=None):
    """PositionCosts of a cost matrix, 1 off the diagonal if None."""
    from cython_ext.losses.position_costs import PositionCosts, hamming

    return PositionCosts(structure, hamming(structure.n_labels) if matrix is None else matrix)
