"""Kernels on the command line: what a model holds, and that every command and option that needs it uses it."""

import csv
import itertools
import json
import re

import numpy as np
import pytest

from data_formats.errors import DataError
from data_formats.models.model import load, save
from tests.cli.commands import conll_text, hmm_text, multiclass_text, run
from tests.cli.test_model_file import rewrite
from tests.cli.test_model_tsv import assert_same_model

POLY = ['--kernel', 'poly', '--degree', 2, '--gamma', 0.5, '--coef0', 1]
RBF = ['--kernel', 'rbf', '--gamma', 0.3]


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Data, and the models svm (poly), hmm (rbf) and conll (poly, binary attributes)."""
    folder = tmp_path_factory.mktemp('kernels')
    (folder / 'train.svm').write_text(multiclass_text())
    (folder / 'test.svm').write_text(multiclass_text(12, seed=4))
    (folder / 'train.hmm').write_text(hmm_text())
    (folder / 'train.conll').write_text(conll_text())
    (folder / 'test.conll').write_text(conll_text(8, seed=1, longest=4))
    (folder / 'tpl').write_text('U0:%x[0,0]\nU1:%x[-1,0]\nB\n')
    run('train', '-q', *POLY, folder / 'train.svm', folder / 'svm')
    run('train', '-q', *RBF, '--lambda', 0.1, folder / 'train.hmm', folder / 'hmm')
    run('train', '-q', *POLY, '--template', folder / 'tpl', folder / 'train.conll', folder / 'conll')
    return folder


DATA = {'svm': 'train.svm', 'hmm': 'train.hmm', 'conll': 'train.conll'}
every_model = pytest.mark.parametrize('name', DATA)


def gap(*args):
    return json.loads(run('gap', '--json', *args).stdout)


def support(model):
    """The support tokens as rows [M, F]."""
    indptr, indices = model.weights['support.indptr'], model.weights['support.indices']
    rows = np.zeros((len(indptr) - 1, len(model.attributes)))
    values = model.weights.get('support.values', 1.0)
    rows[np.repeat(np.arange(len(rows)), np.diff(indptr)), indices] = values
    return rows


def label_scores(model, x):
    """[T, K] from the definition of the kernel in the header."""
    kernel, rows = model.kernel, support(model)
    if kernel['kind'] == 'poly':
        matrix = (kernel['gamma'] * x @ rows.T + kernel['coef0']) ** kernel['degree']
    else:
        matrix = np.exp(-kernel['gamma'] * ((x[:, None] - rows) ** 2).sum(axis=2))
    return matrix @ model.weights['support.weights']


def svm_rows(path, model):
    lines = [line.split()[1:] for line in path.read_text().splitlines()]
    x = np.zeros((len(lines), len(model.attributes)))
    for row, pairs in zip(x, lines, strict=True):
        for pair in pairs:
            index, value = pair.split(':')
            row[model.attributes.get(index.encode())] = float(value)
    return x


def test_predicted_scores_are_those_of_the_support_tokens(folder):
    model = load(folder / 'svm')
    assert model.kernel == {'kind': 'poly', 'degree': 2, 'gamma': 0.5, 'coef0': 1.0}
    assert 'state' not in model.weights and 0 < len(model.weights['support.weights']) <= 30
    wanted = label_scores(model, svm_rows(folder / 'test.svm', model))
    lines = run('predict', '--scores', folder / 'test.svm', folder / 'svm').stdout.splitlines()
    for line, row in zip(lines, wanted, strict=True):
        label, *columns = line.split()
        assert [float(column.split(':')[1]) for column in columns] == pytest.approx(row, rel=1e-8, abs=1e-9)
        assert label == model.label_names.names()[row.argmax()]


def test_predicted_sequences_are_the_best_of_all(folder):
    """Names of attributes as the template makes them; the best label sequences by trying all."""
    model = load(folder / 'conll')
    assert 'support.values' not in model.weights
    output = run('predict', '--nbest', 2, folder / 'test.conll', folder / 'conll').stdout
    blocks = iter(output.strip().split('\n\n'))
    names = model.label_names.names()
    for sentence in (folder / 'test.conll').read_text().strip().split('\n\n'):
        words = [line.split()[0] for line in sentence.splitlines()]
        x = np.zeros((len(words), len(model.attributes)))
        for t, word in enumerate(words):
            for name in (f'U0:{word}', f'U1:{words[t - 1] if t else "_B-1"}'):
                place = model.attributes.get(name.encode())
                if place >= 0:
                    x[t, place] = 1
        theta = label_scores(model, x)
        pairs = model.weights['transition']
        scores = {
            code: sum(theta[t, y] for t, y in enumerate(code)) + sum(pairs[p, y] for p, y in itertools.pairwise(code))
            for code in itertools.product(range(len(names)), repeat=len(words))
        }
        best = sorted(scores.values(), reverse=True)
        for rank in range(2):
            head, *rows = next(blocks).splitlines()
            code = tuple(names.index(row.split()[-1]) for row in rows)
            assert float(head.split()[2]) == pytest.approx(best[rank], rel=1e-8)
            assert scores[code] == pytest.approx(best[rank], rel=1e-8)


@every_model
def test_gap_finds_the_figures_of_the_run(folder, name):
    header, found = load(folder / name).header, gap(folder / DATA[name], folder / name)
    assert found['dual_source'] == 'model' and found['status'] == 'converged'
    for key in ('primal', 'dual'):
        assert found[key] == pytest.approx(header[key], rel=1e-9)
    assert found == gap('--threads', 3, folder / DATA[name], folder / name)


def test_gap_on_other_data(folder):
    """Support tokens of the model and tokens of the data together."""
    found = gap(folder / 'test.svm', folder / 'svm')
    model = load(folder / 'svm')
    assert found['examples'] == 12 and found['dual_source'] == 'bcfw' and found['dual'] <= found['primal']
    norm2 = (label_scores(model, support(model)) * model.weights['support.weights']).sum()
    scores = label_scores(model, svm_rows(folder / 'test.svm', model))
    right = [int(line.split()[0]) - 1 for line in (folder / 'test.svm').read_text().splitlines()]
    losses = [(row + 1 - np.eye(3)[y]).max() - row[y] for row, y in zip(scores, right, strict=True)]
    assert found['primal'] == pytest.approx(model.header['lambda'] / 2 * norm2 + np.mean(losses), rel=1e-10)


def test_gap_of_altered_coefficients(folder, tmp_path):
    model = load(folder / 'svm')
    model.weights['support.weights'][0, 0] += 5
    save(model, tmp_path / 'm')
    found, before = (gap(folder / 'train.svm', path) for path in (tmp_path / 'm', folder / 'svm'))
    assert found['primal'] > before['primal'] and found['dual'] == before['dual']


def test_a_log_model_has_marginals_and_a_softmax_dual(folder, tmp_path):
    model = load(folder / 'conll')
    model.header |= {'objective': 'log', 'loss': 'none'}
    save(model, tmp_path / 'm')
    lines = run('predict', '--marginals', folder / 'test.conll', tmp_path / 'm').stdout.splitlines()
    for columns in (line.split()[3:] for line in lines if line):
        assert sum(float(column.rsplit(':', 1)[1]) for column in columns) == pytest.approx(1, abs=1e-5)
    found = gap(folder / 'train.conll', tmp_path / 'm')
    assert 0 <= found['dual'] < found['primal']


@every_model
def test_threads_and_pipes_change_nothing(folder, name):
    data = folder / DATA[name]
    whole = run('predict', '--threads', 1, data, folder / name).stdout_bytes
    assert run('predict', '--threads', 3, data, folder / name).stdout_bytes == whole
    assert run('predict', '-', folder / name, stdin=data.read_bytes()).stdout_bytes == whole


@every_model
def test_text_and_back(folder, name, tmp_path):
    run('convert', folder / name, tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'm')
    model = load(folder / name)
    model.dual = None
    assert_same_model(load(tmp_path / 'm'), model)
    run('convert', tmp_path / 'm', tmp_path / 'again.tsv')
    assert (tmp_path / 'again.tsv').read_bytes() == (tmp_path / 'm.tsv').read_bytes()
    blocks = {line.split('\t')[0] for line in (tmp_path / 'm.tsv').read_text().splitlines() if line[0] != '#'}
    assert blocks == {'block', 'support', 'vector', 'end'} | ({'transition'} if name != 'svm' else set())


def test_a_model_of_no_coefficients(folder, tmp_path):
    """What comes out before the first pass: every label scores 0."""
    train = folder / 'train.svm'
    run('train', '-q', *RBF, '--max-passes', 0, train, tmp_path / 'm')
    assert load(tmp_path / 'm').weights['support.weights'].shape == (0, 3)
    assert gap('--passes', 1, train, tmp_path / 'm')['primal'] == 1
    assert '2:0 3:0' in run('predict', '--scores', train, tmp_path / 'm').stdout
    run('convert', tmp_path / 'm', tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'again')
    assert_same_model(load(tmp_path / 'again', with_dual=False), load(tmp_path / 'm', with_dual=False))


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        ('vector\t1\tU0:', 'vector\t1\tV0:', "attribute 'V0:"),
        ('vector\t1\tU0:', 'vector\tx\tU0:', "vector 'x' has no line `support`"),
        (
            'support\t1\t',
            'state\t1\t',
            "block 'state' (expected support, vector, transition, edge:ATTRIBUTE or triple:LABEL)",
        ),
        ('# attributes: [', '# names: [', 'no attribute names (expected a comment line `# attributes: [...]`)'),
        ('"kind": "poly"', '"kind": "tanh"', "unknown kernel 'tanh'"),
        ('# feature_set: "all"', '# feature_set: "observed"', 'has a kernel and feature_set'),
    ],
)
def test_malformed_text(folder, tmp_path, old, new, message):
    run('convert', folder / 'conll', tmp_path / 'm.tsv')
    text = (tmp_path / 'm.tsv').read_text()
    assert old in text
    (tmp_path / 'm.tsv').write_text(text.replace(old, new, 1))
    assert message in run('convert', tmp_path / 'm.tsv', tmp_path / 'm', code=1).stderr


MALFORMED = [
    ({'weights.support.indices.npy': np.full(4, 99, np.int32)}, None, 'an attribute that is not there'),
    ({'weights.support.indptr.npy': np.array([0, 9, 2])}, None, r'weights\.support\.indptr is no table of rows'),
    ({'weights.support.weights.npy': np.zeros((2, 2))}, None, r'float64 2 x 2'),
    ({}, {'kernel': {'kind': 'tanh'}}, "unknown kernel 'tanh'"),
    ({}, {'kernel': 'rbf'}, "kernel = 'rbf'"),
    ({}, {'kernel': None}, r'array weights\.state is missing'),
]


@pytest.mark.parametrize(('arrays', 'header', 'message'), MALFORMED)
def test_malformed_models(folder, tmp_path, arrays, header, message):
    model = load(folder / 'svm')
    weights = {
        'support.indptr': np.array([0, 2, 4]),
        'support.indices': np.array([0, 2, 1, 3], np.int32),
        'support.values': np.ones(4),
        'support.weights': np.ones((2, 3)),
    }
    model.weights = weights
    save(model, tmp_path / 'm')
    rewrite(tmp_path / 'm', arrays, {**load(tmp_path / 'm').header, **(header or {})})
    with pytest.raises(DataError, match=message):
        load(tmp_path / 'm')


def test_support_tokens_in_disorder(folder, tmp_path):
    model = load(folder / 'svm')
    model.weights['support.indices'][:2] = model.weights['support.indices'][1::-1].copy()
    save(model, tmp_path / 'm')
    with pytest.raises(DataError, match='not ascending'):
        load(tmp_path / 'm')


@every_model
def test_the_cache_changes_no_byte(folder, name, tmp_path):
    kernel = RBF if name == 'hmm' else POLY
    more = ['--template', folder / 'tpl'] if name == 'conll' else ['--lambda', 0.1] if name == 'hmm' else []
    for cache in (0, 0.001):
        how = ['--kernel-cache', cache, '--threads', 2]
        run('train', '-q', *kernel, *how, *more, folder / DATA[name], tmp_path / 'm')
        assert (tmp_path / 'm').read_bytes() == (folder / name).read_bytes()


def test_verbose_says_what_the_cache_takes(folder, tmp_path):
    how = ['-v', '--max-passes', 1, *RBF]
    said = run('train', *how, folder / 'train.svm', tmp_path / 'm').stderr
    assert 'rbf kernel (gamma 0.3): 30 distinct tokens, the cache holds all rows' in said
    said = run('train', *how, '--kernel-cache', 0.001, folder / 'train.svm', tmp_path / 'm').stderr
    assert 'the cache holds 4 rows of their kernel matrix in 0 MB' in said


def test_a_cache_that_does_not_fit_is_refused(folder, tmp_path, monkeypatch):
    monkeypatch.setattr('ssvm_cli.training.memory.total_memory', lambda: 9000)
    said = run('train', *RBF, folder / 'train.svm', tmp_path / 'm', code=1).stderr
    assert 'holds all rows of their kernel matrix' in said and '(--kernel-cache MB)' in said
    run('train', '-q', *RBF, '--kernel-cache', 0, folder / 'train.svm', tmp_path / 'm')


def test_dev_scores_are_those_of_predict(folder, tmp_path):
    how = [*POLY, '--template', folder / 'tpl', '--dev', folder / 'test.conll', '--log', tmp_path / 'log']
    run('train', '-q', *how, folder / 'train.conll', tmp_path / 'm')
    run('predict', '--metrics', tmp_path / 'metrics', folder / 'test.conll', tmp_path / 'm', tmp_path / 'out')
    lines = [line for line in (tmp_path / 'log').read_text().splitlines() if not line.startswith('#')]
    last = list(csv.DictReader(lines))[-1]
    assert float(last['dev_accuracy']) == pytest.approx(json.loads((tmp_path / 'metrics').read_text())['accuracy'])


def test_resume(folder, tmp_path):
    how = ['-q', *RBF, '--rel-gap', 1e-4, '--checkpoint', tmp_path / 'c']
    run('train', *how, folder / 'train.svm', tmp_path / 'whole')
    run('train', *how, '--max-passes', 5, folder / 'train.svm', tmp_path / 'part')
    other = ['-q', '--kernel', 'rbf', '--gamma', 0.4, '--rel-gap', 1e-4, '--checkpoint', tmp_path / 'c', '--resume']
    assert 'kernel was' in run('train', *other, folder / 'train.svm', tmp_path / 'part', code=1).stderr
    run('train', *how, '--resume', folder / 'train.svm', tmp_path / 'part')
    assert (tmp_path / 'part').read_bytes() == (tmp_path / 'whole').read_bytes()


def test_init(folder, tmp_path):
    """A dual point is good for any kernel; coefficients are no weights of attributes."""
    train = folder / 'train.svm'
    first = run('train', *POLY, '--init', folder / 'svm', '--max-passes', 0, train, tmp_path / 'm').stderr
    assert load(tmp_path / 'm').header['dual'] == pytest.approx(load(folder / 'svm').header['dual'], rel=1e-9), first
    run('train', '-q', *RBF, '--init', folder / 'svm', train, tmp_path / 'm')
    assert load(tmp_path / 'm').header['status'] == 'converged'
    said = run('train', '--solver', 'sgd', '--init', folder / 'svm', train, tmp_path / 'n', code=1).stderr
    assert 'has a poly kernel (expected a model of linear features' in said
    assert not (tmp_path / 'n').exists()


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--kernel', 'tanh'], "'tanh' is not one of 'linear', 'poly', 'rbf'"),
        (['--kernel', 'poly', '--degree', 0], '0 is not in the range 1<=x<=100'),
        (['--kernel', 'poly', '--degree', 1.5], "'1.5' is not a valid whole number"),
        (['--kernel', 'poly', '--gamma', 0], '--gamma'),
        (['--kernel', 'rbf', '--gamma', 'nan'], '--gamma'),
        (['--kernel', 'poly', '--coef0', -1], '--coef0'),
        (['--kernel', 'rbf', '--kernel-cache', -1], '--kernel-cache'),
        (['--degree', 2], '--degree has no effect on --kernel linear (use --kernel poly)'),
        (['--gamma', 2], '--gamma has no effect on --kernel linear (use --kernel poly or rbf)'),
        (['--kernel', 'rbf', '--coef0', 1], '--coef0 has no effect on --kernel rbf (use --kernel poly)'),
        (['--kernel', 'rbf', '--feature-set', 'observed'], 'which a kernel does not have'),
        (['--kernel', 'rbf', '--solver', 'sgd'], 'sgd needs the weights themselves'),
        (['--kernel', 'rbf', '--solver', 'lbfgs', '--objective', 'log'], 'lbfgs needs the weights themselves'),
    ],
)
def test_what_makes_no_sense_is_refused(folder, tmp_path, options, message):
    assert message in run('train', *options, folder / 'train.svm', tmp_path / 'm', code=2).stderr
    assert not (tmp_path / 'm').exists()


@pytest.mark.parametrize(('factor', 'options'), [('', ['--degree', 100, '--gamma', 1e300]), ('e110', [])])
def test_values_that_are_too_large_are_those_of_a_file(folder, tmp_path, factor, options):
    train = tmp_path / 'large.svm'
    train.write_text(re.sub(r'(:\S+)', rf'\g<1>{factor}', (folder / 'train.svm').read_text()))
    said = run('train', '-q', '--kernel', 'poly', *options, train, tmp_path / 'm', code=1).stderr
    assert said.startswith(f'{train}: values of the poly kernel') and 'are too large (expected a smaller' in said
    wrong = ['--kernel', 'poly', '--set', 'steps=plain', '--slack-norm', 2, folder / 'train.svm', tmp_path / 'm']
    assert 'plain steps need dual weights' in run('train', *wrong, code=2).stderr


def test_list_solvers_shows_who_works_with_kernels():
    paragraphs = run('train', '--list-solvers').stdout.split('\n\n')
    found = {text.split()[0]: text for text in paragraphs}
    assert 'kernels                 linear, poly, rbf\n' in found['bcfw']
    assert 'kernels                 linear\n' in found['sgd']
