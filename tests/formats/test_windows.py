"""--window and --edge-features: attributes of neighbours, and those of transitions, beside plain Python lists."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_formats.datasets.tokens import TokenDataset
from data_formats.errors import DataError
from tests.formats import strategies
from tests.formats.tools import read, sequences, stream

CRFSUITE = 'A\tx:2\ty\nB\nA\ty\n\nB\tz\n\nA\ty:0.5\tz\nB\tx\n'


def windowed(example, window):
    """The tokens of a sequence with the attributes of their neighbours."""
    found = []
    for t, (label, row, edges) in enumerate(example):
        wide = dict(row)
        for u in range(max(0, t - window), min(len(example), t + window + 1)):
            if u != t:
                wide |= {f'{name}[{u - t:+d}]': value for name, value in example[u][1].items()}
        found.append((label, wide, edges))
    return found


def with_edges(example):
    """The tokens of a sequence with their attributes on the transition into them."""
    return [(label, row, {} if t == 0 else row) for t, (label, row, _) in enumerate(example)]


@given(st.sampled_from(['crfsuite', 'svmhmm']), st.data(), st.integers(1, 3), st.booleans())
@settings(max_examples=30, deadline=None)
def test_neighbours_are_attributes_of_their_own(folder, name, data, window, bias):
    drawn = strategies.named if name == 'crfsuite' else strategies.numbered
    text = getattr(strategies, name)(data.draw(drawn))
    plain = read(folder, name, text)
    wide = read(folder, name, text, window=window, edge_features=True, bias=bias)
    expected = [windowed(with_edges(example), window) for example in sequences(plain)]
    if bias:
        expected = [[(y, row | {'bias': 1.0}, edges) for y, row, edges in example] for example in expected]
    assert sequences(wide) == expected
    assert len(wide.attributes) == len(plain.attributes) * (2 * window + 1) + bias
    assert wide.edge_attributes == plain.attributes
    again = read(folder, name, text, wide, window=window, edge_features=True, bias=bias)
    assert sequences(again) == expected and again.attributes is wide.attributes


@pytest.mark.parametrize('block', [1, 20, 1 << 20])
def test_a_model_applies_them_to_a_stream(tmp_path, block):
    """Blocks are whole sequences, so neighbours are at hand wherever a block ends; what is unknown stays unknown, also
    where a file has an attribute with the name of a neighbour's."""
    known = read(tmp_path, 'crfsuite', CRFSUITE, window=1, edge_features=True, bias=True)
    text = CRFSUITE.replace('A\ty\n', 'A\ty\tnew\tx[-1]\n')
    blocks = stream(tmp_path, 'crfsuite', text, known, block, window=1, edge_features=True, bias=True)
    found = TokenDataset.concatenate([item.dataset for item in blocks])
    assert sequences(found) == sequences(known)
    whole = read(tmp_path, 'crfsuite', text, known, window=1, edge_features=True, bias=True, threads=3)
    assert sequences(whole) == sequences(known)


def test_numbers_go_block_by_block(tmp_path):
    dataset = read(tmp_path, 'crfsuite', CRFSUITE, window=2)
    assert dataset.attributes.names() == ['x', 'y', 'z'] + [
        f'{name}[{distance}]' for distance in ('-1', '+1', '-2', '+2') for name in 'xyz'
    ]


def test_tokens_without_a_sequence(tmp_path):
    """The window is that of the sequence, also where each token is an example; there are no transitions then."""
    dataset = read(tmp_path, 'crfsuite', CRFSUITE, window=1, task='multiclass')
    chain = read(tmp_path, 'crfsuite', CRFSUITE, window=1)
    assert dataset.n == chain.tokens
    assert [token for (token,) in sequences(dataset)] == [token for example in sequences(chain) for token in example]


def test_rare_attributes_are_those_of_tokens(tmp_path):
    dataset = read(tmp_path, 'crfsuite', CRFSUITE, window=1, min_freq=3)
    assert dataset.attributes.names() == ['y', 'y[-1]', 'y[+1]']


def test_a_name_that_is_taken_is_refused(tmp_path):
    text = 'A\tw\tw[-1]\nB\tw\n'
    assert read(tmp_path, 'crfsuite', text).attributes.names() == ['w', 'w[-1]']
    with pytest.raises(
        DataError, match=r"an attribute is named 'w\[-1\]' already .expected no 'w\[-1\]' with --window 1"
    ):
        read(tmp_path, 'crfsuite', text, window=1)
