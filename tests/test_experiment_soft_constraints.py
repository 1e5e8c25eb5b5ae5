"""The scripts of experiments/soft_constraints on made-up sets of labels, through the real program, and the page."""

import csv
import gzip
import io
import json
import pickle
import random
import re
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parent.parent / 'experiments' / 'soft_constraints'
LABELS = [f'l{k}' for k in range(4)]
SETS, PICTURES = ('yeast', 'rcv1', 'rcv1-10', 'grids'), {'train': 8, 'test': 4}
YEAST = {'exact': ('',), 'lp': ('',), 'soft': ('1', '1/n', '0.01/n'), 'Algorithm 1': ('1/n',), 'n-slack': ('1/n',)}
RCV1 = {'lp': ('',), 'dlpw': ('',), 'falling rho': ('1/n:0.01/n:0.1',), 'multipliers': ('0.1/n',)}
GRIDS = {'lp': ('',), 'soft': ('0.01/n',)}


def arff(size, seed):
    """Examples whose labels say whether sums of attributes are large; l3 is rare."""
    rng = random.Random(seed)
    names = [*LABELS, *(f'x{k}' for k in range(4))]
    lines = ['@relation sets', *(f'@attribute {name} {"{0,1}" if name in LABELS else "numeric"}' for name in names)]
    lines.append('@data')
    for _ in range(size):
        x = [rng.gauss(0, 1) for _ in range(4)]
        sums = (x[0], x[0] + x[1], x[2] - x[1], x[3] - 1.5)
        labels = [int(value + rng.gauss(0, 0.3) > 0) for value in sums]
        lines.append(','.join([*map(str, labels), *(f'{value:.3f}' for value in x)]))
    return '\n'.join(lines) + '\n'


@pytest.fixture
def prepared(script, program, tmp_path, monkeypatch):
    """The folder that prepare.py has made of small sets, with small settings for what follows."""
    xml = '<labels xmlns="http://mulan.sourceforge.net/labels">' + ''.join(f'<label name="{x}"/>' for x in LABELS)
    root = tmp_path / 'multilabel'
    for name, files in {
        'yeast': {'yeast-train.arff.gz': arff(40, 0), 'yeast-test.arff': arff(20, 1), 'yeast.xml': xml + '</labels>'},
        'rcv1subset1': {'rcv1subset1500.arff.gz': arff(60, 2), 'rcv1subset1500.xml': xml + '</labels>'},
    }.items():
        (root / name).mkdir(parents=True)
        for file, text in files.items():
            with (gzip.open if file.endswith('gz') else open)(root / name / file, 'wt') as out:
                out.write(text)
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    lp, soft = ('--gap-every', 1, '--rel-gap', 1e-3), ('--gap-every', 1, '--rel-gap', 1e-3, '--max-passes', 200)
    for name, values in {
        'prepare': {'LABELS': 3, 'TRAINING': 40, 'FEW': 10, 'SIZES': {10: 2}, 'SIDE': 3, 'PICTURES': PICTURES},
        'runs': {
            'TIMES': dict.fromkeys(SETS, 1),
            'RUNS': {'yeast': YEAST, 'rcv1': RCV1, 'grids': GRIDS},
            'LP_LIMITS': dict.fromkeys(SETS, lp),
            'LIMITS': dict.fromkeys(SETS, soft),
        },
    }.items():
        for key, value in values.items():
            monkeypatch.setattr(script(name), key, value)
    script('prepare').main([str(tmp_path / 'out'), '--ssvm', program])
    return tmp_path / 'out'


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_prepared_sets(prepared):
    lines = {path.relative_to(prepared).as_posix(): path.read_text().splitlines() for path in prepared.rglob('*.*')}
    assert {name: len(found) for name, found in lines.items()} == {
        'yeast/train.ml': 40, 'yeast/test.ml': 20, 'yeast/parts/10-0.ml': 10, 'yeast/parts/10-1.ml': 10,
        'rcv1/train.ml': 40, 'rcv1/test.ml': 20, 'rcv1-10/train.ml': 10, 'rcv1-10/test.ml': 20,
        'grids/train.jsonl': 8, 'grids/test.jsonl': 4,
    }  # fmt: skip
    assert lines['rcv1-10/train.ml'] == lines['rcv1/train.ml'][:10]
    assert not set(lines['rcv1/train.ml']) & set(lines['rcv1/test.ml'])
    assert lines['yeast/parts/10-0.ml'] != lines['yeast/parts/10-1.ml']
    assert set(lines['yeast/parts/10-0.ml']) <= set(lines['yeast/train.ml'])
    kept = {
        name: {label for line in lines[f'{name}/train.ml'] for label in line.split(' ')[0].split(',')} - {''}
        for name in ('yeast', 'rcv1')
    }
    assert kept == {'yeast': set(LABELS), 'rcv1': set(LABELS[:3])}


