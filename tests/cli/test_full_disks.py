"""Disks that are full: what is not the result itself ends no run, is complained about once, and makes the status 1."""

import os
import shlex
import subprocess
import sys
import time

import pytest

from data_formats.files.log import read_log
from data_formats.models.model import load
from tests.cli.commands import environment, run, start

pytestmark = pytest.mark.skipif(not os.path.exists('/dev/full'), reason='/dev/full is not there')
FULL = '{}: cannot be written: No space left on device (the log ends here)\n'


def shell(text, **names):
    """(status, what it said) of a line for the shell, in which {ssvm} is the command."""
    ssvm = f'{shlex.quote(sys.executable)} -m ssvm_cli.main'
    line = text.format(ssvm=ssvm, **{name: shlex.quote(str(path)) for name, path in names.items()})
    argv = ['/bin/sh', '-c', line]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment(), timeout=60, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize('options', ['', '--lambda-path 0.1:0.05:0.5'], ids=['one', 'path'])
@pytest.mark.parametrize(
    'log, said',
    [
        ('/dev/full', FULL.format('/dev/full')),
        ('- >/dev/full', FULL.format('<stdout>')),
        ('- >&-', '<stdout>: is closed (the log ends here)\n'),
    ],
)
def test_a_log_that_cannot_begin_is_lost_and_the_run_is_not(files, tmp_path, log, said, options):
    data, whole, model = files / 'train.svm', tmp_path / 'whole', tmp_path / 'm'
    run('train', '-q', *options.split(), data, whole)
    line = '{ssvm} train -q ' + options + ' {data} {model} --gap-every 1 --log ' + log
    assert shell(line.replace(' --gap-every 1', ''), data=data, model=model) == (1, said)
    assert model.read_bytes() == whole.read_bytes()
    assert shell(line, data=data, model=model) == (1, said)


def test_a_log_that_cannot_be_opened_ends_the_run_before_it_starts(files, tmp_path):
    for log, code in ((tmp_path / 'missing' / 'log', 2), (tmp_path, 2)):
        said = run('train', '--log', log, files / 'train.svm', tmp_path / 'm', code=code).stderr
        assert said.startswith(f'Error: {log}: ') and not (tmp_path / 'm').exists()


def test_a_log_that_comes_to_the_limit_of_files(files, tmp_path):
    """A soft limit of half a KB or a KB: the row before it is whole, and the log says no more."""
    how = '-q --gap-every 1 --log {log} --lambda 0.0001 --rel-gap 1e-14 --max-passes 30'
    line = 'ulimit -S -f 1; {ssvm} train ' + how + ' {data} /dev/null'
    log = tmp_path / 'log'
    said = f'{log}: cannot be written: File too large (the log ends here)\n'
    assert shell(line, log=log, data=files / 'train.svm') == (1, said)
    assert log.stat().st_size in (512, 1024)


def test_a_checkpoint_that_cannot_be_written_is_complained_about_once(files, tmp_path):
    how = ['--rel-gap', 1e-14, '--max-passes', 30, '--checkpoint-every', '1e-9', '--checkpoint', '/dev/full']
    said = run('train', '-q', *how, files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert said == '/dev/full: cannot be written: No space left on device\n'
    assert load(tmp_path / 'm').header['passes'] == 30


def test_a_checkpoint_that_fails_again_is_complained_about_again(files, tmp_path, monkeypatch):
    from data_formats.errors import DataError
    from data_formats.files import checkpoint

    tries, save = [], checkpoint.save

    def sometimes(*args):
        tries.append(True)
        if len(tries) in (2, 3, 5, 6):
            raise DataError('state', None, 'cannot be written: full')
        save(*args)

    monkeypatch.setattr(checkpoint, 'save', sometimes)
    how = ['--rel-gap', 1e-14, '--max-passes', 8, '--checkpoint-every', '1e-9', '--checkpoint', tmp_path / 'state']
    said = run('train', '-q', *how, files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert len(tries) > 6 and said == 'state: cannot be written: full\n' * 2


def test_a_run_goes_on_with_the_log_that_a_full_disk_has_cut(files, tmp_path):
    how = ['-q', '--gap-every', 1, '--rel-gap', 1e-14, '--checkpoint', tmp_path / 'state', '--log', tmp_path / 'log']
    run('train', *how, '--max-passes', 3, files / 'train.svm', tmp_path / 'm')
    whole = (tmp_path / 'log').read_bytes()
    (tmp_path / 'log').write_bytes(whole[:-9])
    run('train', *how, '--max-passes', 5, '--resume', files / 'train.svm', tmp_path / 'm')
    assert [row['pass'] for row in read_log(tmp_path / 'log')] == ['1', '2', '4', '5']


@pytest.mark.parametrize('end, status', [('2>/dev/full', 1), ('2>&-', 0)])
def test_messages_for_which_there_is_no_room(files, models, tmp_path, end, status):
    """Everything is written; the status tells what was lost. Who closes standard error wants to hear nothing."""
    names = {'data': files / 'train.svm', 'model': models['svm'], 'out': tmp_path / 'out'}
    for line in (
        'train {data} {out}',
        'predict --evaluate {data} {model} {out}',
        'convert {data} --to svmhmm {out}',
    ):
        assert shell('{ssvm} ' + f'{line} {end}', **names) == (status, '')
        assert (tmp_path / 'out').stat().st_size > 0
        (tmp_path / 'out').unlink()
    assert shell('{ssvm} train -q {data} {out} ' + end, **names) == (0, '')  # nothing was said
    assert shell('{ssvm} train --no-such-option {data} {out} ' + end, **names) == (2, '')


def test_a_signal_counts_more_than_a_message(files, tmp_path):
    with open('/dev/full', 'w') as full:
        how = ['--rel-gap', 0, '--max-passes', 10**9, '--log', tmp_path / 'log', files / 'train.svm', tmp_path / 'm']
        process = start('train', *how, stderr=full)
        while not (tmp_path / 'log').exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 143
