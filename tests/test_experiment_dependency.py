"""The scripts of experiments/dependency on a made-up treebank: its projective part, tables, and the page."""

import csv
import random
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / 'experiments' / 'dependency'
CROSSING = [('a', 'd', 3), ('b', 'n', 4), ('c', 'n', 4), ('e', 'v', 0)]  # 3 -> 1 and 4 -> 2
OVER_THE_ROOT = [('a', 'd', 3), ('e', 'v', 0), ('b', 'n', 2)]  # 3 -> 1 passes over the root, 2


def sentence(rng):
    """Noun phrases around a verb: articles hang on the noun behind them, nouns on the verb."""
    kinds = [kind for _ in range(rng.randint(1, 3)) for kind in rng.choice(('n', 'dn', 'ddn'))]
    verb = rng.choice([i for i in range(len(kinds) + 1) if i == 0 or kinds[i - 1] == 'n'])
    kinds.insert(verb, 'v')
    heads = [verb + 1 if k == 'n' else 0 if k == 'v' else kinds.index('n', i) + 1 for i, k in enumerate(kinds)]
    return [(kind + str(rng.randrange(3)), kind, head) for kind, head in zip(kinds, heads, strict=True)]


def text(words):
    return ''.join(f'{i}\t{w}\t{w}\t{t}\t{t}\t_\t{h}\tX\t_\t_\n' for i, (w, t, h) in enumerate(words, 1)) + '\n'


@pytest.fixture
def treebank(tmp_path, monkeypatch):
    """The sentences of the made-up training and test part; two of either are not projective."""
    rng = random.Random(0)
    (tmp_path / 'conll2007_spanish').mkdir()
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    made = {}
    for part, size in (('train', 40), ('test', 20)):
        made[part] = [text(sentence(rng)) for _ in range(size)]
        odd = [text(CROSSING), text(OVER_THE_ROOT)]
        path = tmp_path / 'conll2007_spanish' / f'esp.{part}'
        path.write_text(''.join(made[part][:5] + odd + made[part][5:]))
    return made


@pytest.fixture
def prepared(tmp_path, treebank, script):
    script('prepare').main(tmp_path / 'out')
    return tmp_path / 'out'


def rows(path):
    with open(path, newline='') as stream:
        return list(csv.DictReader(stream))


def test_files(prepared, treebank, script):
    assert (prepared / 'train.conllx').read_text() == ''.join(treebank['train'])
    assert (prepared / 'test.conllx').read_text().count('\n\n') == len(treebank['test']) + 2
    script('prepare').main(prepared, 7)
    assert (prepared / 'train.conllx').read_text() == ''.join(treebank['train'][:7])


def test_without_the_data_set(tmp_path, monkeypatch, script):
    monkeypatch.setenv('SSVM_DATA', str(tmp_path / 'nowhere'))
    with pytest.raises(SystemExit, match='skipped: data set conll2007_spanish is not there'):
        script('prepare').main(tmp_path / 'out')
    assert not (tmp_path / 'out').exists()


def test_tables(prepared, program, monkeypatch, script):
    convergence, max_margin = script('convergence'), script('max_margin')
    monkeypatch.setattr(convergence, 'CS', (10,))
    monkeypatch.setattr(max_margin, 'CS', (10,))
    monkeypatch.setattr(script('effective_passes'), 'STEPS', (0.03, 1e-6))
    given = [str(prepared), '--ssvm', program, '--passes', '30']
    convergence.main(given)
    max_margin.main(given)
    logs = {row['method']: row for row in rows(prepared / 'log_linear' / 'convergence.csv')}
    assert list(logs) == [method.name for method in convergence.METHODS]
    assert logs['SGD, tuned step']['first_step'] == '0.03'
    hinges = {row['method']: row for row in rows(prepared / 'max_margin' / 'convergence.csv')}
    assert list(hinges) == [method.name for method in max_margin.METHODS]
    for table, best, names in ((logs, 'EG', list(logs)), (hinges, 'n-slack', ['one-slack', 'bcfw'])):
        optimum = float(table[best]['objective'])
        assert [float(table[name]['objective']) for name in names] == pytest.approx([optimum] * len(names), rel=0.01)
        assert all(float(row['cpu_seconds']) > 0 for row in table.values())
    assert float(hinges['eg']['objective']) == pytest.approx(float(hinges['n-slack']['objective']), rel=0.2)
    # a second run takes the logs that were kept
    convergence.main([str(prepared), '--ssvm', 'not-there', '--passes', '30'])
    assert {row['method']: row for row in rows(prepared / 'log_linear' / 'convergence.csv')} == logs


def test_path(prepared, program, monkeypatch, script):
    path = script('path')
    monkeypatch.setattr(path, 'VALUES', 3)
    path.main([str(prepared), '--ssvm', program])
    table = rows(prepared / 'path' / 'path.csv')
    assert [row['C'] for row in table] == ['1000', '700', '490']
    assert all(float(row['EG, warm: relative gap']) <= 0.001 for row in table)


def test_the_page_names_the_methods(script):
    page = (FOLDER / 'README.md').read_text()
    convergence, max_margin = script('convergence'), script('max_margin')
    for method in (*convergence.METHODS, *max_margin.METHODS):
        assert f'| {method.name} |' in page
