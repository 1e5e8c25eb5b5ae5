"""Kernel functions of the input features of a position."""

import math
from dataclasses import dataclass

KINDS = {'poly': ('degree', 'gamma', 'coef0'), 'rbf': ('gamma',)}
LINEAR = 'linear'  # no kernel
KERNELS = (LINEAR, *KINDS)
LARGEST_DEGREE = 100


@dataclass(frozen=True)
class Kernel:
    """'poly': (gamma <x, x'> + coef0)^degree; 'rbf': exp(-gamma ||x - x'||^2). The defaults are those of SVMlight and
    svm_struct. Raises ValueError for parameters with which it is no kernel."""

    kind: str
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f'unknown kernel {self.kind!r} (choose from {", ".join(KINDS)})')
        if type(self.degree) is not int or not 1 <= self.degree <= LARGEST_DEGREE:
            raise ValueError(f'degree is {self.degree!r} (expected a whole number from 1 to {LARGEST_DEGREE})')
        if not _is_number(self.gamma) or self.gamma <= 0:
            raise ValueError(f'gamma is {self.gamma!r} (expected a number above 0)')
        if not _is_number(self.coef0) or self.coef0 < 0:
            raise ValueError(f'coef0 is {self.coef0!r} (expected a number not below 0)')

    @classmethod
    def of(cls, facts):
        """The Kernel of a dict as facts() gives it. Raises ValueError."""
        if not isinstance(facts, dict) or 'kind' not in facts:
            raise ValueError(f'{facts!r} is no kernel (expected kind and parameters)')
        unknown = facts.keys() - {'kind', 'degree', 'gamma', 'coef0'}
        if unknown:
            raise ValueError(f'a kernel has no {", ".join(sorted(unknown))}')
        return cls(**facts)

    def facts(self):
        """Kind and the parameters that it has, as a JSON-able dict."""
        return {'kind': self.kind, **{name: getattr(self, name) for name in KINDS[self.kind]}}

    def __str__(self):
        return f'{self.kind} kernel ({", ".join(f"{name} {getattr(self, name):g}" for name in KINDS[self.kind])})'


def _is_number(value):
    return type(value) in (int, float) and math.isfinite(value)
