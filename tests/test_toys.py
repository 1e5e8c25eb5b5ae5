"""Additions cost what CONTRIBUTING.md says: a task, a task loss and a format of tests/toys/ are put into a copy of the
packages by the steps that it tells and nothing else, and are then trained, certified, predicted and converted by the
real command."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cython_ext
import data_formats
import ssvm_cli
from data_formats.models.model import load

TOYS = Path(__file__).resolve().parent / 'toys'
RANKS = '''

def ranks():
    """how far the label is from the right one"""
    from cython_ext.losses.ranks import RankCosts

    return RankCosts
'''
SOURCES = ('*.c', '*.pyx', '*.pxd', '*.h', '__pycache__')  # which nothing needs that runs
TASKS = 'cython_ext/tasks/registry.py', "    'boxes',\n"
FORMATS = 'data_formats/formats/registry.py', "        'boxes',\n"


class Copy:
    """The three packages in a folder, file by file a link to those that are tested."""

    def __init__(self, folder):
        self.folder = folder
        for package in (cython_ext, data_formats, ssvm_cli):
            source = Path(package.__file__).resolve().parent
            shutil.copytree(
                source, folder / source.name, copy_function=os.symlink, ignore=shutil.ignore_patterns(*SOURCES)
            )

    def add(self, *modules):
        """Modules of tests/toys, none of which is there."""
        for module in modules:
            assert not (self.folder / module).exists()
            shutil.copy(TOYS / module, self.folder / module)

    def edit(self, place, there, more):
        """Put more behind what stands once in a file."""
        path = self.folder / place
        text = path.read_text(encoding='utf-8')
        assert text.count(there) == 1
        path.unlink()
        path.write_text(text.replace(there, there + more), encoding='utf-8')

    def add_task(self):
        """The task `triples`, with an option of its own."""
        layers = ('cython_ext/tasks', 'data_formats/parameters', 'ssvm_cli/tasks', 'ssvm_cli/options/tasks')
        self.add(*(f'{layer}/triples.py' for layer in layers))
        self.edit(*TASKS, "    'triples',\n")

    def run(self, *args, code=0):
        """(stdout, stderr) of the command."""
        env = {**os.environ, 'PYTHONPATH': str(self.folder), 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
        argv = [sys.executable, '-m', 'ssvm_cli.main', *map(str, args)]
        done = subprocess.run(argv, cwd=self.folder, env=env, capture_output=True, text=True, timeout=100)
        assert done.returncode == code, done.stderr
        assert 'Traceback' not in done.stderr and 'internal error' not in done.stderr
        return done.stdout, done.stderr

    def certified(self, train, *options):
        """Train a model, and certify it: what `gap` says is what the model claims."""
        self.run('train', '-q', '--lambda', 0.05, '--rel-gap', 0.001, *options, train, 'model')
        found = json.loads(self.run('gap', '--json', train, 'model')[0])
        assert found['status'] == 'converged' and 0 <= found['relative_gap'] <= 0.001 and found['primal'] > 0
        return found

    def converted(self, test):
        """The model as text and back predicts the same."""
        self.run('convert', '-q', 'model', 'model.tsv')
        self.run('convert', '-q', 'model.tsv', 'again')
        before, after = (self.run('predict', '-q', test, name)[0] for name in ('model', 'again'))
        assert before == after
        return before


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


def triples_text(n=40, seed=0, chosen=3):
    """Label sets: the three of five labels that score most, or as many as are chosen."""
    rng = np.random.default_rng(seed)
    weights, lines = np.random.default_rng(7).normal(size=(5, 4)), []
    for x in rng.normal(size=(n, 4)).round(3):
        best = sorted(np.argsort(weights @ x)[-chosen:].tolist())
        lines.append(','.join('abcde'[k] for k in best) + ''.join(f' {k + 1}:{v}' for k, v in enumerate(x)))
    return '\n'.join(lines) + '\n'


def test_a_task_is_a_module_in_each_layer_and_a_line(copy):
    copy.add_task()
    (copy.folder / 'train.ml').write_text(triples_text())
    (copy.folder / 'test.ml').write_text(triples_text(20, seed=1))
    found = copy.certified('train.ml', '--task', 'triples')
    assert found['dual_source'] == 'model'
    predicted = copy.converted('test.ml').splitlines()
    assert set(predicted) <= {','.join(triple) for triple in itertools.combinations('abcde', 3)}
    right = [line.split()[0] for line in triples_text(20, seed=1).splitlines()]
    assert sum(a == b for a, b in zip(predicted, right, strict=True)) >= 12
    several = copy.run('predict', '-q', '--nbest', 2, 'test.ml', 'model')[0].split('\n\n')
    assert [block.split('\n')[1] for block in several[:40:2]] == predicted
    usage, table = copy.run('train', '--help')[0], copy.run('predict', '--evaluate', 'test.ml', 'model')[1]
    assert '|boxes|triples]' in usage and 'F1' in table
    copy.run('train', '-q', '--task', 'triples', '--objective', 'log', '--lambda', 0.05, 'train.ml', 'crf')
    copy.run('train', '-q', '--task', 'triples', '--init', 'crf', '--objective', 'log', 'train.ml', 'crf')
    said = copy.run('train', '--task', 'triples', '--format', 'svmlight', 'train.ml', 'm', code=2)[1]
    assert 'svmlight files hold no data for --task triples' in said and '--format multilabel|arff' in said


def test_an_option_of_a_task_is_in_its_modules(copy):
    """It stands in a section of the help text, is kept by models, used by all commands, and refused for other tasks."""
    copy.add_task()
    for name, seed in (('train.ml', 0), ('test.ml', 1)):
        (copy.folder / name).write_text(triples_text(seed=seed, chosen=2))
    usage = copy.run('train', '--help')[0]
    assert re.search(r'^Sets of labels \(triples\):\n +--chosen N +How many labels each set has\.', usage, re.MULTILINE)
    copy.certified('train.ml', '--task', 'triples', '--chosen', 2)
    predicted = copy.converted('test.ml').splitlines()
    assert set(predicted) <= {','.join(pair) for pair in itertools.combinations('abcde', 2)}
    right = [line.split()[0] for line in triples_text(seed=1, chosen=2).splitlines()]
    assert sum(a == b for a, b in zip(predicted, right, strict=True)) >= 24
    said = copy.run('train', '--task', 'multilabel', '--chosen', 2, 'train.ml', 'm', code=2)[1]
    assert '--chosen has no meaning for the task multilabel: leave it out' in said
    said = copy.run('train', '--task', 'triples', '--pairs', 'none', 'train.ml', 'm', code=2)[1]
    assert '--pairs has no meaning for the task triples: leave it out' in said
    text = (copy.folder / 'model.tsv').read_text()
    for bad, expected in (
        ('"two"', "'two' (expected a whole number"),
        ('101', '101 ('),
    ):
        assert text.count('"chosen": 2') == 1
        (copy.folder / 'bad.tsv').write_text(text.replace('"chosen": 2', f'"chosen": {bad}'))
        assert f'header has structure.chosen = {expected}' in copy.run('convert', '-q', 'bad.tsv', 'again', code=1)[1]
    (copy.folder / 'bad.tsv').write_text(text.replace('"chosen": 2', ''))
    said = copy.run('convert', '-q', 'bad.tsv', 'again', code=1)[1]
    assert "header has task = 'triples' and no structure.chosen" in said


def test_a_task_loss_is_a_file_and_its_name(copy):
    copy.add('cython_ext/losses/ranks.py')
    copy.edit('cython_ext/tasks/multiclass.py', 'losses={', "'ranks': ranks, ")
    copy.edit('cython_ext/tasks/multiclass.py', 'import TaskInfo\n', RANKS)
    rows = [f'{i % 4} {i % 4 + 1}:1 5:{i * 7 % 5 - 2}' for i in range(40)]
    (copy.folder / 'train.svm').write_text('\n'.join([*rows, '0 4:1', '3 1:1']) + '\n')
    by_loss = {loss: copy.certified('train.svm', '--task-loss', loss)['primal'] for loss in ('ranks', 'zero-one')}
    assert by_loss['ranks'] > by_loss['zero-one'] + 0.01  # which costs at most as much for each label
    assert load(copy.folder / 'model').header['loss'] == 'zero-one'
    page = ' '.join(copy.run('train', '--help')[0].split())
    assert '[ranks|zero-one|' in page and 'ranks: how far the label is from the right one;' in page
    said = copy.run('train', '--task-loss', 'rank', 'train.svm', 'm', code=2)[1]
    assert 'no such file' in said and 'expected ranks, ' in said
    said = copy.run('train', '--task-loss', 'ranks', '--task', 'cfg', 'train.svm', 'm', code=2)[1]
    assert 'cfg has no task loss ranks' in said or 'no data for --task cfg' in said


def test_a_format_is_a_file_and_its_name(copy):
    copy.add('data_formats/formats/slashed.py')
    copy.edit(*FORMATS, "        'slashed',\n")
    rows = [f'{"abc"[i % 3]}/x{i % 3}=1.5/y={i * 7 % 5 - 2}.0' for i in range(30)]
    (copy.folder / 'train.slashed').write_text('\n'.join(rows) + '\n')
    copy.certified('train.slashed')
    assert copy.converted('train.slashed').splitlines() == [row[0] for row in rows]
    copy.run('convert', '-q', 'train.slashed', 'train.crfsuite')
    copy.run('convert', '-q', 'train.crfsuite', 'again.slashed')
    again = (copy.folder / 'again.slashed').read_text().splitlines()
    assert [sorted(row.split('/')) for row in again] == [sorted(row.split('/')) for row in rows]
    (copy.folder / 'bad.slashed').write_text('a/x=1\nb/x=2\na/x=one\n')
    for command in ('train', 'predict', 'gap'):
        said = copy.run(command, 'bad.slashed', 'm' if command == 'train' else 'model', code=1)[1]
        assert said.endswith("bad.slashed:3: could not convert string to float: b'one'\n"), said
