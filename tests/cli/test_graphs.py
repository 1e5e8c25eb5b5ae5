"""Label sets and factor graphs from end to end through the commands, exact and relaxed."""

import csv
import json
import re
import signal
import time

import numpy as np
import pytest

from cython_ext.duals.mixture import MixturePoint
from cython_ext.duals.scores import ScoresPoint, TemperedPoint
from cython_ext.structures.graph.elimination import elimination_order
from data_formats.models.model import load
from tests.cli.commands import ROOT, run, start

QUIET = ('-q', '--lambda', 0.02)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'sets.ml').write_text(label_sets(40))
    (tmp_path / 'trees.jsonl').write_text(graphs(30))
    return tmp_path


def label_sets(n, labels=4, seed=0):
    rng = np.random.default_rng(seed)
    of_labels, lines = rng.normal(size=(labels, 5)), []
    for _ in range(n):
        x = np.round(rng.normal(size=5), 3)
        found = np.flatnonzero(of_labels @ x > 1)
        lines.append(','.join(f'l{k}' for k in found) + ' ' + ' '.join(f'{j + 1}:{v}' for j, v in enumerate(x)))
    return '\n'.join(lines) + '\n'


def graphs(n, seed=1):
    """A node of another type above three in a row."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        top = int(rng.integers(2))
        below = [int(rng.random() < (0.8 if top else 0.2)) for _ in range(3)]
        nodes = [{'type': 'top', 'states': ['low', 'high'], 'label': ['low', 'high'][top]}]
        nodes += [
            {
                'features': {'x': round(float(state + rng.normal()), 2), 'one': 1},
                'label': 'ab'[state],
                'states': ['a', 'b'],
            }
            for state in below
        ]
        factors = [{'nodes': [0, v], 'type': 'up'} for v in (1, 2, 3)] + [{'nodes': [1, 2, 3], 'features': [0.5]}]
        lines.append(json.dumps({'nodes': nodes, 'factors': factors}))
    return '\n'.join(lines) + '\n'


@pytest.fixture(scope='module')
def relaxed(tmp_path_factory):
    """What `ssvm gap` says of both files after linear programs: they take long, and are solved once."""
    folder = tmp_path_factory.mktemp('relaxed')
    found = {}
    for name, text in (('sets.ml', label_sets(40)), ('trees.jsonl', graphs(30))):
        (folder / name).write_text(text)
        run('train', *QUIET, '--relaxation', 'lp', '--rel-gap', 1e-4, folder / name, folder / 'lp')
        found[name] = gap_of(folder / name, folder / 'lp')
    return found


def table(path, delimiter=','):
    """The rows of a CSV file, without its comments."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith('#')]
    return list(csv.DictReader(lines, delimiter=delimiter))


def gap_of(*args):
    return json.loads(run('gap', '--json', '-q', *args).stdout_bytes)


@pytest.mark.parametrize('file', ['sets.ml', 'trees.jsonl'])
@pytest.mark.parametrize(
    'how',
    [(), ('--objective', 'log'), ('--task-loss', 'zero-one', '--slack-norm', '2'), ('--solver', 'one-slack')],
    ids=' '.join,
)
def test_exact_models(files, file, how):
    run('train', *QUIET, *map(str, how), file, 'm')
    report = gap_of(file, 'm')
    assert report['relative_gap'] <= 1e-3 and report['status'] == 'converged'
    assert not {'relaxed_primal', 'relaxation'} & report.keys()
    result = run('predict', '--evaluate', '--metrics', 'scores.json', file, 'm', 'out')
    assert 'accuracy' in result.stderr
    run('convert', 'm', 'm.tsv')
    run('convert', 'm.tsv', 'again')
    assert run('predict', file, 'again').stdout == run('predict', file, 'm').stdout == (files / 'out').read_text()
    assert gap_of(file, 'again')['primal'] == pytest.approx(report['primal'], rel=1e-12)


@pytest.mark.parametrize('file', ['sets.ml', 'trees.jsonl'])
def test_bounds_of_the_three_problems_are_in_order(files, relaxed, file):
    """exact <= lp <= soft, and what is said to bound the relaxed problem does."""
    values = {'lp': relaxed[file]}
    for name in ('none', 'soft'):
        run('train', *QUIET, '--relaxation', name, '--rel-gap', 1e-4, '--log', f'{name}.csv', file, name)
        values[name] = gap_of(file, name)
    slack = 1e-9
    assert values['none']['dual'] <= values['lp']['primal'] + slack
    assert values['lp']['dual'] <= values['soft']['primal'] + slack
    soft = values['soft']
    assert soft['relaxation'] == 'soft (rho 1)' and values['lp']['relaxation'] == 'lp'
    assert values['lp']['dual'] - slack <= soft['relaxed_primal'] <= soft['primal']
    assert 0 < soft['relaxed_dual'] <= values['lp']['primal'] + slack
    rows = table(files / 'soft.csv')
    assert all(values['lp']['dual'] - slack <= float(row['relaxed_primal']) <= float(row['primal']) for row in rows)
    assert float(rows[-1]['relaxed_primal']) == pytest.approx(soft['relaxed_primal'], rel=1e-12)


