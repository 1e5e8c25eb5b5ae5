"""All kinds of dual points, and which of them some stored arrays are."""

from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.natural import NaturalPoint
from cython_ext.duals.scores import ScoresPoint, TemperedPoint
from cython_ext.duals.sparse import SparsePoint

KINDS = (SparsePoint, NaturalPoint, ScoresPoint, TemperedPoint, MixturePoint)


def kind_of(names):
    """The class of the point whose arrays have these names; None where no kind has all of them and no others."""
    names = set(names)
    return next((kind for kind in KINDS if kind.has(names)), None)


def from_arrays(arrays):
    """The DualPoint of stored arrays, a dict. ValueError where they are none, or damaged."""
    kind = kind_of(arrays)
    if kind is None:
        raise ValueError(f'no dual point has the arrays {", ".join(sorted(arrays)) or "of nothing"}')
    return kind.from_arrays(arrays)
