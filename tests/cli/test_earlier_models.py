"""Models that an earlier program trained (tests/data/models/README.md): they load, predict and certify as they did."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import run

MODELS = Path(__file__).parents[1] / 'data/models'
# How each of them was asked to predict. Their dual points are outputs with weights, natural parameters, outputs of
# factors with agreement variables, and outputs with weights over a kernel's basis.
PREDICT = {
    'chain': ['--scores'],
    'dependency': ['--marginals'],
    'graph': ['--scores', '--inference', 'dual-decomposition'],
    'multiclass': ['--scores'],
}
EACH = pytest.mark.parametrize('name', PREDICT)


def test_all_of_them_are_here():
    assert {path.stem for path in MODELS.glob('*.model')} == set(PREDICT)


@EACH
def test_the_same_bytes_are_predicted(name, tmp_path):
    predicted = tmp_path / 'predicted'
    run('predict', '-q', *PREDICT[name], MODELS / f'{name}.test', MODELS / f'{name}.model', predicted)
    assert predicted.read_bytes() == (MODELS / f'{name}.predicted').read_bytes()


@EACH
def test_the_same_numbers_are_certified(name):
    """Up to rounding, which depends on the instruction set; those of the local marginal polytope, which are sums over
    linear programs, up to the tolerance of these."""
    before = json.loads((MODELS / f'{name}.gap.json').read_text())
    now = json.loads(run('gap', '-q', '--json', MODELS / f'{name}.txt', MODELS / f'{name}.model').stdout_bytes)
    assert list(now) == list(before)
    for key, value in before.items():
        close = pytest.approx(value, rel=1e-6 if key.startswith('relaxed') else 1e-9) if type(value) is float else value
        assert now[key] == close, key