def test_a_small_rho_is_near_the_linear_programs(files, relaxed):
    best, before = relaxed['trees.jsonl']['primal'], np.inf
    for rho in (1, 0.01, 0.0001):
        run('train', *QUIET, '--relaxation', 'soft', '--rho', rho, '--rel-gap', 1e-3, 'trees.jsonl', 'soft')
        primal = gap_of('trees.jsonl', 'soft')['primal']
        assert best * (1 - 1e-3) <= primal < before
        before = primal
    assert before <= 1.02 * best


@pytest.mark.parametrize('file', ['sets.ml', 'trees.jsonl'])
@pytest.mark.parametrize(
    'options', [(), ('--rho', 1), ('--rho', '1:0.01:0.3')], ids=lambda value: ' '.join(map(str, value))
)
def test_an_augmented_lagrangian_solves_the_relaxed_problem(files, relaxed, file, options):
    best = relaxed[file]
    soft = ('--relaxation', 'soft', '--augmented-lagrangian', '--rel-gap', 0.01, '--max-passes', 5000)
    result = run('train', '--lambda', 0.02, *soft, *options, '--log', 'log.csv', file, 'm')
    assert 'stage 2, rho' in result.stderr
    report, header = gap_of(file, 'm'), load('m').header
    assert header['status'] == report['status'] == 'converged'
    assert report['relaxed_primal'] - report['relaxed_dual'] <= 0.01 * report['relaxed_primal'] * (1 + 1e-9)
    assert report['relaxed_dual'] <= best['primal'] and report['relaxed_primal'] >= best['dual']
    assert report['primal'] == pytest.approx(header['primal'], rel=1e-9)
    assert report['dual'] == pytest.approx(header['dual'], rel=1e-9)
    assert 'the relaxed problem: relative gap' in result.stderr.splitlines()[-1]
    rows = table(files / 'log.csv')
    passes = [int(row['pass']) for row in rows]
    assert passes == sorted(passes) and passes[-1] == header['passes']
    seconds = [float(row['seconds']) for row in rows]
    assert seconds == sorted(seconds)
    if options and ':' in str(options[1]):
        rhos = list(dict.fromkeys(float(row['rho']) for row in rows))
        assert rhos == [1.0, 0.3, 0.09, 0.027] and header['structure']['rho'] == 0.027


def test_multipliers_belong_to_their_graphs(files):
    run('train', *QUIET, '--augmented-lagrangian', '--max-passes', 50, 'trees.jsonl', 'm')
    report = gap_of('trees.jsonl', 'm')  # the soft problem of the last stage is solved, the relaxed one is not
    assert report['status'] == 'not converged' and report['relaxed_primal'] > 1.001 * report['relaxed_dual']
    (files / 'other.jsonl').write_text(graphs(7, seed=3))
    assert 'other.jsonl: the model has 540 multipliers (expected 126, ' in run('gap', 'other.jsonl', 'm', code=1).stderr
    assert run('predict', 'other.jsonl', 'm').stdout.count('\n') == 7


def test_a_falling_rho_ends_where_the_last_one_does(files):
    same = (*QUIET, '--relaxation', 'soft', '--rel-gap', 1e-3)
    run('train', *same, '--rho', 0.01, 'trees.jsonl', 'at-once')
    run('train', *same, '--rho', '1:0.01:0.1', '--log', 'log.csv', 'trees.jsonl', 'falling')
    at_once, falling = gap_of('trees.jsonl', 'at-once'), gap_of('trees.jsonl', 'falling')
    assert falling['relaxation'] == 'soft (rho 0.01)' and falling['relative_gap'] <= 1e-3
    assert falling['primal'] == pytest.approx(at_once['primal'], rel=1e-3)
    assert {float(row['rho']) for row in table(files / 'log.csv')} == {1.0, 0.1, 0.01}


