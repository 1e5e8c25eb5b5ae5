"""Graphs with chains, trees and cardinality terms as one factor, from end to end through the commands."""

import json
from itertools import pairwise

import numpy as np
import pytest

from data_formats.models.model import load
from tests.cli.commands import run
from tests.cli.test_graphs import gap_of, table

N = 16
QUIET = ('-q', '--lambda', 0.02)
ONCE = ('--solver', 'sgd', '--max-passes', 1)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, kinds in (('chains', ['chain']), ('counts', ['cardinality']), ('all', ['chain', 'tree', 'cardinality'])):
        (tmp_path / f'{name}.jsonl').write_text(graphs(N, kinds))
    (tmp_path / 'pairs.jsonl').write_text(graphs(N, ['chain']).replace('"oracle": "chain"', '"oracle": "pairs"'))
    lines = [apart(json.loads(line)) for line in (tmp_path / 'pairs.jsonl').read_text().splitlines()]
    (tmp_path / 'pairs.jsonl').write_text(''.join(json.dumps(example) + '\n' for example in lines))
    return tmp_path


def graphs(n, kinds, seed=1):
    """Rows of four to six nodes, seen through noise."""
    rng, lines = np.random.default_rng(seed), []
    for _ in range(n):
        count = int(rng.integers(4, 7))
        states = np.cumsum(rng.random(count) < 0.2) % 2
        seen = np.round(states + rng.normal(size=count), 2)
        nodes = [
            {'features': {'x': float(x), 'one': 1}, 'label': 'ab'[state]} for x, state in zip(seen, states, strict=True)
        ]
        factors = {
            'chain': {'oracle': 'chain', 'nodes': list(range(count)), 'type': 'next'},
            'tree': {'oracle': 'tree', 'edges': [[0, 2], [0, 3]], 'features': [[0.5], {'x': 1}]},
            'cardinality': {'oracle': 'cardinality', 'nodes': list(range(count)), 'type': 'size', 'buckets': [1, 2, 4]},
        }
        lines.append({'states': ['a', 'b'], 'nodes': nodes, 'factors': [factors[kind] for kind in kinds]})
    return ''.join(json.dumps(line) + '\n' for line in lines)


def apart(example):
    """The same with the pairs of the chain as factors of their own."""
    (chain,) = example['factors']
    return example | {'factors': [{'nodes': list(pair), 'type': 'next'} for pair in pairwise(chain['nodes'])]}


@pytest.mark.parametrize('file', ['chains.jsonl', 'counts.jsonl', 'all.jsonl'])
def test_soft_models(files, file):
    result = run('train', '--lambda', 0.02, '--relaxation', 'soft', '--log', 'log.csv', file, 'm')
    each = 3 if file == 'all.jsonl' else 1
    assert f', {N * each} global factors, ' in result.stderr
    report = gap_of(file, 'm')
    assert report['relative_gap'] <= 1e-3 and report['relaxation'] == 'soft (rho 1)'
    assert report['relaxed_dual'] <= report['relaxed_primal'] <= report['primal']
    assert float(table(files / 'log.csv')[-1]['relaxed_primal']) == pytest.approx(report['relaxed_primal'], rel=1e-12)
    run('predict', '--evaluate', '--metrics', 'scores.json', file, 'm', 'out')
    assert json.loads((files / 'scores.json').read_text())['accuracy'] > 0.6
    lines = [json.loads(line) for line in (files / 'out').read_text().splitlines()]
    given = [json.loads(line) for line in (files / file).read_text().splitlines()]
    assert [{key: value for key, value in line.items() if key != 'prediction'} for line in lines] == given
    run('convert', 'm', 'm.tsv')
    run('convert', 'm.tsv', 'again')
    assert run('predict', file, 'again').stdout == (files / 'out').read_text()
    assert load('again').header['data'] == load('m').header['data']


