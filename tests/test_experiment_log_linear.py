"""The scripts of experiments/log_linear on made-up digits: files, tables, runs that are kept, and the page."""

import csv
import gzip
import random
import struct
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'experiments' / 'log_linear'


@pytest.fixture
def prepared(tmp_path, monkeypatch, script):
    """Images of 2 x 3 pixels, one of which is bright for each of three labels."""
    rng = random.Random(0)
    (tmp_path / 'mnist').mkdir()
    for part, size in (('train', 60), ('t10k', 30)):
        labels = [rng.randrange(3) for _ in range(size)]
        images = [[200 + k if k == y else rng.choice((0, 0, 102)) for k in range(6)] for y in labels]
        with gzip.open(tmp_path / 'mnist' / f'{part}-images-idx3-ubyte.gz', 'wb') as stream:
            stream.write(struct.pack('>4I', 2051, size, 2, 3) + b''.join(map(bytes, images)))
        with gzip.open(tmp_path / 'mnist' / f'{part}-labels-idx1-ubyte.gz', 'wb') as stream:
            stream.write(struct.pack('>2I', 2049, size) + bytes(labels))
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    script('prepare').main(tmp_path / 'out')
    return tmp_path / 'out'


def rows(path):
    with open(path, newline='') as stream:
        return list(csv.DictReader(stream))


def test_files(prepared, script):
    lines = (prepared / 'train.svm').read_text().splitlines()
    assert len(lines) == 60 and len((prepared / 'test.svm').read_text().splitlines()) == 30
    for line in lines:
        label, *pixels = line.split()
        values = dict(pixel.split(':') for pixel in pixels)
        assert float(values.pop(str(int(label) + 1))) == pytest.approx((200 + int(label)) / 255, rel=1e-5)
        assert set(values.values()) <= {'0.4'} and set(values) <= set('123456')
    script('prepare').main(prepared, 7)
    assert (prepared / 'train.svm').read_text().splitlines() == lines[:7]


def test_without_the_data_set(tmp_path, monkeypatch, script):
    monkeypatch.setenv('SSVM_DATA', str(tmp_path / 'nowhere'))
    with pytest.raises(SystemExit, match='skipped: data set mnist is not there'):
        script('prepare').main(tmp_path / 'out')
    assert not (tmp_path / 'out').exists()


def test_convergence(prepared, program, monkeypatch, script):
    convergence = script('convergence')
    monkeypatch.setattr(convergence, 'CS', (10, 1))
    monkeypatch.setattr(script('effective_passes'), 'STEPS', (0.3, 1e-5))
    convergence.main([str(prepared), '--ssvm', program, '--passes', '40'])
    table = {(int(row['C']), row['method']): row for row in rows(prepared / 'convergence.csv')}
    assert list(table) == [(C, method.name) for C in (10, 1) for method in convergence.METHODS]
    for C in (10, 1):
        assert float(table[C, 'EG']['objective']) == pytest.approx(float(table[C, 'L-BFGS']['objective']), rel=1e-4)
        assert float(table[C, 'EG']['within_1_percent']) <= float(table[C, 'EG']['gap_1_percent'])
        assert table[C, 'SGD, tuned step']['first_step'] == '0.3'
    for row in rows(prepared / 'curves.csv'):
        assert 0 <= float(row['excess_percent']) <= float(row['gap_percent']) * (1 + 1e-9)
        assert float(row['effective_passes']) >= 0.999 and 0 <= float(row['test_error']) <= 100
    # a second run takes the logs that were kept
    found = (prepared / 'convergence.csv').read_text()
    convergence.main([str(prepared), '--ssvm', 'not-there', '--passes', '40'])
    assert (prepared / 'convergence.csv').read_text() == found


def test_path(prepared, program, monkeypatch, script):
    path, shared = script('path'), script('regularisation_path')
    monkeypatch.setattr(path, 'VALUES', 3)
    path.main([str(prepared), '--ssvm', program])
    table = rows(prepared / 'path.csv')
    assert [row['C'] for row in table] == ['1000', '700', '490']
    for name in shared.METHODS:
        for start in ('warm', 'cold'):
            passes = [float(row[f'{name}, {start}: passes']) for row in table]
            assert float(table[-1][f'{name}, {start}: cumulative']) == pytest.approx(sum(passes), abs=0.02)
            assert all(float(row[f'{name}, {start}: relative gap']) <= shared.TOLERANCE for row in table)
    path.main([str(prepared), '--ssvm', 'not-there'])
    assert rows(prepared / 'path.csv') == table


def test_a_run_that_fails_is_not_kept(prepared, program, script):
    with pytest.raises(SystemExit, match='exit 2 from'):
        script('program').log_of(script('digits').PROBLEM, program, prepared, 'wrong', ('--solver', 'nothing'))
    assert not list((prepared / 'runs').iterdir())


def test_the_page_names_the_methods(script):
    page = (FOLDER / 'README.md').read_text()
    assert all(f'| {method.name} |' in page for method in script('convergence').METHODS)
    assert all(
        f'{name}, {start}' in page for name in script('regularisation_path').METHODS for start in ('warm', 'cold')
    )
