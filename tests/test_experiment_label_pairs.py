"""The scripts of experiments/label_pairs on small data: sets, scores, what is skipped, and the page."""

import csv
import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / 'experiments' / 'label_pairs'


@pytest.fixture
def prepare(script, monkeypatch):
    module = script('prepare')
    for name, value in {'LABELS': 8, 'EXAMPLES': 60, 'ATTRIBUTES': 40, 'ALONE': 0.2}.items():
        monkeypatch.setattr(module, name, value)
    return module


@pytest.fixture
def run(script, monkeypatch):
    module = script('run')
    monkeypatch.setattr(module, 'LAMBDAS', (1e-2, 1e-3))
    return module


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_without_the_data_set(prepare, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    prepare.main(tmp_path / 'out')
    assert 'skipped: data set yeast is not there: ' in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / 'out').iterdir()) == ['made-up']
    parts = {name: (tmp_path / 'out' / 'made-up' / f'{name}.ml').read_text() for name in ('train', 'held', 'test')}
    assert [text.count('\n') for text in parts.values()] == [48, 12, 60]


def test_yeast(prepare, tmp_path, data_file):
    data_file('multilabel', 'yeast', 'yeast-test.arff')
    prepare.main(tmp_path / 'out')
    lines = {name: (tmp_path / 'out' / 'yeast' / f'{name}.ml').read_text() for name in ('train', 'held', 'test')}
    assert [text.count('\n') for text in lines.values()] == [1200, 300, 917]
    sets = [line.split()[0].split(',') for text in lines.values() for line in text.splitlines()]
    assert sum(map(len, sets)) / len(sets) == pytest.approx(4.237, abs=5e-4)


@pytest.mark.parametrize('installed', [True, False])
def test_scores(prepare, run, program, tmp_path, monkeypatch, capsys, installed):
    if installed:
        pytest.importorskip('sklearn')
    else:
        monkeypatch.setitem(sys.modules, 'sklearn', None)
        monkeypatch.setitem(sys.modules, 'sklearn.datasets', None)
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    prepare.main(tmp_path)
    run.main(['--ssvm', program, str(tmp_path)])
    rows = rows_of(tmp_path / 'scores.csv')
    methods = ['all', 'tree', 'none', *(['LinearSVC'] if installed else [])]
    assert [(row['set'], row['method']) for row in rows] == [('made-up', method) for method in methods]
    assert ('skipped: scikit-learn is not installed' in capsys.readouterr().err) != installed
    for row in rows:
        assert 0 < float(row['hamming_loss']) < 30 and float(row['micro_f1']) > 40
        assert float(row['lambda']) in run.LAMBDAS
    if installed:  # both are one-vs-rest SVMs, and scores are counted alike
        apart, other = rows[2], rows[3]
        for key in run.SCORES:
            assert float(apart[key]) == pytest.approx(float(other[key]), abs=12)


def test_the_page_has_the_figures_of_the_methods():
    text = (FOLDER / 'README.md').read_text()
    rows = re.findall(r'^\| (Yeast|made up) \| ([^|]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|', text, re.M)
    methods = ['`--pairs all`', '`--pairs tree`', '`--pairs none`', 'LinearSVC']
    assert [(name, method) for name, method, *_ in rows] == [
        (name, method) for name in ('Yeast', 'made up') for method in methods
    ]
