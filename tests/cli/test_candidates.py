"""Candidates from end to end through the commands."""

import gzip
import json
import math

import numpy as np
import pytest

from data_formats.datasets.tokens import ReadOptions
from data_formats.formats import svmrank
from data_formats.models.model import load
from data_formats.parsing import reading
from tests.cli.commands import run
from tests.formats.tools import groups

# The best of each group has the most of feature 1; that of group 2 has a loss above 0, in group 4 there is no choice.
TRAIN = """\
1 qid:1 1:1 2:3 # dog
0 qid:1 1:2 3:1
0.5 qid:1 2:1
0.25 qid:2 1:3
1 qid:2 3:2
0.75 qid:3 2:1 3:1
0.75 qid:3 7:1
0 qid:3 1:1 2:1
1 qid:4 2:1
"""
RANKED = """\
0 qid:1 1:1 2:1
2 qid:1 1:3
1 qid:1 1:2 3:1
0 qid:2 1:1
1 qid:2 2:1
-1 qid:3 1:1
-1 qid:3 2:1
0 qid:3 2:2
"""
QUIET = ('-q', '--rel-gap', '1e-4')


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'train.rank').write_text(TRAIN)
    (tmp_path / 'ranked.txt').write_text(RANKED)
    return tmp_path


@pytest.mark.parametrize(
    'how',
    [
        (),
        ('--objective', 'log'),
        ('--objective', 'softmax-margin', '--task-loss', 'given'),
        ('--task-loss', 'zero-one', '--solver', 'n-slack'),
        ('--rescale', 'slack', '--slack-norm', 2),
        ('--objective', 'log', '--solver', 'lbfgs'),
    ],
)
def test_the_best_candidates_are_chosen(files, how):
    run('train', *QUIET, '--lambda', 0.01, *how, 'train.rank', 'm')
    result = run('predict', '--evaluate', '--metrics', 'scores.json', 'train.rank', 'm')
    assert result.stdout == '2\n1\n3\n1\n'
    wanted = 'error rate 0.00 % (0 of 4 groups); mean loss 0.3125, of the best candidates 0.3125'
    assert wanted in result.stderr
    scores = json.loads((files / 'scores.json').read_text())
    assert scores == {
        'groups': 4,
        'tied': 1,
        'accuracy': 1.0,
        'error_rate': 0.0,
        'loss': 0.3125,
        'best_loss': 0.3125,
    }
    report = json.loads(run('gap', '--json', 'train.rank', 'm').stdout_bytes)
    assert report['relative_gap'] <= 1e-4 and report['dual_source'] != 'none'


def test_what_is_said_of_the_groups(files):
    said = run('train', 'train.rank', 'm').stderr
    assert '1 of 4 groups have nothing to choose from and are skipped (all losses are the same)' in said
    assert '3 groups, 8 candidates, 4 attributes (svmrank, candidates)' in said
    assert '1 of 3 groups have no candidate with loss 0: losses count from the smallest of each group' in said
    assert 'task loss given' in said and 'grades' not in said and 'earlier' not in said
    run('train', *QUIET, '--lambda', 0.1, 'train.rank', 'm')
    assert '1 of 4 groups have nothing to choose from' in run('gap', 'train.rank', 'm').stderr
    (files / 'again.rank').write_text('0 qid:1 1:1\n1 qid:1\n0 qid:2 1:1\n1 qid:2\n0 qid:1 1:1\n1 qid:1\n')
    said = run('train', 'again.rank', 'm').stderr
    assert '1 of 3 groups have the qid of an earlier one (the lines of a group stand together)' in said
    (files / 'relevance.rank').write_text('1 qid:1 1:1\n0 qid:1\n0 qid:1 2:1\n0 qid:1 3:1\n')
    assert 'are these grades? see --grades' in run('train', 'relevance.rank', 'm').stderr
    (files / 'tied.rank').write_text('1 qid:1 1:1\n1 qid:1 2:1\n')
    assert 'nothing to learn from: 1 of 1 group' in run('train', 'tied.rank', 'm', code=1).stderr
    assert 'nothing to certify: 1 of 1 group' in run('gap', 'tied.rank', 'm', code=1).stderr


