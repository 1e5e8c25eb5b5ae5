"""Dictionaries within dictionaries, flat: the state of a part under its name and a dot."""


def prefixed(name, state):
    """{'NAME.KEY': value} for each KEY of a dictionary."""
    return {f'{name}.{key}': value for key, value in state.items()}


def stripped(name, state):
    """The dictionary that prefixed(name, ...) has put among others."""
    prefix = f'{name}.'
    return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}
