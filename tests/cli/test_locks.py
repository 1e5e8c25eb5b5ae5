"""Two runs with one output: the second is refused, and what a killed run has left is not in the way."""

import os
import signal
import threading
import time

import pytest

from data_formats.errors import DataError
from data_formats.files import locks
from data_formats.files.locks import lock_name, locked
from tests.cli.commands import run, start

HERE = os.uname().nodename


@pytest.fixture
def running(files, tmp_path):
    """A run that does not end by itself, with MODEL m, --checkpoint state and --log log."""
    how = ['--rel-gap', 0, '--max-passes', 10**9, '--set', 'acceleration=false']
    how += ['--checkpoint', tmp_path / 'state', '--log', tmp_path / 'log', '--checkpoint-every', '1e-9']
    process = start('train', *how, files / 'train.svm', tmp_path / 'm')
    end = time.monotonic() + 60
    while not (tmp_path / 'state').exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    yield process
    process.kill()
    process.communicate()


def refused(tmp_path, process, name):
    return (
        f'{tmp_path / name}: process {process.pid} on {HERE} is writing it '
        '(wait for that run, end it, or give another name)\n'
    )


def test_a_second_run_is_refused(files, tmp_path, running):
    data = files / 'train.svm'
    state = (tmp_path / 'state').stat().st_ino
    for name, how in {
        'm': [data, tmp_path / 'm'],
        'state': ['--checkpoint', tmp_path / 'state', data, tmp_path / 'n'],
        'log': ['--log', tmp_path / 'log', data, tmp_path / 'n'],
    }.items():
        assert run('train', *how, code=1).stderr == refused(tmp_path, running, name)
    whole = tmp_path / 'whole'
    run('train', '-q', data, whole)
    for args in (['convert', whole, tmp_path / 'm'], ['predict', data, whole, tmp_path / 'm']):
        assert run(*args, code=1).stderr == refused(tmp_path, running, 'm')
    how = [files / 'train.crfsuite', tmp_path / 'data.hmm']
    assert run('convert', '--names', tmp_path / 'log', *how, code=1).stderr == refused(tmp_path, running, 'log')
    assert not (tmp_path / 'm').exists() and not (tmp_path / 'data.hmm').exists()
    whole.unlink()
    (tmp_path / 'link').symlink_to('state')
    how = ['--checkpoint', tmp_path / 'link', '--resume', data, tmp_path / 'n']
    assert run('train', *how, code=1).stderr == refused(tmp_path, running, 'link')
    (tmp_path / 'link').unlink()
    assert running.poll() is None and state
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=60)
    assert running.returncode == 143
    assert sorted(path.name for path in tmp_path.iterdir()) == ['log', 'm', 'state']
    run('train', '-q', data, tmp_path / 'm')


def test_a_killed_run_is_not_in_the_way(files, tmp_path, running):
    running.kill()
    running.wait()
    assert {'.m.lock', '.state.lock', '.log.lock'} <= {path.name for path in tmp_path.iterdir()}
    how = ['--checkpoint', tmp_path / 'state', '--log', tmp_path / 'log', files / 'train.svm', tmp_path / 'm']
    run('train', '-q', *how)
    assert sorted(path.name for path in tmp_path.iterdir()) == ['log', 'm', 'state']


def test_one_run_after_the_other(files, tmp_path):
    for _ in range(2):
        run('train', '-q', '--lambda-path', '1:0.5:0.5', files / 'train.svm', tmp_path / 'm')
    run('train', '-q', files / 'train.conll', tmp_path / 'm')
    assert [path.name for path in tmp_path.iterdir()] == ['m']


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """The lock of a process of another machine; writes its file anew when it is called."""
    monkeypatch.setattr(locks, 'SILENCE_SECONDS', 0.5)
    place = tmp_path / '.m.lock'

    def write():
        place.write_text('elsewhere\n4711\n')

    write()
    return write


def test_a_machine_that_is_silent(files, tmp_path, elsewhere):
    said = run('train', files / 'train.svm', tmp_path / 'm').stderr
    waiting = f'{tmp_path / "m"}: process 4711 on elsewhere was writing it: waiting 0.5 s for a sign of life\n'
    assert said.startswith(waiting)
    assert [path.name for path in tmp_path.iterdir()] == ['m']


def test_a_machine_that_is_not(files, tmp_path, elsewhere, monkeypatch):
    monkeypatch.setattr(locks, 'SILENCE_SECONDS', 30)
    ended = threading.Event()

    def beat():
        while not ended.wait(0.2):
            os.utime(tmp_path / '.m.lock')

    thread = threading.Thread(target=beat)
    thread.start()
    said = run('train', files / 'train.svm', tmp_path / 'm', code=1).stderr
    ended.set()
    thread.join()
    assert said.splitlines()[-1] == (
        f'{tmp_path / "m"}: process 4711 on elsewhere is writing it (wait for that run, end it, or give another '
        f'name; if it is gone, remove {tmp_path / ".m.lock"})'
    )
    assert [path.name for path in tmp_path.iterdir()] == ['.m.lock']


def test_a_machine_that_ends_while_it_is_waited_for(tmp_path, elsewhere, monkeypatch):
    monkeypatch.setattr(locks, 'SILENCE_SECONDS', 30)
    threading.Timer(0.5, (tmp_path / '.m.lock').unlink).start()
    begin = time.monotonic()
    with locked([str(tmp_path / 'm')], print):
        assert (tmp_path / '.m.lock').read_text() == f'{HERE}\n{os.getpid()}\n'
    assert time.monotonic() - begin < 25 and list(tmp_path.iterdir()) == []


def test_life_is_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, 'BEAT_SECONDS', 0.01)
    with locked([str(tmp_path / 'm')], print):
        before = (tmp_path / '.m.lock').stat().st_mtime_ns
        end = time.monotonic() + 30
        while (tmp_path / '.m.lock').stat().st_mtime_ns == before:
            assert time.monotonic() < end
            time.sleep(0.01)


@pytest.mark.parametrize('pid', ['dead', 'alive'])
def test_file_systems_without_locks(tmp_path, monkeypatch, pid):
    """The number of the process tells, where it is of this machine."""

    def flock(*args):
        raise OSError(37, 'No locks available')

    monkeypatch.setattr(locks.fcntl, 'flock', flock)
    (tmp_path / '.m.lock').write_text(f'{HERE}\n{os.getppid() if pid == "alive" else 2**22 + 1}\n')
    if pid == 'alive':
        with pytest.raises(DataError, match=f'process {os.getppid()} on'), locked([str(tmp_path / 'm')], print):
            pass
        return
    with locked([str(tmp_path / 'm')], print):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('content', ['', 'x', f'{HERE}\n-1\n', f'{HERE}\n٣\n', '\0' * 5000])
def test_a_lock_that_names_nobody(tmp_path, content):
    (tmp_path / '.m.lock').write_text(content)
    with locked([str(tmp_path / 'm')], print):
        pass
    assert list(tmp_path.iterdir()) == []


def test_names(tmp_path):
    assert lock_name(tmp_path / 'm') == str(tmp_path / '.m.lock')
    longest = [str(tmp_path / ('é' * 126 + end)) for end in 'ab']
    assert lock_name(longest[0]) != lock_name(longest[1])
    with locked(longest, print):
        assert len(list(tmp_path.iterdir())) == 2
    with locked(['-', None, '/dev/null', str(tmp_path / 'no' / 'm')], print):  # nothing to lock, or no room for it
        assert list(tmp_path.iterdir()) == []