def test_a_loss_below_zero_is_a_grade(files):
    said = run('train', '--task', 'candidates', 'ranked.txt', 'm', code=1).stderr
    assert "ranked.txt:6: target '-1' is a loss below 0" in said and '--grades' in said
    run('train', *QUIET, '--task', 'candidates', '--grades', 'ranked.txt', 'm')
    assert load('m').header['data']['grades'] is True
    assert run('predict', 'ranked.txt', 'm').stdout.count('\n') == 3


def test_the_order_of_graded_candidates(files):
    """Scores are those of feature 1 alone; equal ones stand in the order of the file."""
    run('train', *QUIET, '--task', 'candidates', '--grades', 'ranked.txt', 'm')
    run('convert', 'm', 'm.tsv')
    rows = [row.split('\t') for row in (files / 'm.tsv').read_text().splitlines()]
    weights = {'1': '1', '2': '0', '3': '0'}
    text = '\n'.join('\t'.join([*row[:3], weights[row[1]]] if row[0] == 'feature' else row) for row in rows)
    (files / 'm.tsv').write_text(text + '\n')
    run('convert', 'm.tsv', 'own')
    result = run('predict', '--evaluate', '--metrics', 'scores.json', 'ranked.txt', 'own')
    assert result.stdout == '2\n1\n1\n'
    # ranks: group 1 in the order 2 1 0, group 2 in the order 0 1, group 3 has no grade above 0
    second = 1 / math.log2(3)
    scores = json.loads((files / 'scores.json').read_text())
    assert scores.pop('ndcg@5') == pytest.approx((1 + second) / 2) and scores['ndcg@10'] == pytest.approx(
        (1 + second) / 2
    )
    assert scores['ndcg@1'] == 0.5 and scores['map'] == pytest.approx((1 + 1 / 2) / 2)
    assert (scores['groups'], scores['ranked'], scores['tied']) == (3, 2, 0)
    assert scores['accuracy'] == pytest.approx(1 / 3) and scores['loss'] == pytest.approx(2 / 3)
    assert 'NDCG@1 50.00 %, NDCG@5 81.55 %' in result.stderr and '(2 groups with a grade above 0)' in result.stderr


def test_lists_scores_and_marginals(files):
    run('train', *QUIET, '--objective', 'log', '--lambda', 0.05, 'train.rank', 'm')
    blocks = run('predict', '--nbest', 2, 'train.rank', 'm').stdout.split('\n\n')[:-1]
    assert len(blocks) == 7
    ranks, scores = zip(*((int(block.split()[1]), float(block.split()[2])) for block in blocks), strict=True)
    assert ranks == (1, 2, 1, 2, 1, 2, 1) and scores[0] > scores[1]
    assert blocks[0].split('\n')[1] == '2' and 0 < float(blocks[0].split()[3]) < 1
    lines = run('predict', '--scores', '--marginals', 'train.rank', 'm').stdout.splitlines()
    for line, count in zip(lines, (3, 2, 3, 1), strict=True):
        chosen, _, *chances = line.split()
        pairs = dict(chance.split(':') for chance in chances)
        assert list(pairs) == [str(c) for c in range(1, count + 1)]
        assert max(pairs, key=lambda c: float(pairs[c])) == chosen
        assert sum(map(float, pairs.values())) == pytest.approx(1, abs=1e-5)
    assert float(lines[0].split()[1]) == pytest.approx(scores[0])
    assert [line.split()[0] for line in lines] == run('predict', 'train.rank', 'm').stdout.split()
    result = run('predict', '--nbest', 1, '--evaluate', 'train.rank', 'm')
    assert 'error rate 0.00 %' in result.stderr
    run('train', *QUIET, 'train.rank', 'hinge')
    assert 'needs a log or softmax-margin model' in run('predict', '--marginals', 'train.rank', 'hinge', code=2).stderr