def test_limits_are_of_all_stages(files):
    soft = ('--lambda', 0.02, '--relaxation', 'soft', '--augmented-lagrangian', '--rel-gap', 0)
    run('train', '-q', *soft, '--max-passes', 30, '--require-gap', 'trees.jsonl', 'm', code=3)
    header = load('m').header
    assert header['passes'] == 30 and header['status'] == 'max-passes'
    run('train', '-q', *soft, '--max-time', 0.3, '--max-passes', 10**8, 'trees.jsonl', 'm')
    assert load('m').header['status'] == 'max-time'


@pytest.mark.parametrize('file', ['sets.ml', 'trees.jsonl'])
def test_smoothed_maxima(files, relaxed, file):
    """The smoothed optimum is below the soft one, by gamma/2 for each factor at most."""
    same = (*QUIET, '--relaxation', 'soft', '--rel-gap', 1e-4)
    run('train', *same, file, 'sharp')
    run('train', *same, '--smooth-max', 0.01, '--log', 'log.csv', file, 'smooth')
    sharp, smooth = gap_of(file, 'sharp'), gap_of(file, 'smooth')
    assert smooth['relaxation'] == 'soft (rho 1, smoothing 0.01)' and smooth['relative_gap'] <= 1e-4
    assert smooth['dual'] <= sharp['primal']
    factors = 40 if file == 'trees.jsonl' else 10
    assert smooth['primal'] >= sharp['dual'] - factors * 0.01 / 2
    last = table(files / 'log.csv')[-1]
    assert float(last['relaxed_primal']) == pytest.approx(smooth['relaxed_primal'], rel=1e-9)
    assert smooth['relaxed_dual'] <= relaxed[file]['primal'] <= smooth['relaxed_primal'] * (1 + 1e-4)


def test_soft_bcfw_is_bcfw_with_soft_constraints(files):
    run('train', *QUIET, '--solver', 'soft-bcfw', 'sets.ml', 'a')
    run('train', *QUIET, '--solver', 'bcfw', '--relaxation', 'soft', '--rho', 1, 'sets.ml', 'b')
    assert (files / 'a').read_bytes() == (files / 'b').read_bytes()
    header = load('a').header
    assert header['solver'] == 'bcfw' and header['structure'] == {'relaxation': 'soft', 'rho': 1.0}


def test_the_first_line_says_which_problem_is_solved(files):
    result = run('train', '--lambda', 0.02, '--max-passes', 1, '--rho', 0.1, 'sets.ml', 'm')
    assert 'task loss hamming, relaxation soft (rho 0.1), lambda 0.02' in result.stderr
    (files / 'wide.ml').write_text(label_sets(20, labels=26))
    with pytest.raises(ValueError, match='too large'):
        elimination_order([2] * 26, [(a, b) for a in range(26) for b in range(a)])
    result = run('train', '--lambda', 0.02, '--max-passes', 2, 'wide.ml', 'm')
    assert 'relaxation soft (rho 1)' in result.stderr
    assert run('predict', 'wide.ml', 'm').stdout.count('\n') == 20  # by linear programs
    assert '--relaxation none would solve the problem itself, by graph cuts' in result.stderr
    (files / 'wide.jsonl').write_text(complete_graph(26, 3))
    result = run('train', '--relaxation', 'none', 'wide.jsonl', 'm', code=2)
    assert 'there is no exact oracle (use --relaxation soft or lp)' in result.stderr


def test_large_binary_graphs_are_cut(files):
    rng = np.random.default_rng(3)
    (files / 'large.jsonl').write_text(''.join(picture(rng, 24) for _ in range(4)))
    assert 'soft (rho 1)' in run('train', '--lambda', 0.02, '--max-passes', 1, 'large.jsonl', 'm').stderr
    how = ('--relaxation', 'none', '--lambda', 0.02, '--max-passes', 5000)
    assert 'by graph cuts' not in run('train', *how, 'large.jsonl', 'm').stderr
    report = gap_of('large.jsonl', 'm')
    assert report['relative_gap'] <= 1e-3 and 'relaxation' not in report
    run('predict', '--metrics', 'scores.json', 'large.jsonl', 'm', 'out')
    assert json.loads((files / 'scores.json').read_text())['accuracy'] > 0.95
    (files / 'small.jsonl').write_text(picture(rng, 23))
    lines = run('predict', '--nbest', 2, 'small.jsonl', 'm').stdout.splitlines()
    assert len([line for line in lines if line.startswith('# ')]) == 2
    message = 'log needs the exp oracle (sums over all outputs), which graph lacks: use hinge'
    assert message in run('train', *how, '--objective', 'log', 'large.jsonl', 'x', code=2).stderr


