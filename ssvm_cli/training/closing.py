"""What a run of `ssvm train` says of its end."""

import numpy as np

from ssvm_cli.terminal.progress import counted
from ssvm_cli.training import hints, monitor
from ssvm_cli.training.certificate import relative_gap

STATUS_TEXT = {
    monitor.CONVERGED: 'converged',
    monitor.FINISHED: 'stopped because the solver has nothing left to do',
    monitor.MAX_PASSES: 'stopped at --max-passes',
    monitor.MAX_TIME: 'stopped at --max-time',
    monitor.INTERRUPTED: 'interrupted',
}


def last_line(status, passes, tolerance, bounds):
    """What ended the run, and what is known of its weights.

    Args:
        status: one of the words of the monitor.
        passes: how many there were.
        tolerance: Tolerance, or None where no certificate was asked for.
        bounds: Bounds of the weights; without weights where none satisfy all constraints.
    """
    if bounds.w is None:
        return 'interrupted before any weights satisfy all constraints: no model is written'
    text = f'{STATUS_TEXT[status]} after {counted(passes, "pass", "passes")}'
    if not bounds.known:
        return f'{text}, before anything was evaluated: the model has the present weights, without primal and dual'
    if tolerance is None:
        return f'{text}: primal {bounds.primal:.6g}, no certificate'
    sentence = tolerance.sentence(bounds.primal, bounds.dual)
    dual = f'dual {bounds.dual:.6g}'
    if bounds.unheld > bounds.dual:
        dual += f', which the model proves; the run had {bounds.unheld:.6g}, of a dual point too large for a model'
    return f'{text}: {sentence} (primal {bounds.primal:.6g}, {dual})'


def conclude(session, status):
    """Say how the last step of a Session has ended, and what would have helped; a checkpoint that nobody asked for goes
    when nothing is left to go on from."""
    step, tolerance, saved = session.step, session.tolerance, session.saved_run
    bounds, model = step.result, session.model_file
    interrupted = status == monitor.INTERRUPTED
    gap = None if tolerance is None else relative_gap(bounds.primal, bounds.dual)
    if not interrupted:
        if (status == monitor.CONVERGED or tolerance is None) and step.passes and not np.any(bounds.w):
            session.hint(hints.large_features(session.o.train, session.examples.largest, gap))
        saved.end()
        if tolerance is not None and status != monitor.CONVERGED:
            hint_at_the_gap(session)
        session.hint(hints.no_weights(model.path, step.passes, bounds, gap))
    text = last_line(status, step.passes, tolerance, bounds) + model.of_another_run()
    if bounds.w is None and saved.exists:
        text += f'; {saved.path} is saved and --resume goes on from there'
    elif interrupted and saved.exists:
        session.progress.say(f'{model.path} and {saved.path} are saved; --resume goes on from there')
    session.progress.say(text)


def hint_at_the_gap(session):
    """What would have closed it sooner."""
    bounds, method = session.step.result, session.step.method
    gap = relative_gap(bounds.primal, bounds.dual)
    session.hint(hints.large_features(session.o.train, session.examples.largest, gap))
    session.hint(hints.short_steps(method.info.name, method.settings))