def test_figure1(script, prepared, program):
    """A small rho is nearer to the relaxed optimum, and bounds are in their order."""
    script('figure1').main([str(prepared), '--ssvm', program])
    relaxed, exact = rows_of(prepared / 'optima.csv')
    assert float(exact['dual']) <= float(relaxed['primal'])
    for row in rows_of(prepared / 'figure1.csv'):
        assert float(relaxed['dual']) - 1e-9 <= float(row['relaxed_primal'])
        assert float(row['dual']) <= float(row['primal']) + 1e-9
    table = {(row['method'], row['rho']): row for row in rows_of(prepared / 'rho.csv')}
    assert list(table) == [('Algorithm 1', '1/n'), ('soft', '1'), ('soft', '1/n'), ('soft', '0.01/n')]
    ends = [float(table['soft', rho]['relaxed_primal_100']) for rho in ('1', '1/n')]
    assert ends == sorted(ends, reverse=True) and ends[1] <= 1.2 * float(relaxed['primal'])


def test_figure2(script, prepared, program):
    script('figure2').main([str(prepared), '--ssvm', program])
    table = {(row['set'], row['method'], row['rho']): row for row in rows_of(prepared / 'speed.csv')}
    assert len(table) == sum(len(rhos) for runs in (YEAST, RCV1, GRIDS) for rhos in runs.values())
    assert {row['set'] for row in rows_of(prepared / 'figure2.csv') if row['score']} == {'yeast'}
    for (name, method, _), row in table.items():
        assert 0 <= float(row['error']) < 60 and bool(row['micro_f1']) == (name != 'grids')
        if row['seconds_1']:
            least = min(float(other['relaxed']) for key, other in table.items() if key[0] == name and other['relaxed'])
            assert float(row['relaxed']) <= 1.01 * least + 1e-3
            assert float(row['seconds_10']) <= float(row['seconds_5']) <= float(row['seconds_1'])
        if method == 'lp':
            assert row['seconds_1'] and row['times_1'] == '1.0'
    assert table['rcv1', 'multipliers', '0.1/n']['seconds_5'] and table['grids', 'soft', '0.01/n']['seconds_5']
    before = (prepared / 'speed.csv').read_bytes()  # what was run is kept
    script('figure2').main([str(prepared), '--ssvm', 'not-there'])
    assert (prepared / 'speed.csv').read_bytes() == before


def test_seconds_until(script):
    figure2 = script('figure2')
    lp, points = [(1, 4.0, 9.0), (2, 8.0, 5.0)], [(1, 0.5, 6.0), (2, 1.0, 4.0)]
    assert [figure2.first(points, limit) for limit in (7, 5, 3)] == [0.5, 1.0, '']
    assert [figure2.faster(lp, points, limit) for limit in (7, 5, 4.5, 3)] == ['16.0', '8.0', '> 8.0', '']


def test_weights(script, prepared, program, monkeypatch, capsys):
    """Linear programs judge weights no worse than any delta does, and no better than the optimum of all weights."""
    weights, runs = script('weights'), script('runs')
    monkeypatch.setattr(weights, 'LP_PASSES', 30)
    monkeypatch.setattr(weights, 'RUNS', (('soft', '0.1/n', 4), ('soft', '0.1/n', 200)))
    weights.main([str(prepared), '--ssvm', program])
    sooner = r'within 1 % [\d.]+ times sooner than lp'
    assert re.search(rf'^rcv1: {sooner}; by the log {sooner}$', capsys.readouterr().out, re.M)
    *lp, early, late = rows_of(prepared / 'weights.csv')
    assert [row['method'] for row in lp] == ['lp'] * 15 and lp[-1]['passes'] == '30'
    best = float(lp[-1]['relaxed'])
    logged, _ = runs.Set(program, prepared / 'rcv1').run('soft', '0.1/n')
    assert best - 1e-4 <= float(late['relaxed']) <= min(row['relaxed_primal'] for row in logged) + 1e-4
    assert float(late['relaxed']) <= 1.01 * best < float(early['relaxed'])
    assert (early['within'], late['within']) == ('0', '1')
    assert all(float(row['relaxed']) <= float(row['logged']) + 1e-4 for row in (early, late))


def test_weights_that_are_not_near(script):
    rows = [{'method': method, 'seconds': 1.0, 'within': within} for method, within in (('lp', 1), ('soft', 0))]
    assert script('weights').summary(rows) == 'not both within 1 %'


def test_figure3(script, prepared, program):
    script('figure3').main([str(prepared), '--ssvm', program])
    table = rows_of(prepared / 'figure3.csv')
    assert [(row['rho'], row['M'], row['samples']) for row in table] == [
        (rho, *of) for rho in ('1', '1/n') for of in (('10', '2'), ('40', '1'))
    ]
    for row in table:
        assert (
            float(row['difference_at_least']) <= float(row['difference_at_most'])
            and float(row['difference_at_most']) >= 0
        )
    assert float(table[3]['difference_at_most']) < float(table[1]['difference_at_most'])


