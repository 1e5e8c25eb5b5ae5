"""The experiments' scripts on made-up data: folds, tables, and what they skip."""

import csv
import gzip
import importlib.util
import math
import random
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'experiments' / 'named_entities'


def script(name, folder=FOLDER):
    spec = importlib.util.spec_from_file_location(f'{folder.name}_{name}', folder / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    """Folds of made-up sentences in the format of CoNLL-2002."""
    rng, sentences = random.Random(0), []
    for _ in range(40):
        words = [rng.choice('abcd') for _ in range(rng.randrange(2, 6))]
        tags = ['B-PER' if word == 'a' else rng.choice(['O', 'B-LOC']) if word == 'b' else 'O' for word in words]
        sentences.append(''.join(f'{w.upper()}{w} NC {t}\n' for w, t in zip(words, tags, strict=True)) + '\n')
    (tmp_path / 'conll2002_spanish').mkdir()
    (tmp_path / 'conll2002_spanish' / 'esp.train').write_text(''.join(sentences))
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    prepare = script('prepare')
    monkeypatch.setattr(prepare, 'SENTENCES', 20)
    monkeypatch.setattr(prepare, 'FOLDS', 2)
    prepare.main(tmp_path / 'out')
    return tmp_path / 'out'


def blocks(path):
    return path.read_text().strip().split('\n\n')


def test_folds_part_the_sentences(prepared):
    tests = [blocks(prepared / str(k) / 'test.txt') for k in range(2)]
    assert [len(part) for part in tests] == [10] * 2
    for k in range(2):
        train = blocks(prepared / str(k) / 'train.txt')
        assert len(train) == 10
        assert sorted(train + tests[k]) == sorted(sentence for part in tests for sentence in part)
    word, end, shape, part_of_speech, tag = tests[0][0].splitlines()[0].split()
    assert (word, end, shape, part_of_speech) == (word.lower(), word[-3:], 'Xx', 'NC')
    assert tag in ('O', 'B-PER', 'B-LOC')


def test_without_the_data_set(tmp_path, monkeypatch):
    monkeypatch.setenv('SSVM_DATA', str(tmp_path / 'nowhere'))
    with pytest.raises(SystemExit, match='skipped: data set conll2002_spanish is not there'):
        script('prepare').main(tmp_path)


def test_tables(prepared, program, monkeypatch, capsys):
    run = script('run')
    chosen = [method for method in run.METHODS if method.name in ('HMM, words', 'SVM2 slack, linear')]
    chosen.append(run.Method(2, 'no such solver', ('--solver', 'nothing')))
    monkeypatch.setattr(run, 'METHODS', chosen)
    run.main([str(prepared), '--ssvm', str(program)])
    assert 'skipped: no such solver: Error: unknown solver' in capsys.readouterr().err
    for table, name in ((2, 'HMM, words'), (3, 'SVM2 slack, linear')):
        (row,) = csv.DictReader((prepared / f'table{table}.csv').read_text().splitlines())
        assert row['method'] == name and 0 <= float(row['test_error']) < 60
    assert float(row['constraints']) >= float(row['support']) > 0
    assert float(row['average_loss']) >= 1
    # a second run takes the figures that were kept
    chosen.pop()
    run.main([str(prepared), '--ssvm', 'not-there'])


def test_the_page_names_the_methods():
    page = (FOLDER / 'README.md').read_text()
    assert all(f'| {method.name} |' in page for method in script('run').METHODS)


def test_support_outputs(tmp_path):
    (tmp_path / 'train.txt').write_text('a B\nb A\nc A\n\nd A\n')
    np.savez(
        tmp_path / 'model.npz',
        **{
            'label_names.bytes': np.frombuffer(b'AB', np.uint8),
            'label_names.offsets': np.array([0, 1, 2]),
            'dual.indptr': np.array([0, 3, 4]),
            'dual.code_indptr': np.array([0, 3, 6, 9, 10]),
            # the right output, one with a wrong label, one with three; one with the only label wrong
            'dual.codes': np.array([1, 0, 0, 1, 1, 0, 0, 1, 1, 1]),
        },
    )
    count, loss = script('run').support(tmp_path / 'model.npz', tmp_path / 'train.txt')
    assert count == 3 and loss == pytest.approx((1 + 3 + 1) / 3)


def test_excessive_gap_of_digits(program, tmp_path, monkeypatch, capsys):
    run = script('run', ROOT / 'experiments' / 'excessive_gap')
    rng = random.Random(0)
    rows = [[k % 10, *(round(rng.gauss(k % 10 == j, 0.5), 3) for j in range(12))] for k in range(30)]
    (tmp_path / 'usps').mkdir()
    with gzip.open(tmp_path / 'usps' / 'zip.train.gz', 'wt') as stream:
        stream.writelines(' '.join(map(str, row)) + '\n' for row in rows)
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    for name, value in {'EXAMPLES': 30, 'LAMBDAS': (300, 30), 'EPSILONS': (1.0, 0.1), 'PASSES': 60}.items():
        monkeypatch.setattr(run, name, value)
    monkeypatch.setattr(sys, 'argv', ['run.py', '--ssvm', str(program), str(tmp_path / 'out')])
    run.main()
    assert capsys.readouterr().out.count('of the bound') == 2
    curves = list(csv.DictReader((tmp_path / 'out' / 'gaps.csv').read_text().splitlines()))
    assert {row['solver'] for row in curves} == set(run.RUNS)
    length2 = max(sum(x * x for x in row[1:]) for row in rows)
    for row in curves:
        assert float(row['best_gap']) >= 0
        if row['solver'].startswith('excessive-gap'):
            k, lam = int(row['pass']), float(row['lambda_n']) / 30
            assert float(row['bound']) == pytest.approx(6 * math.log(10) * 2 * length2 / lam / ((k + 1) * (k + 2)))
        if row['solver'] == 'excessive-gap':
            assert float(row['gap']) <= float(row['bound'])
    table = list(csv.DictReader((tmp_path / 'out' / 'iterations.csv').read_text().splitlines()))
    assert len(table) == len(run.RUNS) * 4
    for row in table:
        assert not row['passes'] or row['solver'] == 'eg-batch' or int(row['passes']) <= int(row['bound'])