@pytest.mark.parametrize(('file', 'exact'), [('chains.jsonl', True), ('counts.jsonl', True), ('all.jsonl', False)])
def test_bounds_of_the_problems_are_in_order(files, file, exact):
    """exact = lp where there is an exact oracle, as one factor of all nodes relaxes nothing; lp <= soft."""
    values = {}
    for name in ('none', 'lp', 'soft')[not exact :]:
        run('train', *QUIET, '--relaxation', name, '--rel-gap', 0.01, file, name)
        values[name] = gap_of(file, name)
        assert values[name]['relative_gap'] <= 0.01
    slack = 1e-9
    assert values['lp']['dual'] <= values['soft']['relaxed_primal'] + slack
    assert values['soft']['relaxed_dual'] <= values['lp']['primal'] + slack
    if exact:
        assert values['none']['dual'] <= values['lp']['primal'] + slack
        assert values['lp']['dual'] <= values['none']['primal'] + slack
    else:
        message = 'a factor beside one that counts: there is no exact oracle (use --relaxation soft or lp)'
        assert message in run('train', '--relaxation', 'none', file, 'x', code=2).stderr


@pytest.mark.parametrize('file', ['chains.jsonl', 'counts.jsonl', 'all.jsonl'])
def test_an_augmented_lagrangian_solves_the_relaxed_problem(files, file):
    how = ('--relaxation', 'soft', '--augmented-lagrangian', '--rel-gap', 0.01, '--max-passes', 5000)
    run('train', *QUIET, *how, file, 'm')
    report = gap_of(file, 'm')
    assert report['relaxed_primal'] - report['relaxed_dual'] <= 0.01 * report['relaxed_primal'] * (1 + 1e-9)
    run('train', *QUIET, '--relaxation', 'lp', '--rel-gap', 0.01, file, 'lp')
    best = gap_of(file, 'lp')
    assert report['relaxed_dual'] <= best['primal'] and report['relaxed_primal'] >= best['dual']


def test_a_chain_is_its_pairs_where_nothing_is_relaxed(files):
    for name in ('none', 'lp'):
        for file in ('chains.jsonl', 'pairs.jsonl'):
            run('train', *QUIET, '--relaxation', name, file, f'{name}-{file}')
        one, pairs = (load(f'{name}-{file}') for file in ('chains.jsonl', 'pairs.jsonl'))
        assert all(np.array_equal(one.weights[key], pairs.weights[key]) for key in one.weights), name
    assert run('predict', '--nbest', 2, 'chains.jsonl', 'none-pairs.jsonl').stdout.count('# 2 ') == N


def test_probabilities_and_several_outputs_of_counts(files):
    run('train', *QUIET, '--objective', 'log', 'counts.jsonl', 'm')
    assert gap_of('counts.jsonl', 'm')['relative_gap'] <= 1e-3
    lines = [json.loads(line) for line in run('predict', '--marginals', 'counts.jsonl', 'm').stdout.splitlines()]
    found = np.array([[node['b'] for node in line['marginals']] for line in lines if len(line['nodes']) == 4])
    assert ((found > 0) & (found < 1)).all()
    shown = run('predict', '--nbest', 3, 'counts.jsonl', 'm').stdout.splitlines()
    chances = [float(line.split()[3]) for line in shown if line.startswith('# ')]
    assert len(chances) == 3 * N and sum(chances[:3]) <= 1 and chances[:3] == sorted(chances[:3], reverse=True)


def test_inference_of_counts_with_other_factors(files):
    run('train', *QUIET, '--relaxation', 'soft', 'all.jsonl', 'm')
    usual = run('predict', 'all.jsonl', 'm').stdout
    assert run('predict', '--inference', 'lp', 'all.jsonl', 'm').stdout == usual
    message = '--inference exact: a graph has a factor beside one that counts (lp does without)'
    assert message in run('predict', '--inference', 'exact', 'all.jsonl', 'm', code=2).stderr
    message = '--inference dual-decomposition: a graph has a factor that counts, which has no table'
    assert message in run('predict', '--inference', 'dual-decomposition', 'all.jsonl', 'm', code=2).stderr
    run('train', *QUIET, '--relaxation', 'soft', 'chains.jsonl', 'm')
    usual = run('predict', 'chains.jsonl', 'm').stdout
    assert run('predict', '--inference', 'dual-decomposition', 'chains.jsonl', 'm').stdout == usual


def test_what_cannot_be_is_refused(files):
    message = '--smooth-max is not for graphs with global factors, whose labelings have no table'
    assert message in run('train', '--smooth-max', 0.1, 'chains.jsonl', 'm', code=2).stderr
    message = 'dlpw needs the messages oracle, which graph lacks'
    assert message in run('train', '--solver', 'dlpw', 'all.jsonl', 'm', code=2).stderr
    assert not (files / 'm').exists()