def test_a_model_as_text(files):
    run('train', *QUIET, 'train.rank', 'm')
    run('convert', 'm', 'm.tsv')
    text = (files / 'm.tsv').read_text()
    assert [row.split('\t')[:3] for row in text.split('\n') if row.startswith('feature')] == [
        ['feature', name, '-'] for name in ('1', '2', '3', '7')
    ]
    assert '# labels' not in text
    run('convert', 'm.tsv', 'again')
    assert np.array_equal(load('m').weights['feature'], load('again').weights['feature'])
    assert load('again').attributes.names() == ['1', '2', '3', '7']
    one, two = (run('predict', '--scores', 'train.rank', model).stdout for model in ('m', 'again'))
    assert one == two


@pytest.mark.parametrize(
    ('old', 'new', 'said'),
    [
        ('feature\t1\t-', 'feature\t1\tA', "row 'feature' '1' 'A' (expected feature NAME -)"),
        ('feature\t1\t-', 'state\t1\t-', "row 'state' '1' '-' (expected feature NAME -)"),
        ('feature\t1\t-', 'feature\t2\t-', "a second weight for 'feature' '2'"),
        ('feature\t1\t-\t', 'feature\t1\t-\tx', 'expected a finite number'),
        ('"grades": false', '"grades": 1', 'header has data.grades = 1 (expected true or false)'),
        (
            '# loss: "given"',
            '# loss: "hamming"',
            "header has loss = 'hamming' (expected given, zero-one, costs, tree or none",
        ),
    ],
)
def test_text_that_is_no_model(files, old, new, said):
    run('train', *QUIET, '--max-passes', 1, 'train.rank', 'm')
    run('convert', 'm', 'm.tsv')
    text = (files / 'm.tsv').read_text()
    assert old in text
    (files / 'm.tsv').write_text(text.replace(old, new, 1))
    assert said in run('convert', 'm.tsv', 'again', code=1).stderr


def test_data_as_data(files):
    run('convert', '-q', 'train.rank', 'same.svmrank')
    assert (files / 'same.svmrank').read_text() == TRAIN.replace(' # dog', '')
    run('convert', '-q', '--from', 'svmrank', 'ranked.txt', 'same.rank')
    assert (files / 'same.rank').read_text() == RANKED
    run('convert', '-q', '--min-freq', 2, 'train.rank', 'fewer.rank')
    wanted = [(q, [(y, {k: v for k, v in row.items() if k != '7'}) for y, row in rows]) for q, rows in data(files)]
    assert data(files, 'fewer.rank') == wanted
    assert 'nothing in common' in run('convert', 'train.rank', 'x.svm', code=2).stderr
    assert '--bias makes no difference' in run('convert', '--bias', 'train.rank', 'x.rank', code=2).stderr


def data(folder, name='train.rank'):
    return groups(reading.read(svmrank, folder / name, ReadOptions()))


def test_pipes_and_compressed_files(files):
    (files / 'train.rank.gz').write_bytes(gzip.compress(TRAIN.encode()))
    run('train', *QUIET, 'train.rank.gz', 'm')
    run('train', *QUIET, '--task', 'candidates', '-', 'n', stdin=TRAIN.encode())
    assert (files / 'm').read_bytes() == (files / 'n').read_bytes()
    assert run('predict', '-', 'm', stdin=TRAIN.encode()).stdout == run('predict', 'train.rank', 'm').stdout