def test_a_run_whose_cuts_give_up_ends(files):
    """Every pair of 70 nodes is in a factor, and all say that their states differ."""
    (files / 'frustrated.jsonl').write_text(complete_graph(70, 2))
    result = run('train', '--relaxation', 'none', '--lambda', 1e-4, 'frustrated.jsonl', 'm', code=1)
    assert 'cannot be found by graph cuts' in result.stderr and '(use --relaxation soft, or to predict' in result.stderr
    assert 'internal error' not in result.stderr
    assert not (files / 'm').exists()


@pytest.mark.parametrize('threads', [1, 2])
def test_an_interrupted_certificate_is_none(files, threads):
    """The signal arrives inside a linear program, or right before one."""
    (files / 'many.ml').write_text(label_sets(3000))
    run('train', *QUIET, '--relaxation', 'lp', '--max-passes', 1, 'sets.ml', 'm')
    process = start('gap', '--json', '--threads', threads, 'many.ml', 'm', cwd=files)
    time.sleep(2.0)  # 3000 linear programs take ten seconds at least
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (143, b'', b'')


@pytest.mark.parametrize('threads', [1, 2])
def test_long_lists_can_be_interrupted(files, threads):
    (files / 'wide.jsonl').write_text(picture(np.random.default_rng(2), 12))
    run('train', *QUIET, '--relaxation', 'none', '--lambda', 0.1, '--max-passes', 5, 'wide.jsonl', 'm')
    how = ('--threads', threads, '--nbest', 1000000, 'wide.jsonl', 'm', 'out')
    process = start('predict', *how, cwd=files)
    time.sleep(2.0)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    assert process.returncode == 143
    assert not list(files.glob('*out*'))


def complete_graph(nodes, states):
    """One example with random states, and a factor with a random feature for every pair of nodes."""
    rng = np.random.default_rng(nodes)
    of_nodes = [{'label': str(rng.integers(states))} for _ in range(nodes)]
    pairs = [{'nodes': [a, b], 'features': {'x': rng.normal()}} for b in range(nodes) for a in range(b)]
    return json.dumps({'states': states, 'nodes': of_nodes, 'factors': pairs}) + '\n'


def picture(rng, side):
    """A grid whose left and right halves differ, seen through noise."""
    right = np.tile(np.arange(side) // (side // 2) > 0, side)
    seen = right + rng.normal(size=side**2)
    nodes = [{'features': {'x': float(x), 'bias': 1.0}, 'label': str(int(y))} for x, y in zip(seen, right, strict=True)]
    at = np.arange(side**2).reshape(side, side)
    steps = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    pairs = [{'nodes': [int(a), int(b)]} for x, y in steps for a, b in zip(x.ravel(), y.ravel(), strict=True)]
    return json.dumps({'states': 2, 'nodes': nodes, 'factors': pairs}) + '\n'


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (('--relaxation', 'soft', '--objective', 'log'), 'is a relaxation of the hinge, not of log'),
        (('--relaxation', 'lp', '--rho', 1), '--rho is about --relaxation soft'),
        (('--relaxation', 'none', '--rho', 1), '--rho is about --relaxation soft'),
        (('--relaxation', 'none', '--solver', 'soft-bcfw'), 'soft-bcfw is bcfw with --relaxation soft'),
        (('--relaxation', 'lp', '--solver', 'eg'), 'eg needs the exp oracle, which multilabel lacks'),
        (('--relaxation', 'soft', '--task-loss', 'zero-one'), 'takes a loss that is a sum over nodes'),
        (('--relaxation', 'soft', '--hard-margin'), 'takes a loss that is a sum over nodes'),
        (
            ('--relaxation', 'soft', '--rescale', 'slack'),
            'of hamming on multilabel no oracle finds the best one with a given number of errors (use --task-loss',
        ),
        (('--kernel', 'rbf'), '--kernel has no meaning for the task multilabel'),
        (('--feature-set', 'observed'), 'use --feature-set all'),
        (('--rho', 0), 'rho'),
        (('--rho', '1:2:3'), "'1:2:3': TO 2 is above FROM 1 (expected one below it)"),
        (('--rho', '1:0.5:2'), 'FACTOR 2 does not lead from 1 to 0.5'),
        (('--relaxation', 'lp', '--augmented-lagrangian'), '--augmented-lagrangian is about --relaxation soft'),
        (('--relaxation', 'none', '--smooth-max', 1), '--smooth-max is about --relaxation soft'),
        (('--smooth-max', 0), '0 is not above 0'),
        (('--rho', '1:0.1:0.5', '--resume'), '--rho FROM:TO:FACTOR cannot be combined with --resume'),
        (('--augmented-lagrangian', '--lambda-path', '1:0.1:0.5'), 'cannot be combined with --lambda-path'),
        (('--augmented-lagrangian', '--smooth-max', 1), '--augmented-lagrangian cannot be combined with --smooth-max'),
        (('--rho', '1e308:1e-308:0.99999'), 'values (expected at most'),
        (('--task-loss', 'overlap'), 'multilabel has no task loss overlap (choose from hamming, zero-one, f1)'),
        (('--task-loss', 'f1'), 'f1 is for labels without weights for pairs (--pairs none, and no --relaxation)'),
        (('--solver', 'dlpw', '--set', 'smoothing=1e-9'), 'drowns in rounding (expected 0, or at least 1e-06)'),
        (('--solver', 'dlpw', '--set', 'smoothing=inf'), 'expected at most 1000'),
        (('--augmented-lagrangian', '--no-certificate'), 'cannot be combined with --no-certificate'),
        (('--augmented-lagrangian', '--solver', 'sgd'), 'sgd cannot start from the dual point of the stage before'),
        (('--solver', 'counts'), 'counts is for'),
    ],
    ids=lambda value: ' '.join(map(str, value)) if isinstance(value, tuple) else '',
)
def test_what_makes_no_sense_is_refused(files, options, message):
    result = run('train', *options, 'sets.ml', 'm', code=2)
    assert message in result.stderr
    assert not (files / 'm').exists()


