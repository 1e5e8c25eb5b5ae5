"""The scripts of experiments/taxonomy on made-up images and posts: files, taxonomies, the tree loss, the table, and the
page."""

import csv
import gzip
import importlib.util
import io
import json
import random
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from data_formats.classes.taxonomy import read_taxonomy

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'experiments' / 'taxonomy'
CODES = ('1/0/0', '1/0/b', '1/2/0', '3/1/0')
GROUPS = ('alt.a', 'comp.sys.ibm.pc', 'comp.sys.mac', 'comp.x')


def script(name, monkeypatch):
    spec = importlib.util.spec_from_file_location(f'taxonomy_{name}', FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Images of four codes, and posts to four groups, where $SSVM_DATA says."""
    rng = random.Random(0)
    for name in ('taxonomy_imclef', 'news20_taxonomy'):
        (tmp_path / name).mkdir()
    header = '@RELATION x\n\n@ATTRIBUTE arg1 NUMERIC\n@ATTRIBUTE class hierarchical 1,1/0,1/0/0\n@DATA\n'
    for name in ('ImCLEF07A', 'ImCLEF07D'):
        for part, size in (('Train', 40), ('Test', 20)):
            with gzip.open(tmp_path / 'taxonomy_imclef' / f'{name}_{part}.arff.gz', 'wt') as out:
                out.write(header)
                for k in range(size):
                    cells = [str(rng.randrange(3) + 3 * (k % 4 == j)) for j in range(5)]
                    code = CODES[k % 4]
                    out.write(','.join(cells) + f',{code[:1]}@{code[:3]}@{code}\n')
    with tarfile.open(tmp_path / 'news20_taxonomy' / '20news-bydate.tar.xz', 'w:xz') as archive:
        for part, size in (('train', 40), ('test', 20)):
            for k in range(size):
                said = ' '.join(rng.choice(('Common', f'group{k % 4}')) for _ in range(9))
                text = f'From: hidden\nSubject: subject{k % 2}\n\n{said} 12 rare{k}\n'.encode()
                member = tarfile.TarInfo(f'20news-bydate-{part}/{GROUPS[k % 4]}/{k}')
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    return tmp_path


@pytest.fixture
def prepared(data, monkeypatch):
    prepare = script('prepare', monkeypatch)
    monkeypatch.setattr(prepare, 'SIZES', (2, 3))
    monkeypatch.setattr(prepare, 'DRAWS', 2)
    monkeypatch.setattr(prepare, 'BRANCHES', (2, 1, 2))
    prepare.main(data / 'out')
    return data / 'out'


def lines(path):
    return path.read_text().splitlines()


@pytest.mark.parametrize('name', ['ImCLEF07A', 'ImCLEF07D', 'news20'])
def test_training_sets_are_drawn_from_what_is_not_held_out(prepared, name):
    folder = prepared / name
    held, rest, classes = (
        lines(folder / 'held.svm'),
        lines(folder / 'train-all-0.svm'),
        sorted((CODES, GROUPS)[name == 'news20']),
    )
    assert len(held) == 8 and len(rest) == 32 and len(lines(folder / 'test.svm')) == 20
    for draw in range(2):
        small, large = (lines(folder / f'train-{size}-{draw}.svm') for size in (2, 3))
        assert [line.split()[0] for line in small] == [one for one in classes for _ in range(2)]
        assert len(large) == 12 and set(small) < set(large) <= set(rest)
    assert lines(folder / 'train-2-0.svm') != lines(folder / 'train-2-1.svm')


def test_attributes(prepared):
    code, constant, *values = lines(prepared / 'ImCLEF07A' / 'test.svm')[2].split()
    assert code == '1/2/0' and constant == '1:1'
    assert sum(float(value.split(':')[1]) ** 2 for value in values) == pytest.approx(1, abs=1e-5)
    posts = [line.split() for name in ('held', 'train-all-0') for line in lines(prepared / 'news20' / f'{name}.svm')]
    # words by the alphabet: common, group0 to group3, subject0, subject1; no header but the subject, no rare word
    assert {value.split(':')[0] for post in posts for value in post[1:]} <= set('1234567')
    for group, *values in posts:
        k = GROUPS.index(group)
        assert {2 + k, 6 + k % 2} <= {int(value.split(':')[0]) for value in values} <= {1, 2 + k, 6 + k % 2}


def test_what_is_made_up(data, monkeypatch):
    """Examples lie along their class's sum of vectors, which brothers share more of than others."""
    prepare = script('prepare', monkeypatch)
    monkeypatch.setattr(prepare, 'BRANCHES', (2, 2, 2))
    train, test = prepare.made_up()
    assert len(train) == 160 and len(test) == 80
    means = {}
    for name, values in train:
        assert sum(value**2 for value in values.values()) == pytest.approx(1)
        means[name] = means.get(name, 0) + np.array(list(values.values())) / 20
    by_height = [[means[a] @ means[b] for a, b in pairs] for pairs in (
        [('0/0/0', '0/0/1'), ('1/1/0', '1/1/1')], [('0/0/0', '0/1/1'), ('1/0/1', '1/1/0')],
        [('0/0/0', '1/0/0'), ('0/1/1', '1/1/1')])]  # fmt: skip
    near, far, farthest = map(np.mean, by_height)
    assert near > far > farthest


def test_taxonomies(prepared):
    assert (prepared / 'ImCLEF07A' / 'taxonomy').read_text().split('\n') == [
        '1\ttop\t1', '1/0\t1\t1', '1/0/0\t1/0\t1', '1/0/b\t1/0\t1', '1/2\t1\t1', '1/2/0\t1/2\t1',
        '3\ttop\t1', '3/1\t3\t1', '3/1/0\t3/1\t1', '',
    ]  # fmt: skip
    # nodes of a single class are left out, and all classes are as far below the top
    assert (prepared / 'news20' / 'taxonomy').read_text().split('\n') == [
        'alt.a\ttop\t3', 'comp\ttop\t1', 'comp.sys\tcomp\t1', 'comp.sys.ibm.pc\tcomp.sys\t1',
        'comp.sys.mac\tcomp.sys\t1', 'comp.x\tcomp\t2', '',
    ]  # fmt: skip


def test_the_tree_loss_is_that_of_the_program(prepared, monkeypatch):
    run = script('run', monkeypatch)
    for name, classes, wanted in (
        ('ImCLEF07A', CODES, [[0, 1, 2, 3], [1, 0, 2, 3], [2, 2, 0, 3], [3, 3, 3, 0]]),
        ('news20', GROUPS, [[0, 3, 3, 3], [3, 0, 1, 2], [3, 1, 0, 2], [3, 2, 2, 0]]),
    ):
        loss, taxonomy = (
            run.tree_loss(prepared / name / 'taxonomy'),
            read_taxonomy(prepared / name / 'taxonomy', classes),
        )
        assert [[loss(a, b) for b in classes] for a in classes] == wanted
        np.testing.assert_array_equal(taxonomy.loss(), wanted)
        np.testing.assert_allclose(taxonomy.similarity(), 3 - np.array(wanted))


def test_figures_are_those_of_the_program(prepared, program, monkeypatch):
    run, train = script('run', monkeypatch), prepared / 'ImCLEF07A' / 'train-2-0.svm'
    found = run.measure(program, train, 'tax tree', 1)
    for part in ('held', 'test'):
        subprocess.run(
            [program, 'predict', '-q', '--metrics', prepared / 'metrics', train.parent / f'{part}.svm',
             train.parent / 'model', prepared / 'found'], check=True)  # fmt: skip
        metrics = json.loads((prepared / 'metrics').read_text())
        assert 0 < found[part]['accuracy'] < 100  # a test that can fail
        assert found[part]['accuracy'] == pytest.approx(100 * metrics['accuracy'])
        assert found[part]['tree_loss'] == pytest.approx(metrics['task_loss'])
        assert found[part]['class_accuracy'] == pytest.approx(found[part]['accuracy'])  # classes of the same size


def test_the_table(prepared, program, monkeypatch):
    run = script('run', monkeypatch)
    monkeypatch.setattr(run, 'LAMBDAS', (1, 0.1))
    (prepared / 'made-up' / 'taxonomy').unlink()
    monkeypatch.setattr(run, 'METHODS', {name: run.METHODS[name] for name in ('flat 0/1', 'tax tree')})
    for name in ('ImCLEF07D', 'news20'):
        (prepared / name / 'taxonomy').unlink()
    for path in (prepared / 'ImCLEF07A').glob('train-3-*'):
        path.unlink()
    run.main([str(prepared), '--ssvm', program])
    with open(prepared / 'table1.csv', newline='') as stream:
        table = list(csv.DictReader(stream))
    keys = [(row['size'], row['choice'], row['method']) for row in table]
    assert keys == [(size, choice, m) for size in ('2', 'all') for choice in ('common', 'own') for m in run.METHODS]
    kept = {path.stem: json.loads(path.read_text()) for path in (prepared / 'ImCLEF07A' / 'runs').iterdir()}
    assert len(kept) == 3 * 2 * 2

    def mean(part, figure, size, method, lambda_n):
        name = method.replace(' ', '-').replace('/', '')
        runs = [kept[f'train-{size}-{draw}-{name}-{lambda_n}'] for draw in range(2 if size == '2' else 1)]
        return np.mean([one[part][figure] for one in runs])

    for row in table:
        size, method, chosen = row['size'], row['method'], row['lambda_n']
        assert float(row['accuracy']) == pytest.approx(mean('test', 'accuracy', size, method, chosen), abs=1e-3)
        assert bool(row['tree_loss_sd']) == (size == '2')
        methods = run.METHODS if row['choice'] == 'common' else [method]
        held = {x: sum(mean('held', 'tree_loss', size, m, x) for m in methods) for x in ('1', '0.1')}
        assert held[chosen] == min(held.values())
        base = next(r for r in table if (r['size'], r['choice'], r['method']) == (size, row['choice'], 'flat 0/1'))
        change = float(row['tree_loss']) - float(base['tree_loss'])
        assert float(row['tree_loss_change']) == pytest.approx(change, abs=2e-3)
    # a second run takes the figures that were kept
    before = (prepared / 'table1.csv').read_bytes()
    run.main([str(prepared), '--ssvm', 'not-there'])
    assert (prepared / 'table1.csv').read_bytes() == before


def test_without_a_data_set(data, monkeypatch, capsys):
    (data / 'news20_taxonomy' / '20news-bydate.tar.xz').unlink()
    prepare = script('prepare', monkeypatch)
    monkeypatch.setattr(prepare, 'BRANCHES', (1, 1, 2))
    prepare.main(data / 'out')
    assert 'skipped: news20: data set news20_taxonomy is not there' in capsys.readouterr().err
    assert sorted(path.name for path in (data / 'out').iterdir()) == ['ImCLEF07A', 'ImCLEF07D', 'made-up']
    monkeypatch.setenv('SSVM_DATA', str(data / 'nowhere'))
    prepare.main(data / 'other')
    assert 'skipped: ImCLEF07D: data set taxonomy_imclef is not there' in capsys.readouterr().err
    assert [path.name for path in (data / 'other').iterdir()] == ['made-up']


def test_the_page_names_the_methods(monkeypatch):
    page = (FOLDER / 'README.md').read_text()
    assert all(f'| {method} |' in page for method in script('run', monkeypatch).METHODS)
