"""Matchings from end to end through the commands."""

import json
import re

import numpy as np
import pytest

from data_formats.models.model import load
from tests import matchings
from tests.cli.commands import run
from tests.formats import strategies

# Words of two sentences and their translations; `same` tells right links.
TRAIN = """\
1 qid:1 0-0 same:1 distance:0
0 qid:1 0-1 distance:1
0 qid:1 1-0 distance:1
1 qid:1 1-1 same:1 distance:0
# the second one
0 qid:2 0-0 distance:0
1 qid:2 0-1 same:1 distance:1
P qid:2 1-1 distance:0
1 qid:2 1-0 same:1 distance:1
0 qid:2 2-0 distance:2
"""
# Read from a model's point of view: two right links of a row, an unknown attribute, nothing that is right.
TEST = """\
1 0-0 same:1 distance:0
1 0-1 distance:1 new:1
P 1-1 same:1 distance:0

0 0-0 distance:0
0 1-3 distance:2
"""
QUIET = ('-q', '--rel-gap', '1e-4')


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'train.links').write_text(TRAIN)
    (tmp_path / 'test.links').write_text(TEST)
    return tmp_path


@pytest.mark.parametrize(
    'how',
    [
        (),
        ('--bias',),
        ('--solver', 'n-slack'),
        ('--solver', 'sc-svrg', '--oracle', 'topk', '--rel-gap', '1e-3', '--lambda', 0.5),
        ('--task-loss', 'zero-one', '--rescale', 'slack', '--slack-norm', 2),
    ],
)
def test_training_and_its_certificate(files, how):
    told = run('train', '--rel-gap', '1e-4', '--lambda', 0.01, *how, 'train.links', 'm').stderr
    assert 'train.links: 2 examples, 5 rows, 4 columns, 9 links, 4 of them right, ' in told
    report = json.loads(run('gap', '--json', 'train.links', 'm').stdout_bytes)
    assert report['relative_gap'] <= 1e-3 and report['dual_source'] == 'model'
    assert run('predict', 'train.links', 'm').stdout == '0-0 1-1\n0-1 1-0\n'


def test_predictions_and_their_scores(files):
    run('train', *QUIET, '--lambda', 0.01, 'train.links', 'm')
    result = run('predict', '--evaluate', '--metrics', 'scores.json', 'test.links', 'm')
    assert result.stdout == '0-0 1-1\n\n'
    assert (
        'alignment error rate 25.00 %, precision 100.00 %, recall 50.00 % (2 links found, 2 sure); without a wrong '
        'link 50.00 % of 2 examples, 0.50 wrong links in each' in result.stderr
    )
    scores = json.loads((files / 'scores.json').read_text())
    assert scores == {
        'examples': 2,
        'exact': 0.5,
        'wrong_links': 0.5,
        'aer': 0.25,
        'precision': 1.0,
        'recall': 0.5,
        'f1': pytest.approx(2 / 3),
        'found': 2,
        'sure': 2,
    }


def test_lists_and_scores(files):
    """Against the list of all outputs under the weights of the model."""
    run('train', *QUIET, '--lambda', 0.01, 'train.links', 'm')
    weights = dict(zip(load('m').attributes.names(), load('m').weights['feature'], strict=True))
    example = [
        (0, 0, '1', {'same': 1, 'distance': 0}),
        (0, 1, '1', {'distance': 1}),
        (1, 1, 'P', {'same': 1, 'distance': 0}),
    ]
    scored = []
    for output in matchings.outputs(example):
        score = sum(weights[name] * value for (_, name), value in output.features.items())
        links = ' '.join(f'{r}-{c}' for r, c in sorted(matchings.links_of(example, output.code)))
        scored.append((score, links))
    scored.sort(reverse=True)
    (files / 'one.links').write_text(TEST.split('\n\n')[0] + '\n')
    text = run('predict', '--nbest', 20, 'one.links', 'm').stdout
    found = re.findall(r'# (\d+) (\S+)\n(.*)\n\n', text)
    assert ''.join(f'# {rank} {score}\n{links}\n\n' for rank, score, links in found) == text
    assert [int(rank) for rank, _, _ in found] == list(range(1, len(scored) + 1))
    np.testing.assert_allclose([float(score) for _, score, _ in found], [score for score, _ in scored], atol=1e-8)
    assert {links for _, _, links in found} == {links for _, links in scored}
    best = run('predict', '--scores', 'one.links', 'm').stdout
    assert best == f'# 1 {found[0][1]}\n{scored[0][1]}\n'


