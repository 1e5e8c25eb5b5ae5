"""Checkpoint files."""

import math

import numpy as np
import pytest

from data_formats.errors import DataError
from data_formats.files.checkpoint import Checkpoint, differences, load, save


def test_everything_comes_back(tmp_path):
    solver = {
        'w': np.arange(3.0),
        'order': np.array([2, 0, 1], np.int32),
        'random': np.array([1, 2**64 - 1], np.uint64),
        'flags': np.array([True, False]),
        'state': 2**127 + 1,
        'step': 0.1,
        'best': math.inf,
        'several': {'a': -math.inf, 'b': [1.5, math.inf, None]},
        'name': 'x',
        'none': None,
        'finished': np.bool_(True),
        'count': np.int64(3),
    }
    save(Checkpoint({'lambda': 0.1}, {'solver': solver, 'monitor': {}}), tmp_path / 'c')
    back = load(tmp_path / 'c')
    assert back.run == {'lambda': 0.1} and back.parts['monitor'] == {}
    assert back.parts['solver'].keys() == solver.keys()
    for key, value in solver.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(back.parts['solver'][key], value)
            assert back.parts['solver'][key].dtype == value.dtype
        else:
            assert back.parts['solver'][key] == value and not isinstance(back.parts['solver'][key], np.ndarray)


def test_missing(tmp_path):
    with pytest.raises(DataError, match=r'no such checkpoint \(leave --resume out'):
        load(tmp_path / 'c')


DAMAGE = [
    lambda b: b[:-30],
    lambda b: b'',
    lambda b: b'x' + b,
    lambda b: b.replace(b'-checkpoint"', b'-whatever!!"'),
]


@pytest.mark.parametrize('damage', DAMAGE)
def test_damaged(tmp_path, damage):
    save(Checkpoint({}, {'solver': {'w': np.zeros(3)}}), tmp_path / 'c')
    (tmp_path / 'c').write_bytes(damage((tmp_path / 'c').read_bytes()))
    with pytest.raises(DataError):
        load(tmp_path / 'c')


def test_differences_name_what_differs():
    assert differences({'a': 1, 'b': 2}, {'a': 1, 'b': 2}) == []
    assert differences({'a': 1, 'b': 2}, {'a': 1, 'b': 3, 'c': 0}) == ['b was 2 and is 3', 'c was None and is 0']


def test_long_values_are_not_said_in_full():
    """A built-in template for 257 columns has 1300 lines."""
    ((said),) = differences({'template': 'U' * 9000, 'seed': 1}, {'template': None, 'seed': 1})
    assert said.startswith("template was 'UUUU") and said.endswith('U... (9002 characters) and is None')
    assert len(said) < 200
