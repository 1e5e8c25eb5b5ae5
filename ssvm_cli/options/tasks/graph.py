"""Options of factor graphs."""

from functools import partial

import click

from cython_ext.tasks.relaxations import RELAXATIONS
from ssvm_cli.options.click_types import Number, NumberOrPath, option

graphs = partial(option, section='Graphs (multilabel, graph)', of='graph')

OPTIONS = (
    graphs(
        '--relaxation',
        type=click.Choice(RELAXATIONS),
        help='none: the problem itself, by exact oracles; lp: that over the local marginal polytope, by linear '
        'programs, with tree-reweighted sums for the log losses; soft: every factor decides alone, and is charged for '
        'disagreeing with the others. Default: none, and soft where a graph is too large for tables.',
    ),
    graphs(
        '--rho',
        type=NumberOrPath(),
        metavar='RHO',
        help='Of soft, the weight of RHO/2 |delta|^2 with the agreement variables delta: a small one, such as 1/n, is '
        'near lp and slow; with a large one the factors hardly have to agree. FROM:TO:FACTOR begins with FROM and '
        'falls to TO, each problem started from the one before. Default: 1.',
    ),
    graphs(
        '--augmented-lagrangian',
        is_flag=True,
        help='Of soft, multipliers beside the penalty: solve the problem again and again, delta pulled to where it was '
        'instead of 0, until the relaxed problem itself is solved to --rel-gap, whatever RHO is.',
    ),
    graphs(
        '--smooth-max',
        type=Number(positive=True),
        metavar='GAMMA',
        help='Of soft, smoothed maxima: less GAMMA/2 |alpha|^2 for the weights alpha of the wrong states of every '
        'factor in the dual. The optimum is at most GAMMA/2 a factor lower.',
    ),
)
