"""Click classes that every subcommand is made of: sections in the help, numbers that are numbers, lazy choices."""

import math
import re

import click
from click.core import ParameterSource

from ssvm_cli.options import other_programs
from ssvm_cli.terminal.complaints import tell

LONGEST_PATH = 10_000  # values of lambda
GIVEN = {ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP}


SOME = ''  # of options that several tasks have: each names those that have a meaning for it
OF_TASKS = {}  # options that not every task has, by parameter name: (spelling, value that asks for nothing, `of`)


class Option(click.Option):
    """An option that belongs to a section of the help text, which may be a function that makes it when it is shown.

    of: None for what has a meaning for every task, SOME, or the name of the task whose own it is.
    """

    def __init__(self, *args, section='Options', help=None, of=None, **kwargs):
        self.section = section
        self._late_help = help if callable(help) else None
        super().__init__(*args, help=None if callable(help) else help, **kwargs)
        if of is not None:
            nothing = kwargs.get('default', False if kwargs.get('is_flag') else None)
            OF_TASKS[self.name] = ' and '.join([*self.opts, *self.secondary_opts]), nothing, of

    def get_help_record(self, ctx):
        """With the names of a lazy choice in the text, where they break into lines."""
        if self._late_help is not None:
            self.help = self._late_help()
        record = super().get_help_record(ctx)
        if record is None or not isinstance(self.type, LazyChoice):
            return record
        return record[0], f'{record[1]} NAME is one of {", ".join(self.type.names())}.'


class Command(click.Command):
    """A subcommand: options in sections, `-v` with or without a level, and `-q` for level 0."""

    def __init__(self, *args, **kwargs):
        kwargs.setdefault('context_settings', {'max_content_width': 100, 'help_option_names': ['-h', '--help']})
        super().__init__(*args, **kwargs)

    def parse_args(self, ctx, args):
        self._refuse_one_dash(ctx, args)
        said = other_programs.said_of_verbosity(self.name, args)
        try:
            rest = super().parse_args(ctx, with_verbosity_level(args))
        except click.NoSuchOption as error:
            hint = other_programs.hint(self.name, error.option_name, args)
            if not hint:
                raise
            raise click.UsageError(f'No such option: {error.option_name}.{hint}', ctx) from None
        except click.UsageError as error:
            too_many = type(error) is click.UsageError and self.name == 'train' and 'model' in ctx.params
            hint = other_programs.argument_hint(ctx.params['train']) if too_many else ''
            if not hint:
                raise
            raise click.UsageError(f'{error.message}.{hint}', ctx) from None
        if said and not ctx.resilient_parsing:
            tell(said)
        if ctx.params.pop('quiet', False) and not ctx.resilient_parsing:
            refuse_both(ctx, '--quiet', '--verbose')
            if ctx.get_parameter_source('verbose') != ParameterSource.COMMANDLINE:
                ctx.params['verbose'] = 0
        return rest

    def _refuse_one_dash(self, ctx, args):
        names = {name for param in self.params for name in param.opts if name.startswith('--')}
        found = other_programs.one_dash(args, names)
        if found is not None and not ctx.resilient_parsing:
            raise click.UsageError(f'No such option: {found[0]}. It has two dashes here: {found[1]}.', ctx)

    def format_options(self, ctx, formatter):
        sections = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and param.param_type_name == 'option':
                sections.setdefault(getattr(param, 'section', 'Options'), []).append(record)
        for section, records in sections.items():
            with formatter.section(section):
                formatter.write_dl(records)


def option(*names, section, **kwargs):
    """A decorator that gives a command an Option."""
    return click.option(*names, cls=Option, section=section, **kwargs)


def together(*decorators):
    """One decorator that applies several, so that the first is listed first."""

    def decorate(command):
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def refuse_both(ctx, *names):
    """Refuse two options that contradict each other, unless one is on the command line and wins over a file's.

    Raises:
        click.UsageError: both stand in the same place.
    """
    found = {name: param for param in ctx.command.params for name in param.opts}
    places = {ctx.get_parameter_source(found[name].name) for name in names}
    if len(places) == 1 and places <= GIVEN:
        raise click.UsageError(f'{" and ".join(names)} exclude each other: give one of them.')


