"""--order 2, --window and --edge-features through the commands."""

import json

import numpy as np
import pytest

from data_formats.models.model import load
from ssvm_cli.training import memory
from tests.cli.commands import conll_text, hmm_text, run

TEMPLATE = 'U0:%x[0,0]\nB\n'
EDGES = TEMPLATE + 'B1:%x[0,0]\n'


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp('order')
    (folder / 'train.conll').write_text(conll_text(40, longest=8))
    (folder / 'test.conll').write_text(conll_text(15, seed=1, longest=8) + '\nw1 O\n')
    (folder / 'train.hmm').write_text(hmm_text())
    (folder / 'tpl').write_text(TEMPLATE)
    (folder / 'edges').write_text(EDGES)
    return folder


@pytest.fixture(scope='module')
def models(folder):
    """svm and crf of order 2, and edges, which has input features on pairs too."""
    found = {name: folder / f'{name}.model' for name in ('svm', 'crf', 'edges')}
    how = ['-q', '--order', 2, '--lambda', 0.01]
    run('train', *how, '--template', folder / 'tpl', folder / 'train.conll', found['svm'])
    run('train', *how, '--template', folder / 'tpl', '--objective', 'log', folder / 'train.conll', found['crf'])
    run('train', *how, '--template', folder / 'edges', folder / 'train.conll', found['edges'])
    return found


def certificate(data, model):
    return json.loads(run('gap', '--json', data, model).stdout)


def test_the_triplets_are_learnt(folder, models):
    """The optimum with them is below the one without, and the model says so."""
    how = ['--lambda', 0.01, '--template', folder / 'tpl', folder / 'train.conll', folder / 'first.model']
    run('train', *how)
    first, second = (certificate(folder / 'train.conll', m) for m in (folder / 'first.model', models['svm']))
    assert second['primal'] < first['dual'] and second['relative_gap'] <= 0.001 and second['dual_source'] == 'model'
    model = load(models['svm'])
    assert model.header['structure'] == {'order': 2}
    assert model.weights['triple'].shape == (4, 4, 4) and model.weights['triple'].any()
    first_order = load(folder / 'first.model')
    assert first_order.header['structure'] == {'order': 1} and 'triple' not in first_order.weights


def test_log_losses_take_a_solver_that_keeps_no_parts(folder, models):
    header = load(models['crf']).header
    assert header['solver'] == 'lbfgs' and header['status'] == 'converged'
    figures = certificate(folder / 'train.conll', models['crf'])
    assert figures['dual_source'] == 'softmax' and figures['relative_gap'] <= 0.001


def test_solvers_agree_where_pairs_have_input_features(folder, models):
    values = [certificate(folder / 'train.conll', models['edges'])]
    how = ['--order', 2, '--lambda', 0.01, '--template', folder / 'edges', '--solver', 'n-slack']
    run('train', *how, folder / 'train.conll', folder / 'm')
    values.append(certificate(folder / 'train.conll', folder / 'm'))
    assert max(v['dual'] for v in values) <= min(v['primal'] for v in values) * (1 + 1e-12)
    assert set(load(models['edges']).weights) == {'state', 'transition', 'edge', 'triple'}


def test_every_way_to_predict(folder, models):
    """The best of the list is the prediction, probabilities sum to 1, marginals are those of all labellings."""
    plain = run('predict', '--evaluate', folder / 'test.conll', models['crf'])
    assert 'f1' in plain.stderr.lower()
    tagged = [line.split()[2] for line in plain.stdout.splitlines() if line]
    text = 'w3 B-X\nw6 I-X\nw6 I-X\n'
    blocks = run('predict', '--nbest', 100, '-', models['crf'], stdin=text).stdout.strip().split('\n\n')
    heads = [block.splitlines()[0].split() for block in blocks]
    labels = [[row.split()[2] for row in block.splitlines()[1:]] for block in blocks]
    chances = np.array([float(head[3]) for head in heads])
    assert len(blocks) == 4**3 and sum(chances) == pytest.approx(1, abs=1e-6)
    assert labels[0] == [
        row.split()[2] for row in run('predict', '-', models['crf'], stdin=text).stdout.split('\n') if row
    ]
    rows = run('predict', '--marginals', '--scores', '-', models['crf'], stdin=text).stdout.splitlines()
    assert rows[0].startswith('# 1 ')
    for t, row in enumerate(row for row in rows[1:] if row):
        for column in row.split()[3:]:
            label, _, share = column.rpartition(':')
            wanted = chances[[y[t] == label for y in labels]].sum()
            assert float(share) == pytest.approx(wanted, abs=2e-6)
    assert len(tagged) == sum(bool(line) for line in (folder / 'test.conll').read_text().splitlines())


