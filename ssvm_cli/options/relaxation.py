"""--relaxation and --rho: which problem is solved over graphs, and how its weights predict."""

from cython_ext.relaxations.block_layout import has_global_factors
from cython_ext.tasks.relaxations import RHO, has_cuts, has_exact_oracle
from data_formats.errors import UsageError
from ssvm_cli.options.label_pairs import said_of_pairs


def requested_relaxation(o, layout):
    """What the structure is built with: {'relaxation': name, 'rho': number or None}; soft where there is no exact
    oracle, or only one that may give up.

    Args:
        o: the options of the command.
        layout: the GraphLayout of the data.
    """
    asked = [
        option
        for option, given in {
            '--rho': o.rho is not None,
            '--augmented-lagrangian': o.augmented_lagrangian,
            '--smooth-max': o.smooth_max is not None,
        }.items()
        if given
    ]
    name = o.relaxation
    if name is None:
        name = 'soft' if asked or not has_exact_oracle(layout) else 'none'
    if name != 'soft' and asked:
        raise UsageError(f'{asked[0]} is about --relaxation soft')
    if name == 'soft' and o.objective != 'hinge' and not asked and o.relaxation is None:
        why = 'these graphs are too large, or have other factors beside one that counts'
        raise UsageError(f'{o.objective} needs sums over all outputs, and {why} (use --relaxation lp, or hinge)')
    if name == 'soft' and o.objective != 'hinge':
        raise UsageError(
            f'--relaxation soft is a relaxation of the hinge, not of {o.objective} (--relaxation none or lp)'
        )
    if name != 'soft':
        return {'relaxation': name, 'rho': None}
    if o.smooth_max is not None and has_global_factors(layout):
        raise UsageError('--smooth-max is not for graphs with global factors, whose labelings have no table')
    smoothing = {} if o.smooth_max is None else {'smoothing': o.smooth_max}
    rho = 1 / layout.n if o.augmented_lagrangian else RHO
    return {'relaxation': name, 'rho': rho if o.rho is None else o.rho[0], **smoothing}


def about_cuts(o, layout):
    """Says where the exact problem could be solved but is not unless it is asked for; None elsewhere."""
    asked = o.relaxation is not None or o.rho is not None or o.augmented_lagrangian or o.smooth_max is not None
    if asked or has_exact_oracle(layout) or not has_cuts(layout):
        return None
    return '--relaxation none would solve the problem itself, by graph cuts, if neighbours mostly have the same state'


def prediction(structure):
    """What the structure of the examples to predict is built with; structure: of the model's header."""
    return {'relaxation': None, 'trained': structure.get('relaxation', 'none')}


def said_of(structure):
    """What is left out of a problem over graphs, for people: pairs of labels, and constraints."""
    return said_of_pairs(structure) + said_of_relaxation(structure)


def said_of_relaxation(structure):
    """A relaxation for people, '' where there is none."""
    if structure.get('relaxation', 'none') == 'none':
        return ''
    figures = [f'{name} {structure[name]:g}' for name in ('rho', 'smoothing') if structure.get(name) is not None]
    return f', relaxation {structure["relaxation"]}' + (f' ({", ".join(figures)})' if figures else '')


def in_stages(o):
    """Whether the options ask for several problems, one started from the other (rho_stages.py)."""
    return o.augmented_lagrangian or (o.rho is not None and len(o.rho) > 1)
