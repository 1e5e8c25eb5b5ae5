"""Labels in an order: a wrong one costs how far it is from the right one."""

import numpy as np

from cython_ext.losses.position_costs import LabelCosts


class RankCosts(LabelCosts):
    """|j - k| of labels j and k."""

    def __init__(self, structure):
        places = np.arange(structure.n_labels)
        super().__init__(structure, abs(places[:, None] - places))
