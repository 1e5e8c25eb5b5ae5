"""--pairs: weights for some pairs of labels, end to end through the commands."""

import itertools
import json

import numpy as np
import pytest

from data_formats.files.container import Container, write_container
from data_formats.models.model import HEADER, load
from tests import label_sets, optimum
from tests.cli.commands import run
from tests.cli.test_graphs import graphs, table
from tests.cli.test_graphs import label_sets as sets_text

LABELS, LAM = 6, 0.02
QUIET = ('-q', '--lambda', LAM)
FILE = '# what goes together\nl0\tl3\n\nl5\tl0 # twice\n  # and\nl1\tl2\n'
LISTED = [[0, 3], [0, 5], [1, 2]]
WAYS = ('none', 'tree', 'pairs.tsv', 'all')


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'sets.ml').write_text(sets_text(40, LABELS))
    (tmp_path / 'pairs.tsv').write_text(FILE)
    return tmp_path


def gap_of(*args):
    return json.loads(run('gap', '--json', '-q', *args).stdout_bytes)


def right_and_inputs(text):
    """([n, labels] of 0 and 1, [n, attributes]) of a file."""
    right, x = np.zeros((text.count('\n'), LABELS), int), np.zeros((text.count('\n'), 5))
    for i, line in enumerate(text.splitlines()):
        labels, _, rest = line.partition(' ')
        right[i, [int(name[1:]) for name in labels.split(',') if name]] = 1
        for item in rest.split():
            x[i, int(item.split(':')[0]) - 1] = float(item.split(':')[1])
    return right, x


def all_scores(model, x):
    """(every set as a row of 0 and 1, [n, sets] their scores) by the weights of a model."""
    sets = np.array(list(itertools.product((0, 1), repeat=LABELS)))
    pairs = model.header['structure'].get('pairs', list(itertools.combinations(range(LABELS), 2)))
    of_pairs = sum((w * sets[:, a] * sets[:, b] for (a, b), w in zip(pairs, model.weights['pair'], strict=True)), 0)
    return sets, x @ model.weights['state'] @ sets.T + of_pairs


@pytest.mark.parametrize('pairs', WAYS)
@pytest.mark.parametrize(
    'how',
    [
        (),
        ('--objective', 'log'),
        ('--objective', 'softmax-margin', '--solver', 'lbfgs'),
        ('--task-loss', 'zero-one', '--slack-norm', '2'),
        ('--relaxation', 'soft'),
        ('--relaxation', 'lp', '--solver', 'n-slack'),
        ('--solver', 'one-slack', '--bias'),
    ],
    ids=' '.join,
)
def test_models_prove_their_gap_and_convert(files, pairs, how):
    said = run('train', *QUIET[1:], '--pairs', pairs, *how, 'sets.ml', 'm').stderr
    report = gap_of('sets.ml', 'm')
    assert report['relative_gap'] <= 1e-3 and report['status'] == 'converged'
    structure = load('m').header['structure']
    expected = {'none': [], 'pairs.tsv': LISTED, 'tree': tree(), 'all': None}[pairs]
    assert structure.get('pairs') == expected and ('pairs' in structure) == (pairs != 'all')
    words = {'none': ', no pairs of labels', 'pairs.tsv': ', 3 pairs of labels', 'tree': ', 5 pairs of labels'}
    assert words.get(pairs, 'sets.ml') in said and (pairs != 'all' or 'of labels' not in said)
    run('convert', 'm', 'm.tsv')
    run('convert', 'm.tsv', 'again')
    assert (load('again').weights['pair'] == load('m').weights['pair']).all()
    assert run('predict', 'sets.ml', 'again').stdout == run('predict', 'sets.ml', 'm').stdout
    if how != ('--relaxation', 'soft'):  # of which the text leaves the agreement out
        assert gap_of('sets.ml', 'again')['primal'] == pytest.approx(report['primal'], rel=1e-12)


def tree():
    return [list(pair) for pair in label_sets.kruskal(right_and_inputs(sets_text(40, LABELS))[0])]


