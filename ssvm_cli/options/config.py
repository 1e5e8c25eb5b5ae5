"""--config FILE.yaml: any option by its long name; the command line wins."""

import click

from data_formats.errors import DataError, shown
from ssvm_cli.options.click_types import Option

TRUE = ('true', 'yes', 'on')
MAX_FILE_BYTES = 1 << 16  # bytes of a file
FALSE = ('false', 'no', 'off')


def config_option(command):
    """Add --config to a command."""
    return click.option(
        '--config',
        cls=Option,
        section='Running',
        type=click.Path(),
        metavar='FILE.yaml',
        is_eager=True,
        expose_value=False,
        callback=_load,
        help='Take options from this file, by their long names (rel-gap: 0.01); the command line wins.',
    )(command)


def _load(ctx, param, path):
    if path is None or ctx.resilient_parsing:
        return
    ctx.default_map = {**(ctx.default_map or {}), **read_config(path, ctx.command)}


def read_config(path, command):
    """The options of a YAML file as a dictionary from parameter name to the text (or flag, or texts) given.

    Raises:
        click.UsageError: no such file, no YAML, an option that is unknown or given twice, a value of the wrong kind.
    """
    known = {name.removeprefix('--'): p for p in command.params for name in p.opts if name.startswith('--')}
    known = {name: p for name, p in known.items() if p.name not in ('config', 'help', 'list_solvers')}
    known['c'] = next((p for p in command.params if '-c' in p.opts), None)
    found = {}
    for key, node in _entries(path):
        param = known.get(key.value)
        if param is None:
            hint = _nearest(key.value, known)
            expected = f'expected a long option of ssvm {command.name}{hint}'
            raise _error(path, key, f'unknown option {shown(key.value)}', expected)
        if param.name in found:
            raise _error(path, key, f'option {shown(key.value)} stands here twice')
        found[param.name] = _value(path, param, key, node)
    return found


def _entries(path):
    """The (key node, value node) pairs of the file's mapping. Nodes keep texts as written, and their lines."""
    import yaml

    from data_formats.files.source import Source

    try:
        with Source(path) as source:
            root = yaml.compose(source.contents(MAX_FILE_BYTES).decode('utf-8'), Loader=yaml.SafeLoader)
    except DataError as error:
        raise click.UsageError(str(error)) from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f'{path}: not UTF-8') from error
    except RecursionError as error:
        raise click.UsageError(f'{path}: nested too deeply (expected lines of the form OPTION: VALUE)') from error
    except yaml.YAMLError as error:
        mark = getattr(error, 'problem_mark', None)
        place = path if mark is None else f'{path}:{mark.line + 1}'
        what = getattr(error, 'problem', None) or str(error).partition('\n')[0]
        raise click.UsageError(f'{place}: not YAML: {what}') from error
    if root is None:
        return []
    if not isinstance(root, yaml.MappingNode):
        raise _error(path, root, 'not a mapping', 'expected lines of the form OPTION: VALUE')
    for key, _ in root.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _error(path, key, 'a key that is no option name')
    return root.value


def _value(path, param, key, node):
    import yaml

    def text(scalar):
        if not isinstance(scalar, yaml.ScalarNode) or scalar.tag == 'tag:yaml.org,2002:null':
            raise _error(path, scalar, f'option {shown(key.value)} has no plain value', 'expected one word or number')
        return scalar.value

    def checked(scalar, value):
        """The value, which the option accepts: what it says otherwise is of a line here."""
        try:
            param.type(value, param=param)
        except click.BadParameter as error:
            raise _error(
                path, scalar, f'option {shown(key.value)}: {shortened(error.message.removesuffix("."))}'
            ) from None
        return value

    if param.multiple:
        if isinstance(node, yaml.MappingNode):
            return [checked(k, f'{text(k)}={text(v)}') for k, v in node.value]
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        return [checked(item, text(item)) for item in items]
    value = text(node)
    if not param.is_flag:
        return checked(node, value)
    if value.lower() not in TRUE + FALSE:
        raise _error(path, node, f'option {shown(key.value)} is {shown(value)}', 'expected true or false')
    return value.lower() in TRUE


def shortened(text, most=200):
    return text if len(text) <= most else text[:most] + '...'


def _nearest(word, names):
    import difflib

    close = difflib.get_close_matches(word, list(names), 1)
    return f'; did you mean {close[0]!r}?' if close else ''


def _error(path, node, what, expected=None):
    hint = f' ({expected})' if expected else ''
    return click.UsageError(f'{path}:{node.start_mark.line + 1}: {what}{hint}')