def test_a_model_as_text(files):
    run('train', *QUIET, '--bias', 'train.links', 'm')
    run('convert', 'm', 'm.tsv')
    text = (files / 'm.tsv').read_text()
    rows = [row.split('\t') for row in text.split('\n') if row.startswith('feature')]
    assert [row[:3] for row in rows] == [['feature', name, '-'] for name in ('same', 'distance', 'bias')]
    assert '# labels' not in text
    run('convert', 'm.tsv', 'again')
    np.testing.assert_array_equal(load('m').weights['feature'], load('again').weights['feature'])
    assert (
        run('predict', '--scores', 'test.links', 'again').stdout == run('predict', '--scores', 'test.links', 'm').stdout
    )
    (files / 'm.tsv').write_text(text.replace('\t'.join(rows[1]) + '\n', ''))
    run('convert', 'm.tsv', 'less')
    assert load('less').attributes.names() == ['same', 'bias']


@pytest.mark.parametrize(
    ('old', 'new', 'said'),
    [
        (
            'feature\tsame\t-',
            'state\tsame\t-',
            "row 'state' 'same' '-' (expected feature NAME -)",
        ),
        ('feature\tsame\t-', 'feature\tsame\tB', "row 'feature' 'same' 'B'"),
        ('feature\tsame\t-', 'feature\tdistance\t-', "a second weight for 'feature' 'distance'"),
        ('# task: "matching"', '# task: "chain"', 'label'),
    ],
)
def test_text_that_is_no_model(files, old, new, said):
    run('train', *QUIET, '--max-passes', 1, 'train.links', 'm')
    run('convert', 'm', 'm.tsv')
    text = (files / 'm.tsv').read_text()
    assert old in text
    (files / 'm.tsv').write_text(text.replace(old, new, 1))
    assert said in run('convert', 'm.tsv', 'again', code=1).stderr


def test_data_as_data(files):
    run('convert', '-q', 'train.links', 'same.links')
    run('convert', '-q', 'same.links', 'again.links')
    assert (files / 'same.links').read_text() == (files / 'again.links').read_text()
    assert (files / 'same.links').read_text().startswith('1 qid:1 0-0 same:1 distance:0\n0 qid:1 0-1 distance:1\n')
    assert 'nothing in common' in run('convert', 'train.links', 'x.svm', code=2).stderr
    run('convert', '-q', '--bias', '--min-freq', 5, 'train.links', 'rare.links')
    assert (files / 'rare.links').read_text().startswith('1 qid:1 0-0 distance:0 bias:1\n')


def test_held_out_data_judge_a_path(files):
    """The last score, which judges, is one that grows."""
    path = ('--lambda-path', '10:0.01:0.1', '--log', 'log.csv', '--path-models', 'models')
    told = run('train', '--dev', 'test.links', *path, 'train.links', 'm').stderr
    lines = (files / 'log.csv').read_text().split('\n')
    assert lines[1].endswith(',dev_aer,dev_f1')
    assert 'dev_aer 0.2500, dev_f1 0.6667' in told
    (files / 'none.links').write_text('0 0-0 same:1\n')
    assert (
        'no right links (expected right links, as in TRAIN)'
        in run('train', '--dev', 'none.links', 'train.links', 'm', code=1).stderr
    )
    assert 'none.links: no right links: nothing to score' in run('predict', '--evaluate', 'none.links', 'm').stderr


