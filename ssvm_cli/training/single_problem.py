"""Plans of `ssvm train`: which problems a Session solves, one after the other. This one has a single problem;
lambda_path.py has several values of lambda, rho_stages.py soft constraints that grow harder.

A plan offers

    columns                 of the log, before those that every run has
    resumable               whether the state of the run is kept, so that it can go on
    solve(session, stop, saved)     the Outcome, from session.step on, which it replaces by those that follow;
                            saved: the Checkpoint that the solver goes on from, or None
    conclude(session, outcome)      what is said when the model is written
"""

from dataclasses import dataclass

from data_formats.models.model import Model
from ssvm_cli.training import closing, monitor


@dataclass(frozen=True)
class Outcome:
    """What a plan has come to.

    status : one of the words of the monitor
    missed : whether a tolerance was not reached
    model : the Model to be written; None where no weights satisfy all constraints
    """

    status: str
    missed: bool
    model: Model | None

    @property
    def interrupted(self):
        return self.status == monitor.INTERRUPTED


class Single:
    """The plan of one problem."""

    columns = ()
    resumable = True

    def solve(self, session, stop, saved):
        o, keeping = session.o, {}
        if session.saved_run.path:
            keeping = {'save': session.save_state, 'save_every': o.checkpoint_every}
        with session.failing_explained():
            looking = {'log': session.write_row, 'dev': session.dev}
            driver = session.watched(session.tolerance, session.limits, **looking, **keeping)
            if saved:
                session.saved_run.restore_monitor(saved, driver)
            kept = o.checkpoint is not None
            status = driver.run(stop, keep_checkpoint=kept, evaluate_first=o.init is not None)
        return concluded(session, status)

    def conclude(self, session, outcome):
        closing.conclude(session, outcome.status)


def concluded(session, status, passes=0, oracle_calls=0):
    """The Outcome of a session whose present step is its last one; passes, oracle_calls: of earlier ones."""
    session.let_go(passes, oracle_calls)
    model = None if session.step.result.w is None else session.model(status)
    return Outcome(status, status != monitor.CONVERGED, model)
