"""The scripts of experiments/soft_constraints on made-up sets of labels, through the real program, and the page."""

import csv
import gzip
import importlib
import random
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / 'experiments' / 'soft_constraints'
LABELS = [f'l{k}' for k in range(4)]


@pytest.fixture
def script(monkeypatch):
    """Imports a script of the folder, which is forgotten afterwards."""
    names = [path.stem for path in FOLDER.glob('*.py')]
    monkeypatch.syspath_prepend(FOLDER.parent)
    monkeypatch.syspath_prepend(FOLDER)
    assert not set(names) & set(sys.modules)
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)


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
    for name, values in {
        'prepare': {'LABELS': 3, 'TRAINING': 40, 'FEW': 10},
        'runs': {'SIZES': {10: 2}, 'TIMES': {'yeast': 1, 'rcv1': 1, 'rcv1-10': 1}},
        'figure2': {
            'RHOS': {'rcv1': ('1/n', '10/n'), 'rcv1-10': ('1/n',)},
            'LP': dict.fromkeys(('rcv1', 'rcv1-10'), ('--gap-every', 1)),
            'SOFT': dict.fromkeys(('rcv1', 'rcv1-10'), ('--gap-every', 1, '--max-passes', 300)),
            'OTHERS': {'yeast': ('eg', 'n-slack'), 'rcv1': (), 'rcv1-10': ()},
        },
    }.items():
        for key, value in values.items():
            monkeypatch.setattr(script(name), key, value)
    script('prepare').main([str(tmp_path / 'out'), '--ssvm', program])
    return tmp_path / 'out'


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_prepared_sets(prepared):
    lines = {path.relative_to(prepared).as_posix(): path.read_text().splitlines() for path in prepared.glob('*/*.ml')}
    assert {name: len(found) for name, found in lines.items()} == {
        'yeast/train.ml': 40, 'yeast/test.ml': 20, 'yeast/train-10-0.ml': 10, 'yeast/train-10-1.ml': 10,
        'rcv1/train.ml': 40, 'rcv1/test.ml': 20, 'rcv1-10/train.ml': 10, 'rcv1-10/test.ml': 20,
    }  # fmt: skip
    assert lines['rcv1-10/train.ml'] == lines['rcv1/train.ml'][:10]
    assert not set(lines['rcv1/train.ml']) & set(lines['rcv1/test.ml'])
    assert lines['yeast/train-10-0.ml'] != lines['yeast/train-10-1.ml']
    assert set(lines['yeast/train-10-0.ml']) <= set(lines['yeast/train.ml'])
    kept = {
        name: {label for line in found for label in line.split(' ')[0].split(',')} - {''}
        for name, found in lines.items()
    }
    assert kept['yeast/train.ml'] == set(LABELS) and kept['rcv1/train.ml'] == set(LABELS[:3])


def test_figures(script, prepared, program):
    arguments = [str(prepared), '--ssvm', program]
    script('figure1').main(arguments)
    relaxed, exact = rows_of(prepared / 'optima.csv')
    assert float(exact['dual']) <= float(relaxed['primal'])
    drawn = rows_of(prepared / 'figure1.csv')
    assert len({(row['method'], row['rho']) for row in drawn}) == 2 * 8
    for row in drawn:
        assert float(relaxed['dual']) - 1e-9 <= float(row['relaxed_primal'])
        assert float(row['dual']) <= float(row['primal']) + 1e-9
    table = {(row['method'], row['rho']): row for row in rows_of(prepared / 'rho.csv')}
    ends = [float(table['accelerated', rho]['relaxed_primal_100']) for rho in ('1', '1/n', '0.1/n')]
    assert ends == sorted(ends, reverse=True) and ends[-1] <= 1.1 * float(relaxed['primal'])

    script('figure2').main(arguments)
    table = {(row['set'], row['method'], row['rho']): row for row in rows_of(prepared / 'speed.csv')}
    assert {key[:2] for key in table} >= {('yeast', 'exact'), ('yeast', 'n-slack'), ('rcv1', 'lp'), ('rcv1-10', 'lp')}
    for (name, method, _), row in table.items():
        assert 0 <= float(row['hamming_loss']) < 50 and 30 < float(row['micro_f1']) <= 100
        if row['seconds_1']:
            least = min(float(other['relaxed']) for key, other in table.items() if key[0] == name and other['relaxed'])
            assert float(row['relaxed']) <= 1.01 * least + 1e-3
            assert float(row['seconds_10']) <= float(row['seconds_5']) <= float(row['seconds_1'])
        if method == 'lp':
            assert row['seconds_1'] and row['times_1'] == '1.0'
    assert any(row['seconds_1'] for key, row in table.items() if key[:2] == ('rcv1', 'accelerated'))

    script('figure3').main(arguments)
    table = rows_of(prepared / 'figure3.csv')
    assert [(row['rho'], row['M'], row['samples']) for row in table] == [
        (rho, *of) for rho in ('1', '1/n') for of in (('10', '2'), ('40', '1'))
    ]
    for row in table:
        assert -1e-6 <= float(row['difference_at_least']) <= float(row['difference_at_most'])
    # what was run is kept
    before = (prepared / 'speed.csv').read_bytes()
    script('figure2').main([str(prepared), '--ssvm', 'not-there'])
    assert (prepared / 'speed.csv').read_bytes() == before


def test_a_run_that_fails_is_not_kept(script, prepared, program):
    data = script('runs').Set(program, prepared / 'yeast')
    with pytest.raises(SystemExit, match='nothing'):
        data.run('wrong', ('--set', 'nothing=1'))
    assert not list((prepared / 'yeast' / 'runs').glob('wrong*'))


def test_without_the_data_sets(script, program, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('SSVM_DATA', str(tmp_path / 'nowhere'))
    script('prepare').main([str(tmp_path / 'out'), '--ssvm', 'not-there'])
    said = capsys.readouterr().err
    assert 'skipped: data set yeast is not there' in said and 'skipped: data set rcv1subset1 is not there' in said
    for name in ('figure1', 'figure2', 'figure3'):
        script(name).main([str(tmp_path / 'out'), '--ssvm', 'not-there'])
    assert 'skipped: yeast is not in' in capsys.readouterr().err and not list(tmp_path.glob('**/*.csv'))
