"""A few altered files for every reader; `make fuzz` tries many more."""

import pytest

from tests.fuzz import Reader, altered, failure, input_of, run
from tests.fuzz_readers import TRAININGS, VALID, readers

COUNT = 40
NAMES = [
    *(f'data-{name}' for name in VALID),
    *('compressed', 'template', 'config', 'taxonomy', 'class-features', 'costs', 'similarity', 'label-xml'),
    *(f'model-{name}' for name in TRAININGS),
    *('model-text', 'checkpoint', 'log'),
]


@pytest.fixture(scope='module')
def known(tmp_path_factory):
    return readers(tmp_path_factory.mktemp('fuzz'))


def test_readers(known, tmp_path):
    """All in one test, since the files that are altered take some seconds to make."""
    assert list(known) == NAMES
    failed = {name: run(name, reader, COUNT, 'tests', tmp_path) for name, reader in known.items()}
    assert not any(failed.values()), failed


def test_the_files_that_are_altered_are_right(known, tmp_path):
    for name, reader in known.items():
        for seed in reader.seeds:
            (tmp_path / 'seed').write_bytes(seed)
            assert failure(Reader((), reader.read), tmp_path / 'seed') is None, name
            reader.read(tmp_path / 'seed')


def test_inputs_are_made_again_by_seed_and_number(known):
    reader = known['model-chain']
    assert [input_of(reader, 'x', 1, k) for k in range(20)] == [input_of(reader, 'x', 1, k) for k in range(20)]
    assert input_of(reader, 'x', 1, 3) != input_of(reader, 'x', 2, 3)


def test_what_fails_is_kept(tmp_path, capsys):
    def read(path):
        if b'x' in path.read_bytes():
            raise KeyError('x')

    reader = Reader((b'abc x',), read, lambda data, rng: data if rng.random() < 0.5 else altered(b'abc', rng))
    failed = run('letters', reader, 30, 7, tmp_path)
    assert failed and all(b'x' in (tmp_path / f'letters-7-{number}').read_bytes() for number in failed)
    assert f'letters: input {failed[0]} of seed 7, kept as ' in capsys.readouterr().out
