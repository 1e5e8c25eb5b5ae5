"""--max-time: the time of the whole process, reading and building included."""

import os
import threading
import time

import pytest

from data_formats.models.model import load
from tests.cli.commands import ROOT, multiclass_text, run, start
from tests.cli.test_log import read_log

ENDLESS = ('--rel-gap', 0, '--max-passes', 10**9, '--solver', 'sgd')


@pytest.fixture
def train(tmp_path):
    (tmp_path / 'train.svm').write_text(multiclass_text())
    return tmp_path / 'train.svm'


def late(path, text, seconds):
    """Gives a pipe its text some time after it was opened."""

    def write():
        with open(path, 'w') as stream:
            time.sleep(seconds)
            stream.write(text)

    threading.Thread(target=write, daemon=True).start()


def test_reading_counts(tmp_path):
    os.mkfifo(tmp_path / 'train.svm')
    late(tmp_path / 'train.svm', multiclass_text(), 0.7)
    how = ('--format', 'svmlight', '--max-time', 0.6)
    last = run('train', *ENDLESS, *how, tmp_path / 'train.svm', tmp_path / 'm').stderr.splitlines()[-1]
    assert last.startswith('stopped at --max-time after 0 passes')
    header = load(tmp_path / 'm').header
    assert (header['status'], header['passes']) == ('max-time', 0)


def test_reading_counts_in_a_process_of_its_own(tmp_path):
    os.mkfifo(tmp_path / 'train.svm')
    late(tmp_path / 'train.svm', multiclass_text(), 1.2)
    how = ('--format', 'svmlight', '--max-time', 1)
    process = start('train', *ENDLESS, *how, tmp_path / 'train.svm', tmp_path / 'm', cwd=ROOT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said.decode().splitlines()[-1].startswith('stopped at --max-time after 0 passes')


def test_a_path_ends_as_a_whole(train, tmp_path):
    how = ('--lambda-path', '1:0.001:0.1', '--max-time', 0.3, '--log', tmp_path / 'log')
    said = run('train', *ENDLESS, *how, train, tmp_path / 'm').stderr
    assert 'lambda 1 (1 of 4): max-time' in said and '(2 of 4)' not in said
    assert len(read_log(tmp_path / 'log')) == 1
    assert load(tmp_path / 'm').header['lambda'] == 1


def test_a_resumed_run_has_what_is_left(train, tmp_path):
    how = (*ENDLESS, '--max-time', 0.3, '--checkpoint', tmp_path / 'state', train, tmp_path / 'm')
    run('train', *how)
    passes = load(tmp_path / 'm').header['passes']
    last = run('train', '--resume', *how).stderr.splitlines()[-1]
    assert last.startswith('stopped at --max-time')
    assert load(tmp_path / 'm').header['passes'] == passes
