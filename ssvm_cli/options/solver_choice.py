"""Which solver runs, and the table of --list-solvers."""

import textwrap

from cython_ext.features.kernel.function import KERNELS, LINEAR
from cython_ext.solvers.registry import MODULES, all_solvers, solver_info
from cython_ext.tasks.fit import VARIANTS, check_fit, sums_everywhere, with_kernels
from data_formats.errors import UsageError

AUTO = {'hinge': 'bcfw', 'log': 'eg', 'softmax-margin': 'eg'}
LIGHT = {'eg': 'lbfgs'}  # what `auto` takes where the numbers that a solver keeps for all parts do not fit into memory
WIDTH = 100


def choose(name, wanted, order=1, relaxation=None):
    """The SolverInfo of a name as --solver has it, for what is Wanted; order: of a chain; relaxation: of graphs.

    Raises:
        UsageError: no such solver, or one that does not fit; with the alternatives.
    """
    if name == 'auto':
        name = automatic(wanted, order, relaxation)
    if name not in MODULES:
        raise UsageError(f'unknown solver {name!r} (choose from auto, {", ".join(MODULES)})')
    info = solver_info(name)
    require_fit(info, wanted)
    return info


def require_fit(info, wanted):
    """check_fit with a UsageError."""
    try:
        check_fit(info, wanted)
    except ValueError as error:
        raise UsageError(str(error)) from None


def automatic(wanted, order=1, relaxation=None):
    """What `auto` picks: the usual solver, or the first one that works with kernels where it does not."""
    usual = 'n-slack' if 'hard-margin' in wanted.variants else AUTO[wanted.objective]
    if wanted.objective == 'softmax-margin' and wanted.loss is not None and not sums_everywhere(wanted.loss):
        usual = 'lbfgs'  # eg needs a sum over parts, and the task may not be known yet
    if usual == 'eg' and order == 2 and wanted.kernel is None:
        usual = 'lbfgs'  # eg keeps numbers for each part of each example, and there are K^3 triplets
    if usual == 'eg' and relaxation == 'lp':
        usual = 'lbfgs'  # every sum takes many sweeps, and eg asks for several times as many
    if wanted.kernel is None or solver_info(usual).kernels:
        return usual
    return next(iter(with_kernels(wanted.objective)), usual)


def solver_table():
    """One paragraph per solver: its name at the start of a line, then objectives with the oracle that each takes,
    certificate, options and paper."""
    rows = [_line('auto', 'by objective: ' + ', '.join(f'{name} for {objective}' for objective, name in AUTO.items()))]
    rows += ['', _line('soft-bcfw', 'short for bcfw with --relaxation soft (Meshi et al. 2015, Algorithm 1)')]
    for info in all_solvers():
        objectives = ', '.join(f'{objective} ({oracle} oracle)' for objective, oracle in info.oracle.items())
        if info.variants:
            objectives += '; with ' + ', '.join(VARIANTS[variant] for variant in info.variants)
        objectives = objectives if info.minimises else f'none; its weights are reported in {objectives}'
        rows += ['', _line(info.name, info.summary), _line('  objectives', objectives)]
        rows += [_line('  kernels', ', '.join(KERNELS) if info.kernels else LINEAR)]
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
