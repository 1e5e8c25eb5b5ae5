"""All objectives: name -> (module, class, whether it takes a task loss), and the variants of the hinge."""

from dataclasses import dataclass
from importlib import import_module

OBJECTIVES = {
    'hinge': ('cython_ext.objectives.hinge', 'Hinge', True),
    'log': ('cython_ext.objectives.log', 'Log', False),
    'softmax-margin': ('cython_ext.objectives.log', 'SoftmaxMargin', True),
}
RESCALINGS = ('margin', 'slack')  # of the hinge
SLACK_NORMS = (1, 2)


@dataclass(frozen=True)
class Variant:
    """What may be changed about the hinge loss. rescale: one of RESCALINGS; slack_norm: of SLACK_NORMS."""

    rescale: str = 'margin'
    slack_norm: int = 1
    hard_margin: bool = False

    @property
    def plain(self):
        return self == Variant()

    @property
    def names(self):
        """What is asked for, as solvers declare it."""
        asked = {'slack': self.rescale == 'slack', 'squared': self.slack_norm == 2, 'hard-margin': self.hard_margin}
        return tuple(name for name, wanted in asked.items() if wanted)

    def check(self, objective):
        """ValueError when it does not go with an objective, or with itself."""
        if not self.plain and objective != 'hinge':
            raise ValueError(f'slack rescaling, slack norm 2 and hard margin are variants of hinge, not of {objective}')
        if self.hard_margin and (self.rescale, self.slack_norm) != ('margin', 1):
            raise ValueError('a hard margin has no slacks: leave slack rescaling and slack norm 2 out')


def build_objective(name, structure, loss, variant=None):
    """The Objective of a name on a structure. loss: a TaskLoss (ignored by objectives without); variant: of the hinge.

    Raises ValueError when there is no such objective, or the variant does not fit.
    """
    if name not in OBJECTIVES:
        raise ValueError(f'unknown objective {name} (choose from {", ".join(OBJECTIVES)})')
    module, cls, with_loss = OBJECTIVES[name]
    if variant is None or variant.plain:
        return getattr(import_module(module), cls)(structure, loss if with_loss else None)
    variant.check(name)
    strata = loss.make_strata()
    if strata is None:
        raise ValueError(
            'slack rescaling and squared slacks take the best output of each value of the task loss, which '
            'nothing finds for this one (use another one, such as zero-one, or margin rescaling with slack norm 1)'
        )
    if variant.hard_margin:
        from cython_ext.objectives.hinge import HardMargin

        return HardMargin(structure, loss, strata)
    from cython_ext.objectives.hinge import StratifiedHinge

    return StratifiedHinge(structure, loss, strata, variant.rescale == 'slack', variant.slack_norm == 2)