@pytest.mark.parametrize('name', ['svm', 'edges'])
def test_text_and_back(folder, models, name):
    run('convert', models[name], folder / 'm.tsv')
    run('convert', folder / 'm.tsv', folder / 'back.model')
    before, after = load(models[name]), load(folder / 'back.model')
    np.testing.assert_array_equal(before.weights['triple'], after.weights['triple'])
    first, second, third = np.argwhere(before.weights['triple'])[0]
    names, value = before.label_names.names(), before.weights['triple'][first, second, third]
    row = f'triple:{names[first]}\t{names[second]}\t{names[third]}\t{value:.17g}'
    text = (folder / 'm.tsv').read_text()
    assert row in text.splitlines() and '# structure: {"order": 2}' in text
    predictions = [run('predict', folder / 'test.conll', m).stdout for m in (models[name], folder / 'back.model')]
    assert predictions[0] == predictions[1]
    (folder / 'm.tsv').write_text(text.replace('# task: "chain"', '# task: "multiclass"'))
    said = run('convert', folder / 'm.tsv', folder / 'none', code=1).stderr
    assert "header has structure.order and task = 'multiclass'" in said
    (folder / 'm.tsv').write_text(text.replace(row, row.replace('triple:', 'triple:Z', 1)))
    number = text.splitlines().index(row) + 1
    error = run('convert', folder / 'm.tsv', folder / 'none', code=1).stderr
    assert error.startswith(f'{folder / "m.tsv"}:{number}: label') and 'is not among the labels' in error
    (folder / 'm.tsv').write_text(
        '\n'.join(row for row in text.splitlines() if not row.startswith('triple')).replace(', "triple"]', ']')
    )
    assert 'no block of triplets' in run('convert', folder / 'm.tsv', folder / 'none', code=1).stderr


def test_resumed_started_and_configured(folder, tmp_path):
    """A run that is gone on with ends like the whole; models of one order are a start for the other."""
    (tmp_path / 'o.yaml').write_text('order: 2\nlambda: 0.01\n')
    how = ['--config', tmp_path / 'o.yaml', '--template', folder / 'tpl', '--rel-gap', 1e-6]
    data, model, whole = folder / 'train.conll', tmp_path / 'm', tmp_path / 'whole'
    run('train', *how, '--max-passes', 6, data, whole)
    saved = ['--checkpoint', tmp_path / 'state', '--dev', folder / 'test.conll', '--log', tmp_path / 'log']
    run('train', *how, *saved, '--max-passes', 2, data, model)
    other = run('train', *how, *saved, '--order', 1, '--resume', '--max-passes', 6, data, model, code=1).stderr
    assert 'is the checkpoint of another run' in other and 'order' in other
    run('train', *how, *saved, '--resume', '--max-passes', 6, data, model)
    assert model.read_bytes() == whole.read_bytes()
    start = ['--template', folder / 'tpl', '--objective', 'log', '--solver', 'lbfgs', '--max-passes', 0]
    run('train', *start, '--max-passes', 50, data, tmp_path / 'one')
    run('train', *start, '--order', 2, '--init', tmp_path / 'one', data, tmp_path / 'two')
    one, two = load(tmp_path / 'one').weights, load(tmp_path / 'two').weights
    np.testing.assert_array_equal(one['transition'], two['transition'])
    assert two['transition'].any() and not two['triple'].any()
    run('train', *start, '--init', tmp_path / 'two', data, tmp_path / 'three')
    np.testing.assert_array_equal(load(tmp_path / 'three').weights['state'], one['state'])
    run('train', *how, '--init', whole, '--order', 1, '--max-passes', 0, data, tmp_path / 'four')


