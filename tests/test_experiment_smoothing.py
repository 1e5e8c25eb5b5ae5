"""The script of experiments/smoothing on made-up sentences, through the real program: curves, tables, kept runs."""

import csv
import importlib.util
import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'experiments' / 'smoothing'


@pytest.fixture
def script(monkeypatch):
    """run.py with few passes, and few settings to try."""
    spec = importlib.util.spec_from_file_location('smoothing_run', FOLDER / 'run.py')
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    for name, value in {
        'CALLS': 9,
        'SHOWN': (5, 9),
        'SMOOTHINGS': (0.1, 1.0),
        'MOST': (2, 5),
        'STEPS': (0.03, 0.1),
        'LAMBDAS': (2, 20),
    }.items():
        monkeypatch.setattr(module, name, value)
    return module


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """Sentences in the format of CoNLL-2002, where $SSVM_DATA says."""
    rng = random.Random(0)
    (tmp_path / 'conll2002_spanish').mkdir()
    for name, size in (('esp.train', 30), ('esp.testa', 15)):
        blocks = []
        for _ in range(size):
            words = [rng.choice('abcd') for _ in range(rng.randrange(2, 6))]
            tags = ['B-PER' if word == 'a' else rng.choice(['O', 'B-LOC']) if word == 'b' else 'O' for word in words]
            blocks.append(''.join(f'{w.upper()}{w} NC {t}\n' for w, t in zip(words, tags, strict=True)))
        (tmp_path / 'conll2002_spanish' / name).write_text('\n'.join(blocks))
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))


def rows(path):
    with open(path, newline='') as stream:
        return list(csv.DictReader(stream))


def test_figures(script, corpus, program, tmp_path, capsys):
    out = tmp_path / 'out'
    script.main([str(out), '--ssvm', program])
    assert (out / 'train.txt').read_text().splitlines()[0].split()[1:4] in ([2 * w, 'Xx', 'NC'] for w in 'abcd')
    smoothed, said = ('svrg', 'sc-svrg-const', 'sc-svrg-adapt'), capsys.readouterr().out
    keys = {
        'figure2': [
            (n, name) for n in ('2', '20') for name in ('bcfw-wavg', 'bcfw, default', 'sgd', *smoothed, 'sc-svrg-fixed')
        ],
        'figure3a': [(name, mu) for name in smoothed for mu in ('0.1', '1.0')],
        'figure3b': [(name, k) for name in smoothed[1:] for k in ('2', '5')],
        'steps': [(n, step) for n in ('2', '20') for step in ('0.03', '0.1')],
    }
    for figure, wanted in keys.items():
        curves, table = rows(out / f'{figure}.csv'), rows(out / f'{figure}-table.csv')
        names = list(curves[0])[: len(wanted[0])]
        assert [tuple(row[name] for name in names) for row in table] == wanted
        for key, cells in zip(wanted, table, strict=True):
            mine = [row for row in curves if tuple(row[name] for name in names) == key]
            calls = [float(row['oracle_calls']) for row in mine]
            gaps = [float(row['objective_gap']) for row in mine]
            assert calls == sorted(calls) and len(mine) == (6 if figure != 'figure2' or 'svrg' in key[1] else 9)
            assert gaps == sorted(gaps, reverse=True) and gaps[-1] >= -1e-9  # the best so far, above the lower bound
            for limit in script.SHOWN:
                shown = [gap for gap, made in zip(gaps, calls, strict=True) if made <= limit * 1.02]
                assert cells[f'objective_gap_{limit}'] == (f'{shown[-1]:.4g}' if shown else '')
                assert bool(cells[f'dev_f1_{limit}']) == bool(shown)
    # the fixed step is the one with the lowest objective
    for n in ('2', '20'):
        tried = [row['objective_gap_9'] for row in rows(out / 'steps-table.csv') if row['lambda_n'] == n]
        (chosen,) = (
            row for row in rows(out / 'figure2-table.csv') if (row['lambda_n'], row['method']) == (n, 'sc-svrg-fixed')
        )
        assert float(chosen['objective_gap_9']) == min(map(float, tried))
    # the smoothing of the tuned methods is one with the best F1
    for name in script.TUNED:
        final = {row['mu']: float(row['dev_f1_9']) for row in rows(out / 'figure3a-table.csv') if row['method'] == name}
        first, _ = (line.split()[-1] for line in said.splitlines() if line.startswith(f'{name}: mu = '))
        assert final[f'{float(first)}'] == max(final.values())


def test_finished_runs_are_kept(script, corpus, program, tmp_path):
    out = tmp_path / 'out'
    script.main([str(out), '--ssvm', program])
    before = (out / 'figure2.csv').read_bytes()
    script.main([str(out), '--ssvm', 'not-there'])
    assert (out / 'figure2.csv').read_bytes() == before
    # one that is missing is run again
    (out / 'lambda-2' / 'sgd.csv').unlink()
    with pytest.raises(FileNotFoundError, match='not-there'):
        script.main([str(out), '--ssvm', 'not-there'])


def test_a_run_that_fails_leaves_nothing_to_be_kept(script, corpus, program, tmp_path, monkeypatch):
    monkeypatch.setitem(script.OTHERS, 'sgd', ('sgd', 'nothing=1'))
    with pytest.raises(SystemExit, match='nothing'):
        script.main([str(tmp_path / 'out'), '--ssvm', program])
    kept = [path.name for path in (tmp_path / 'out' / 'lambda-2').glob('*.csv')]
    assert 'reference.csv' in kept and 'sgd.csv' not in kept


def test_without_the_data_set(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('SSVM_DATA', str(tmp_path / 'nowhere'))
    script.main([str(tmp_path / 'out'), '--ssvm', 'not-there'])
    assert 'skipped: data set conll2002_spanish is not there' in capsys.readouterr().out
    assert not (tmp_path / 'out').exists()