def test_held_out_data_and_an_earlier_model(files):
    (files / 'dev.rank').write_text('0 qid:1 99:1\n2 qid:1 1:1\n')
    run('train', *QUIET, '--dev', 'dev.rank', '--log', 'log.csv', 'train.rank', 'm')
    columns, *rows = (row.split(',') for row in (files / 'log.csv').read_text().split('\n')[1:-1])
    assert columns[-2:] == ['dev_loss', 'dev_accuracy']
    assert [float(field) for field in rows[-1][-2:]] == [2.0, 0.0]
    graded = ('--task', 'candidates', '--grades', '--dev', 'ranked.txt', '--log', 'log.csv')
    run('train', *QUIET, *graded, 'ranked.txt', 'g')
    columns, *rows = (row.split(',') for row in (files / 'log.csv').read_text().split('\n')[1:-1])
    assert columns[-3:] == ['dev_accuracy', 'dev_map', 'dev_ndcg10']
    run('predict', '--metrics', 'scores.json', 'ranked.txt', 'g')
    scores = json.loads((files / 'scores.json').read_text())
    last = [float(field) for field in rows[-1][-3:]]
    assert last == pytest.approx([scores['accuracy'], scores['map'], scores['ndcg@10']], rel=1e-5)
    (files / 'more.rank').write_text(TRAIN.replace(' 3:', ' 5:'))
    start = ('--objective', 'log', '--solver', 'lbfgs', '--max-passes', 0)
    run('train', *QUIET, *start, '--init', 'm', 'more.rank', 'n')
    old, new = (dict(zip(m.attributes.names(), m.weights['feature'], strict=True)) for m in map(load, ('m', 'n')))
    assert new == {**{name: old[name] for name in ('1', '2', '7')}, '5': 0.0} and old['1'] != 0
    (files / 'other.rank').write_text('0 qid:1 50:1\n1 qid:1 51:1\n')
    said = run('train', *start, '--init', 'm', 'other.rank', 'n', code=1).stderr
    assert 'none of its attributes occurs in the training data' in said
    (files / 'tied.rank').write_text('0 qid:1 1:1\n0 qid:1 2:1\n')
    said = run('train', '--dev', 'tied.rank', 'train.rank', 'm', code=1).stderr
    assert 'tied.rank: no losses that differ (expected losses that differ, as in TRAIN)' in said


def test_data_without_losses_are_not_scored(files):
    run('train', *QUIET, 'train.rank', 'm')
    (files / 'test.rank').write_text('0 qid:1 1:1\n0 qid:1 2:1\n')
    assert run('predict', 'test.rank', 'm').stdout == '1\n'
    assert 'test.rank: no losses that differ: nothing to score' in run('predict', '--evaluate', 'test.rank', 'm').stderr


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (('--kernel', 'rbf'), '--kernel has no meaning'),
        (('--bias',), '--bias has no meaning'),
        (('--task-loss', 'hamming'), 'candidates has no task loss hamming'),
        (('--feature-set', 'observed'), 'use --feature-set all'),
        (('--task', 'chain'), 'svmrank files hold no data for --task chain'),
        (('--solver', 'counts'), 'counts is for labels, sequences of labels and trees of a grammar'),
        (('--window', 1), '--window has no meaning'),
    ],
)
def test_options_without_meaning(files, options, said):
    assert said in run('train', *options, 'train.rank', 'm', code=2).stderr


def test_options_of_candidates_alone(files):
    (files / 'x.svm').write_text('1 1:1\n2 2:1\n')
    assert '--grades has no meaning for the task multiclass' in run('train', '--grades', 'x.svm', 'm', code=2).stderr
    assert 'multiclass has no task loss given' in run('train', '--task-loss', 'given', 'x.svm', 'm', code=2).stderr


def test_the_same_bytes_from_any_number_of_threads(files):
    many = ''.join(TRAIN.replace('qid:', f'qid:{k}') for k in range(1, 400))
    (files / 'many.rank').write_text(many)
    outs = []
    for threads in (1, 2):
        run('train', *QUIET, '--threads', threads, '--max-passes', 3, 'many.rank', f'm{threads}')
        result = run(
            'predict', '--threads', threads, '--evaluate', '--scores', 'many.rank', f'm{threads}', f'o{threads}'
        )
        outs.append(((files / f'm{threads}').read_bytes(), (files / f'o{threads}').read_bytes(), result.stderr))
    assert outs[0] == outs[1] and outs[0][1].count(b'\n') == 4 * 399


