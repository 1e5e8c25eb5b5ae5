"""ssvm train"""

import time
from types import SimpleNamespace

import click

from ssvm_cli.options import groups
from ssvm_cli.options.click_types import Command, refuse_both
from ssvm_cli.options.config import config_option
from ssvm_cli.options.tasks import own_options

# Solvers that are about one relaxation: (which one, the name of the method, why the two are not given apart)
OF_RELAXATIONS = {
    'soft-bcfw': ('soft', 'bcfw', 'is bcfw with --relaxation soft'),
    'dlpw': ('lp', 'dlpw', 'solves --relaxation lp'),
}


@click.command('train', cls=Command, short_help='Learn a model from a file of examples.')
@groups.data_options
@groups.objective_options
@own_options
@groups.path_options
@groups.kernel_options
@groups.solver_options
@groups.stopping_options
@groups.run_options
@config_option
@groups.verbosity_options
@click.argument('train', type=click.Path())
@click.argument('model', type=click.Path())
@click.pass_context
def command(ctx, **given):
    """Learn from the examples of TRAIN and write MODEL.

    \b
    Examples:
      ssvm train --objective log --lambda 0.001 train.conll chunk.model
      ssvm train --task multiclass --lambda 1e-4 --rel-gap 0.01 digits.svm digits.model

    TRAIN may be compressed; `-` is standard input. MODEL holds the best weights seen, the best lower bound that it can
    prove, and what proves it: ssvm gap recomputes both. Reaching a limit before the tolerance is no error (see
    --require-gap); the last line, and the status in MODEL, say which it was.
    """
    from ssvm_cli.commands.run_train import train

    started = (ctx.obj or {}).get('started', time.monotonic())  # of the process, where it is this command's own
    ctx.exit(train(SimpleNamespace(**resolve(ctx, given), started=started)))


def resolve(ctx, given):
    """Settle the two spellings of lambda.

    Raises:
        click.UsageError: options given in the same place that exclude each other: --lambda and -c, one of them and
            --hard-margin, --rel-gap and --no-certificate, soft-bcfw or dlpw and another relaxation than theirs.
    """
    settle_oracle(ctx, given)
    given['spelled'] = {}  # options that are given under another name
    if given['solver'] in OF_RELAXATIONS:
        relaxation, method, why = OF_RELAXATIONS[given['solver']]
        if given['relaxation'] not in (None, relaxation):
            raise click.UsageError(f'{given["solver"]} {why}: leave --relaxation out.')
        if given['relaxation'] is None:
            given['spelled']['relaxation'] = f'--solver {given["solver"]}'
        given['solver'], given['relaxation'] = method, relaxation
    if given['no_certificate']:
        refuse_both(ctx, '--rel-gap', '--no-certificate')
    if given['hard_margin']:
        drop_lambda(ctx, given)
    if given['lam'] is not None and given['c'] is not None:
        from_config = {name for name in ('lam', 'c') if ctx.get_parameter_source(name).name == 'DEFAULT_MAP'}
        if len(from_config) != 1:
            raise click.UsageError('--lambda and -c are two names for one thing: give one of them.')
        given[from_config.pop()] = None
    return given


def settle_oracle(ctx, given):
    """--oracle and --set oracle= are two names for one thing: the command line wins over a file, and over its K."""
    if given['oracle'] is None:
        return
    places = [ctx.get_parameter_source(name).name for name in ('oracle', 'settings')]
    keys = [text.partition('=')[0].strip() for text in given['settings']]
    if places == ['COMMANDLINE', 'DEFAULT_MAP']:
        replaced = ('oracle',) if given['oracle'] == 'topk' else ('oracle', 'K')
        pairs = zip(keys, given['settings'], strict=True)
        given['settings'] = tuple(text for key, text in pairs if key not in replaced)
    elif 'oracle' in keys:
        if places != ['DEFAULT_MAP', 'COMMANDLINE']:
            raise click.UsageError('--oracle and --set oracle= are given both: they are two names for one thing.')
        given['oracle'] = None


def drop_lambda(ctx, given):
    """Refuse a lambda where there are no slacks, unless it stands in a file and --hard-margin on the command line."""
    for name, option in {'lam': '--lambda', 'c': '-c'}.items():
        places = [ctx.get_parameter_source(param).name for param in (name, 'hard_margin')]
        if given[name] is not None and places != ['DEFAULT_MAP', 'COMMANDLINE']:
            raise click.UsageError(f'--hard-margin has no slacks that {option} could weigh: leave one of them out.')
        given[name] = None
