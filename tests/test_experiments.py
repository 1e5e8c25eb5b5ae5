"""The experiments' scripts on made-up data: folds, tables, and what they skip."""

import csv
import importlib.util
import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'experiments' / 'named_entities'


def script(name):
    spec = importlib.util.spec_from_file_location(f'named_entities_{name}', FOLDER / f'{name}.py')
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


def test_tables(prepared, tmp_path, monkeypatch, capsys):
    program = tmp_path / 'ssvm'
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}:$PYTHONPATH" exec "{sys.executable}" -m ssvm_cli.main "$@"\n')
    program.chmod(0o755)
    run = script('run')
    chosen = [method for method in run.METHODS if method.name in ('HMM, words', 'SVM2 slack, linear')]
    chosen.append(run.Method(2, 'no such solver', ('--solver', 'nothing')))
    monkeypatch.setattr(run, 'METHODS', chosen)
    run.main([str(prepared), '--ssvm', str(program)])
    assert 'skipped: no such solver: Error: unknown solver' in capsys.readouterr().err
    for table, name in ((2, 'HMM, words'), (3, 'SVM2 slack, linear')):
        (row,) = csv.DictReader((prepared / f'table{table}.csv').read_text().splitlines())
        assert row['method'] == name and 0 <= float(row['test_error']) < 60
    assert float(row['constraints']) > 0
    # a second run takes the figures that were kept
    chosen.pop()
    run.main([str(prepared), '--ssvm', 'not-there'])


def test_the_page_names_the_methods():
    page = (FOLDER / 'README.md').read_text()
    assert all(f'| {method.name} |' in page for method in script('run').METHODS)
