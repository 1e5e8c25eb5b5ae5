"""What a solver declares about itself, and its own options."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """One `--set NAME=VALUE`: type is bool, int, float or a tuple of the words it may be."""

    type: Any
    default: Any
    help: str
    minimum: float | None = None
    maximum: float | None = None

    def parse(self, text):
        """The value of a word from the command line. Raises ValueError with what was expected."""
        if isinstance(self.type, tuple):
            if text in self.type:
                return text
            raise ValueError(f'expected one of {", ".join(self.type)}')
        if self.type is bool:
            words = {
                'true': True,
                'yes': True,
                'on': True,
                '1': True,
                'false': False,
                'no': False,
                'off': False,
                '0': False,
            }
            if text.lower() in words:
                return words[text.lower()]
            raise ValueError('expected true or false')
        try:
            value = self.type(text)
        except ValueError:
            raise ValueError(f'expected {"a whole number" if self.type is int else "a number"}') from None
        if value != value or (self.minimum is not None and value < self.minimum):
            raise ValueError(f'expected at least {self.minimum:g}' if self.minimum is not None else 'expected a number')
        most = 2**31 - 1 if self.maximum is None and self.type is int else self.maximum
        if most is not None and value > most:
            raise ValueError(f'expected at most {most:.10g}')
        return value


@dataclass(frozen=True)
class SolverInfo:
    """A solver for the registry.

    objectives: names that it minimises; oracle: the structure's oracle that it calls for each ('max', 'topk', 'exp',
    or 'messages' of relaxed graphs), by objective; certificate: where its dual point comes from; make(problem, options,
    seed) -> Solver; variants: of the hinge that it can do ('slack', 'squared', 'hard-margin'); max_passes: when it
    stops unless told otherwise; kernels: whether it works with weight vectors whose inner product is that of a kernel;
    starts: what it can begin with: 'weights' of any data (make has set_start(w)), a 'dual-point' of the same examples
    (set_dual_point(point)); part_bytes: that it keeps for each part of each example; decomposable: whether the task
    loss has to be one that adds up over parts.
    """

    name: str
    summary: str
    oracle: dict
    options: dict
    certificate: str
    paper: str
    make: Any
    variants: tuple = ()
    max_passes: int = 1000
    kernels: bool = False
    starts: tuple = ()
    part_bytes: int = 0
    decomposable: bool = False

    @property
    def objectives(self):
        return tuple(self.oracle)

    @property
    def minimises(self):
        """False for a baseline, whose result is only reported in terms of its objectives."""
        return self.make.minimises

    def starts_with(self, kernel):
        """Its starts for weight vectors of a kernel, or linear ones (None): coefficients of other data's tokens say
        nothing."""
        return self.starts if kernel is None else tuple(start for start in self.starts if start != 'weights')

    def settings(self, given):
        """All options with their values: given ones over defaults."""
        return {name: given.get(name, option.default) for name, option in self.options.items()}
