"""What `ssvm train` does: check what is asked for, and run the kind of training that it takes."""

from data_formats.errors import UsageError
from data_formats.files.locks import locked
from ssvm_cli.options.relaxation import in_stages
from ssvm_cli.terminal.launchers import refuse_copies
from ssvm_cli.terminal.progress import Progress
from ssvm_cli.terminal.termination import last_words
from ssvm_cli.training.lambda_path import PathTraining, check_path
from ssvm_cli.training.request import check_request
from ssvm_cli.training.rho_stages import StagedTraining, check_stages
from ssvm_cli.training.session import Training


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
    kind = Training
    if o.lambda_path is not None:
        check_path(o, info)
        kind = PathTraining
    elif o.path_models is not None:
        raise UsageError('--path-models has no effect without --lambda-path')
    if in_stages(o):
        check_stages(o, info)
        kind = StagedTraining
    training = kind(o, info, settings, progress)

    def explain():
        if not training.begun:
            progress.say('stopped before training began: nothing has been written', level=0)

    try:
        state = training.checkpoint_path if kind is Training else None  # others save none
        with last_words(explain), locked((o.model, state, o.log_path), progress.say):
            return training.run()
    finally:
        progress.close()