@pytest.mark.parametrize('objective', ['hinge', 'log'])
def test_no_pairs_are_binary_problems(files, objective):
    """The optimum is the sum of those of every label against the rest."""
    run('train', *QUIET, '--pairs', 'none', '--objective', objective, '--rel-gap', 1e-5, 'sets.ml', 'm')
    report = gap_of('sets.ml', 'm')
    right, x = right_and_inputs((files / 'sets.ml').read_text())
    total = 0
    for k in range(LABELS):
        psi = [np.stack([np.zeros(5), row if y else -row]) for y, row in zip(right[:, k], x, strict=True)]
        total += optimum.solve(optimum.Problem(psi, [np.array([0.0, 1.0])] * len(psi), LAM), objective).primal
    assert report['dual'] - 1e-9 <= total <= report['primal'] + 1e-9
    assert report['primal'] == pytest.approx(total, rel=1e-5)
    run('gap', '--per-example', 'losses.tsv', 'sets.ml', 'm')
    w, losses = load('m').weights['state'], [float(row['loss']) for row in table(files / 'losses.tsv', '\t')]
    margins = np.where(right == 1, -1, 1) * (x @ w)
    of_labels = np.maximum(0, 1 + margins) if objective == 'hinge' else np.logaddexp(0, margins)
    np.testing.assert_allclose(losses, of_labels.sum(axis=1), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize('pairs', WAYS)
def test_predictions_are_the_best_of_all_sets(files, pairs):
    run('train', *QUIET, '--objective', 'log', '--pairs', pairs, 'sets.ml', 'm')
    sets, scores = all_scores(load('m'), right_and_inputs((files / 'sets.ml').read_text())[1])
    names = [','.join(f'l{k}' for k in np.flatnonzero(row)) for row in sets]
    best = [names[r] for r in scores.argmax(axis=1)]
    assert run('predict', 'sets.ml', 'm').stdout.splitlines() == best
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    marginals = chances @ sets
    for line, row in zip(run('predict', '--marginals', 'sets.ml', 'm').stdout.splitlines(), marginals, strict=True):
        found = [float(column.split(':')[1]) for column in line.split('\t')[1:]]
        np.testing.assert_allclose(found, row, atol=1e-6)
    lines = run('predict', '--nbest', 3, 'sets.ml', 'm').stdout.splitlines()
    for i, row in enumerate(chances):
        heads, found = (lines[9 * i + k : 9 * i + 9 : 3] for k in (0, 1))
        order = np.argsort(-row)[:3]
        assert found == [names[r] for r in order]
        np.testing.assert_allclose([float(head.split()[3]) for head in heads], row[order], atol=1e-6)


def test_all_pairs_are_the_default(files):
    run('train', *QUIET, 'sets.ml', 'm')
    run('train', *QUIET, '--pairs', 'all', 'sets.ml', 'again')
    assert (files / 'm').read_bytes() == (files / 'again').read_bytes()
    assert load('m').header['structure'] == {'relaxation': 'none', 'rho': None}
    text = ''.join(f'l{k}\tl{j}\n' for j, k in itertools.combinations(range(LABELS), 2))
    (files / 'every.tsv').write_text(text)
    run('train', *QUIET, '--pairs', 'every.tsv', 'sets.ml', 'listed')
    one, other = load('m'), load('listed')
    assert all(np.array_equal(one.weights[name], other.weights[name]) for name in ('state', 'pair'))


def test_a_list_of_all_pairs_of_many_labels_is_relaxed(files):
    (files / 'many.ml').write_text(sets_text(30, 24))
    (files / 'every.tsv').write_text(''.join(f'l{j}\tl{k}\n' for j, k in itertools.combinations(range(24), 2)))
    how = ('--lambda', 0.1, '--rel-gap', 0.1, '--pairs')
    said = run('train', *how, 'every.tsv', 'many.ml', 'm').stderr
    assert ', 276 pairs of labels, relaxation soft (rho 1)' in said
    report = gap_of('many.ml', 'm')
    assert report['relaxation'] == 'soft (rho 1)' and report['status'] == 'converged'
    run('train', *how, 'all', 'many.ml', 'all')
    for file in ('m', 'all'):
        assert load(file).weights['pair'].shape == (276,)
    assert gap_of('many.ml', 'all')['primal'] == report['primal']
    for way in ('tree', 'none'):
        said = run('train', *how, way, '--objective', 'log', 'many.ml', 'exact').stderr
        assert 'relaxation' not in said and gap_of('many.ml', 'exact')['relative_gap'] <= 0.1


@pytest.mark.parametrize('solver', ['bcfw', 'sgd', 'eg'])
def test_models_start_others(files, solver):
    """Weights of pairs that both have go over, also where the labels stand in another order."""
    run('train', *QUIET, '--pairs', 'tree', 'sets.ml', 'tree')
    start = ('train', *QUIET, '--max-passes', 0, '--solver', 'sgd', '--init')
    for pairs in WAYS:
        run(*start, 'tree', '--pairs', pairs, 'sets.ml', 'm')
        weights = dict(zip(map(tuple, tree()), load('tree').weights['pair'], strict=True))
        expected = {'none': [], 'pairs.tsv': LISTED, 'tree': tree()}.get(pairs)
        expected = list(itertools.combinations(range(LABELS), 2)) if expected is None else expected
        assert load('m').weights['pair'].tolist() == [weights.get(tuple(pair), 0.0) for pair in expected]
        assert (load('m').weights['state'] == load('tree').weights['state']).all()
        again = (
            'train',
            *QUIET,
            '--init',
            'tree',
            '--solver',
            solver,
            '--max-passes',
            2,
            '--pairs',
            pairs,
            'sets.ml',
            'm',
        )
        if solver == 'bcfw' and pairs == 'none':
            assert 'tree: was trained with other pairs of labels' in run(*again, code=1).stderr
        else:
            run(*again)
        if pairs in ('tree', 'all') and solver != 'bcfw':  # whose weights are those that were
            assert gap_of('sets.ml', 'm')['primal'] <= gap_of('sets.ml', 'tree')['primal'] * (1 + 1e-9)
    renamed = (files / 'sets.ml').read_text().replace('l0', 'z')
    (files / 'other.ml').write_text(renamed)
    run(*start, 'tree', '--pairs', 'all', 'other.ml', 'm')
    other = dict(zip(itertools.combinations(range(1, LABELS + 1), 2), load('m').weights['pair'], strict=True))
    assert other == {pair: 0.0 if 0 in pair else weights.get(pair, 0.0) for pair in other} | {
        pair: weights.get(pair, 0.0) for pair in other if 6 not in pair
    }


@pytest.mark.parametrize('pairs', WAYS[:3])
@pytest.mark.parametrize('solver', ['bcfw', 'n-slack', 'sgd'])
def test_runs_go_on_where_they_were(files, pairs, solver):
    how = (*QUIET, '--pairs', pairs, '--solver', solver, '--rel-gap', 0, '--checkpoint', 'c')
    run('train', *how, '--max-passes', 6, 'sets.ml', 'whole')
    run('train', *how, '--max-passes', 3, 'sets.ml', 'half')
    run('train', *how, '--max-passes', 6, '--resume', 'sets.ml', 'half')
    assert (files / 'half').read_bytes() == (files / 'whole').read_bytes()
    other = ('train', '-q', *QUIET, '--solver', solver, '--rel-gap', 0, '--checkpoint', 'c', '--resume', '--pairs')
    for different in {'none', 'tree', 'all'} - {pairs}:
        assert 'is the checkpoint of another run: pairs' in run(*other, different, 'sets.ml', 'half', code=1).stderr


@pytest.mark.parametrize('pairs', WAYS[:3])
def test_threads_held_out_scores_and_paths(files, pairs):
    how = (*QUIET[:1], '--pairs', pairs, '--dev', 'sets.ml', '--log', 'log.csv')
    for threads in (1, 2):
        run('train', *how, '--lambda', LAM, '--threads', threads, 'sets.ml', f'm{threads}')
    assert (files / 'm1').read_bytes() == (files / 'm2').read_bytes()
    run('predict', '--evaluate', '--metrics', 'scores.json', 'sets.ml', 'm1')
    scores = json.loads((files / 'scores.json').read_text())
    assert float(table(files / 'log.csv')[-1]['dev_accuracy']) == pytest.approx(scores['subset_accuracy'], abs=1e-9)
    run('train', *how, '--lambda-path', '0.1:0.01:0.3', 'sets.ml', 'm')
    assert len(table(files / 'log.csv')) == 2
    for row in table(files / 'log.csv'):
        assert float(row['relative_gap']) <= 1e-3


def many_labels(n, labels):
    return ''.join(f'{i % labels},{(i * 7 + 1) % labels} 1:1\n' for i in range(n)).replace(',0 ', ' ')


@pytest.mark.parametrize('how', [(), ('--relaxation', 'soft'), ('--relaxation', 'lp'), ('--objective', 'log')])
def test_a_size_that_cannot_work_is_refused(files, how):
    (files / 'large.ml').write_text(many_labels(2700, 159))
    said = run('train', *how, 'large.ml', 'm', code=2).stderr
    assert '--pairs all: 12,561 pairs of 159 labels in 2,700 examples are 34,344,000 factors' in said
    assert 'need about 15 GB' in said
    assert '--pairs tree and --pairs none are exact and fast; --pairs FILE lists the pairs that matter' in said
    assert not (files / 'm').exists()


def test_memory_that_is_not_there_is_refused(files, monkeypatch):
    monkeypatch.setattr('ssvm_cli.options.label_pairs.total_memory', lambda: 10**6)
    (files / 'big.ml').write_text(sets_text(400, LABELS))
    for pairs in ('all', 'pairs.tsv'):
        said = run('train', '--relaxation', 'soft', '--pairs', pairs, 'big.ml', 'm', code=2).stderr
        assert 'factors, which need about' in said
    run('train', *QUIET, '--pairs', 'pairs.tsv', 'big.ml', 'm')


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('l0 l1\n', ':1: 1 field (expected two labels, separated by a tab)'),
        ('l0\tl1\tl2\n', ':1: 3 fields (expected two labels, separated by a tab)'),
        ('l0\t\n', ':1: an empty field (expected two labels, separated by a tab)'),
        ('# these\n\nl0\tl9\n', ":3: label 'l9' is none of the data (expected one of their labels)"),
        ('l0\tl1\nl2\tl2\n', ":2: a pair of 'l2' and itself (expected two labels)"),
        ('l0\tl1\n\nl1\tl0\n', ':3: the pair of line 1 a second time (expected each pair once)'),
        ('# nothing\n', ': no pairs (expected two labels, separated by a tab; --pairs none has none)'),
        (b'l0\t\xff\xfe\n', 'pairs.tsv'),
    ],
)
def test_malformed_pairs(files, text, message):
    (files / 'pairs.tsv').write_bytes(text if isinstance(text, bytes) else text.encode())
    said = run('train', '--pairs', 'pairs.tsv', 'sets.ml', 'm', code=1).stderr
    assert 'pairs.tsv' + message in said or message in said
    assert not (files / 'm').exists()


