"""Sequential minimal optimisation for max-margin Markov networks (Taskar, Guestrin and Koller 2003).

A visit moves weight between two outputs of an example, by exact line search: to the one that violates its constraint
most, which the max oracle finds, from the one that violates it least among those that have weight. It is bcfw with
nothing but that single step in a visit, and without acceleration. Where the paper holds the marginals of cliques this
holds the outputs that have weight, of which there are never more than visits: the dual point is the same.
"""

from cython_ext.solvers.methods.dual import bcfw
from cython_ext.solvers.options import SolverInfo

ALONE = {'acceleration': False, 'steps': 'pair', 'cache': 1, 'average': False}


class Smo(bcfw.BlockFrankWolfe):
    """options: as in INFO below; seed: of the order of visits."""

    def __init__(self, problem, options, seed=0):
        super().__init__(problem, {**options, **ALONE}, seed)


INFO = SolverInfo(
    name='smo',
    summary='pairwise steps between two outputs of an example',
    oracle={'hinge': 'max'},
    options={name: option for name, option in bcfw.OPTIONS.items() if name not in ALONE},
    certificate='its own dual point',
    paper='Taskar, Guestrin and Koller 2003',
    make=Smo,
    starts=('dual-point',),
    variants=('slack',),
    kernels=True,
)
