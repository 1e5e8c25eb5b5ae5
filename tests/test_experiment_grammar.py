"""The scripts of experiments/grammar on made-up treebanks: folds, the table, and the page."""

import csv
import importlib.util
import json
import random
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'experiments' / 'grammar'
DOCUMENTS = {'GUM_news_a': 'train', 'GUM_bio_b': 'train', 'GUM_news_c': 'dev', 'GUM_bio_d': 'test'}
RUN = 'runs/svm2-margin--f1-10.json'
SPLITS = '# Splits\n\n## dev\n  * GUM_news_c\n\n## test\n  * GUM_bio_d\n## train\n  * GUM_news_a\n  * GUM_bio_b\n'


@pytest.fixture(autouse=True)
def run_of_this_experiment(monkeypatch):
    """What its other scripts import: experiments have a module of that name each."""
    monkeypatch.setitem(sys.modules, 'run', script('run', monkeypatch))


def script(name, monkeypatch):
    spec = importlib.util.spec_from_file_location(f'grammar_{name}', FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def sentence(rng, word):
    """Of 5 to 8 words, a trace is none; what `of` belongs to is not to be seen."""
    noun, others = f'(NP (NN {word}))', '(PP (IN of) (NP (NN dogs)))'
    after = f'{noun} {others}' if rng.random() < 0.5 else f'(NP {noun} {others})'
    before = rng.choice(['(NP (NN man))', '(NP (DT a) (NN man))', '(NP (NP (NN man)) (PP (IN of) (NP (NN age))))'])
    return f'( (S {before} (VP (VBZ sees)\n  {after} (-NONE- *T*)){" (. .)" * rng.randrange(2)}) )'


@pytest.fixture
def data(tmp_path, monkeypatch):
    rng = random.Random(0)
    (tmp_path / 'wsj_treebank_sample').mkdir()
    many = ''.join(f'\n{sentence(rng, k)}\n' for k in range(40))
    (tmp_path / 'wsj_treebank_sample' / 'wsj_sample.mrg').write_text(
        many + '( (X (-NONE- *)) )\n( (X ' + '(Y y)' * 11 + '))'
    )
    folder = tmp_path / 'gum_constituency' / 'const'
    folder.mkdir(parents=True)
    for name in (*DOCUMENTS, 'GUM_reddit_x', 'GENTLE_poetry_y'):
        (folder / f'{name}.ptb').write_text(''.join(f'{sentence(rng, name)}\n' for _ in range(10)))
    (folder.parent / 'splits.md').write_text(SPLITS)
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    return tmp_path


@pytest.fixture
def prepare(monkeypatch):
    module = script('prepare', monkeypatch)
    for name, value in {'DRAWS': 2, 'FOLDS': 2, 'FEW': 8, 'DRAWS_OF_FEW': 3}.items():
        monkeypatch.setattr(module, name, value)
    return module


@pytest.fixture
def prepared(data, prepare):
    prepare.main(data / 'out')
    return data / 'out'


def lines(path):
    return path.read_text().splitlines()


def test_folds_part_the_short_sentences(prepared):
    parts = [[lines(prepared / 'wsj' / str(d) / str(k) / 'test.mrg') for k in range(2)] for d in range(2)]
    short, again = (sorted(row for rows in draw for row in rows) for draw in parts)
    assert len(short) == 40 and again == short and parts[0] != parts[1]
    for d in range(2):
        assert lines(prepared / 'wsj' / str(d) / '0' / 'train.mrg') != parts[d][0]
        for k in range(2):
            train = lines(prepared / 'wsj' / str(d) / str(k) / 'train.mrg')
            assert sorted(train) == sorted(parts[d][1 - k])
    assert not any('(X' in line for line in short)
    longer = '( (X ' + '(Y y)' * 11 + '))'
    for k in '01':
        shorter, train = (lines(prepared / name / '0' / k / 'train.mrg') for name in ('wsj', 'wsj15'))
        assert train == [*shorter, longer]
        assert lines(prepared / 'wsj15' / '0' / k / 'test.mrg') == parts[0][int(k)]


def test_documents_stay_whole(prepared):
    for part, wanted in (('train', {'train'}), ('test', {'dev', 'test'})):
        rows = lines(prepared / 'gum' / '0' / '0' / f'{part}.mrg')
        found = {name for name in (*DOCUMENTS, 'GUM_reddit_x', 'GENTLE_poetry_y') if any(name in row for row in rows)}
        assert len(rows) == 20 and found == {name for name, its in DOCUMENTS.items() if its in wanted}


def test_draws_of_few_sentences(prepared):
    train, test = (set(lines(prepared / 'gum' / '0' / '0' / f'{part}.mrg')) for part in ('train', 'test'))
    folds = [prepared / 'gum314' / draw / '0' for draw in '012']
    draws = [lines(fold / 'train.mrg') for fold in folds]
    assert all(len(draw) == 8 and set(draw) <= train for draw in draws) and len({tuple(draw) for draw in draws}) == 3
    assert all(set(lines(fold / 'test.mrg')) == test for fold in folds)


def test_without_a_data_set(data, prepare, monkeypatch, capsys):
    (data / 'wsj_treebank_sample' / 'wsj_sample.mrg').unlink()
    prepare.main(data / 'out')
    assert 'skipped: wsj: data set wsj_treebank_sample is not there' in capsys.readouterr().err
    assert sorted(path.name for path in (data / 'out').iterdir()) == ['gum', 'gum314']
    (data / 'empty').mkdir()
    with pytest.raises(SystemExit, match='has no treebank'):
        script('run', monkeypatch).main([str(data / 'empty')])


def test_the_table(prepared, program, monkeypatch):
    run = script('run', monkeypatch)
    monkeypatch.setattr(run, 'METHODS', [run.METHODS[0], run.METHODS[3]])
    monkeypatch.setattr(run, 'SETS', {'wsj': (10,), 'gum': (10,)})
    for name in ('gum', 'gum314', 'wsj15', 'wsj/1/1'):
        shutil.rmtree(prepared / name)
    run.main([str(prepared), '--ssvm', str(program)])
    with open(prepared / 'table5.csv', newline='') as stream:
        counted, row = csv.DictReader(stream)
    assert (counted['set'], counted['method'], counted['C']) == ('wsj', 'PCFG', '1')
    assert (row['set'], row['method'], row['C']) == ('wsj', 'SVM2 margin, F1', '10')
    names = [['0/0', '0/1'], ['1/0']]
    folds = [[json.loads((prepared / 'wsj' / k / RUN).read_text()) for k in draw] for draw in names]
    for part in ('train', 'test'):
        sums = [{key: sum(fold[part][key] for fold in draw) for key in run.COUNTS} for draw in folds]
        f1 = [200 * one['right'] / (one['gold'] + one['found']) for one in sums]
        assert float(row[f'{part}_f1']) == pytest.approx(sum(f1) / 2, abs=1e-2) and 50 < sum(f1) / 2 < 100
        right = [100 * one['complete'] / one['sentences'] for one in sums]
        assert float(row[f'{part}_accuracy']) == pytest.approx(sum(right) / 2, abs=1e-2)
        assert [one['sentences'] for one in sums] == [40, 20]
    assert float(row['test_f1_sd']) == pytest.approx(abs(f1[0] - f1[1]) / 2**0.5, abs=1e-2)
    assert float(row['test_f1_gain']) == pytest.approx(float(row['test_f1']) - float(counted['test_f1']), abs=2e-2)
    assert float(row['constraints']) > 0 and float(counted['constraints']) == 0
    # a second run takes the figures that were kept
    before = (prepared / 'table5.csv').read_bytes()
    run.main([str(prepared), '--ssvm', 'not-there'])
    assert (prepared / 'table5.csv').read_bytes() == before


def test_losses(prepared, program, monkeypatch):
    losses = script('losses', monkeypatch)
    monkeypatch.setattr(losses, 'SETS', {'gum': (10,)})
    losses.main([str(prepared), '--ssvm', str(program)])
    with open(prepared / 'losses.csv', newline='') as stream:
        rows = list(csv.DictReader(stream))
    assert [row['method'] for row in rows] == [method.name for method in losses.METHODS]
    assert all(50 < float(row['test_f1']) < 100 and float(row['seconds']) > 0 for row in rows)


def test_the_unit_of_the_paper(prepared, program, monkeypatch):
    """C sum of squared slacks is lambda = 1 / (2 n C): what `run` has as C = 2 n."""
    unit, run = script('paper_unit', monkeypatch), script('run', monkeypatch)
    monkeypatch.setattr(unit, 'SETS', {'gum': (3,)})
    monkeypatch.setattr(unit, 'METHODS', [unit.METHODS[0], unit.METHODS[3]])
    unit.main([str(prepared), '--ssvm', str(program)])
    model = prepared / 'gum' / '0' / '0' / 'model'
    with zipfile.ZipFile(model) as file:
        header = json.loads(file.read('header.json'))
    assert header['lambda'] == pytest.approx(1 / (2 * 20 * 3)) and header['settings']['every'] == 1
    assert header['slack_norm'] == 2 and header['settings']['epsilon'] == 0.01
    page = (FOLDER / 'README.md').read_text()
    assert all(
        f'| {name} | {method.name}, Algorithm 1 |' in page for name in ['wsj', 'gum'] for method in run.METHODS[1:]
    )


def test_the_page_has_the_losses(monkeypatch):
    page, losses = (FOLDER / 'README.md').read_text(), script('losses', monkeypatch)
    assert all(
        f'\n| {name} | {method.name} | {constant} |' in page
        for name, constants in losses.SETS.items()
        for method in losses.METHODS[1:]
        for constant in constants
    )


def test_the_page_has_the_sets_and_the_methods(monkeypatch):
    page, run = (FOLDER / 'README.md').read_text(), script('run', monkeypatch)
    assert all(f'\n| {name} | {method.name} |' in page for name in run.SETS for method in run.METHODS)
