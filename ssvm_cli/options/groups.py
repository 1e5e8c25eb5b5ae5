"""Every option of the subcommands, in the groups of the help text.

Values that a later release adds are one line in a tuple here; what is not listed is not offered.

    data options        train, gap, predict, convert
    objective options   train
    tasks' own options  train; each task's in its module of ssvm_cli/options/tasks/
    kernel options      train
    solver options      train
    stopping options    train
    running options     train (seed, log, checkpoints), threads and verbosity everywhere
"""

import functools

import click

from cython_ext.features.feature_sets import FEATURE_SETS
from cython_ext.features.kernel.function import KERNELS, LARGEST_DEGREE, LINEAR
from cython_ext.objectives.registry import OBJECTIVES, SLACK_NORMS
from cython_ext.tasks.registry import TASKS
from data_formats.datasets.divisors import NONE, SCALES
from ssvm_cli.options import other_programs
from ssvm_cli.options.click_types import (
    SOME,
    GeometricPath,
    LazyChoice,
    Number,
    Whole,
    accepted,
    listed,
    option,
    together,
)
from ssvm_cli.options.task_losses import TaskLoss, losses_help

ORDERS = ('1', '2')
# What svm_struct_learn writes for -o and -l is understood too: spelling -> name.
RESCALE = {'margin': 'margin', '2': 'margin', 'slack': 'slack', '1': 'slack'}


def formats():
    """Names of the data formats, 'auto' first."""
    from data_formats.formats.registry import FORMATS

    return ['auto', *FORMATS]


def tasks_help():
    """The help text of --task."""
    from data_formats.formats.registry import FORMATS

    usual = {}
    for name, module in FORMATS.items():
        usual.setdefault(module.TASKS[0], []).append(name)
    default = ', '.join(f'{task} for {listed(usual[task])}' for task in TASKS if task in usual)
    return f'Output structure. Default by format: {default}.'


class Spelling(click.Choice):
    """A choice with aliases; help shows the names only."""

    def __init__(self, spellings):
        self.spellings = spellings
        super().__init__(list(dict.fromkeys(spellings.values())))

    def convert(self, value, param, ctx):
        if value not in self.spellings:
            self.fail(f'{value!r} is not one of {", ".join(accepted(self.spellings))}.', param, ctx)
        return super().convert(self.spellings.get(value, value), param, ctx)


class SlackNorm(click.Choice):
    """The choices of -p, which is an option of crfsuite too."""

    def convert(self, value, param, ctx):
        hint = '' if value in self.choices else other_programs.parameter_hint(value)
        if hint:
            self.fail(f'{value!r} is not one of {", ".join(self.choices)}.{hint}', param, ctx)
        return super().convert(value, param, ctx)


class Verbosity(Whole):
    """The levels of -v, which is another option elsewhere."""

    def convert(self, value, param, ctx):
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = (
                other_programs.verbosity_hint(ctx.command.name if ctx else None, value) if str(value).isdigit() else ''
            )
            self.fail(f'{error.message}{hint}', param, ctx)


def list_solvers(ctx, param, value):
    """Callback of --list-solvers: print the table and leave."""
    if value and not ctx.resilient_parsing:
        from ssvm_cli.options.solver_choice import solver_table

        click.echo(solver_table())
        ctx.exit()


data = functools.partial(option, section='Data')
objective = functools.partial(option, section='Objective')
kernel = functools.partial(option, section='Kernel')
solver = functools.partial(option, section='Solver')
stopping = functools.partial(option, section='Stopping, whichever comes first')
running = functools.partial(option, section='Running')
output = functools.partial(option, section='Output')


def format_option(help='Format of the data; auto tells it by file name and content.', default='auto'):
    return data(
        '--format',
        'format_name',
        type=LazyChoice(formats),
        default=default,
        show_default=default is not None,
        help=help,
    )


template_option = data(
    '--template',
    of=SOME,
    type=click.Path(),
    metavar='FILE',
    help='CRF++ template that makes attributes of CoNLL columns. Default: a built-in one for their number.',
)

window_option = data(
    '--window',
    of=SOME,
    type=Whole(0, 100),
    default=0,
    show_default=True,
    metavar='N',
    help='svm_hmm and CRFsuite files: give each token the attributes of N neighbours on each side too, as NAME[-1] ...',
)

