"""Which solver runs, and the table of --list-solvers."""

import textwrap

from cython_ext.solvers.registry import MODULES, all_solvers, solver_info
from data_formats.errors import UsageError

AUTO = {'hinge': 'bcfw', 'log': 'eg', 'softmax-margin': 'eg'}
LIGHT = {'eg': 'lbfgs'}  # what `auto` takes where the numbers that a solver keeps for all parts do not fit into memory
SAID = {'slack': 'slack rescaling', 'squared': 'slack norm 2', 'hard-margin': 'a hard margin'}
WIDTH = 100
WHOLE = ('f1', 'overlap')  # usual losses of tasks that are no sums over parts


def choose(name, objective, kernel=False, variants=(), task_loss=None, order=1):
    """The SolverInfo of a name as --solver has it, for an objective, with a kernel or without; variants: names of what
    is changed about the hinge (objectives.registry.Variant.names); task_loss: as given, None for the usual one; order:
    of a chain.

    Raises:
        UsageError: no such solver, or one that does not minimise this objective; with the alternatives.
    """
    if name == 'auto':
        name = automatic(objective, kernel, variants, task_loss, order)
    if name not in MODULES:
        raise UsageError(f'unknown solver {name!r} (choose from auto, {", ".join(MODULES)})')
    info = solver_info(name)
    if objective not in info.objectives:
        fit = [other.name for other in all_solvers() if suits(other, objective)]
        verb = 'minimise' if info.minimises else 'report'
        raise UsageError(
            f'{name} does not {verb} {objective}, only {", ".join(info.objectives)} '
            f'(solvers for {objective}: {", ".join(fit)})'
        )
    lacking = [SAID[variant] for variant in variants if variant not in info.variants]
    if lacking:
        fit = [other.name for other in all_solvers() if set(variants) <= set(other.variants)]
        raise UsageError(f'{name} cannot do {" and ".join(lacking)} (solvers that can: {", ".join(fit)})')
    if kernel and not info.kernels:
        fit = ', '.join(with_kernels(objective)) or 'none'
        raise UsageError(
            f'{name} needs the weights themselves, which a kernel does not have '
            f'(solvers for {objective} that work with kernels: {fit})'
        )
    return info


def suits(info, objective):
    """Whether a solver minimises an objective over any outputs; dlpw, which sends messages, is for graphs alone."""
    return info.minimises and info.oracle.get(objective, 'messages') != 'messages'


def automatic(objective, kernel=False, variants=(), task_loss=None, order=1):
    """What `auto` picks: the usual solver, or the first one that works with kernels where it does not."""
    usual = 'n-slack' if 'hard-margin' in variants else AUTO[objective]
    if objective == 'softmax-margin' and task_loss in ('zero-one', *WHOLE):
        usual = 'lbfgs'  # on sequences, trees and boxes these losses are no sums over parts, which eg needs
    if usual == 'eg' and order == 2 and not kernel:
        usual = 'lbfgs'  # eg keeps numbers for each part of each example, and there are K^3 triplets
    return usual if not kernel or solver_info(usual).kernels else next(iter(with_kernels(objective)), usual)


def with_kernels(objective):
    """Names of the solvers that minimise an objective with a kernel."""
    return [info.name for info in all_solvers() if info.kernels and info.minimises and objective in info.objectives]


def solver_table():
    """One paragraph per solver: its name at the start of a line, then objectives with the oracle that each takes,
    certificate, options and paper."""
    rows = [_line('auto', 'by objective: ' + ', '.join(f'{name} for {objective}' for objective, name in AUTO.items()))]
    rows += ['', _line('soft-bcfw', 'short for bcfw with --relaxation soft (Meshi et al. 2015, Algorithm 1)')]
    for info in all_solvers():
        objectives = ', '.join(f'{objective} ({oracle} oracle)' for objective, oracle in info.oracle.items())
        if info.variants:
            objectives += '; with ' + ', '.join(SAID[variant] for variant in info.variants)
        objectives = objectives if info.minimises else f'none; its weights are reported in {objectives}'
        rows += ['', _line(info.name, info.summary), _line('  objectives', objectives)]
        rows += [_line('  kernels', 'linear, poly, rbf' if info.kernels else 'linear')]
        rows += [_line('  certificate', info.certificate)]
        rows += [_line(f'  --set {key}=', _option(option)) for key, option in info.options.items()]
        rows += [_line('  paper', info.paper)]
    return '\n'.join(rows)


def _option(option):
    kind = '|'.join(option.type) if isinstance(option.type, tuple) else 'true|false' if option.type is bool else ''
    default = str(option.default).lower() if isinstance(option.default, bool) else option.default
    return f'{option.help} [{kind + "; " if kind else ""}default {default}]'


def _line(head, text):
    pad = max(26, len(head) + 1)
    indents = {'initial_indent': head.ljust(pad), 'subsequent_indent': ' ' * pad}
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, **indents)