def test_altered_models_are_refused(files):
    run('train', *QUIET, '--relaxation', 'soft', 'all.jsonl', 'm')
    run('convert', 'm', 'm.tsv')
    text = (files / 'm.tsv').read_text()
    assert '"buckets": [null, null, [0, 1, 2, 4]]' in text and '\nfactor:size\tbias\t4\t' in text
    for before, after, message in [
        ('"buckets": [null, null, [0, 1, 2, 4]]', '"buckets": [null, [0, 1, 2, 4], null]', 'do not fit its types'),
        ('"buckets": [null, null, [0, 1, 2, 4]]', '"buckets": [null, [0, 1, 2, 4]]', 'do not fit its types'),
        ('"buckets": [null, null, [0, 1, 2, 4]]', '"bucket": 1', 'do not fit its types'),
        ('[0, 1, 2, 4]', '[0, 2, 1, 4]', 'data.buckets do not ascend from 0'),
        ('[0, 1, 2, 4]', '[1, 2, 3, 4]', 'data.buckets do not ascend from 0'),
        ('[0, 1, 2, 4]', '[0, 1, 2, 9000000000]', 'data.buckets do not ascend from 0'),
        ('[0, 1, 2, 4]', '[]', 'header has data.buckets = '),
        ('\nfactor:size\tbias\t4\t', '\nfactor:size\tbias\t5\t', "'5' is no state of 'factor:size'"),
    ]:
        assert before in text, before
        (files / 'x.tsv').write_text(text.replace(before, after))
        assert message in run('convert', 'x.tsv', 'x', code=1).stderr, after
    assert not (files / 'x').exists()


def test_runs_go_on_from_other_models(files):
    """Weights of a model of the same types, and only these."""
    run('train', *QUIET, '--relaxation', 'soft', 'counts.jsonl', 'm')
    run('train', *QUIET, '--relaxation', 'soft', '--init', 'm', *ONCE, 'counts.jsonl', 'n')
    run('train', *QUIET, '--relaxation', 'soft', 'chains.jsonl', 'c')
    how = ('--init', 'c', *ONCE)
    assert 'other types of nodes and factors' in run('train', *QUIET, *how, 'counts.jsonl', 'x', code=1).stderr
    (files / 'other.jsonl').write_text((files / 'counts.jsonl').read_text().replace('[1, 2, 4]', '[1, 2, 3]'))
    assert 'other types of nodes' in run('train', *QUIET, *ONCE, '--init', 'm', 'other.jsonl', 'x', code=1).stderr
    message = "other.jsonl:1: factor type 'size' has the buckets 0, 1, 2, 3 (expected the buckets 0, 1, 2, 4, as in the"
    assert message in run('predict', 'other.jsonl', 'm', code=1).stderr


def test_resumed_runs_are_uninterrupted_ones(files):
    how = ('train', *QUIET, '--relaxation', 'soft', '--rel-gap', 1e-9)
    run(*how, '--max-passes', 20, 'all.jsonl', 'whole')
    run(*how, '--max-passes', 10, '--checkpoint', 'c', 'all.jsonl', 'half')
    run(*how, '--max-passes', 20, '--checkpoint', 'c', '--resume', 'all.jsonl', 'resumed')
    whole, resumed = load('whole'), load('resumed')
    assert all(np.array_equal(whole.weights[key], resumed.weights[key]) for key in whole.weights)
    whole, resumed = whole.dual.arrays(), resumed.dual.arrays()
    assert all(np.array_equal(whole[key], resumed[key]) for key in whole)


def test_dual_points_in_natural_parameters(files):
    """That know no labelings: bounds are true, if not as near."""
    how = ('--solver', 'eg', '--rel-gap', 0.05, '--max-passes', 2000)
    run('train', *QUIET, '--relaxation', 'soft', *how, 'all.jsonl', 'm')
    report = gap_of('all.jsonl', 'm')
    assert report['relative_gap'] <= 0.05 and report['dual_source'] == 'model'
    assert 0 < report['relaxed_dual'] <= report['relaxed_primal']


def test_threads_change_nothing(files):
    for threads in (1, 2):
        run('train', *QUIET, '--relaxation', 'soft', '--threads', threads, 'all.jsonl', f'm{threads}')
    assert (files / 'm1').read_bytes() == (files / 'm2').read_bytes()
