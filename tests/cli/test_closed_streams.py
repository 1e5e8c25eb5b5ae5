"""Readers that go away: a stream that is not the result itself ends no run, but the status says that it was lost."""

import json
import os
import subprocess
import threading

import pytest

from data_formats.files.log import read_log
from data_formats.models.model import load
from tests.cli.commands import run, start


@pytest.fixture
def unread():
    """The end for writing of a pipe whose other end is closed."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


def done(process):
    """(status, what it said) of a process."""
    _, error = process.communicate(timeout=60)
    return process.returncode, (error or b'').decode()


LOST = '{}: cannot be written: Broken pipe (the log ends here)\n'


@pytest.mark.parametrize('quiet', [False, True])
def test_a_log_on_standard_output_that_nobody_reads(files, tmp_path, unread, quiet):
    how = ['train', *['-q'] * quiet, files / 'train.svm']
    run(*how, tmp_path / 'whole')
    status, said = done(start(*how, '--log', '-', tmp_path / 'm', stdout=unread))
    assert status == 1 and said.count('Broken pipe') == 1 and LOST.format('<stdout>') in said
    assert (said == LOST.format('<stdout>')) == quiet
    assert (tmp_path / 'm').read_bytes() == (tmp_path / 'whole').read_bytes()


@pytest.mark.parametrize('options', [[], ['--lambda-path', '0.1:0.05:0.5']], ids=['one', 'path'])
def test_a_log_whose_reader_leaves_after_the_first_line(files, tmp_path, options):
    how = ['--rel-gap', 0, '--max-passes', 300, '--gap-every', 1, *options, files / 'train.svm', tmp_path / 'm']
    process = start('train', '--log', '-', *how)
    assert process.stdout.readline().startswith(b'# ssvm ')
    process.stdout.close()
    said = process.stderr.read().decode()
    assert process.wait(60) == 1 and said.count('Broken pipe') == 1 and LOST.format('<stdout>') in said
    assert load(tmp_path / 'm').header['lambda'] == pytest.approx(0.05 if options else 1 / 30)
    process.stderr.close()


def test_a_log_in_a_named_pipe(files, tmp_path):
    os.mkfifo(tmp_path / 'log')

    def read_a_line():
        with open(tmp_path / 'log') as stream:
            stream.readline()

    reader = threading.Thread(target=read_a_line, daemon=True)
    reader.start()
    how = ['--rel-gap', 0, '--max-passes', 300, '--gap-every', 1, files / 'train.svm', tmp_path / 'm']
    status, said = done(start('train', '--log', tmp_path / 'log', *how))
    reader.join(10)
    assert status == 1 and said.count('Broken pipe') == 1 and LOST.format(tmp_path / 'log') in said
    assert load(tmp_path / 'm').header['passes'] > 0


def test_a_checkpoint_of_a_run_without_a_log_goes_on(files, tmp_path, unread):
    """What has been lost of the log does not keep a run from being resumed."""
    how = ['--rel-gap', 0, '--checkpoint', tmp_path / 'state', files / 'train.svm', tmp_path / 'm']
    assert done(start('train', '--max-passes', 3, '--log', '-', *how, stdout=unread))[0] == 1
    run('train', '-q', '--max-passes', 6, '--resume', '--log', tmp_path / 'log', *how)
    assert [row['pass'] for row in read_log(tmp_path / 'log')] == ['4', '5', '6']


def test_standard_error_that_nobody_reads(files, models, tmp_path, unread):
    """Everything is done and written; the status tells that something was not heard."""
    data, model = files / 'train.svm', models['svm']
    run('train', '-q', data, tmp_path / 'whole')
    figures = tmp_path / 'figures.json'
    for args, output in (
        (['train', data, tmp_path / 'm'], tmp_path / 'm'),
        (['predict', '--evaluate', '--metrics', figures, data, model, tmp_path / 'out'], figures),
        (['convert', data, '--to', 'svmhmm', tmp_path / 'data.hmm'], tmp_path / 'data.hmm'),
    ):
        assert done(start(*args, stderr=unread))[0] == 1 and output.stat().st_size > 0
    assert (tmp_path / 'm').read_bytes() == (tmp_path / 'whole').read_bytes()
    assert json.loads(figures.read_text())['tokens'] == 30
    assert done(start('train', '-q', data, tmp_path / 'm', stderr=unread))[0] == 0  # nothing was said


def test_gap_says_its_figures_all_the_same(files, tmp_path, unread):
    """A model without a dual point makes it say more."""
    run('train', '-q', '--no-certificate', '--max-passes', 2, files / 'train.svm', tmp_path / 'm')
    process = start('gap', files / 'train.svm', tmp_path / 'm', stderr=unread)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and b'\nrelative gap  ' in out


def test_figures_that_nobody_reads(files, models, tmp_path, unread):
    how = ['predict', '--metrics', '-', files / 'train.svm', models['svm'], tmp_path / 'out']
    status, said = done(start(*how, stdout=unread))
    assert (status, said) == (1, '<stdout>: cannot be written: Broken pipe\n')
    assert (tmp_path / 'out').read_text().count('\n') == 30


def test_losses_that_nobody_reads(files, models, tmp_path, unread):
    how = ['gap', '--per-example', '-', files / 'train.svm', models['svm']]
    assert done(start(*how, stdout=unread)) == (1, '<stdout>: cannot be written: Broken pipe\n')


def test_losses_in_a_named_pipe_that_nobody_reads(files, models, tmp_path):
    """The figures come all the same."""
    (tmp_path / 'many.svm').write_text((files / 'train.svm').read_text() * 300)
    pipe = tmp_path / 'losses'
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: open(pipe).close())
    reader.start()
    process = start('gap', '--per-example', pipe, tmp_path / 'many.svm', models['svm'])
    out, error = process.communicate(timeout=60)
    reader.join()
    assert process.returncode == 1 and out.startswith(b'primal')
    assert f'{pipe}: cannot be written: Broken pipe\n' in error.decode()


def test_names_that_nobody_reads(files, tmp_path, unread):
    how = ['convert', '-q', '--names', '-', files / 'train.crfsuite', tmp_path / 'data.hmm']
    assert done(start(*how, stdout=unread)) == (1, '<stdout>: cannot be written: Broken pipe\n')
    run('convert', '-q', '--names', tmp_path / 'names', files / 'train.crfsuite', tmp_path / 'again.hmm')
    assert (tmp_path / 'data.hmm').read_bytes() == (tmp_path / 'again.hmm').read_bytes()
    assert (tmp_path / 'names').stat().st_size > 0


def test_a_result_that_nobody_reads_is_no_error(files, models, unread):
    for args in (['predict', files / 'train.svm', models['svm']], ['gap', files / 'train.svm', models['svm']]):
        assert done(start(*args, stdout=unread)) == (0, '')


def test_a_reader_that_has_enough(files, models):
    """`ssvm predict ... | head -n 1`"""
    process = start('predict', files / 'train.svm', models['svm'])
    head = subprocess.run(['head', '-n', '1'], stdin=process.stdout, capture_output=True, check=True)
    process.stdout.close()
    assert head.stdout == b'1\n' and process.wait(60) == 0 and process.stderr.read() == b''
    process.stderr.close()