def with_verbosity_level(args):
    """Give each `-v` that no level follows the level 2, and each `-vv` the level 3; `-qv` is both, to be refused.

    svm_struct_learn writes `-v LEVEL`; everybody else writes `-v`.
    """
    args = list(args)
    end = args.index('--') if '--' in args else len(args)
    for k in reversed(range(end)):
        if args[k] in ('-v', '--verbose') and not (k + 1 < end and args[k + 1].isdigit()):
            args.insert(k + 1, '2')
        elif re.fullmatch('-[qv]{2,}', args[k]):
            args[k : k + 1] = ['-q'] * ('q' in args[k]) + ['-v', '3'] * ('v' in args[k])
    return args


def accepted(spellings):
    """The names of a dictionary from spelling to name, each with its other spelling if any: ['margin (or 2)', ...]."""
    others = {name: spelling for spelling, name in spellings.items() if spelling != name}
    names = dict.fromkeys(spellings.values())
    return [f'{name} (or {others[name]})' if name in others else name for name in names]


def listed(names):
    """'a', 'a and b', 'a, b and c'."""
    *others, last = names
    return f'{", ".join(others)} and {last}' if others else last


class Whole(click.IntRange):
    """A whole number in a range; only its name in messages is ours."""

    name = 'whole number'


class Number(click.ParamType):
    """A finite number, optionally above (or at least) zero."""

    name = 'number'

    def __init__(self, positive=False, nonnegative=False):
        self.positive = positive
        self.nonnegative = nonnegative

    def convert(self, value, param, ctx):
        try:
            number = float(value)
        except (TypeError, ValueError):
            self.fail(f'{value!r} is not a number.', param, ctx)
        if not math.isfinite(number):
            self.fail(f'{value!r} is not a finite number.', param, ctx)
        if self.positive and not number > 0:
            self.fail(f'{value} is not above 0.', param, ctx)
        if self.nonnegative and number < 0:
            self.fail(f'{value} is below 0.', param, ctx)
        return number


class LazyChoice(click.ParamType):
    """One of some names that are only looked up when they are needed."""

    name = 'choice'

    def __init__(self, names):
        """names: a function without arguments that returns the names."""
        self.names = names

    def get_metavar(self, param, ctx=None):
        return 'NAME'

    def convert(self, value, param, ctx):
        names = list(self.names())
        if value not in names:
            self.fail(f'{value!r} is not one of {", ".join(names)}.', param, ctx)
        return value

    def shell_complete(self, ctx, param, incomplete):
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self.names() if name.startswith(incomplete)]


class GeometricPath(click.ParamType):
    """FROM:TO:FACTOR, a geometric sequence that ends at TO or before it."""

    name = 'path'
    rising = True  # whether TO may be above FROM

    def convert(self, value, param, ctx):
        if isinstance(value, tuple):
            return value
        try:
            first, last, factor = (float(word) for word in str(value).split(':'))
        except ValueError:
            self.fail(f'{value!r} is not FROM:TO:FACTOR, three numbers (such as 1:0.001:0.7)')
        if not all(0 < number < math.inf for number in (first, last, factor)):
            self.fail(f'{value!r}: expected positive numbers')
        if last > first and not self.rising:
            self.fail(f'{value!r}: TO {last:g} is above FROM {first:g} (expected one below it)')
        if (first != last and (factor < 1) != (last < first)) or (factor == 1 and first != last):
            self.fail(f'{value!r}: FACTOR {factor:g} does not lead from {first:g} to {last:g}')
        count = 1 if first == last else 1 + math.floor((math.log(last) - math.log(first)) / math.log(factor) + 1e-9)
        if count > LONGEST_PATH:
            self.fail(f'{value!r}: {count} values (expected at most {LONGEST_PATH})')
        return tuple(float(f'{first * factor**k:.14g}') for k in range(count))


class NumberOrPath(GeometricPath):
    """A positive number, or FROM:TO:FACTOR, which falls; converted to a tuple of numbers."""

    rising = False

    def convert(self, value, param, ctx):
        if isinstance(value, tuple) or ':' in str(value):
            return super().convert(value, param, ctx)
        return (Number(positive=True).convert(value, param, ctx),)