def test_observed_triplets(folder, tmp_path):
    run('train', '--order', 2, '--feature-set', 'observed', '--lambda', 0.001, folder / 'train.conll', tmp_path / 'm')
    model = load(tmp_path / 'm')
    names, seen = model.label_names.names(), np.zeros((4, 4, 4), bool)
    for sentence in (folder / 'train.conll').read_text().split('\n\n'):
        y = [names.index(row.split()[1]) for row in sentence.splitlines()]
        for triple in zip(y, y[1:], y[2:], strict=False):
            seen[triple] = True
    assert model.weights['triple'][seen].any() and not model.weights['triple'][~seen].any() and not seen.all()
    assert certificate(folder / 'train.conll', tmp_path / 'm')['relative_gap'] <= 0.001


REFUSED = {
    'multiclass': (['--task', 'multiclass', '--order', 2, 'train.hmm'], '--order has no meaning for the task'),
    'edges of multiclass': (['--task', 'multiclass', '--edge-features', 'train.hmm'], '--edge-features has no meaning'),
    'single labels': (['--order', 2, 'train.svm'], '--order has no meaning for the task multiclass'),
    'another order': (['--order', 3, 'train.conll'], "'3' is not one of '1', '2'"),
    'window of columns': (['--window', 1, 'train.conll'], 'a --template makes them, with U lines such as U1:%x[-1,0]'),
    'edges of columns': (['--edge-features', 'train.conll'], 'of CoNLL columns a --template makes them, with B lines'),
    'window of one': (['--window', 1, 'train.svm'], '--window is for sequences with ready-made attributes, not for'),
}  # fmt: skip


@pytest.mark.parametrize(('args', 'message'), REFUSED.values(), ids=REFUSED)
def test_refused(folder, monkeypatch, args, message):
    monkeypatch.chdir(folder)
    (folder / 'train.svm').write_text('1 1:1\n2 2:1\n')
    assert message in run('train', *args, 'none', code=2).stderr
    assert not (folder / 'none').exists()


def test_what_does_not_fit_into_memory_is_refused_with_an_estimate(folder, monkeypatch, tmp_path):
    many = tmp_path / 'many.crfsuite'
    many.write_text('\n'.join(f'L{k}\tx' for k in range(1200)) + '\n')
    monkeypatch.setattr(memory, 'total_memory', lambda: 8 << 30)
    result = run('train', '--order', 2, '--threads', 1, many, tmp_path / 'm', code=1)
    assert 'triplets of 1200 labels need 90.1 GB at least, and there are 8.0 GB (--order 1 has none)' in result.stderr
    monkeypatch.setattr(memory, 'total_memory', lambda: 50_000)
    how = ['--order', 2, '--objective', 'log', '--solver', 'eg', '--template', folder / 'tpl', '--threads', 1]
    result = run('train', *how, folder / 'train.conll', tmp_path / 'm', code=1)
    assert 'eg keeps numbers for each part of each example' in result.stderr


def neighbours(text):
    """CRFsuite lines with the attributes of the tokens before and after, written by hand."""
    sentences = []
    for sentence in text.strip().split('\n\n'):
        rows = [line.split('\t') for line in sentence.split('\n')]
        wide = [
            [*row, *(f'{a}[-1]' for a in (rows[t - 1][1:] if t else ())), *(f'{a}[+1]' for a in rows[t + 1][1:])]
            for t, row in enumerate(rows[:-1])
        ]
        wide.append([*rows[-1], *(f'{a}[-1]' for a in (rows[-2][1:] if len(rows) > 1 else ()))])
        sentences.append('\n'.join('\t'.join(row) for row in wide))
    return '\n\n'.join(sentences) + '\n'


