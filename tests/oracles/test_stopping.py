"""Oracles that can take long, and the stop flag: they give up soon, what they leave behind does no harm, and afterwards
they answer as before."""

import threading
import time

import numpy as np
import pytest

from cython_ext.core.problem import Interrupted
from cython_ext.losses.boxes import Overlap
from cython_ext.losses.cfg.bracket_f1 import BracketF1
from cython_ext.structures.cfg.cfg import Cfg
from cython_ext.structures.cfg.grammar import Grammar
from cython_ext.tasks.boxes import build
from tests import trees
from tests.boxes import dataset_of, random_pictures
from tests.oracles.cases import CASES, case
from tests.solvers import problems

UP = np.ones(1, np.int32)


def large_picture(right, width=640, height=480, points=200):
    rng = np.random.default_rng(0)
    there = [(int(rng.integers(width)), int(rng.integers(height)), int(rng.integers(50))) for _ in range(points)]
    structure, _ = build(dataset_of([(width, height, there, right)]))
    return structure, rng.normal(size=structure.size(0))


RIGHT = {
    'whole': (0, 0, 639, 479),
    'left half': (0, 0, 300, 479),
    'nearly all': (1, 1, 638, 478),
    'inside': (200, 150, 400, 300),
    'one place': (320, 240, 320, 240),
}


@pytest.mark.parametrize('size', [0.0, 1e-6, 1e-3, 0.1, 1.0], ids=str)
@pytest.mark.parametrize('right', RIGHT)
def test_the_best_box_of_a_large_picture_takes_milliseconds(right, size):
    """CPU time of one call, whatever the right box is: boxes whose losses are equal are not looked at one by one."""
    structure, theta = large_picture(RIGHT[right])
    loss = Overlap(structure)
    for scores in (size * theta, -size * np.abs(theta)):
        begin = time.process_time()
        value, code, delta = loss.max_of(0, scores)
        assert time.process_time() - begin < 0.5  # some 4 ms, and 3 s before
        assert value >= structure.statistics(0, code) @ scores + delta - 1e-12
        assert value >= 1 - 1 / (640 * 480) + min(scores.max(), 0.0)


def flag_goes_up_after(seconds):
    flag = np.zeros(1, np.int32)
    threading.Timer(seconds, flag.__setitem__, (0, 1)).start()
    return flag


def test_sums_over_all_boxes_of_a_large_picture_are_given_up():
    """23 billion boxes, which would take minutes."""
    structure, theta = large_picture(RIGHT['inside'])
    structure.heed(flag_goes_up_after(0.2))
    begin = time.process_time()
    structure.exp_oracle(0, theta)
    assert time.process_time() - begin < 5


def answers(structure, i, theta, loss=None):
    """What all oracles of a structure, and those of a loss, say of an example."""
    found = [*structure.max_oracle(i, theta)]
    if 'topk' in structure.oracles:
        found += structure.topk_oracle(i, theta, 3)
    if 'exp' in structure.oracles:
        found += structure.exp_oracle(i, theta)
    if loss is not None:
        found += [*loss.max_of(i, theta), *loss.exp_of(i, theta)]
    return found


def check_up_and_down(structure, i, loss=None):
    """The flag is up all the time of the second answers, and does not count for the third ones."""
    theta = np.random.default_rng(i).normal(size=structure.size(i))
    before = answers(structure, i, theta, loss)
    structure.heed(UP)
    answers(structure, i, theta, loss)
    structure.heed(None)
    for value, again in zip(before, answers(structure, i, theta, loss), strict=True):
        np.testing.assert_array_equal(value, again)


@pytest.mark.parametrize('name', CASES)
def test_oracles_answer_as_before_once_the_flag_is_down(name):
    here = case(name)
    check_up_and_down(here.structure, here.i)


@pytest.mark.parametrize('kept', [True, False], ids=['kept', 'anew'])
def test_f1_of_brackets_likewise(kept):
    data = trees.dataset_of(trees.named('chains'))
    grammar = Grammar.of(data, 'word')
    structure = Cfg(grammar, data, grammar.codes(data), *([] if kept else [0]))
    for i in range(structure.n):
        check_up_and_down(structure, i, BracketF1(structure))


def test_overlap_of_boxes_likewise_and_a_box_is_named():
    structure, _ = build(dataset_of(random_pictures([(5, 4), (7, 3)], seed=2)))
    check_up_and_down(structure, 1, Overlap(structure))
    structure.heed(UP)
    theta = np.ones(structure.size(1))
    named = [
        structure.max_oracle(1, theta)[1],
        structure.topk_oracle(1, theta, 2)[1][0],
        Overlap(structure).max_of(1, theta)[1],
    ]
    assert all(structure.is_output(1, np.ascontiguousarray(code, np.int32)) for code in named)


def test_cuts_that_were_stopped_are_not_called_inexact():
    here = case('cut-complete')
    here.structure.heed(UP)
    here.structure.max_oracle(here.i, np.random.default_rng(0).normal(size=here.structure.size(here.i)))
    here.structure.heed(None)
    here.structure.check()


@pytest.mark.parametrize('objective', ['hinge', 'log'])
def test_an_evaluation_with_stopped_oracles_is_none(objective):
    """Also where only the structure has the flag."""
    problem = problems.twin('chain-countable', objective).problem
    problem.structure.heed(UP)
    try:
        for softmax in (False, True):
            with pytest.raises(Interrupted):
                problem.evaluate(problem.features.zeros(), softmax)
    finally:
        problem.structure.heed(None)
