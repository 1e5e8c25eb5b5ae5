"""What `ssvm train` does: check what is asked for, and run a session with the plan that it takes."""

from data_formats.errors import UsageError
from data_formats.files.locks import locked
from ssvm_cli.options.relaxation import in_stages
from ssvm_cli.terminal.launchers import refuse_copies
from ssvm_cli.terminal.progress import Progress
from ssvm_cli.terminal.termination import last_words
from ssvm_cli.training.lambda_path import LambdaPath, check_path
from ssvm_cli.training.request import check_request
from ssvm_cli.training.rho_stages import RhoStages, check_stages
from ssvm_cli.training.session import Session
from ssvm_cli.training.single_problem import Single
from ssvm_cli.training.step import Method


def train(o):
    """Run `ssvm train`.

    Args:
        o: the options, by parameter name.

    Returns:
        the exit code.
    """
    refuse_copies()
    info, settings = check_request(o)
    progress = Progress(o.verbose)
    session = Session(o, Method.of(info, settings, o.seed), plan_of(o, info), progress)

    def explain():
        if not session.begun:
            progress.say('stopped before training began: nothing has been written', level=0)

    try:
        state = session.saved_run.path if session.plan.resumable else None
        with last_words(explain), locked((o.model, state, o.log_path), progress.say):
            return session.run()
    finally:
        progress.close()


def plan_of(o, info):
    """What is to be solved; info: SolverInfo.

    Raises:
        UsageError: options, or a solver, that do not go with it.
    """
    plan = Single()
    if o.lambda_path is not None:
        check_path(o, info)
        plan = LambdaPath(o)
    elif o.path_models is not None:
        raise UsageError('--path-models has no effect without --lambda-path')
    if in_stages(o):
        check_stages(o, info)
        plan = RhoStages(o)
    return plan
