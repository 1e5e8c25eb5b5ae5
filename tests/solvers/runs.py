"""Running solvers in tests: pass by pass, with the bounds that each pass gives, and interrupted on the way."""

import json
import threading

import numpy as np

from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.fit import Wanted, check_fit


def go():
    """A stop flag that nobody sets."""
    return np.zeros(1, np.int32)


def make(name, problem, seed=0, **options):
    """A solver with some of its options set; ValueError where it does not fit."""
    info = solver_info(name)
    unknown = options.keys() - info.options.keys()
    assert not unknown, f'{name} has no options {unknown}'
    check_fit(info, Wanted.of(problem))
    return info.make(problem, info.settings(options), seed)


def bounds(solver):
    """(least primal value of the iterates, dual value): what a monitor would compute after a pass."""
    problem, dual = solver.problem, solver.dual_value()
    heat = solver.temperature or 1.0
    evaluations = [problem.evaluate(w, softmax_dual=dual is None, temperature=heat) for _, w in solver.iterates()]
    return min(e.primal for e in evaluations), max(
        (e.dual for e in evaluations), default=dual
    ) if dual is None else dual


def run(solver, passes):
    """That many passes, or until the solver has finished."""
    for _ in range(passes):
        if solver.finished:
            break
        assert solver.run_pass(go())
    return solver


def close_in(method, best, times, tolerance, limit):
    """Passes until the bounds of a method are within a relative tolerance, `limit` passes at most. Those of all passes
    hold for `times` the Optimum `best`, and the last ones are near it."""
    primal, dual = bounds(method)
    while not (primal - dual <= tolerance * primal or method.finished or method.passes >= limit):
        assert method.run_pass(go())
        primal_now, dual_now = bounds(method)
        assert dual_now <= times * best.primal * (1 + 1e-9)
        assert primal_now >= times * best.dual * (1 - 1e-9)
        primal, dual = min(primal, primal_now), max(dual, dual_now)
    assert primal - dual <= tolerance * primal
    assert primal - times * best.primal <= tolerance * primal


def everything(solver):
    """All that a solver would hand on, as comparable bytes: its iterates, dual point and state."""
    state = {key: value.tobytes() if isinstance(value, np.ndarray) else value for key, value in solver.state().items()}
    point = solver.dual_point()
    point = {} if point is None else {key: value.tobytes() for key, value in point.arrays().items()}
    return {name: w.tobytes() for name, w in solver.iterates()}, point, state, solver.dual_value(), solver.estimate()


def saved(solver):
    """state() as a checkpoint would give it back: arrays as they were, all else through JSON."""
    state = solver.state()
    plain = {key: value for key, value in state.items() if not isinstance(value, np.ndarray)}
    return {key: value.copy() for key, value in state.items() if key not in plain} | json.loads(json.dumps(plain))


def interrupted_pass(solver, delay):
    """One call of run_pass whose stop flag is set after `delay` seconds; whether it finished the pass."""
    stop, structure = go(), solver.problem.structure
    structure.heed(stop)  # as a run of the command does: oracles look at it too
    timer = threading.Timer(delay, stop.__setitem__, (0, 1))
    timer.start()
    try:
        return solver.run_pass(stop)
    finally:
        timer.cancel()
        timer.join()
        structure.heed(None)