zero_based_option = data(
    '--zero-based',
    is_flag=True,
    help='Feature numbers of SVMlight, svm_hmm, ranking and multilabel files count from 0.',
)

min_freq_option = data(
    '--min-freq',
    of=SOME,
    type=Whole(min=1),
    default=1,
    show_default=True,
    metavar='N',
    help='Drop attributes that occur on fewer than N tokens.',
)

bias_option = data('--bias', of=SOME, is_flag=True, help='Give each token an attribute of value 1.')

data_options = together(
    data(
        '--task',
        type=click.Choice(TASKS),
        help=tasks_help,
    ),
    format_option(),
    zero_based_option,
    template_option,
    min_freq_option,
    data(
        '--feature-set',
        type=click.Choice(FEATURE_SETS),
        default='all',
        show_default=True,
        help='Weights for all attribute-label and label-label pairs, or only for those observed in TRAIN.',
    ),
    bias_option,
    data(
        '--scale',
        type=click.Choice((NONE, *SCALES)),
        default=NONE,
        show_default=True,
        help='Divide the values of each attribute by the largest absolute one in TRAIN (max), or by the root mean '
        'square of those that are not 0 (std); MODEL keeps what by, and predict and gap divide as well.',
    ),
    data(
        '--order',
        of='chain',
        type=click.Choice(ORDERS),
        default='1',
        show_default=True,
        help='Chains: weights for pairs of neighbouring labels (1), or for triplets of labels too (2).',
    ),
    window_option,
    data(
        '--edge-features',
        of='chain',
        is_flag=True,
        help="svm_hmm and CRFsuite files: weights for a token's attributes and the pair of labels at and before it.",
    ),
)

objective_options = together(
    objective(
        '--objective',
        type=click.Choice(OBJECTIVES),
        default='hinge',
        show_default=True,
        help='hinge: structural SVM; log: conditional random field; softmax-margin: loss-augmented CRF.',
    ),
    objective(
        '-l',
        '--task-loss',
        type=TaskLoss(),
        help=losses_help,
    ),
    objective(
        '-o',
        '--rescale',
        type=Spelling(RESCALE),
        default='margin',
        show_default=True,
        help='What the loss rescales in the hinge (2 and 1 are understood as in svm_struct).',
    ),
    objective(
        '-p',
        '--slack-norm',
        type=SlackNorm(tuple(map(str, SLACK_NORMS))),
        default='1',
        show_default=True,
        help='Norm of the slacks in the hinge: their sum, or half the sum of their squares.',
    ),
    objective(
        '--hard-margin',
        is_flag=True,
        help='No slacks: the shortest w that gives every right output a lead of 1; no --lambda, no --task-loss.',
    ),
    objective(
        '--lambda',
        'lam',
        type=Number(positive=True),
        metavar='LAMBDA',
        help='Weight of the regulariser: minimise LAMBDA/2 |w|^2 + 1/n sum of losses. Default: 1/n.',
    ),
    objective(
        '-c',
        'c',
        type=Number(positive=True),
        metavar='C',
        help='Of the hinge, the same as svm_struct has it: 1/2 |w|^2 + C/n sum of slacks, so LAMBDA = 1/C, or of their '
        'squares with -p 2, so LAMBDA = 1/(2C). Not for the log losses, where other programs mean 1/(nC).',
    ),
)

path_options = together(
    objective(
        '--lambda-path',
        type=GeometricPath(),
        metavar='FROM:TO:FACTOR',
        help='A model for each of FROM, FROM FACTOR, ... as far as TO, each started from the one before; --log gets a '
        'row for each, MODEL is the best on --dev, or the last.',
    ),
    objective(
        '--path-models', type=click.Path(), metavar='DIR', help='Keep the model of each LAMBDA of the path in DIR.'
    ),
)

