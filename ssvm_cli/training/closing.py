"""What a run of `ssvm train` says of its end."""

from ssvm_cli.terminal.progress import counted
from ssvm_cli.training import monitor

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