@pytest.mark.parametrize('solver', ['bcfw', 'n-slack', 'svrg'])
def test_f1_of_sets(files, solver):
    """Trained for, saved, certified and predicted with."""
    how = ('--pairs', 'none', '--task-loss', 'f1', '--solver', solver, '--rel-gap', 1e-3, '--max-passes', 400)
    run('train', *QUIET, *how, 'sets.ml', 'm')
    header = load('m').header
    report = gap_of('sets.ml', 'm')
    assert report['status'] == 'converged' and report['primal'] == pytest.approx(header['primal'], rel=1e-9)
    assert 0 < report['dual'] <= report['primal'] <= 1
    run('predict', '--evaluate', 'sets.ml', 'm')


def test_a_softmax_as_the_dual_point_of_soft_constraints(files):
    """It proves a bound of the soft problem, and tells nothing of the relaxed one, whose factors agree."""
    kinds = set()
    for passes in range(1, 12):
        how = ('--relaxation', 'soft', '--solver', 'svrg', '--rel-gap', 1e-9, '--max-passes', passes)
        run('train', *QUIET, *how, '--set', f'planes={1 + 9 * (passes % 2)}', 'sets.ml', 'm')
        report = gap_of('sets.ml', 'm')
        assert 0 < report['dual'] <= report['primal'] and 'relaxed_dual' not in report
        kinds.add(type(load('m').dual))
    assert kinds == {TemperedPoint, ScoresPoint, MixturePoint}


def test_dual_points_belong_to_one_relaxation(files):
    run('train', *QUIET, '--relaxation', 'none', '--max-passes', 5, 'sets.ml', 'first')
    message = (
        'first: was trained with --relaxation none (expected lp, as here: a dual point is one of a single problem)'
    )
    how = (*QUIET, '--relaxation', 'lp', '--solver', 'bcfw', '--init', 'first', 'sets.ml', 'm')
    assert message in run('train', *how, code=1).stderr


def test_relaxations_belong_to_graphs(files):
    (files / 'plain.svm').write_text('1 1:1\n2 2:1\n')
    for options in (('--relaxation', 'soft'), ('--rho', 1), ('--solver', 'soft-bcfw')):
        result = run('train', *options, 'plain.svm', 'm', code=2)
        assert 'has no meaning for the task multiclass' in result.stderr


def test_predictions_of_label_sets(files):
    run('train', *QUIET, '--objective', 'log', 'sets.ml', 'm')
    lines = run('predict', 'sets.ml', 'm').stdout.split('\n')
    assert len(lines) == 41 and lines[-1] == ''
    assert '' in lines[:40]  # an empty set is an empty line
    shown = run('predict', '--marginals', 'sets.ml', 'm').stdout.split('\n')
    for line, said in zip(lines[:40], shown, strict=False):
        labels, *columns = said.split('\t')
        assert labels == line and len(columns) == 4
        chances = dict(column.split(':') for column in columns)
        assert all(0 <= float(p) <= 1 for p in chances.values())
    best = run('predict', '--nbest', 16, 'sets.ml', 'm').stdout.split('\n')[: 3 * 16]
    chances = [float(header.split()[3]) for header in best[::3]]
    assert sum(chances) == pytest.approx(1, abs=1e-5)
    assert chances == sorted(chances, reverse=True)
    assert len(set(best[1::3])) == 16 and set(best[2::3]) == {''}
    assert run('predict', '--scores', 'sets.ml', 'm').stdout.startswith('# 1 ')


