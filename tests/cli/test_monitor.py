"""The monitor on a made-up solver: interrupted at every possible moment and resumed, it ends as if it had not been."""

import itertools
import signal
from types import SimpleNamespace

import numpy as np
import pytest

from cython_ext.common.parallel import Interrupted
from cython_ext.duals.natural import NaturalPoint
from cython_ext.duals.scores import ScoresPoint
from ssvm_cli.terminal.progress import Progress
from ssvm_cli.training import monitor
from ssvm_cli.training.certificate import Tolerance
from ssvm_cli.training.limits import Limits
from ssvm_cli.training.monitor import Monitor
from ssvm_cli.training.schedule import Schedule

STEPS = 3  # of a pass, and of an evaluation


class Clock:
    """Counts the moments at which a kernel looks at the stop flag, and sets it at one of them."""

    def __init__(self, stop, moment=None):
        self.stop, self.moment, self.now = stop, moment, 0

    @property
    def over(self):
        return self.moment is not None and self.now >= self.moment

    def tick(self):
        self.now += 1
        if self.now == self.moment:
            self.stop.signum = signal.SIGTERM
            self.stop.flag[0] = 1


class Problem:
    """primal(w) = 1 + |w - 1|; a softmax dual of 1 - 2 |w - 1| for w > 1, and a better one for w < 1."""

    hard_margin = False

    def __init__(self, sums, clock):
        self.sums, self.clock, self.certified = sums, clock, 0
        self.late = 0  # evaluations that are begun after the signal

    def evaluate(self, w, softmax_dual=False, stop=None):
        self.late += self.clock.over
        for _ in range(STEPS):
            self.clock.tick()
            if stop is not None and stop[0]:
                raise Interrupted
        return SimpleNamespace(primal=1 + abs(w[0] - 1.0), dual=softmax_of(w[0]) if softmax_dual else None)

    def log_columns(self, w, primal):
        return {}

    @property
    def features(self):
        return SimpleNamespace(blocks=lambda w: {'state': w})

    def certify(self, dual):
        self.certified += 1
        self.late += self.clock.over
        return dual


@pytest.fixture(autouse=True)
def _values(monkeypatch):
    """Dual points have the values that this problem and its solver say."""
    monkeypatch.setattr(NaturalPoint, 'value', lambda self, problem: problem.certify(float(self.theta[0])))
    monkeypatch.setattr(
        ScoresPoint, 'value', lambda self, problem: problem.certify(softmax_of(float(self.blocks['state'][0])))
    )


def softmax_of(w):
    """The dual of the softmax of the scores."""
    return 1 - (2.0 if w > 1 else 0.1) * abs(w - 1.0)


class Solver:
    """w jumps around 1, ever closer; the dual of its own comes closer too, but not always."""

    minimises = True
    temperature = None
    keeps_dual = True

    def __init__(self, problem):
        self.problem, self.passes, self.oracle_calls, self.finished = problem, 0, 0, False
        self.step = 0

    def run_pass(self, stop):
        while self.step < STEPS:
            self.problem.clock.tick()
            if stop[0]:
                return False
            self.step += 1
            self.oracle_calls += 1
        self.step = 0
        self.passes += 1
        return True

    @property
    def off(self):
        return (1.5 + np.sin(7 * self.passes)) / (1 + self.passes) ** 2

    def iterates(self):
        return [('current', np.array([1 + self.off])), ('average', np.array([1 - 1.1 * self.off]))]

    def figures(self, primal):
        return {}

    def evaluation(self):
        return None

    def estimate(self):
        return 1 + self.off, 1 - self.off

    def dual_value(self):
        return None if self.problem.sums else 1 - (1.5 + np.cos(5 * self.passes)) / (1 + self.passes) ** 2

    def dual_point(self):
        return NaturalPoint([0, 1], np.array([self.dual_value()]))

    def state(self):
        return {'passes': self.passes, 'oracle_calls': self.oracle_calls, 'step': self.step}

    def restore(self, state):
        self.passes, self.oracle_calls, self.step = state['passes'], state['oracle_calls'], state['step']


class Log:
    def __init__(self, rows=()):
        self.rows = list(rows)

    def write(self, row):
        self.rows.append({key: value for key, value in row.items() if key != 'seconds'})


def run(sums, tolerance, moment=None, saved=None, rows=(), max_passes=60, **how):
    """Returns (status, monitor, rows, what was saved)."""
    stop = SimpleNamespace(flag=np.zeros(1, np.int32), signum=None, set=None, clear=lambda: None)
    problem = Problem(sums, Clock(stop, moment))
    solver, log, kept = Solver(problem), Log(rows), {}

    def save(running):
        kept.update(solver=solver.state(), **running.state())

    made = Monitor(
        problem, solver, tolerance, Limits(max_passes), Schedule(), Progress(0), log=log.write, save=save, **how
    )
    if saved:
        solver.restore(saved['solver'])
        made.restore(saved)
        log.rows = log.rows[: saved['monitor']['rows']]
    return made.run(stop), made, log.rows, kept