def test_what_makes_no_sense_is_refused(files):
    (files / 'trees.jsonl').write_text(graphs(5))
    said = run('train', '--pairs', 'tree', 'trees.jsonl', 'm', code=2).stderr
    assert '--pairs has no meaning for the task graph: leave it out' in said
    said = run('train', '--pairs', 'trees', 'sets.ml', 'm', code=2).stderr
    assert '--pairs trees: no such file (expected all, tree, none or a file)' in said
    assert 'is both --pairs and MODEL' in run('train', '--pairs', 'pairs.tsv', 'sets.ml', 'pairs.tsv', code=2).stderr
    assert (files / 'pairs.tsv').read_text() == FILE
    said = run('train', '--pairs', 'none', '--relaxation', 'soft', '--objective', 'log', 'sets.ml', 'm', code=2).stderr
    assert 'is a relaxation of the hinge' in said


def test_sets_that_teach_nothing(files):
    (files / 'empty.ml').write_text(' 1:1\n 2:1\n')
    (files / 'one.ml').write_text('a 1:1\n 2:1\na 1:2\n')
    for pairs in ('none', 'tree'):
        said = run('train', '--pairs', pairs, 'empty.ml', 'm', code=1).stderr
        assert 'nothing to learn from: no example has a label' in said
        run('train', *QUIET, '--pairs', pairs, 'one.ml', 'm')
        assert run('predict', 'one.ml', 'm').stdout == 'a\n\na\n'