def test_predictions_of_graphs(files):
    run('train', *QUIET, '--objective', 'log', 'trees.jsonl', 'm')
    given = [json.loads(line) for line in (files / 'trees.jsonl').read_text().splitlines()]
    found = [json.loads(line) for line in run('predict', '--marginals', 'trees.jsonl', 'm').stdout.splitlines()]
    page = (ROOT / 'man' / 'ssvm-formats.5').read_text().split('.SS graph (')[1].split('\n.SS ')[0]
    for member in found[0].keys() - given[0].keys():
        assert re.search(rf'\.BR {member} [,:]\n', page), f'{member} is in the manual'
    right = 0
    for before, after in zip(given, found, strict=True):
        states, chances = after.pop('prediction'), after.pop('marginals')
        assert after == before
        assert states[0] in ('low', 'high') and set(states[1:]) <= {'a', 'b'}
        for node in chances:
            assert sum(node.values()) == pytest.approx(1, abs=2e-6)
        right += sum(state == node['label'] for state, node in zip(states, before['nodes'], strict=True))
    run('predict', '--metrics', 'scores.json', 'trees.jsonl', 'm', 'out')
    assert json.loads((files / 'scores.json').read_text())['accuracy'] == right / 120
    assert run('predict', '--nbest', 2, 'trees.jsonl', 'm').stdout.count('\n# 2 ') == 30


def test_relaxed_predictions_have_no_lists(files):
    (files / 'wide.ml').write_text(label_sets(5, labels=26))
    run('train', *QUIET, '--max-passes', 2, 'wide.ml', 'm')
    for option, message in ((('--nbest', 2), 'has no list of its best outputs'), (('--marginals',), 'needs a log')):
        assert message in run('predict', *option, 'wide.ml', 'm', 'out', code=2).stderr
        assert not (files / 'out').exists()


def test_a_path_changes_what_the_features_depend_on(files):
    """The features of soft constraints depend on lambda: each model of a path solves its own problem."""
    path = ('--relaxation', 'soft', '--rho', 0.1, '--rel-gap', 1e-4)
    run('train', '-q', *path, '--lambda-path', '1:0.01:0.1', '--path-models', 'models', 'sets.ml', 'm')
    run('train', '-q', *path, '--lambda', 0.01, 'sets.ml', 'alone')
    ends, alone = gap_of('sets.ml', 'm'), gap_of('sets.ml', 'alone')
    assert ends['dual'] <= alone['primal'] and alone['dual'] <= ends['primal']


def test_runs_go_on_where_they_were(files):
    """Interrupted and resumed, from weights and from a dual point."""
    options = (*QUIET, '--relaxation', 'soft', '--checkpoint', 'c')
    run('train', *options, '--max-passes', 6, 'sets.ml', 'whole')
    run('train', *options, '--max-passes', 3, 'sets.ml', 'half')
    run('train', *options, '--max-passes', 6, '--resume', 'sets.ml', 'half')
    assert (files / 'half').read_bytes() == (files / 'whole').read_bytes()
    for solver in ('bcfw', 'eg', 'sgd'):
        run(
            'train',
            *QUIET,
            '--relaxation',
            'soft',
            '--solver',
            solver,
            '--init',
            'whole',
            '--max-passes',
            1,
            'sets.ml',
            'm',
        )
        run('train', *QUIET, '--solver', solver, '--max-passes', 20, 'trees.jsonl', 'first')
        run('train', *QUIET, '--solver', solver, '--init', 'first', '--max-passes', 1, 'trees.jsonl', 'second')
        assert gap_of('trees.jsonl', 'second')['primal'] <= 1.02 * gap_of('trees.jsonl', 'first')['primal']


def test_sets_that_are_all_empty_teach_nothing(files):
    (files / 'empty.ml').write_text(' 1:1\n 2:1\n')
    assert 'empty.ml: nothing to learn from: no example has a label' in run('train', 'empty.ml', 'm', code=1).stderr
    assert not (files / 'm').exists()


def test_held_out_scores(files):
    for file, columns in (('sets.ml', ['dev_accuracy', 'dev_f1']), ('trees.jsonl', ['dev_accuracy'])):
        run('train', *QUIET, '--dev', file, '--log', 'log.csv', '--max-passes', 3, file, 'm')
        rows = table(files / 'log.csv')
        assert all(0 <= float(rows[-1][column]) <= 1 for column in columns)