def test_a_run_that_goes_on_equals_one_that_was_not_stopped(files):
    how = ('-q', '--rel-gap', 1e-9, '--gap-every', 1, '--checkpoint', 'c')
    run('train', *how, '--max-passes', 3, 'train.rank', 'm')
    run('train', *how, '--max-passes', 6, '--resume', 'train.rank', 'm')
    run('train', *how[:-2], '--max-passes', 6, 'train.rank', 'n')
    assert np.array_equal(load('m').weights['feature'], load('n').weights['feature'])
    said = run('train', *how, '--task-loss', 'zero-one', '--resume', 'train.rank', 'm', code=1).stderr
    assert 'is the checkpoint of another run' in said


def normalised(path, to, scale=None):
    """Write a file with each feature divided by its largest absolute value there, or by that in `scale`."""
    with gzip.open(path, 'rt') as stream:
        rows = [line.split('#')[0].split() for line in stream]
    table = [{k: float(v) for k, v in (word.split(':') for word in row[2:])} for row in rows]
    if scale is None:
        scale = {k: max(abs(row.get(k, 0.0)) for row in table) or 1.0 for k in table[0]}
    with open(to, 'w') as stream:
        for row, values in zip(rows, table, strict=True):
            pairs = ' '.join(f'{k}:{v / scale[k]:.6g}' for k, v in values.items() if v)
            stream.write(f'{row[0]} {row[1]} {pairs}\n')
    return scale


def plain_ndcg(path, scores, k):
    """NDCG@k straight from its definition, groups without a grade above 0 left out."""
    found = {}
    for line, score in zip(path.read_text().splitlines(), scores, strict=True):
        found.setdefault(line.split()[1], []).append((score, int(line.split()[0])))
    values = []
    for pairs in found.values():
        ranked = [grade for _, grade in sorted(pairs, key=lambda pair: -pair[0])]
        gains = [
            [(2**g - 1) / math.log2(r + 2) for r, g in enumerate(order[:k])] for order in (ranked, sorted(ranked)[::-1])
        ]
        if sum(gains[1]):
            values.append(sum(gains[0]) / sum(gains[1]))
    return sum(values) / len(values)


def test_learning_to_rank_on_msn_web_search(files, data_file):
    """Features of one scale: better than the order of the file, and NDCG is what its definition says."""
    folder = 'ranking', 'msn1_5k'
    scale = normalised(data_file(*folder, 'msn1.fold1.train.5k.txt.gz'), files / 'train.txt')
    normalised(data_file(*folder, 'msn1.fold1.test.5k.txt.gz'), files / 'test.txt', scale)
    how = ('--task', 'candidates', '--grades', '--objective', 'log', '--lambda', 0.001)
    run('train', *QUIET, *how, 'train.txt', 'm')
    run('predict', '--metrics', 'scores.json', 'test.txt', 'm')
    scores = json.loads((files / 'scores.json').read_text())
    weights = dict(zip(load('m').attributes.names(), load('m').weights['feature'].tolist(), strict=True))
    by_hand = [
        sum(weights.get(k, 0.0) * float(v) for k, v in (word.split(':') for word in line.split()[2:]))
        for line in (files / 'test.txt').read_text().splitlines()
    ]
    for k in (1, 5, 10):
        assert scores[f'ndcg@{k}'] == pytest.approx(plain_ndcg(files / 'test.txt', by_hand, k), abs=1e-9)
        assert scores[f'ndcg@{k}'] > plain_ndcg(files / 'test.txt', [0.0] * len(by_hand), k) + 0.05
