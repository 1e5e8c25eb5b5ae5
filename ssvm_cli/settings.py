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
