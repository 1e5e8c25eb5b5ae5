"""Models as text: the exact lines, round trips, and FILE:LINE of what is malformed."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cython_ext.text.vocabulary import Vocabulary
from data_formats.errors import DataError
from data_formats.models.tsv import read_model_tsv, write_model_tsv
from tests.cli.test_model_file import HEADER, small_model

GOLDEN = r"""# format: "ssvm-model"
# format_version: 1
# task: "chain"
# objective: "hinge"
# loss: "hamming"
# lambda: 0.25
# feature_set: "all"
# data: {"format": "conll", "task": "chain", "bias": false, "template": "U0:%x[0,0]\nB\n", "columns": 2}
# labels: ["A", "B"]
# cost: [[0.0, 2.0], [1.0, 0.0]]
# blocks: ["transition", "edge"]
block	left	right	weight
state	x	A	0.10000000000000001
state	never	A	0
state	dir=c:\tmp	A	-0.5
state	dir=c:\tmp	B	1e-300
transition	A	B	0.33333333333333331
edge:e	A	A	0
end	-	-	0
"""
END = 'end\t-\t-\t0\n'


def model_with(weights, attributes, header=None, **changes):
    facts = header or {'format': 'ssvm-model', 'format_version': 1, **{k: HEADER[k] for k in list(HEADER)[:6]}}
    return small_model(header=facts, weights=weights, attributes=Vocabulary(attributes), **changes)


def golden_model():
    state = np.array([[0.1, 0], [0, 0], [-0.5, 1e-300]])
    weights = {'state': state, 'transition': np.array([[0, 1 / 3], [0, 0]]), 'edge': np.zeros((1, 2, 2))}
    return model_with(weights, ['x', 'never', 'dir=c:\\tmp'])


def assert_same_model(a, b):
    assert a.header == b.header
    for name in ('label_names', 'attributes', 'edge_attributes'):
        assert getattr(a, name) == getattr(b, name)
    assert a.weights.keys() == b.weights.keys()
    for name, array in a.weights.items():
        np.testing.assert_array_equal(array, b.weights[name])
    np.testing.assert_array_equal(a.cost, b.cost)


def test_golden(tmp_path):
    write_model_tsv(golden_model(), tmp_path / 'm.tsv')
    assert (tmp_path / 'm.tsv').read_text() == GOLDEN


def test_round_trip(tmp_path):
    write_model_tsv(golden_model(), tmp_path / 'm.tsv')
    back = read_model_tsv(tmp_path / 'm.tsv')
    assert_same_model(back, golden_model())
    assert back.dual is None
    write_model_tsv(back, tmp_path / 'again.tsv')
    assert (tmp_path / 'again.tsv').read_bytes() == (tmp_path / 'm.tsv').read_bytes()


def test_observed_pairs_round_trip(tmp_path):
    weights = {
        'state.indptr': np.array([0, 1, 3]),
        'state.labels': np.array([1, 0, 1], np.int32),
        'state.weights': np.array([0.0, -1.0, 2.0]),
        'transition': np.zeros((2, 2)),
    }
    header = {'format': 'ssvm-model', 'format_version': 1, **HEADER, 'feature_set': 'observed'}
    model = model_with(weights, ['x', 'y'], header, edge_attributes=Vocabulary())
    write_model_tsv(model, tmp_path / 'm.tsv')
    assert_same_model(read_model_tsv(tmp_path / 'm.tsv'), model)


names = st.lists(st.binary(max_size=6).filter(lambda b: b not in (b'',)), min_size=1, max_size=5, unique=True)
doubles = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names, st.data())
def test_any_names_and_weights_survive(tmp_path, attributes, data):
    state = np.array([[data.draw(doubles), data.draw(doubles)] for _ in attributes])
    weights = {'state': state, 'transition': np.zeros((2, 2)), 'edge': np.zeros((1, 2, 2))}
    model = model_with(weights, attributes, edge_attributes=Vocabulary([attributes[0]]))
    write_model_tsv(model, tmp_path / 'm.tsv')
    assert_same_model(read_model_tsv(tmp_path / 'm.tsv'), model)


MALFORMED = [
    ('state\tx\tA\t0.1', 'state\tx\tA', 13, '3 fields'),
    ('state\tx\tA\t0.1', 'state\tx\tC\t0.1', 13, "label 'C' is not among the labels"),
    ('transition\tA', 'transition\tZ', 17, "label 'Z' is not among the labels"),
    ('1e-300', 'heavy', 16, "weight 'heavy' (expected a finite number)"),
    ('1e-300', 'nan', 16, "weight 'nan'"),
    ('1e-300', '1e999', 16, "weight '1e999'"),
    ('\nedge:e', '\nedges', 18, "block 'edges' (expected state, transition, edge:ATTRIBUTE or triple:LABEL)"),
    ('state\tnever', 'state\tx', 14, "a second weight for 'state' 'x' 'A'"),
    ('block\tleft', 'left\tblock', 12, 'after the comment lines (expected block, left, right, weight)'),
    ('# lambda: 0.25', '# lambda: 1/4', 6, "lambda: '1/4' is no JSON"),
    ('# lambda: 0.25', '# lambda: Infinity', 6, "lambda: 'Infinity' is no JSON"),
    ('# lambda: 0.25', '# lambda: -1', None, 'header has lambda = -1 (expected a number above 0)'),
    ('# lambda: 0.25', '# lambda: 0.25\n# lambda: 0.5', 7, "'lambda' stands here twice"),
    ('"task": "chain"', '"task": "chain", "task": "chain"', 8, 'is no JSON'),
    ('# loss: "hamming"', '# loss: "hammer"', None, "header has loss = 'hammer'"),
    ('# loss: "hamming"', '# loss: "costs"\n# examples: -5', None, 'header has examples = -5'),
    ('# task: "chain"\n', '', None, 'header has task = None'),
    ('# labels: ["A", "B"]\n', '', None, 'no label names'),
    ('["A", "B"]', '["A", 3]', None, 'no label names'),
    ('["A", "B"]', '["A", "B", "A"]', None, 'two labels have the same name'),
    ('# blocks: ["transition", "edge"]\n', '', None, 'no blocks'),
    ('["transition", "edge"]', '["edge"]', None, 'weights of a block'),
    ('[[0.0, 2.0], [1.0, 0.0]]', '[[0, 1]]', None, 'cost is no matrix of 2 x 2 numbers'),
    ('# format_version: 1', '# format_version: 2', None, 'model format 2'),
    ('block\tleft\tright\tweight\n', '', 12, 'after the comment lines'),
    (END, END + 'state\tx\tB\t1\n', 20, "behind the end (expected the row 'end\\t-\\t-\\t0' to be the last)"),
]


@pytest.mark.parametrize(('old', 'new', 'line', 'message'), MALFORMED)
def test_malformed(tmp_path, old, new, line, message):
    assert old in GOLDEN
    path = tmp_path / 'm.tsv'
    path.write_text(GOLDEN.replace(old, new, 1))
    with pytest.raises(DataError) as error:
        read_model_tsv(path)
    place = f'{path}: ' if line is None else f'{path}:{line}: '
    assert str(error.value).startswith(place) and message in str(error.value)


def test_every_row_has_four_fields(tmp_path):
    """Other programs read the rows behind the header line by their blocks and skip those they do not know."""
    write_model_tsv(golden_model(), tmp_path / 'm.tsv')
    text = (tmp_path / 'm.tsv').read_text()
    rows = [line.split('\t') for line in text[text.index('block\t') :].splitlines()]
    assert {len(row) for row in rows} == {4}


def test_comments_of_ones_own_are_fine(tmp_path):
    path = tmp_path / 'm.tsv'
    path.write_text(GOLDEN.replace('# task', '# changed by hand\n# task'))
    assert_same_model(read_model_tsv(path), golden_model())


def test_end_before_the_weights(tmp_path):
    path = tmp_path / 'm.tsv'
    path.write_text(GOLDEN[: GOLDEN.index('block')])
    with pytest.raises(DataError, match='ends before the weights'):
        read_model_tsv(path)


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    path = tmp_path / 'm.tsv'
    for kept in range(1, len(GOLDEN) - 1):
        path.write_text(GOLDEN[:kept])
        with pytest.raises(DataError):
            read_model_tsv(path)


@pytest.mark.parametrize('kept', [GOLDEN.index(END), GOLDEN.index('33331'), GOLDEN.index('state\tx')])
def test_it_says_where_a_file_was_cut_off(tmp_path, kept):
    path = tmp_path / 'm.tsv'
    path.write_text(GOLDEN[:kept])
    with pytest.raises(DataError) as error:
        read_model_tsv(path)
    place = f'{path}:{len(GOLDEN[:kept].splitlines())}: '
    assert str(error.value) == place + "ends early (expected the row 'end\\t-\\t-\\t0' behind the weights)"


def test_lines_may_be_changed_deleted_and_added(tmp_path):
    """As by `sed '/^transition/d; s/-0.5$/2/'` and a line more for a weight that was 0; no last newline."""
    path = tmp_path / 'm.tsv'
    text = GOLDEN.replace('transition\tA\tB\t0.33333333333333331\n', '').replace('-0.5', '2')
    path.write_text(text.replace('state\tnever', 'state\tx\tB\t7\nstate\tnever').removesuffix('\n'))
    model = read_model_tsv(path)
    assert model.weights['state'].tolist() == [[0.1, 7], [0, 0], [2, 1e-300]]
    assert model.weights['transition'].tolist() == [[0, 0], [0, 0]]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(GOLDEN) - 1), st.integers(0, 20), st.binary(max_size=4))
def test_mutated_text_is_refused_or_read(tmp_path, at, cut, new):
    path = tmp_path / 'm.tsv'
    text = GOLDEN.encode()
    path.write_bytes(text[:at] + new + text[at + cut :])
    try:
        read_model_tsv(path)
    except DataError as error:
        assert str(error).startswith(str(path))
