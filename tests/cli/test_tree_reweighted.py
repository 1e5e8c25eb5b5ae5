"""Log losses of graphs with circles through the commands: tree-reweighted sums in the place of those over labelings."""

import json

import numpy as np
import pytest

from data_formats.models.model import load
from tests.cli.commands import run
from tests.cli.test_graphs import gap_of, label_sets
from tests.cli.test_graphs import graphs as small_graphs

LOG = ('-q', '--objective', 'log', '--lambda', 0.05)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'grids.jsonl').write_text(grids(12, 3, 4))
    (tmp_path / 'chains.jsonl').write_text(grids(12, 1, 6))
    (tmp_path / 'sets.ml').write_text(label_sets(30))
    return tmp_path


def grids(n, rows, columns, seed=2):
    rng, lines = np.random.default_rng(seed), []
    cells = np.arange(rows * columns).reshape(rows, columns)
    pairs = [*zip(cells[:, :-1].ravel(), cells[:, 1:].ravel(), strict=True)]
    pairs += [*zip(cells[:-1].ravel(), cells[1:].ravel(), strict=True)]
    for _ in range(n):
        labels = np.where(rng.random(cells.size) < 0.8, rng.integers(2), rng.integers(2, size=cells.size))
        x = np.round(labels + rng.normal(size=cells.size), 3)
        nodes = [{'label': int(y), 'features': {'x': v, 'one': 1}} for y, v in zip(labels, x.tolist(), strict=True)]
        factors = [{'nodes': [int(a), int(b)], 'per_state': {'same': 1}} for a, b in pairs]
        lines.append(json.dumps({'states': 2, 'nodes': nodes, 'factors': factors}) + '\n')
    return ''.join(lines)


@pytest.mark.parametrize('objective', ['log', 'softmax-margin'])
@pytest.mark.parametrize('file', ['grids.jsonl', 'sets.ml'])
def test_a_bound_that_is_certified(folder, file, objective):
    how = ('-q', '--objective', objective, '--lambda', 0.05)
    values = {}
    for relaxation in ('none', 'lp'):
        run('train', *how, '--relaxation', relaxation, '--rel-gap', 1e-4, file, relaxation)
        values[relaxation] = gap_of(file, relaxation)
        assert values[relaxation]['relative_gap'] <= 1e-4
    assert values['lp']['relaxation'] == 'lp' and 'relaxation' not in values['none']
    assert values['lp']['primal'] >= values['none']['dual'] - 1e-9, 'sums are bounded from above'
    run('convert', 'lp', 'lp.tsv')
    run('convert', 'lp.tsv', 'again')
    assert gap_of(file, 'again')['primal'] == pytest.approx(values['lp']['primal'], rel=1e-9)


def test_chains_are_exact(folder):
    for relaxation in ('none', 'lp'):
        run('train', *LOG, '--relaxation', relaxation, '--rel-gap', 1e-7, 'chains.jsonl', relaxation)
    exact, relaxed = gap_of('chains.jsonl', 'none'), gap_of('chains.jsonl', 'lp')
    assert relaxed['primal'] == pytest.approx(exact['primal'], rel=1e-6)
    found = [marginals(run('predict', '--marginals', 'chains.jsonl', name)) for name in ('none', 'lp')]
    np.testing.assert_allclose(*found, rtol=0, atol=1e-3)
    found = [
        marginals(run('predict', '--marginals', *how, 'chains.jsonl', 'none'))
        for how in ((), ('--inference', 'tree-reweighted'))
    ]
    np.testing.assert_allclose(*found, rtol=0, atol=2e-6)


def marginals(result):
    return [node['1'] for line in result.stdout.splitlines() for node in json.loads(line)['marginals']]


def test_marginals_are_near_the_exact_ones(folder):
    run('train', *LOG, '--relaxation', 'none', 'grids.jsonl', 'm')
    exact = marginals(run('predict', '--marginals', 'grids.jsonl', 'm'))
    bounds = marginals(run('predict', '--marginals', '--inference', 'tree-reweighted', 'grids.jsonl', 'm'))
    difference = np.abs(np.subtract(exact, bounds))
    assert 1e-4 < difference.max() < 0.3 and difference.mean() < 0.1


def test_graphs_without_an_exact_oracle(folder):
    """Messages say what works; marginals of a model of such graphs are those that it was trained with."""
    (folder / 'large.jsonl').write_text(grids(2, 22, 22))
    result = run('train', *LOG, 'large.jsonl', 'm', code=2)
    assert 'use --relaxation lp, or hinge' in result.stderr
    run('train', *LOG, '--relaxation', 'lp', 'large.jsonl', 'm')
    assert load('m').header['solver'] == 'lbfgs', 'which asks for fewer sums than eg'
    assert gap_of('large.jsonl', 'm')['relative_gap'] <= 1e-3
    run('predict', '--marginals', 'large.jsonl', 'm', 'by-default')
    run('predict', '--marginals', '--inference', 'tree-reweighted', 'large.jsonl', 'm', 'asked')
    assert (folder / 'by-default').read_text() == (folder / 'asked').read_text()
    run('train', *LOG, 'grids.jsonl', 'm')
    result = run('predict', '--marginals', 'large.jsonl', 'm', code=2)
    assert '--inference tree-reweighted' in result.stderr
    result = run('predict', '--nbest', 2, '--inference', 'tree-reweighted', 'grids.jsonl', 'm', code=2)
    assert '--nbest and --marginals need exact inference' in result.stderr


def test_other_factors_than_pairs_are_refused(folder):
    (folder / 'three.jsonl').write_text(small_graphs(5))
    result = run('train', *LOG, '--relaxation', 'lp', 'three.jsonl', 'm', code=2)
    assert 'graphs of nodes and pairs' in result.stderr and not (folder / 'm').exists()
    run('train', *LOG, 'three.jsonl', 'm')
    result = run('predict', '--inference', 'tree-reweighted', 'three.jsonl', 'm', code=2)
    assert 'graphs of nodes and pairs' in result.stderr
