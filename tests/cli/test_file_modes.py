"""Permissions of what is written: those of the file that is replaced, or those of the umask."""

import os
import stat

import pytest

from data_formats.files.atomic import atomic_output
from tests.cli.commands import run


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o022, 0o077])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize('permissions', [0o600, 0o640, 0o664, 0o666, 0o755, 0o444])
def test_what_a_run_writes_again_keeps_its_mode(files, tmp_path, umask, permissions):
    model, log, state, out, scores = (tmp_path / name for name in ('m', 'log', 'state', 'out', 'scores'))
    train = ['train', '-q', '--log', log, '--checkpoint', state, files / 'train.svm', model]
    predict = ['predict', '--metrics', scores, files / 'train.svm', model, out]
    losses = ['gap', '--per-example', tmp_path / 'losses', files / 'train.svm', model]
    for command in (train, predict, losses, ['convert', model, tmp_path / 'm.tsv']):
        run(*command)
    written = [*(model, log, state, out, scores), tmp_path / 'losses', tmp_path / 'm.tsv']
    assert {mode(path) for path in written} == {0o666 & ~umask}
    others = [path for path in written if path != log or permissions & 0o200 or os.getuid() == 0]
    for path in others:
        path.chmod(permissions)
    run(*train, '--resume')
    run(*train)
    for command in (predict, losses, ['convert', model, tmp_path / 'm.tsv'], ['convert', tmp_path / 'm.tsv', model]):
        run(*command)
    assert {mode(path) for path in others if path != log or permissions & 0o200} == {permissions}


def test_the_mode_behind_a_link(tmp_path):
    (tmp_path / 'real').write_bytes(b'old')
    (tmp_path / 'real').chmod(0o640)
    (tmp_path / 'link').symlink_to('real')
    with atomic_output(tmp_path / 'link') as stream:
        stream.write(b'new')
    assert (tmp_path / 'link').is_symlink() and (tmp_path / 'real').read_bytes() == b'new'
    assert mode(tmp_path / 'real') == 0o640


def test_a_private_file_is_private_while_it_is_written(tmp_path):
    path = tmp_path / 'private'
    path.write_bytes(b'old')
    path.chmod(0o600)
    with atomic_output(path) as stream:
        assert stat.S_IMODE(os.fstat(stream.fileno()).st_mode) == 0o600


def test_no_file_becomes_another_user_by_its_mode(tmp_path):
    path = tmp_path / 'file'
    path.write_bytes(b'old')
    path.chmod(0o4755)
    with atomic_output(path) as stream:
        stream.write(b'new')
    assert mode(path) == 0o755


@pytest.mark.skipif(os.getuid() != 0, reason='only root may give files away')
def test_a_file_stays_its_owners(tmp_path):
    path = tmp_path / 'file'
    path.write_bytes(b'old')
    os.chown(path, 1234, 2345)
    with atomic_output(path) as stream:
        stream.write(b'new')
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)
