"""The scripts of experiments/matching on made-up pictures and sentences: links, comparisons, tables, and the page."""

import csv
import importlib.util
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parent.parent / 'experiments' / 'matching'


def script(name, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location(f'matching_{name}', FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def points(monkeypatch):
    return script('points', monkeypatch)


@pytest.fixture
def words(monkeypatch):
    return script('words', monkeypatch)


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.mark.parametrize('target', ['points', 'words'])
def test_data_sets_are_where_ssvm_data_says(tmp_path, target):
    """The Makefile looks there, and a set that is absent is one line without a traceback."""
    out = ['make', '-C', FOLDER, target, f'PYTHON={sys.executable}', 'SSVM=false']
    done = subprocess.run(
        out, env={**os.environ, 'SSVM_DATA': str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode and 'Traceback' not in done.stderr
    name = {'points': 'matching_cmu_house', 'words': 'word_alignment'}[target]
    assert f'skipped: data set {name} is not there: {tmp_path / name}' in done.stderr


def test_landmarks(points, program, tmp_path, monkeypatch):
    """Two bins that tell and one of noise: learned weights and matchings have fewer errors."""
    monkeypatch.setattr(points, 'BASELINES', (5,))
    house, rng = tmp_path / 'data' / 'cmum' / 'house', np.random.default_rng(1)
    (house / 'pairs').mkdir(parents=True)
    own = rng.normal(size=(8, 2))
    for part in ('train', 'validate', 'test'):
        lines = []
        for number in range(6):
            told = own + 0.2 * rng.normal(size=own.shape)
            np.savetxt(house / f'{part}{number}.scf', 5 * np.hstack([told, 3 * rng.normal(size=(8, 1))]))
            lines.append(f'../Data/house/x ../Data/house/{part}{number}.scf ../x.png ../x.adj')
        (house / 'pairs' / f'houses5_{part}.txt').write_text('\n'.join(lines) + '\n')
    points.main(['--ssvm', program, str(tmp_path), str(tmp_path)])
    (row,) = rows_of(tmp_path / 'points.csv')
    assert (row['baseline'], row['pairs']) == ('5', '3')
    errors = {key: float(row[key]) for key in row if '_' in key}
    assert errors['learned_matching'] < errors['unweighted_matching'] <= errors['unweighted_alone']
    assert errors['learned_matching'] <= errors['learned_alone'] < errors['unweighted_alone']


def test_words(words, program, tmp_path, monkeypatch):
    """Translations word for word in another order, told by their beginnings; the files of both corpora."""
    monkeypatch.setattr(words, 'FOLDS', 3)
    monkeypatch.setattr(words, 'THRESHOLDS', [0.5])
    rng, english, french, gold = random.Random(2), [], [], []
    for _ in range(12):
        size = rng.randrange(3, 6)
        order = rng.sample(range(size), size)
        stems = rng.sample(['abcde', 'fghij', 'klmno', 'pqrst', 'uvwxy', 'zabyc'], size)
        english.append(' '.join(f'{stem}e' for stem in stems))
        french.append(' '.join(f'{stems[k]}f' for k in order))
        gold.append([(order.index(k), k) for k in range(size)])
    story, hansards = tmp_path / 'alibi' / 'ali' / 'Un_One', tmp_path / 'hansards_en_fr'
    for folder in (story, hansards):
        folder.mkdir(parents=True)
    for name, lines in (('Un_sents', french), ('One_sents', english)):
        (story / f'{name}.txt').write_text(''.join(f'{k}\t{line}\n' for k, line in enumerate(lines)))
    links = [' '.join(f'{i}-{j}' for i, j in pairs) for pairs in gold]
    (story / 'ali_w2w_Un_One.txt').write_text(''.join(f'{k}\t{line}\n' for k, line in enumerate(links)))
    both = zip(french, english, strict=True)
    (hansards / 'enfr.src-tgt').write_text(''.join(f'{one} ||| {other}\n' for one, other in both))
    (hansards / 'enfr.gold').write_text(''.join(re.sub(r'\d+', lambda m: str(1 + int(m[0])), s) + '\n' for s in links))
    assert list(words.hansards(tmp_path)) == list(words.alibi(tmp_path))
    words.main(['--ssvm', program, str(tmp_path), str(tmp_path)])
    rows = rows_of(tmp_path / 'words.csv')
    assert [(row['corpus'], row['method']) for row in rows] == [
        (corpus, method) for corpus in ('hansards', 'alibi') for method in ('dice', 'alone', 'matching')
    ]
    assert all(float(row['aer']) == 0 for row in rows if row['method'] == 'matching')


def test_sure_links_that_are_no_matching(words):
    """The nearest to the diagonal stays right, and only in training."""
    sure, possible = words.links_of('1-1 1-2 2p1 3-3 1p1', 1)
    assert sure == {(0, 0), (0, 1), (2, 2)} and possible == {(1, 0)}
    assert words.matching_of(sure, 3, 3) == {(0, 0), (2, 2)}
    sentence = (['A', 'b', 'c'], ['x', 'Y', 'z'], sure, possible)
    corpus = words.Corpus([sentence])
    targets = {link[:2]: link[2] for link in words.example(corpus, sentence, True)}
    assert [targets[pair] for pair in ((0, 0), (0, 1), (2, 2), (1, 0), (1, 1))] == ['1', 'P', '1', 'P', '0']
    targets = {link[:2]: link[2] for link in words.example(corpus, sentence, False)}
    assert [targets[pair] for pair in ((0, 0), (0, 1), (2, 2), (1, 0), (1, 1))] == ['1', '1', '1', 'P', '0']


def test_rows_alone(words):
    """Two rows take the same column, one takes none; attributes without a weight do not count."""
    example = [(0, 0, '1', {'a': 1.0}), (1, 0, '0', {'a': 2.0, 'b': 9.0}), (1, 1, '1', {}), (2, 1, 'P', {})]
    found = words.links.rows_alone([example], {'bias': -0.5, 'a': 1.0})
    assert found == {'aer': pytest.approx(1 - 2 / 4), 'precision': 0.5, 'recall': 0.5}