def test_a_window_is_part_of_the_model(folder, tmp_path):
    """The same optimum, predictions and text as with the attributes of neighbours written out; more than without."""
    plain, wide = (tmp_path / f'{name}.crfsuite' for name in ('plain', 'wide'))
    run('convert', '--template', folder / 'tpl', folder / 'train.conll', plain)
    wide.write_text(neighbours(plain.read_text()))
    run('train', '--bias', '--lambda', 0.01, '--rel-gap', 1e-6, '--window', 1, plain, tmp_path / 'window.model')
    run('train', '--bias', '--lambda', 0.01, '--rel-gap', 1e-6, wide, tmp_path / 'wide.model')
    run('train', '--bias', '--lambda', 0.01, '--rel-gap', 1e-6, plain, tmp_path / 'plain.model')
    figures = {name: certificate(plain, tmp_path / f'{name}.model') for name in ('window', 'plain')}
    figures['wide'] = certificate(wide, tmp_path / 'wide.model')
    assert figures['window']['primal'] == pytest.approx(figures['wide']['primal'], rel=2e-6)
    assert figures['window']['primal'] < figures['plain']['dual']
    assert (
        run('predict', plain, tmp_path / 'window.model').stdout == run('predict', wide, tmp_path / 'wide.model').stdout
    )
    run('convert', tmp_path / 'window.model', tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'back.model')
    assert (
        run('predict', plain, tmp_path / 'back.model').stdout == run('predict', plain, tmp_path / 'window.model').stdout
    )
    run('convert', '--window', 1, plain, tmp_path / 'converted.crfsuite')
    run('gap', tmp_path / 'converted.crfsuite', tmp_path / 'wide.model')
    assert run('convert', '--window', 1, tmp_path / 'm.tsv', tmp_path / 'none', code=2).stderr.count('--window make no')


def test_a_model_of_other_attributes_than_its_window_is_refused(folder, tmp_path):
    run('convert', '--template', folder / 'tpl', folder / 'train.conll', tmp_path / 't.crfsuite')
    run('train', '--window', 1, '--edge-features', '--max-passes', 1, tmp_path / 't.crfsuite', tmp_path / 'm')
    run('convert', tmp_path / 'm', tmp_path / 'm.tsv')
    text = (tmp_path / 'm.tsv').read_text()
    (tmp_path / 'm.tsv').write_text(text.replace('state\tU0:w1[-1]\t', 'state\tother\t'))
    assert 'are not those of a window of 1' in run('convert', tmp_path / 'm.tsv', tmp_path / 'x', code=1).stderr
    (tmp_path / 'm.tsv').write_text(text.replace('edge:U0:w1\t', 'edge:other\t'))
    assert 'edge attributes are not the attributes' in run('convert', tmp_path / 'm.tsv', tmp_path / 'x', code=1).stderr


@pytest.mark.parametrize('order', [1, 2])
def test_edge_features_are_those_of_a_template(folder, tmp_path, order):
    """`B1:%x[0,0]` has the word on the transition into it, --edge-features its attribute: the same weights."""
    run('convert', '--template', folder / 'tpl', folder / 'train.conll', tmp_path / 't.crfsuite')
    how = ['--order', order, '--lambda', 0.01, '--rel-gap', 1e-6]
    run('train', *how, '--edge-features', tmp_path / 't.crfsuite', tmp_path / 'own')
    run('train', *how, '--template', folder / 'edges', folder / 'train.conll', tmp_path / 'template')
    values = [
        certificate(*pair)['primal']
        for pair in ((tmp_path / 't.crfsuite', tmp_path / 'own'), (folder / 'train.conll', tmp_path / 'template'))
    ]
    assert values[0] == pytest.approx(values[1], rel=2e-6)
    labels = run('predict', tmp_path / 't.crfsuite', tmp_path / 'own').stdout.split()
    rows = run('predict', folder / 'train.conll', tmp_path / 'template').stdout.splitlines()
    assert labels == [row.split()[2] for row in rows if row]


def test_svm_hmm_files(folder, tmp_path):
    how = ['--order', 2, '--window', 1, '--edge-features', '-c', 10]
    run('train', *how, folder / 'train.hmm', tmp_path / 'm')
    assert certificate(folder / 'train.hmm', tmp_path / 'm')['relative_gap'] <= 0.001
    assert len(run('predict', folder / 'train.hmm', tmp_path / 'm').stdout.split()) == len(
        (folder / 'train.hmm').read_text().splitlines()
    )
