"""Decimal numbers against Python's own conversion."""

import math
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cython_ext.text.numbers import parse

GRAMMAR = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?')

decimals = st.builds(
    '{}{}{}{}{}'.format,
    st.sampled_from(['', '+', '-']),
    st.integers(0, 10**25),
    st.sampled_from(['', '.']),
    st.text('0123456789', max_size=25),
    st.sampled_from(['', 'e0', 'e5', 'E-7', 'e+22', 'e-22', 'e23', 'e-300', 'e300', 'e-330', 'e999']),
)


@given(decimals)
@example('9007199254740993')
@example('9007199254740992e22')
@example('1e23')
@example('0.1')
@example('.5')
@example('5.')
@example('1e-400')
@example('4.9e-324')
@example('0' * 400 + '1.5')
@example('1' + '0' * 400)
@example('1e-99999999999999999999')
@settings(max_examples=500)
def test_same_as_python(text):
    value = parse(text.encode())
    assert value == float(text)
    assert math.copysign(1, value) == math.copysign(1, float(text))


@given(st.integers(2**52, 2**53 - 1), st.integers(0, 9), st.integers(-3, 3), st.integers(-27, 27))
@settings(max_examples=300)
def test_halfway_and_close_to_it(mantissa, shift, step, exponent):
    """Numbers halfway between two doubles go to the even one, their neighbours to the nearer one."""
    for number in ((2 * mantissa + 1 << shift) + step, mantissa + step):
        text = f'{number}e{exponent}'
        assert parse(text.encode()) == float(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=300)
def test_shortest_text_comes_back(value):
    assert parse(repr(value).encode()) == value


@given(st.text('0123456789+-.eExinfa_ ', max_size=8))
@settings(max_examples=300)
def test_nothing_else_is_a_number(text):
    value = parse(text.encode())
    assert (value is not None) == (GRAMMAR.fullmatch(text) is not None)
    if value is not None:
        assert value == float(text)


@pytest.mark.parametrize('text', ['', '.', '+', 'e5', '1e', '1e+', '0x10', 'nan', 'inf', '1_000', '1,5', '--1', '1 '])
def test_not_numbers(text):
    assert parse(text.encode()) is None
