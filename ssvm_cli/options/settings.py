"""--set KEY=VALUE: the options of the chosen solver, checked before any work."""

from data_formats.errors import UsageError


def parse_settings(texts, solver, options):
    """Values of a solver's options.

    Args:
        texts: 'KEY=VALUE' strings.
        solver: the solver's name, for messages.
        options: dictionary name -> Option of the solver.

    Returns:
        dictionary of the values given, by name.

    Raises:
        UsageError: an unknown key, one that is given twice, or a value of the wrong type.
    """
    found = {}
    for text in texts:
        key, equals, value = text.partition('=')
        key = key.strip().replace('-', '_')
        if not equals:
            raise UsageError(f'--set {text}: no value (expected KEY=VALUE)')
        if key not in options:
            known = ', '.join(options) or 'none'
            raise UsageError(f'--set {text}: {solver} has no option {key!r} (its options: {known})')
        if key in found:
            raise UsageError(f'--set {text}: {key} is given twice')
        try:
            found[key] = options[key].parse(value.strip())
        except ValueError as error:
            raise UsageError(f'--set {text}: {value!r} is wrong ({error})') from None
    return found


def with_oracle(texts, oracle, info, others):
    """The --set texts with --oracle among them.

    Args:
        texts: 'KEY=VALUE' strings.
        oracle: the value of --oracle, or None.
        info: SolverInfo of the chosen solver.
        others: SolverInfo of all solvers.

    Raises:
        UsageError: the solver has no choice of oracles.
    """
    if oracle is None:
        return texts
    if 'oracle' not in info.options:
        able = ', '.join(other.name for other in others if 'oracle' in other.options)
        raise UsageError(f'--oracle: {info.name} has no choice of oracles (solvers that have: {able})')
    return (*texts, f'oracle={oracle}')


def check_oracle(oracle, objective, info, settings):
    """Refuse a choice of oracles, or K, that changes nothing.

    Args:
        oracle: the value of --oracle, or None.
        objective: the name of the objective.
        info: SolverInfo of the chosen solver.
        settings: its options that are given, --oracle among them.
    """
    if 'oracle' not in info.options:
        return
    chosen = settings.get('oracle', 'auto')
    if objective != 'hinge':
        given = {'--oracle' if oracle else '--set oracle=': chosen not in ('auto', 'exp'), '--set K=': 'K' in settings}
        for name in (name for name, is_given in given.items() if is_given):
            raise UsageError(f'{name} has no effect on --objective {objective}, where {info.name} takes expectations')
    if 'K' in settings and chosen not in ('auto', 'topk'):
        raise UsageError(f'--set K= has no effect on the {chosen} oracle (use --oracle topk)')