def test_unknown_things_at_test_time(files):
    run('train', *QUIET, 'sets.ml', 'm')
    (files / 'new.ml').write_text('l0,strange 1:1 99:5\n 2:1\n')
    assert run('predict', '--evaluate', 'new.ml', 'm').stdout.count('\n') == 2
    assert "new.ml: example 1 has label 'strange', which m does not know" in run('gap', 'new.ml', 'm', code=1).stderr
    run('train', *QUIET, 'trees.jsonl', 'g')
    (files / 'new.jsonl').write_text('{"nodes": [{"features": {"new": 1}, "states": ["a", "b"]}]}\n')
    assert json.loads(run('predict', 'new.jsonl', 'g').stdout)['prediction'][0] in ('a', 'b')
    assert 'new.jsonl: node 0 of graph 1 has no label' in run('gap', 'new.jsonl', 'g', code=1).stderr
    (files / 'other.jsonl').write_text('{"nodes": [{"states": ["a", "c"]}]}\n')
    assert 'other.jsonl:1: ' in run('predict', 'other.jsonl', 'g', code=1).stderr


def test_altered_models_are_refused(files):
    run('train', *QUIET, '--relaxation', 'soft', 'trees.jsonl', 'm')
    run('convert', 'm', 'm.tsv')
    text = (files / 'm.tsv').read_text()
    for before, after, message in [
        ('factor:up\tbias', 'factor:down\tbias', "block 'factor:down' (expected node:TYPE or factor:TYPE"),
        ('["low","b"]', '["low","c"]', 'is no state of'),
        ('node:node\tx', 'node:node\ty', "attribute 'y' is not among the attributes of the model"),
        ('"scopes": [[0, 1]', '"scopes": [[0, 7]', 'do not fit its types'),
        ('"relaxation": "soft"', '"relaxation": "hard"', "header has structure.relaxation = 'hard'"),
        ('"rho": 1.0', '"rho": 0.0', 'header has structure.rho = 0.0'),
    ]:
        assert before in text, before
        (files / 'x.tsv').write_text(text.replace(before, after))
        assert message in run('convert', 'x.tsv', 'x', code=1).stderr
    assert not (files / 'x').exists()


def test_a_model_without_its_agreement_is_certified_all_the_same(files):
    run('train', *QUIET, '--relaxation', 'soft', 'sets.ml', 'm')
    said = run('convert', 'm', 'm.tsv').stderr
    assert said == 'm: left out, being of the training examples: agreement (ssvm gap of the text is looser)\n'
    run('convert', 'm.tsv', 'again')
    whole, rest = gap_of('sets.ml', 'm'), gap_of('sets.ml', 'again')
    assert rest['dual'] <= whole['primal'] <= rest['primal']
    assert rest['dual_source'] == 'bcfw'


def test_losses_of_the_examples_add_up(files):
    for file in ('sets.ml', 'trees.jsonl'):
        run('train', *QUIET, '--relaxation', 'soft', file, 'm')
        report = gap_of('--per-example', 'losses.tsv', file, 'm')
        rows = table(files / 'losses.tsv', '\t')
        assert len(rows) == report['examples']
        model = load('m')
        squares = sum(
            float((array.astype(float) ** 2).sum())
            for name, array in model.weights.items()
            if not name.startswith(('attributes.', 'agreement'))
        )
        agreement = float((model.weights['agreement'] ** 2).sum())
        mean = np.mean([float(row['loss']) for row in rows])
        assert report['primal'] == pytest.approx(mean + 0.02 / 2 * squares + 1.0 / 2 * agreement, rel=1e-9)


def test_shipped_samples(files):
    for file, options in (('topics/train.ml', ()), ('grids/train.jsonl', ('--max-passes', 3))):
        path = ROOT / 'examples' / file
        if not path.exists():
            pytest.skip('examples are not there: not the source tree')
        run('train', '-q', '--lambda', 0.01, *options, path, 'm')
        assert gap_of(path, 'm')['relative_gap'] < 1


