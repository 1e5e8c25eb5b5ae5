"""--relaxation and --rho: which problem is solved over graphs, and how its weights predict."""

from cython_ext.structures.relaxations import RHO, has_exact_oracle
from data_formats.errors import UsageError


def requested_relaxation(o, layout):
    """What the structure is built with: {'relaxation': name, 'rho': number or None}; soft where there is no exact
    oracle.

    Args:
        o: the options of the command.
        layout: the GraphLayout of the data.
    """
    name = o.relaxation
    if name is None:
        name = 'soft' if o.rho is not None or not has_exact_oracle(layout) else 'none'
    if name != 'soft' and o.rho is not None:
        raise UsageError('--rho is about --relaxation soft')
    if name == 'soft' and o.objective != 'hinge':
        raise UsageError(f'--relaxation soft is a relaxation of the hinge, not of {o.objective} (--relaxation none)')
    return {'relaxation': name, 'rho': (RHO if o.rho is None else o.rho) if name == 'soft' else None}


def said_of(structure):
    """A relaxation for people, '' where there is none."""
    if structure.get('relaxation', 'none') == 'none':
        return ''
    rho = structure.get('rho')
    return f', relaxation {structure["relaxation"]}{"" if rho is None else f" (rho {rho:g})"}'