@pytest.mark.parametrize('sums', [True, False])
@pytest.mark.parametrize('tolerance', [Tolerance(1e-3), Tolerance(0, 0.004), None])
def test_interrupted_anywhere_and_resumed(sums, tolerance):
    status, whole, rows, _ = run(sums, tolerance)
    assert status == (monitor.MAX_PASSES if tolerance is None else monitor.CONVERGED)
    moments = whole.problem.clock.now
    assert moments > 60
    interrupted = 0
    for moment in range(1, moments + 1):
        status, first, some, saved = run(sums, tolerance, moment)
        if status != monitor.INTERRUPTED:  # after the last look at the flag
            continue
        interrupted += 1
        assert first.problem.late == 0 and first.result.w is not None
        assert first.result.known == bool(some or (moment > STEPS and first.solver.oracle_calls == 0))
        status, again, all_rows, _ = run(sums, tolerance, saved=saved, rows=some)
        assert all_rows == rows
        assert again.bounds.primal == whole.bounds.primal and again.bounds.w == whole.bounds.w
        assert again.bounds.dual == whole.bounds.dual
        assert again.solver.passes == whole.solver.passes
    assert interrupted > 60


def test_the_best_softmax_dual_may_be_that_of_other_weights():
    """They are kept as its proof, in single precision, and what counts is what that proves."""
    status, made, rows, _ = run(True, Tolerance(1e-3))
    assert status == monitor.CONVERGED
    bounds = made.bounds
    assert bounds.primal == 1 + abs(bounds.w[0] - 1) == min(row['primal'] for row in rows)
    kept = bounds.point.blocks['state']
    assert kept.dtype == np.float32 and kept[0] != np.float32(bounds.w[0])
    assert bounds.dual == softmax_of(float(kept[0])) > bounds.own_dual == softmax_of(bounds.w[0])
    assert bounds.dual == pytest.approx(rows[-1]['dual'], abs=1e-7)
    assert bounds.primal - bounds.dual <= 1e-3 * bounds.primal < bounds.primal - bounds.own_dual
    assert all(row['relative_gap'] > 1e-3 for row in rows[:-1])


def test_the_dual_is_computed_from_the_data_before_it_is_believed(monkeypatch):
    monkeypatch.setattr(Problem, 'certify', lambda self, dual: dual - 0.002)
    status, made, _, _ = run(False, Tolerance(1e-3))
    assert status == monitor.MAX_PASSES and made.bounds.dual < 0.9985


def test_a_solver_that_is_finished(monkeypatch):
    monkeypatch.setattr(
        Solver, 'finished', property(lambda self: self.passes >= 5, lambda self, value: None), raising=False
    )
    status, made, rows, _ = run(True, Tolerance(1e-9))
    assert status == monitor.FINISHED and made.solver.passes == 5 and rows[-1]['pass'] == 5


def test_the_last_state_is_evaluated_even_off_the_schedule():
    assert run(True, Tolerance(0), max_passes=11)[2][-1]['pass'] == 11


def test_the_saved_state_is_that_before_the_last_evaluation():
    """A run that goes on behind a limit does not see the evaluation that the limit caused."""
    stop = SimpleNamespace(flag=np.zeros(1, np.int32), signum=None, clear=lambda: None)
    problem = Problem(True, Clock(stop))
    solver, kept, log = Solver(problem), {}, Log()

    def save(running):
        kept.update(solver=solver.state(), **running.state())

    made = Monitor(problem, solver, Tolerance(0), Limits(11), Schedule(), Progress(0), log=log.write, save=save)
    made.run(stop, keep_checkpoint=True)
    _, again, rows, _ = run(True, Tolerance(0), saved=kept, rows=log.rows, max_passes=30)
    _, whole, all_rows, _ = run(True, Tolerance(0), max_passes=30)
    assert rows == all_rows and 11 not in [row['pass'] for row in rows]
    assert again.bounds.w == whole.bounds.w


def test_bounds_of_rows_never_get_worse():
    rows = run(False, Tolerance(0))[2]
    assert all(b['primal'] <= a['primal'] and b['dual'] >= a['dual'] for a, b in itertools.pairwise(rows))
    assert any(row['dual_now'] < row['dual'] for row in rows)


def test_a_checkpoint_costs_one_evaluation():
    _, made, rows, _ = run(True, Tolerance(0), max_passes=8)
    assert [row['pass'] for row in rows] == list(range(1, 9))
    assert made.problem.clock.now == STEPS + 8 * STEPS + 8 * STEPS  # the start, passes, one iterate after each


@pytest.mark.parametrize('sums', [True, False])
def test_the_start_is_an_iterate(monkeypatch, sums):
    """A solver that leaves a good start for something worse, interrupted anywhere and resumed."""
    monkeypatch.setattr(Solver, 'off', property(lambda self: 5.0 - 1 / self.passes if self.passes else 0.5))
    _, whole, rows, _ = run(sums, Tolerance(0), max_passes=4)
    assert [row['primal'] for row in rows] == [1.5] * 4 and min(row['primal_now'] for row in rows) > 4
    assert whole.bounds.w == 1.5 and whole.bounds.own_dual == (0 if sums else None)
    for moment in range(1, whole.problem.clock.now + 1):
        status, first, some, saved = run(sums, Tolerance(0), moment, max_passes=4)
        assert first.bounds.primal == (1.5 if moment > STEPS else np.inf)
        if status == monitor.INTERRUPTED:
            _, again, all_rows, _ = run(sums, Tolerance(0), saved=saved, rows=some, max_passes=4)
            assert all_rows == rows and again.bounds.w == 1.5 and again.bounds.dual == whole.bounds.dual


def test_baselines_keep_their_last_weights(monkeypatch):
    monkeypatch.setattr(Solver, 'minimises', False)
    monkeypatch.setattr(Solver, 'off', property(lambda self: 1.0 * self.passes))
    assert run(True, Tolerance(0), max_passes=3)[1].bounds.primal == 4