@pytest.mark.parametrize(
    ('pairs', 'message'),
    [
        ([[0, 3], [0, 6], [1, 2]], 'header has the pair [0, 6] in structure.pairs and there are 6 labels'),
        ([[0, 3], [0, 5]], 'array weights.pair'),
        ([], 'array weights.pair'),
        (None, 'array weights.pair'),
        ([[0, 3], [1, 2], [0, 5]], 'header has structure.pairs'),
        ([[0, 3], [0, 3], [1, 2]], 'header has structure.pairs'),
        ([[0, 3], [0, 5], [2, 1]], 'header has structure.pairs'),
        ([[0, 3], [0, 5], [-1, 2]], 'header has structure.pairs'),
        ([[0, 3], [0, 5], [1, 2.0]], 'header has structure.pairs'),
        ([[0, 3], [0, 5], [1]], 'header has structure.pairs'),
        ('tree', 'header has structure.pairs'),
        ({'0': 3}, 'header has structure.pairs'),
    ],
)
def test_damaged_models_are_refused(files, pairs, message):
    run('train', *QUIET, '--pairs', 'pairs.tsv', 'sets.ml', 'm')
    container = Container('m', HEADER, 'a model')
    header = json.loads(json.dumps(container.document))
    header['structure']['pairs'] = pairs
    if pairs is None:
        del header['structure']['pairs']
    arrays = {name: container.any_array(name) for name in container.names()}
    with open('x', 'wb') as stream:
        write_container(stream, HEADER, header, arrays)
    for command in (('predict', 'sets.ml', 'x'), ('gap', 'sets.ml', 'x'), ('convert', 'x', 'x.tsv')):
        said = run(*command, code=1).stderr
        assert said.startswith('x: ') and message in said


