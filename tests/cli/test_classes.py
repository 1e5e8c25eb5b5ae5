"""Taxonomies and features of classes through the commands."""

import json

import numpy as np
import pytest

from data_formats.files.log import read_log
from data_formats.models.model import load
from tests.cli.commands import run

# the labels of the multiclass data are 1, 2, 3
TAXONOMY = '1 low\n2 low\n3 high\nlow high\nhigh top\n'
WORDS = '1 small round\n2 small square\n3 large round:2\n'
SIMILARITY = '\t1\t2\t3\n1\t2\t1\t0\n2\t1\t2\t1\n3\t0\t1\t2\n'


@pytest.fixture(scope='module')
def described(tmp_path_factory):
    """Options that describe the classes, by kind."""
    folder = tmp_path_factory.mktemp('classes')
    for name, text in (('taxonomy', TAXONOMY), ('class-features', WORDS), ('class-similarity', SIMILARITY)):
        (folder / name).write_text(text)
    return {name: [f'--{name}', folder / name] for name in ('taxonomy', 'class-features', 'class-similarity')}


def gap(*words):
    return json.loads(run('gap', '--json', *words).stdout)


@pytest.mark.parametrize('kind', ['taxonomy', 'class-features', 'class-similarity'])
@pytest.mark.parametrize(
    ('solver', 'objective'), [('bcfw', 'hinge'), ('eg', 'log'), ('lbfgs', 'log'), ('svrg', 'hinge')]
)
def test_the_certificate_is_that_of_the_data(files, described, tmp_path, kind, solver, objective):
    """Also from a model that was text in between, whose similarities are a comment line."""
    how = ['--solver', solver, '--objective', objective, '--lambda', '0.1', '--max-passes', 300]
    run('train', *how, *described[kind], '--log', tmp_path / 'log', files / 'train.svm', tmp_path / 'm')
    model, found = load(tmp_path / 'm'), gap(files / 'train.svm', tmp_path / 'm')
    assert model.header['classes'] == kind.replace('-', '_') and model.similarity.shape == (3, 3)
    assert found['primal'] == pytest.approx(model.header['primal'], rel=1e-9)
    assert model.header['dual'] * (1 - 1e-7) <= found['dual'] <= found['primal']
    assert model.header['primal'] == pytest.approx(float(read_log(tmp_path / 'log')[-1]['primal']), rel=1e-9)
    run('convert', tmp_path / 'm', tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'again')
    assert gap(files / 'train.svm', tmp_path / 'again')['primal'] == pytest.approx(found['primal'], rel=1e-12)
    for name in ('m', 'again'):
        run('predict', '--scores', files / 'train.svm', tmp_path / name, tmp_path / f'{name}.out')
    assert (tmp_path / 'm.out').read_bytes() == (tmp_path / 'again.out').read_bytes()


def test_classes_like_themselves_only_are_plain_ones(files, tmp_path):
    (tmp_path / 'one').write_text('\t1\t2\t3\n1\t1\t0\t0\n2\t0\t1\t0\n3\t0\t0\t1\n')
    how = ['--lambda', '0.1', '--rel-gap', '1e-9', files / 'train.svm']
    run('train', *how, tmp_path / 'plain')
    run('train', '--class-similarity', tmp_path / 'one', *how, tmp_path / 'described')
    plain, described = (load(tmp_path / name) for name in ('plain', 'described'))
    assert described.header['primal'] == pytest.approx(plain.header['primal'], rel=1e-8)
    np.testing.assert_allclose(described.weights['state'], plain.weights['state'], atol=1e-4)


def test_the_tree_loss(files, described, tmp_path):
    """Flat or not; predict reports its mean."""
    for flat in ([], ['--flat']):
        run('train', *described['taxonomy'], *flat, '-l', 'tree', files / 'train.svm', tmp_path / 'm')
        model = load(tmp_path / 'm')
        assert model.header['loss'] == 'tree' and (model.similarity is None) == bool(flat)
        np.testing.assert_array_equal(model.cost, [[0, 1, 2], [1, 0, 2], [2, 2, 0]])
        assert gap(files / 'train.svm', tmp_path / 'm')['status'] == 'converged'
    said = run(
        'predict', '--evaluate', '--metrics', tmp_path / 'j', files / 'train.svm', tmp_path / 'm', tmp_path / 'out'
    )
    found = (tmp_path / 'out').read_text().split()
    right = [line.split()[0] for line in (files / 'train.svm').read_text().splitlines()]
    mean = np.mean([model.cost[int(a) - 1, int(b) - 1] for a, b in zip(right, found, strict=True)])
    assert json.loads((tmp_path / 'j').read_text())['task_loss'] == pytest.approx(mean)
    assert f'task loss {mean:.4f}, the mean of an example' in said.stderr


