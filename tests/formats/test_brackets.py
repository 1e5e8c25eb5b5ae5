"""Penn brackets: what is read, and what is written comes back."""

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from data_formats.errors import DataError
from data_formats.files.source import Source
from data_formats.formats.registry import FORMATS
from tests.formats import strategies
from tests.formats.tools import phrases, read, stream

whites = st.sampled_from([' ', '\n', '\r\n', '\t \n'])


def shown(tree):
    """A tree of strategies.with_tops, as tools.phrases shows it."""
    return f'({tree[0]} {" ".join(below if isinstance(below, str) else shown(below) for below in tree[1:])})'


def trees_of(dataset):
    """The trees as write_predictions takes them."""
    out = []
    for i in range(dataset.n):
        words, nodes = slice(*dataset.offsets[i : i + 2]), slice(*dataset.node_offsets[i : i + 2])
        columns = [dataset.tags[words], *(getattr(dataset, name)[nodes] for name in dataset.NODE_ARRAYS)]
        out.append(tuple(column.tolist() for column in columns))
    return out


@given(strategies.banks, whites)
@settings(max_examples=60)
def test_reading(folder, bank, white):
    expected = strategies.with_tops(bank) if any(strategies.plain_tree(tree) for _, tree in bank) else None
    try:
        dataset = read(folder, 'brackets', strategies.brackets(bank, white))
    except DataError as error:
        assert expected is None and 'no trees in this file' in str(error)
        return
    assert phrases(dataset) == list(map(shown, expected))
    assert sorted(dataset.label_names.names(), key=str.encode) == dataset.label_names.names()
    assert set(dataset.label_names.names()) == {node[0] for tree in expected for node in strategies.nodes_of(tree)}


@given(strategies.banks, whites, st.integers(1, 80))
@settings(max_examples=60)
def test_what_is_written_comes_back(folder, bank, white, block):
    text = '(NP (NN x))\n' + strategies.brackets(bank, white)
    known = read(folder, 'brackets', text)
    top, out = known.tree(0).top, io.BytesIO()
    for part in stream(folder, 'brackets', text, known, block, top=top):
        FORMATS['brackets'].write_predictions(part, trees_of(part.dataset), out)
    again = read(folder, 'brackets', out.getvalue(), known, top=top)
    assert phrases(again) == phrases(known) and again.complete
    assert out.getvalue().count(b'\n') == known.n + len(known.empties)


@given(strategies.banks, whites)
@settings(max_examples=60)
def test_transcribing_twice_changes_nothing_more(folder, bank, white):
    module, path = FORMATS['brackets'], folder / 'data.brackets'
    text = strategies.brackets(bank, white).encode()
    try:
        expected = phrases(read(folder, 'brackets', text))
    except DataError:
        return
    for _ in range(2):
        path.write_bytes(text)
        out = io.BytesIO()
        trees, words, _ = module.transcribe(Source(path, block=20), module, out)
        before, text = text, out.getvalue()
        dataset = read(folder, 'brackets', text)
        assert phrases(dataset) == expected
        assert (dataset.n + len(dataset.empties), dataset.tokens) == (trees, words)
    assert text == before and text.count(b'\n') == trees


def test_nbest_and_sentences(folder):
    known = read(folder, 'brackets', '(S (NN dog) (VB go))')
    (block,) = stream(folder, 'brackets', 'dog a\\\ngo\n', known, require_labels=False, top='S')
    flat = [([0, 1], [-1], [0], [2]), ([1], [2], [0], [1])]
    out = io.BytesIO()
    FORMATS['brackets'].write_nbest(block, [[(flat[0], 0.5, None)], [(flat[1], 2.0, 0.25), (flat[1], 1.0, 0.5)]], out)
    names = known.label_names.names()
    assert names == ['NN', 'S', 'VB']
    first = '# 1 0.5\n(TOP (NN dog) (S a\\\\))\n\n'
    assert out.getvalue().decode() == first + '# 1 2 0.25\n(VB (S go))\n\n# 2 1 0.5\n(VB (S go))\n\n'