kernel_options = together(
    kernel(
        '--kernel',
        type=click.Choice(KERNELS),
        default=LINEAR,
        of=SOME,
        show_default=True,
        help='Kernel of the input features of a position; label pairs stay linear.',
    ),
    kernel(
        '--degree',
        type=Whole(1, LARGEST_DEGREE),
        metavar='N',
        help="Of poly, (GAMMA <x, x'> + COEF0)^N. Default: 3.",
    ),
    kernel(
        '--gamma',
        type=Number(positive=True),
        metavar='GAMMA',
        help="Of poly, and of rbf, exp(-GAMMA |x - x'|^2). Default: 1.",
    ),
    kernel('--coef0', type=Number(nonnegative=True), metavar='COEF0', help='Of poly. Default: 1.'),
    kernel(
        '--kernel-cache',
        type=Number(nonnegative=True),
        default=1000.0,
        show_default='1000',
        metavar='MB',
        help='Memory for rows of the kernel matrix; others are computed whenever they are needed.',
    ),
)

solver_options = together(
    solver(
        '--solver',
        default='auto',
        show_default=True,
        metavar='NAME',
        help='Optimisation method; --list-solvers shows them.',
    ),
    solver(
        '--oracle',
        type=click.Choice(['exp', 'topk', 'max']),
        help='How svrg and sc-svrg smooth the maximum in the hinge, short for --set oracle=...',
    ),
    solver(
        '--set',
        'settings',
        multiple=True,
        metavar='KEY=VALUE',
        help="One of the solver's own options; may be repeated.",
    ),
    solver(
        '--list-solvers',
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=list_solvers,
        help='Show every solver with its objectives, oracles, options, certificate and paper.',
    ),
)

stopping_options = together(
    stopping(
        '--rel-gap',
        type=Number(nonnegative=True),
        default=0.001,
        show_default=True,
        metavar='GAP',
        help='Duality gap relative to the primal.',
    ),
    stopping('-e', '--epsilon', type=Number(positive=True), metavar='GAP', help='Absolute duality gap. Default: off.'),
    stopping(
        '--max-passes',
        type=Whole(min=0),
        metavar='N',
        help='Passes over the data; 0 reads, evaluates and writes. Default: 1000 (perceptron: 10).',
    ),
    stopping(
        '--max-time',
        type=Number(positive=True),
        metavar='SECONDS',
        help='Time from the start of the command, so that reading and building count; what is evaluated and written at '
        'the end comes on top. Default: off.',
    ),
    stopping('--require-gap', is_flag=True, help='End with status 3 if a limit comes before the tolerance.'),
    stopping(
        '--no-certificate',
        is_flag=True,
        help='Compute no duality gap: run to a limit, or until the solver finds nothing left to do.',
    ),
)

seed_option = running(
    '--seed',
    type=Whole(min=0),
    default=0,
    show_default=True,
    metavar='N',
    help='Seed of everything random.',
)

threads_option = running(
    '--threads',
    type=Whole(min=1, max=4096),
    metavar='N',
    help='Threads; results do not depend on it. Default: the CPUs that this job may use.',
)

run_options = together(
    seed_option,
    threads_option,
    running('--dev', type=click.Path(), metavar='FILE', help='Held-out data to score at each checkpoint.'),
    running('--log', 'log_path', type=click.Path(), metavar='FILE', help='Write a CSV row per checkpoint.'),
    running(
        '--gap-every',
        type=Whole(min=1),
        metavar='PASSES',
        help='Evaluate every so many passes. Default: often at first, then more and more rarely.',
    ),
    running(
        '--checkpoint', type=click.Path(), metavar='FILE', help='Where to keep the state of the run [MODEL.checkpoint].'
    ),
    running(
        '--checkpoint-every',
        type=Number(positive=True),
        default=600.0,
        show_default='600',
        metavar='SECONDS',
        help='Time between two saved states.',
    ),
    running('--resume', is_flag=True, help='Go on from the saved state; give the same command line again.'),
    running('--resume-if-saved', is_flag=True, help='The same, or start from the beginning where nothing is saved.'),
    running(
        '--init',
        type=click.Path(),
        metavar='MODEL',
        help='Start from this model: its weights (eg, eg-batch, sgd, svrg, sc-svrg, lbfgs) or, on the same data, '
        'its dual point (bcfw, fw, n-slack, eg, eg-batch).',
    ),
)

verbosity_options = together(
    running('-q', '--quiet', is_flag=True, help='Say nothing but errors.'),
    running(
        '-v',
        '--verbose',
        type=Verbosity(0, 3),
        default=1,
        metavar='[LEVEL]',
        help='Say more: 0 nothing, 1 the usual, 2 (no LEVEL) and 3 details.',
    ),
)
