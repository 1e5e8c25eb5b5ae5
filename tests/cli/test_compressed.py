"""Compressed inputs of every kind through the command: read whole, or refused by name."""

import bz2
import gzip
import lzma

import pytest

from tests.cli.commands import run

PACK = {'gzip': gzip.compress, 'bzip2': bz2.compress, 'xz': lzma.compress}


@pytest.fixture
def pair(tmp_path):
    """Two files of SVMlight lines with other labels, as bytes, and a folder."""
    return tmp_path, b'1 1:1\n2 2:1\n' * 50, b'3 1:2\n2 2:1\n' * 50


@pytest.mark.parametrize('kind', PACK)
def test_training_on_half_of_the_data(pair, kind):
    folder, first, second = pair
    packed = PACK[kind]
    (folder / 'whole.svm').write_bytes(packed(first) + packed(second))
    (folder / 'half.svm').write_bytes(packed(first) + packed(second)[:-9])
    run('train', '-q', folder / 'whole.svm', folder / 'm')
    assert len(run('predict', folder / 'whole.svm', folder / 'm').stdout.split()) == 200
    for options in ([folder / 'half.svm'], ['--dev', folder / 'half.svm', folder / 'whole.svm']):
        assert 'half.svm: damaged' in run('train', '-q', *options, folder / 'other', code=1).stderr
    assert not (folder / 'other').exists()
    for command in ('predict', 'gap'):
        assert 'half.svm: damaged' in run(command, folder / 'half.svm', folder / 'm', code=1).stderr
    run('convert', folder / 'half.svm', folder / 'x.hmm', code=1)


@pytest.mark.parametrize('kind', PACK)
def test_every_small_file_may_be_compressed(files, tmp_path, kind):
    """Templates, taxonomies, matrices, configurations; a damaged one is refused, whatever it is."""
    packed = PACK[kind]
    texts = {
        'tpl': (files / 'tpl').read_bytes(),
        'tree': b'1 top\n2 top\n3 top\n',
        'features': b'1 a\n2 b\n3 a b\n',
        'costs': b'1\t2\t3\n0\t1\t1\n1\t0\t1\n1\t1\t0\n',
        'config': b'max-passes: 2\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(packed(text))
        (tmp_path / f'{name}.bad').write_bytes(packed(text) + packed(text)[:-3])
    commands = [
        ('--template', 'tpl', 'train.conll'),
        ('--taxonomy', 'tree', 'train.svm'),
        ('--class-features', 'features', 'train.svm'),
        ('--task-loss', 'costs', 'train.svm'),
        ('--config', 'config', 'train.svm'),
    ]
    for option, name, data in commands:
        run('train', '-q', '--max-passes', 2, option, tmp_path / name, files / data, tmp_path / 'm')
        code = 2 if option == '--config' else 1
        failed = run('train', '-q', option, tmp_path / f'{name}.bad', files / data, tmp_path / 'n', code=code)
        assert f'{name}.bad: damaged compressed file' in failed.stderr


@pytest.mark.parametrize('kind', PACK)
def test_a_compressed_model_is_named(files, models, tmp_path, kind):
    (tmp_path / 'm').write_bytes(PACK[kind](models['svm'].read_bytes()))
    for how in (['predict', files / 'train.svm', tmp_path / 'm'], ['gap', files / 'train.svm', tmp_path / 'm']):
        error = f'm: compressed by {kind}, not an ssvm model (expected a file that ssvm wrote, unpacked)'
        assert error in run(*how, code=1).stderr
    assert 'm: a tar archive, not an ssvm model' in tar_as_model(files, tmp_path)
    assert 'a model of ssvm (expected data)' in run('train', models['svm'], tmp_path / 'n', code=1).stderr


def tar_as_model(files, folder):
    (folder / 'm').write_bytes(b'x' + bytes(256) + b'ustar' + bytes(250))
    return run('predict', files / 'train.svm', folder / 'm', code=1).stderr