@pytest.mark.parametrize('file', ['sets.ml', 'trees.jsonl'])
def test_messages_in_place_of_linear_programs(files, file):
    """dlpw implies lp, what it reports is proved by its model, and both bounds are about that problem."""
    run('train', *QUIET, '--relaxation', 'lp', '--rel-gap', 1e-4, file, 'lp')
    best = gap_of(file, 'lp')
    smooth = ('--solver', 'dlpw', '--set', 'smoothing=0.003', '--set', 'sweeps=5')
    run('train', *QUIET, *smooth, '--rel-gap', 0.05, '--max-passes', 3000, '--log', 'log.csv', file, 'm')
    header, report = load('m').header, gap_of(file, 'm')
    assert header['status'] == 'converged' and header['structure']['relaxation'] == 'lp'
    assert report['dual_source'] == 'model' and report['relaxation'] == 'lp' and report['relative_gap'] <= 0.05
    assert report['dual'] == pytest.approx(header['dual'], rel=1e-9)
    assert best['dual'] - 1e-9 <= report['primal'] <= header['primal'] + 1e-9
    assert report['dual'] <= best['primal'] + 1e-9
    for row in table(files / 'log.csv'):
        assert float(row['dual_now']) - 1e-9 <= best['primal'] and best['dual'] - 1e-9 <= float(row['primal_now'])
    run('predict', file, 'm', 'out')


def test_dlpw_goes_on_where_it_was(files):
    options = (*QUIET, '--solver', 'dlpw', '--checkpoint', 'c')
    run('train', *options, '--max-passes', 6, 'sets.ml', 'whole')
    run('train', *options, '--max-passes', 3, 'sets.ml', 'half')
    run('train', *options, '--max-passes', 6, '--resume', 'sets.ml', 'half')
    assert (files / 'half').read_bytes() == (files / 'whole').read_bytes()
    for relaxation in ('none', 'soft'):
        result = run('train', '--solver', 'dlpw', '--relaxation', relaxation, 'sets.ml', 'm', code=2)
        assert 'dlpw solves --relaxation lp: leave --relaxation out' in result.stderr
    assert 'cannot start from a model' in run('train', '--solver', 'dlpw', '--init', 'c', 'sets.ml', 'm', code=2).stderr


@pytest.mark.parametrize('file', ['sets.ml', 'trees.jsonl'])
def test_ways_to_predict(files, file):
    run('train', *QUIET, file, 'm')
    usual = run('predict', '--scores', file, 'm').stdout
    assert run('predict', '--scores', '--inference', 'exact', file, 'm').stdout == usual
    found = run('predict', '--scores', '--inference', 'dual-decomposition', '--evaluate', file, 'm', 'out')
    n = usual.count('# 1 ')
    counted = re.search(rf'{file}: (\d+) of {n} outputs are proved to be the best', found.stderr)
    assert 0.8 * n <= int(counted[1]) <= n
    pairs = list(zip(scores_in(usual), scores_in((files / 'out').read_text()), strict=True))
    assert all(other <= score + 1e-6 for score, other in pairs)
    assert sum(other == pytest.approx(score, abs=1e-6) for score, other in pairs) >= int(counted[1])
    assert 'proved' not in run('predict', '--inference', 'dual-decomposition', file, 'm', 'out').stderr
    said = run('predict', '-v', '--threads', 1, '--inference', 'dual-decomposition', file, 'm', 'again').stderr
    assert counted[0] in said
    assert (files / 'again').read_bytes() == (files / 'out').read_bytes()
    assert 'proved' not in run('predict', '-v', '--inference', 'lp', file, 'm', 'out').stderr


def scores_in(text):
    return [float(x) for x in re.findall(r'# 1 ([-+.\de]+)', text)]


def test_ways_to_predict_that_make_no_sense(files):
    run('train', *QUIET, '--objective', 'log', 'sets.ml', 'm')
    for option in ('--marginals',), ('--nbest', 2):
        assert run('predict', '--inference', 'exact', *option, 'sets.ml', 'm').stdout
        for name in ('lp', 'dual-decomposition'):
            result = run('predict', '--inference', name, *option, 'sets.ml', 'm', 'out', code=2)
            assert 'need exact inference: leave --inference out' in result.stderr
    (files / 'wide.ml').write_text(label_sets(5, labels=26))
    run('train', *QUIET, '--max-passes', 2, 'wide.ml', 'w')
    assert run('predict', '--inference', 'exact', 'wide.ml', 'w').stdout.count('\n') == 5  # by cuts
    (files / 'wide.jsonl').write_text(complete_graph(26, 3))
    run('train', *QUIET, '--max-passes', 2, 'wide.jsonl', 'g')
    result = run('predict', '--inference', 'exact', 'wide.jsonl', 'g', 'out', code=2)
    assert 'nodes would be too large (lp and dual-decomposition do without)' in result.stderr
    assert run('predict', '--inference', 'dual-decomposition', 'wide.ml', 'w').stdout.count('\n') == 5
    (files / 'plain.svm').write_text('1 1:1\n2 2:1\n')
    run('train', '-q', 'plain.svm', 'p')
    result = run('predict', '--inference', 'lp', 'plain.svm', 'p', 'out', code=2)
    assert '--inference has no meaning for the task multiclass' in result.stderr
