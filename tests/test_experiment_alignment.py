"""The script of experiments/alignment on few and small samples, its generative model, and the page."""

import csv
import importlib.util
import json
import math
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / 'experiments' / 'alignment'

SMALL = {'SIZES': (4,), 'EPSILONS': (1.0, 0.1), 'SAMPLES': 2, 'COUNTED': 1, 'TEST': 20, 'SIZE': 4}


@pytest.fixture
def run(monkeypatch):
    spec = importlib.util.spec_from_file_location('alignment_run', FOLDER / 'run.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in SMALL.items():
        monkeypatch.setattr(module, name, value)
    return module


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_tables(run, program, tmp_path):
    run.main(['--ssvm', program, str(tmp_path)])
    (row,) = rows_of(tmp_path / 'table4.csv')
    assert row['n'] == '4'
    for letters in ('all', 'related'):
        assert all(0 <= float(row[f'{part}_genmod_{letters}']) <= 100 for part in ('train', 'test'))
    for C in ('program', 0.01, 1):
        assert float(row[f'train_svm_{C}']) == 0 and float(row[f'test_svm_{C}']) < 80
        kept = [json.loads((tmp_path / 'runs' / f'svm-4-{C}-{k}.json').read_text()) for k in range(2)]
        one, other = (figures[f'test_svm_{C}'] for figures in kept)
        assert float(row[f'test_svm_{C}']) == pytest.approx((one + other) / 2, abs=0.01)
        assert float(row[f'test_svm_{C}_se']) == pytest.approx(abs(one - other) / 2, abs=0.01)
    rows = rows_of(tmp_path / 'figure2.csv')
    assert [(row['n'], row['epsilon']) for row in rows] == [('4', '0.1'), ('4', '1.0')]
    assert 0 == float(rows[1]['constraints']) < float(rows[0]['constraints'])
    run.main(['--ssvm', 'not-there', str(tmp_path)])  # the figures are kept


def test_the_unit_of_the_program(run):
    """C sum of squared slacks, and half of their mean over lambda, are the same where lambda = 1 / (2 n C)."""
    assert run.lambda_of(40, run.PROGRAM) == pytest.approx(1 / (2 * 40 * 0.01)) and run.lambda_of(40, 3) == 1 / 3
    lines = ['>native 1', 'AB', '>homolog 1 0:0:MM', 'AB', '>decoy 2', 'CC']
    assert run.frequencies(lines, 'all') == Counter('ABABCC') and run.frequencies(lines, 'related') == Counter('ABAB')


def test_data_are_as_the_paper_says(run):
    """Steps, substitutions and letters of many examples."""
    lines, steps, pairs = list(run.generate.examples(200, 0)), Counter(), Counter()
    assert len(lines) == 200 * 24 and all(len(line) == 50 for line in lines[1::2])
    for k in range(0, len(lines), 24):
        start, other, script = lines[k + 2].split()[2].split(':')
        assert len(script) == 30
        steps.update(script)
        i, j = int(start), int(other)
        for step in script:
            if step in 'MS':
                pairs[step, (ord(lines[k + 3][j]) - ord(lines[k + 1][i])) % 20] += 1
            i, j = i + (step != 'I'), j + (step != 'D')
    assert set(pairs) == {('M', 0), ('S', 1)}
    for step, chance in zip(run.generate.OPS, run.generate.CHANCES, strict=True):
        assert steps[step] / 6000 == pytest.approx(chance, abs=0.02)
    letters = Counter(''.join(line for head, line in zip(lines[::2], lines[1::2], strict=True) if 'decoy' in head))
    for k, letter in enumerate(run.generate.ALPHABET, 1):
        assert letters[letter] / 100_000 == pytest.approx(k / 210, abs=0.005)


def test_the_generative_model(run):
    counts = run.pairs_of('>native 1\nABAB\n>homolog 1 1:0:MSID\nBBCB\n'.splitlines())
    assert counts == {('B', 'B'): 1, ('A', 'B'): 1}
    rows = [
        line.split('\t')
        for line in run.log_odds('# x: 1\nsubstitute\tA\tA\t0\n', counts, Counter('ABABBBCB')).splitlines()[1:-1]
    ]
    weight = {tuple(row[:3]): float(row[3]) for row in rows}
    assert len(weight) == 401 and weight['gap', 'any', '-'] == -1.0
    assert weight['substitute', 'A', 'B'] == pytest.approx(math.log((2 / 402) / (3 / 28 * 6 / 28)))


def test_the_page_has_the_sizes():
    page = (FOLDER / 'README.md').read_text()
    assert all(f'\n| {n} |' in page for n in (1, 2, 4, 10, 20, 40, 80))