def test_dev_scores_are_those_of_predict(files, described, tmp_path):
    dev = ['--dev', files / 'train.svm', '--log', tmp_path / 'log']
    run('train', *described['taxonomy'], *dev, files / 'train.svm', tmp_path / 'm')
    run('predict', '--metrics', tmp_path / 'j', files / 'train.svm', tmp_path / 'm', tmp_path / 'out')
    accuracy = json.loads((tmp_path / 'j').read_text())['accuracy']
    assert float(read_log(tmp_path / 'log')[-1]['dev_accuracy']) == pytest.approx(accuracy)


def test_a_checkpoint_is_for_the_same_classes(files, described, tmp_path):
    how = ['--checkpoint', tmp_path / 'c', '--max-passes', 2, '--rel-gap', 0]
    run('train', *described['taxonomy'], *how, files / 'train.svm', tmp_path / 'm')
    (tmp_path / 'other').write_text(TAXONOMY.replace('high top', 'high top 2').replace('2 low', '2 high'))
    error = run(
        'train', '--taxonomy', tmp_path / 'other', *how, '--resume', files / 'train.svm', tmp_path / 'm', code=1
    )
    assert 'is the checkpoint of another run' in error.stderr
    how[how.index(2)] = 5
    run('train', *described['taxonomy'], *how, '--resume', files / 'train.svm', tmp_path / 'm')
    run('train', *described['taxonomy'], '--max-passes', 5, '--rel-gap', 0, files / 'train.svm', tmp_path / 'whole')
    assert (tmp_path / 'm').read_bytes() == (tmp_path / 'whole').read_bytes()


def test_an_init_and_a_path(files, described, tmp_path):
    how = [*described['class-features'], files / 'train.svm']
    run('train', '--lambda', '0.1', *how, tmp_path / 'm')
    run('train', '--lambda', '0.05', '--solver', 'sgd', '--init', tmp_path / 'm', *how, tmp_path / 'n')
    path = ['--lambda-path', '1:0.1:0.5', '--log', tmp_path / 'log']
    run('train', *path, *how, tmp_path / 'p')
    assert len(read_log(tmp_path / 'log')) == 4
    assert gap(files / 'train.svm', tmp_path / 'p')['status'] == 'converged'


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--taxonomy', 'T', '--class-features', 'F'], '--taxonomy and --class-features exclude each other'),
        (['--flat'], '--flat is for --taxonomy'),
        (['--class-features', 'F', '--flat'], '--flat is for --taxonomy'),
        (['-l', 'tree'], '--task-loss tree needs --taxonomy FILE'),
        (['--taxonomy', 'T', '--kernel', 'rbf'], '--taxonomy goes with the linear kernel only'),
        (['--taxonomy', 'T', '--feature-set', 'observed'], '--taxonomy ties the weights of all classes'),
        (['--taxonomy', 'T', '--task', 'chain'], '--taxonomy is about single labels, not about --task chain'),
        (['--taxonomy', 'nope'], '--taxonomy nope: no such file'),
        (['--taxonomy', 'T', '--solver', 'counts', '--bias'], 'counts has no use for features of classes'),
    ],
)
def test_what_does_not_go_together(files, described, tmp_path, words, said):
    places = {'T': described['taxonomy'][1], 'F': described['class-features'][1]}
    words = [places.get(word, word) for word in words]
    assert said in run('train', *words, files / 'train.svm', tmp_path / 'm', code=2).stderr
    assert not (tmp_path / 'm').exists()


def test_a_sequence_has_no_features_of_classes(files, described, tmp_path):
    error = run('train', *described['taxonomy'], files / 'train.conll', tmp_path / 'm', code=2).stderr
    assert '--taxonomy is about single labels, and the data are read as a chain' in error


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('\t1\t2\t3\n1\t1\t2\t0\n2\t2\t1\t0\n3\t0\t0\t1\n', 'have the eigenvalue -1 and are no inner products'),
        ('\t1\t2\t3\n1\t1\t0.5\t0\n2\t0\t1\t0\n3\t0\t0\t1\n', 'are not symmetric'),
    ],
)
def test_similarities_that_are_none(files, tmp_path, text, said):
    (tmp_path / 's').write_text(text)
    error = run('train', '--class-similarity', tmp_path / 's', files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert f'{tmp_path / "s"}: the class similarities {said}' in error.splitlines()[-1]


def test_the_model_says_when_its_similarities_are_gone(files, described, tmp_path):
    run('train', *described['taxonomy'], files / 'train.svm', tmp_path / 'm')
    run('convert', tmp_path / 'm', tmp_path / 'm.tsv')
    text = (tmp_path / 'm.tsv').read_text()
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith('# similarity')]
    (tmp_path / 'm.tsv').write_text(''.join(lines))
    error = run('convert', tmp_path / 'm.tsv', tmp_path / 'n', code=1).stderr
    assert "header has classes = 'taxonomy' and there is no similarity matrix" in error
