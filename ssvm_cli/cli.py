"""The ssvm command: the group of subcommands, and the one place where exceptions become exit codes.

0 success; 1 bad data or a failed run; 2 wrong usage; 3 tolerance not reached although required; 128 + number after a
signal. A closed pipe is no error.
"""

import importlib
import os
import signal
import sys

import click

from cython_ext.common.errors import InexactError
from data_formats.errors import SsvmError, UsageError, visible_lines
from data_formats.files.streams import let_go
from ssvm_cli import __version__
from ssvm_cli.options import other_programs
from ssvm_cli.terminal import complaints
from ssvm_cli.terminal.complaints import heard, tell
from ssvm_cli.terminal.termination import Terminated, ended_by_signals

COMMANDS = {name: f'ssvm_cli.commands.{name}' for name in ('train', 'predict', 'gap', 'convert')}
TRACEBACK = 'SSVM_TRACEBACK'
# The threads are ours (--threads). Those of numpy's linear algebra would take CPUs that a job was not given, and change
# the last digits of long sums with their number.
for variable in ('OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'BLIS_NUM_THREADS', 'VECLIB_MAXIMUM_THREADS'):
    os.environ.setdefault(variable, '1')


class Group(click.Group):
    """The group `ssvm`; a subcommand's module is imported when it is needed."""

    def list_commands(self, ctx):
        return list(COMMANDS)

    def get_command(self, ctx, name):
        return importlib.import_module(COMMANDS[name]).command if name in COMMANDS else None

    def resolve_command(self, ctx, args):
        ours = other_programs.SUBCOMMANDS.get(args[0])
        if ours is not None:
            ctx.fail(f'No such command {args[0]!r}. It is ssvm {ours} here.')
        return super().resolve_command(ctx, args)

    def main(self, args=None, prog_name='ssvm', **extra):
        """Run the command line and leave through sys.exit with its exit code."""
        if prog_name is not None:
            self._main_shell_completion(extra, prog_name)
        args = sys.argv[1:] if args is None else list(args)
        sys.exit(exit_code(lambda: self._run(args, prog_name, extra)))

    def _run(self, args, prog_name, extra):
        with ended_by_signals(), self.make_context(prog_name, args, **extra) as ctx:
            code = self.invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return code


def exit_code(run):
    """Call `run` and turn whatever it raises into a message on stderr and an exit code."""
    complaints.begin()
    try:
        code = run() or 0
    except BaseException as error:
        if os.environ.get(TRACEBACK) and not isinstance(error, click.exceptions.Exit):
            raise
        code = _report(error)
    return 1 if code == 0 and complaints.made() else code


def _report(error):
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, SystemExit):
        return error.code
    if isinstance(error, click.ClickException):
        error.message = visible_lines(error.message)
        with heard():
            error.show(sys.stderr)
        return error.exit_code
    if isinstance(error, UsageError):
        tell(f'Error: {error}')
        return error.exit_code
    if isinstance(error, SsvmError):
        tell(error)
        return error.exit_code
    if isinstance(error, InexactError):
        tell(error)
        return 1
    if isinstance(error, BrokenPipeError):
        let_go(sys.stdout)
        return 0
    if isinstance(error, Terminated):
        return 128 + error.signum
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return 128 + signal.SIGINT
    if isinstance(error, OSError):
        tell(f'{error.filename or "<stdout>"}: {error.strerror or error}')  # files of our own are named
        return 1
    if isinstance(error, MemoryError):
        tell('ssvm: out of memory (--min-freq N and --feature-set observed need less)')
        return 1
    tell(f'ssvm: internal error: {type(error).__name__}: {error} ({TRACEBACK}=1 shows where; please report it)')
    return 1


@click.group('ssvm', cls=Group, no_args_is_help=False, context_settings={'help_option_names': ['-h', '--help']})
@click.version_option(__version__, '-V', '--version', prog_name='ssvm', message='%(prog)s %(version)s')
def cli():
    """Train, run and certify structured prediction models.

    Structural SVMs, max-margin Markov networks and conditional random fields, each result with a duality gap that
    says how far from optimal it is.

    \b
    Example:
      ssvm train train.conll chunk.model
      ssvm predict --evaluate test.conll chunk.model tagged.conll
      ssvm gap train.conll chunk.model

    Data go to standard output, everything else to standard error; `-` stands for standard input or output.
    The manual pages ssvm(1), ssvm-train(1), ... say more.
    """