def test_rho_in_units(script):
    assert [script('runs').number(rho, 50) for rho in ('10', '1/n', '10/n:0.1/n:0.1')] == [
        '10',
        '0.02',
        '0.2:0.002:0.1',
    ]


def test_a_run_that_fails_is_not_kept(script, prepared, program, monkeypatch):
    runs = script('runs')
    monkeypatch.setitem(runs.METHODS, 'wrong', ('--set', 'nothing=1'))
    with pytest.raises(SystemExit, match='nothing'):
        runs.Set(program, prepared / 'yeast').run('wrong')
    assert not list((prepared / 'yeast' / 'runs').glob('wrong*'))


def test_without_the_data_sets(script, program, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('SSVM_DATA', str(tmp_path / 'nowhere'))
    script('prepare').main([str(tmp_path / 'out'), '--ssvm', 'not-there'])
    said = capsys.readouterr().err
    assert 'skipped: data set yeast is not there' in said and 'skipped: data set rcv1subset1 is not there' in said
    assert [data.name for data in script('runs').sets(Namespace(ssvm='', folder=tmp_path / 'out'), *SETS)] == ['grids']
    for name in ('figure1', 'figure3'):
        script(name).main([str(tmp_path / 'out'), '--ssvm', 'not-there'])
    assert 'skipped: yeast is not in' in capsys.readouterr().err and not list(tmp_path.glob('**/*.csv'))


def test_stars(script, program, tmp_path, monkeypatch):
    """Small pictures with coarse stars: dynamic programs solve what linear programs do, and stars help."""
    colours = np.array([[0, 0, 255], [255, 0, 0], [0, 255, 0]], np.uint8)
    rng = np.random.default_rng(0)
    labels = [rng.integers(3, size=(4, 3)) for _ in range(12)]
    data = {f'Y_{part}': several for part, several in (('train', labels[:8]), ('test', labels[8:]))}
    data |= {f'X_{part}': [colours[each] for each in data[f'Y_{part}']] for part in ('train', 'test')}
    (tmp_path / 'snakes').mkdir()
    (tmp_path / 'snakes' / 'snakes.pickle').write_bytes(pickle.dumps(data, protocol=3))
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    small = ('--rel-gap', 1e-3, '--gap-every', 1, '--max-passes', 200)
    for name, values in {
        'pictures': {'CLASSES': 3, 'SIDE': 3, 'COARSE': 2, 'FOLDS': 2},
        'stars': {'COUNTS': {'train': 20, 'test': 10}},
        'runs': {'LP_LIMITS': {'stars': small, 'snakes': small}, 'LIMITS': {'stars': small, 'snakes': small}},
    }.items():
        for key, value in values.items():
            monkeypatch.setattr(script(name), key, value)
    script('stars').main([str(tmp_path), '--ssvm', program])
    table = {(row['set'], row['model']): row for row in rows_of(tmp_path / 'stars.csv')}
    assert [int(row['weights']) for row in table.values()] == [3, 4, 4, 21] * 2
    assert float(table['stars', 'stars']['wrong']) < float(table['stars', 'alone']['wrong']) < 60
    assert float(table['snakes', 'alone']['wrong']) < 5, 'colours tell'
    speed = {(row['set'], row['method'], row['rho']): row for row in rows_of(tmp_path / 'stars-speed.csv')}
    for name in ('stars', 'snakes'):
        lp, tree = (float(speed[name, method, '']['relaxed']) for method in ('lp', 'tree'))
        assert lp == pytest.approx(tree, rel=1e-2), 'the relaxation of trees is exact'
        assert all(float(row['relaxed']) >= (1 - 1e-3) * min(lp, tree) for row in speed.values() if row['set'] == name)


def test_pictures_without_loops(script, monkeypatch):
    """Each fine node is joined with the coarse one that it is in, and has one score for each class."""
    pictures = script('pictures')
    monkeypatch.setattr(pictures, 'SIDE', 4)
    labels, within, of_coarse, fine, coarse = picture = pictures.made_up(1, 3)[0]
    assert (
        fine.shape == (16, 21)
        and coarse.shape == (len(of_coarse), 21)
        and set(within.ravel()) == set(range(len(coarse)))
    )
    np.testing.assert_allclose(np.exp(fine).sum(axis=1), 1)
    stars = json.loads(pictures.graph(picture, 'stars'))
    assert [node['label'] for node in stars['nodes']] == [*labels.ravel(), *of_coarse]
    assert [factor['nodes'] for factor in stars['factors']] == [[v, 16 + k] for v, k in enumerate(within.ravel())]
    assert len(json.loads(pictures.graph(picture, 'neighbours'))['factors']) == 24
    assert 'factors' not in json.loads(pictures.graph(picture, 'alone'))


def test_nothing_but_arrays_is_unpickled(script):
    with pytest.raises(pickle.UnpicklingError, match='is no array'):
        script('pictures').Arrays(io.BytesIO(pickle.dumps(Namespace()))).load()
