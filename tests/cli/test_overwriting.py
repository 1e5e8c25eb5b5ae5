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


def foreign(name, document):
    """A zip file whose first member has the name that ours have."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w') as archive:
        archive.writestr(name, document)
        archive.writestr('thesis.txt', 'years of work')
    return stream.getvalue()


@pytest.mark.parametrize(
    ('place', 'content'),
    [
        ('MODEL', foreign('header.json', '{"my": 1}')),
        ('MODEL', foreign('header.json', '["my"]')),
        ('MODEL', foreign('header.json', 'my')),
        ('default', foreign('checkpoint.json', '{"format": "mine"}')),
        ('--log', b'# ssvm results of my thesis\nlambda,F1\n0.1,92.1\n'),
        ('--log', b'# ssvm 1.0 version=2 of my thesis'),
        ('--log', b'pass,oracle_calls,seconds of mine\n'),
    ],
)
def test_what_only_looks_like_ours_is_not(files, tmp_path, place, content):
    options, model, target = command(place, tmp_path)
    target.write_bytes(content)
    assert f'is no {WHAT[place]}' in run('train', *options, files / 'train.svm', model, code=1).stderr
    assert target.read_bytes() == content


def test_half_a_model_may_be_overwritten(files, models, tmp_path):
    (tmp_path / 'm').write_bytes(models['svm'].read_bytes()[:700])
    run('train', '-q', files / 'train.svm', tmp_path / 'm')
    assert (tmp_path / 'm').read_bytes() == models['svm'].read_bytes()


def test_models_of_a_path_are_models_too(files, tmp_path):
    folder = tmp_path / 'kept'
    folder.mkdir()
    how = ['--lambda-path', '1:0.5:0.5', '--path-models', folder]
    (folder / 'lambda-0.5.model').write_text('my notes\n')
    said = run('train', *how, files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert f'{folder / "lambda-0.5.model"}: exists and is no ssvm model' in said
    (folder / 'lambda-0.5.model').unlink()
    data = folder / 'lambda-1.model'
    data.write_text((files / 'train.svm').read_text())
    said = run('train', *how, '--format', 'svmlight', data, tmp_path / 'm', code=2).stderr
    assert 'is both TRAIN and the model of --path-models for lambda 1' in said
    data.unlink()
    for place in (['--log', data, files / 'train.svm', tmp_path / 'm'], [files / 'train.svm', data]):
        assert 'is both' in run('train', *how, *place, code=2).stderr
    for _ in range(2):
        run('train', '-q', *how, files / 'train.svm', tmp_path / 'm')
    assert sorted(path.name for path in folder.iterdir()) == ['lambda-0.5.model', 'lambda-1.model']


def test_the_usual_checkpoint_is_no_place_for_a_log(files, tmp_path):
    how = ['--log', tmp_path / 'm.checkpoint', files / 'train.svm', tmp_path / 'm']
    assert 'is both --log and the checkpoint of MODEL' in run('train', *how, code=2).stderr


def test_a_path_has_no_checkpoint(files, tmp_path):
    (tmp_path / 'm.checkpoint').write_text('x')
    run('train', '-q', '--lambda-path', '1:0.5:0.5', files / 'train.svm', tmp_path / 'm')
    assert (tmp_path / 'm.checkpoint').read_text() == 'x'
