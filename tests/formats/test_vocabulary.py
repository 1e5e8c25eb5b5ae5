"""Vocabularies against a dictionary."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cython_ext.text.vocabulary import Vocabulary

names = st.binary(max_size=12) | st.text(max_size=12).map(str.encode)


@given(st.lists(names, max_size=200))
def test_same_as_a_dictionary(added):
    vocabulary, ids = Vocabulary(), {}
    for name in added:
        assert vocabulary.add(name) == ids.setdefault(name, len(ids))
    assert len(vocabulary) == len(ids)
    for name, i in ids.items():
        assert vocabulary.get(name) == i
        assert vocabulary.name_bytes(i) == name
        assert vocabulary.name(i).encode('utf-8', 'surrogateescape') == name
        assert vocabulary.get(vocabulary.name(i)) == i
        assert name in vocabulary
    assert vocabulary.get(b'this name is longer than any') == -1
    assert vocabulary.names() == [name.decode('utf-8', 'surrogateescape') for name in ids]


@given(st.lists(names, unique=True, max_size=50))
def test_arrays_copies_and_selections(added):
    vocabulary = Vocabulary(added)
    blob, offsets = vocabulary.to_arrays()
    assert blob.dtype == np.uint8
    assert offsets.dtype == np.int64
    for same in (Vocabulary.from_arrays(blob, offsets), vocabulary.copy(), pickle.loads(pickle.dumps(vocabulary))):
        assert same == vocabulary
        assert [same.get(name) for name in added] == list(range(len(added)))
        same.add(b'one more name that is new')
        assert len(vocabulary) == len(added)
    order = list(range(len(added)))[::-2]
    assert vocabulary.select(order) == Vocabulary([added[i] for i in order])
    assert vocabulary != Vocabulary([*added, b'more than the others'])


def test_many_names():
    vocabulary = Vocabulary()
    for i in range(100_000):
        assert vocabulary.add(f'U00:{i}') == i
    assert all(vocabulary.get(f'U00:{i}') == i for i in range(0, 100_000, 7))
    assert vocabulary.nbytes < 8e6


@pytest.mark.parametrize(
    ('blob', 'offsets'), [(b'abc', []), (b'abc', [0, 2]), (b'abc', [1, 3]), (b'abc', [0, 2, 1, 3]), (b'', [0, -1, 0])]
)
def test_arrays_that_are_no_vocabulary(blob, offsets):
    with pytest.raises(ValueError, match='no vocabulary'):
        Vocabulary.from_arrays(np.frombuffer(blob, np.uint8), np.array(offsets, np.int64))


def test_ids_out_of_range():
    vocabulary = Vocabulary([b'a'])
    for call in (vocabulary.name, vocabulary.name_bytes, lambda i: vocabulary.select([i])):
        for i in (-1, 1):
            with pytest.raises(IndexError):
                call(i)