def test_an_earlier_model(files):
    run('train', *QUIET, 'train.links', 'm')
    (files / 'more.links').write_text(TRAIN.replace('distance', 'far'))
    run('train', '-q', '--solver', 'sgd', '--max-passes', 0, '--init', 'm', 'more.links', 'n')
    assert load('n').weights['feature'].tolist() == [load('m').weights['feature'][0], 0.0]
    (files / 'other.links').write_text('1 0-0 a:1\n0 0-1 b:1\n')
    how = ('--solver', 'sgd', '--init', 'm')
    assert 'none of its attributes occurs' in run('train', *how, 'other.links', 'n', code=1).stderr
    run('train', *QUIET, '--solver', 'bcfw', '--init', 'm', 'train.links', 'n')
    assert load('n').header['relative_gap'] <= 1e-4


def test_a_run_goes_on_from_a_checkpoint(files):
    whole = ('--seed', 3, '-q', '--rel-gap', 0)
    run('train', *whole, '--max-passes', 8, 'train.links', 'whole')
    run('train', *whole, '--max-passes', 3, '--checkpoint', 'c', 'train.links', 'm')
    run('train', *whole, '--max-passes', 8, '--checkpoint', 'c', '--resume', 'train.links', 'm')
    np.testing.assert_array_equal(load('whole').weights['feature'], load('m').weights['feature'])


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (('--objective', 'log'), 'log needs the exp oracle (sums over all outputs), which matching lacks: use hinge'),
        (('--objective', 'softmax-margin'), 'softmax-margin needs the exp oracle'),
        (
            ('--solver', 'eg'),
            'eg needs the exp oracle, which matching lacks (solvers for hinge that do without: bcfw, ',
        ),
        (('--solver', 'excessive-gap'), 'excessive-gap needs the exp oracle, which matching lacks'),
        (('--solver', 'svrg', '--oracle', 'exp'), 'use oracle=topk or max'),
        (('--solver', 'counts'), 'counts is for labels'),
        (
            ('--rescale', 'slack'),
            'of hamming on matching no oracle finds the best one with a given number of errors (use --task-loss',
        ),
        (('--kernel', 'rbf'), '--kernel has no meaning for the task matching'),
        (('--window', 1), '--window has no meaning'),
        (('--task-loss', 'f1'), 'matching has no task loss f1'),
        (('--feature-set', 'observed'), 'use --feature-set all'),
        (('--task', 'chain'), 'links files hold no data for --task chain'),
    ],
)
def test_what_makes_no_sense(files, options, said):
    assert said in run('train', *options, 'train.links', 'm', code=2).stderr


def test_right_links_that_are_no_matching(files):
    (files / 'many.links').write_text(TEST)
    result = run('train', 'many.links', 'm', code=1)
    assert (
        "many.links:2: '0-1' is a second right link of its row, after 0-0 in line 1 (expected a matching: keep one as "
        '1 and make the others P, or 0)' in result.stderr
    )
    run('train', *QUIET, 'train.links', 'm')
    assert 'many.links:2: ' in run('gap', 'many.links', 'm', code=1).stderr


def test_warnings(files):
    (files / 'none.links').write_text('0 0-0 a:1\nP 0-1 b:1\n')
    assert 'no link is right: nothing is learned but to link nothing' in run('train', 'none.links', 'm').stderr
    told = run('train', '--min-freq', 10, 'train.links', 'm').stderr
    assert 'no attributes are left (none occurs --min-freq 10 times)' in told


def test_the_same_bytes_from_any_number_of_threads(files):
    rng = np.random.default_rng(5)
    many = [matchings.random_example(rng, 5, 6, 0.6) for _ in range(200)]
    (files / 'many.links').write_text(strategies.links([example for example in many if example]))
    outs = []
    for threads in (1, 2):
        run('train', *QUIET, '--threads', threads, '--max-passes', 3, 'many.links', f'm{threads}')
        run('predict', '--threads', threads, 'many.links', f'm{threads}', f'o{threads}')
        outs.append(((files / f'm{threads}').read_bytes(), (files / f'o{threads}').read_bytes()))
    assert outs[0] == outs[1]
    assert outs[0][1].count(b'\n') == sum(map(bool, many))
