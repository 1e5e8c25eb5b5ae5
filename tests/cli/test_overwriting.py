"""Files that ssvm train would overwrite: its own kind only."""

import io
import zipfile

import pytest

from tests.cli.commands import run

WHAT = {'MODEL': 'ssvm model', '--log': 'log of ssvm', '--checkpoint': 'ssvm checkpoint', 'default': 'ssvm checkpoint'}


def command(place, folder):
    """Arguments of ssvm train, and the file that is written in that place."""
    model, options = folder / 'model', []
    if place in ('--log', '--checkpoint'):
        options = [place, folder / 'other']
    target = {'MODEL': model, 'default': folder / 'model.checkpoint'}.get(place, folder / 'other')
    return [*options, '--max-passes', 2, '--rel-gap', 0], model, target


def zip_file():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w') as archive:
        archive.writestr('sheet.xml', '<a/>')
    return stream.getvalue()


@pytest.mark.parametrize('place', WHAT)
@pytest.mark.parametrize('content', [b'1 1:1\n2 2:1\n', b'x', zip_file(), b'# a comment\n'])
def test_other_files_are_not_overwritten(tmp_path, place, content):
    options, model, target = command(place, tmp_path)
    target.write_bytes(content)
    said = run('train', *options, tmp_path / 'missing.svm', model, code=1).stderr
    assert said == f'{target}: exists and is no {WHAT[place]} (delete it first or give another name)\n'
    assert target.read_bytes() == content


def test_nor_those_behind_links(files, tmp_path):
    (tmp_path / 'data').write_text('1 1:1\n')
    (tmp_path / 'model').symlink_to('data')
    assert 'is no ssvm model' in run('train', files / 'train.svm', tmp_path / 'model', code=1).stderr
    assert (tmp_path / 'data').read_text() == '1 1:1\n'


@pytest.mark.parametrize('place', WHAT)
def test_what_is_empty_or_of_an_earlier_run_is(files, tmp_path, place):
    options, model, target = command(place, tmp_path)
    target.touch()  # as mktemp does
    for _ in range(2):
        run('train', '-q', *options, files / 'train.svm', model)
    assert place == 'default' or target.stat().st_size > 0


def test_so_is_the_text_of_a_model(files, models, tmp_path):
    run('convert', models['svm'], tmp_path / 'm.tsv')
    run('train', '-q', files / 'train.svm', tmp_path / 'm.tsv')
    assert (tmp_path / 'm.tsv').read_bytes() == models['svm'].read_bytes()


def test_a_checkpoint_is_no_model_and_the_reverse(files, models, tmp_path):
    state = tmp_path / 'state'
    run('train', '-q', '--checkpoint', state, files / 'train.svm', tmp_path / 'm')
    assert 'is no ssvm model' in run('train', files / 'train.svm', state, code=1).stderr
    how = ['--checkpoint', tmp_path / 'm', files / 'train.svm', tmp_path / 'n']
    assert 'is no ssvm checkpoint' in run('train', *how, code=1).stderr


def test_a_log_without_its_comment_is_one(files, tmp_path):
    how = ['-q', '--log', tmp_path / 'log', files / 'train.svm', tmp_path / 'm']
    run('train', *how)
    rows = (tmp_path / 'log').read_text().split('\n', 1)[1]
    (tmp_path / 'log').write_text(rows)
    run('train', *how)
    assert (tmp_path / 'log').read_text().startswith('# ssvm ')


def test_resuming_from_another_file_says_what_it_is(files, tmp_path):
    (tmp_path / 'm.checkpoint').write_text('1 1:1\n')
    said = run('train', '--resume', files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert said == f'{tmp_path / "m.checkpoint"}: not an ssvm checkpoint (expected a file that ssvm wrote)\n'