@pytest.mark.parametrize(
    ('before', 'after', 'message'),
    [
        ('pair\tl0\tl3', 'pair\tl0\tl4', "pair 'l0' 'l4' (expected one that structure.pairs lists)"),
        ('[1, 2]', '[1, 9]', 'header has the pair [1, 9] in structure.pairs and there are 6 labels'),
        ('[1, 2]', '[0, 1]', 'header has structure.pairs'),
        ('pair\tl0\tl3', 'pair\tl0\tl0', "a pair of 'l0' and itself"),
        ('pair\tl0\tl3', 'pair\tl5\tl0', "a second weight for 'pair' 'l0' 'l5'"),
    ],
)
def test_altered_texts_are_refused(files, before, after, message):
    run('train', *QUIET, '--pairs', 'pairs.tsv', 'sets.ml', 'm')
    run('convert', 'm', 'm.tsv')
    text = (files / 'm.tsv').read_text()
    assert before in text
    (files / 'x.tsv').write_text(text.replace(before, after))
    assert message in run('convert', 'x.tsv', 'x', code=1).stderr
    assert not (files / 'x').exists()


def test_names_with_anything_in_them(files):
    """Names of ARFF, as a file of pairs has them."""
    (files / 'a.arff').write_text(
        "@relation 'x: -C 3'\n@attribute 'two words' {0,1}\n@attribute C# {0,1}\n@attribute \u00e9 {0,1}\n"
        '@attribute v numeric\n@data\n1,0,1,2\n0,1,0,1\n1,1,1,0.5\n0,0,0,3\n',
        encoding='utf-8',
    )
    (files / 'p.tsv').write_text('two words\tC# # a comment\n\u00e9\tC#\n', encoding='utf-8')
    run('train', *QUIET, '--pairs', 'p.tsv', 'a.arff', 'm')
    model = load('m')
    names = model.label_names.names()
    found = {frozenset((names[a], names[b])) for a, b in model.header['structure']['pairs']}
    assert found == {frozenset(('two words', 'C#')), frozenset(('\u00e9', 'C#'))}
