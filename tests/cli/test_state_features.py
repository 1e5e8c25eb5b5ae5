"""Graphs whose features have a value for each state, with one weight each, from end to end through the commands."""

import json

import numpy as np
import pytest

from data_formats.models.model import load
from tests.cli.commands import run

STATES = ['low', 'middle', 'high']
RELAXATIONS = {
    'none': (),
    'log': ('--objective', 'log'),
    'lp': ('--relaxation', 'lp'),
    'dlpw': ('--relaxation', 'lp', '--solver', 'dlpw', '--rel-gap', 0.05),
    'soft': ('--relaxation', 'soft', '--rho', 0.1),
    'smooth': ('--relaxation', 'soft', '--rho', 0.1, '--smooth-max', 0.1),
    'multipliers': ('--relaxation', 'soft', '--augmented-lagrangian', '--rel-gap', 0.01),
}


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'graphs.jsonl').write_text(graphs(25))
    return tmp_path / 'graphs.jsonl'


def graphs(n, seed=3):
    """Circles of four nodes, with a Potts factor and the distance of states for each pair of neighbours."""
    rng, lines = np.random.default_rng(seed), []
    distance = [[abs(a - b) for b in range(3)] for a in range(3)]
    for _ in range(n):
        first = int(rng.integers(3))
        labels = [first if rng.random() < 0.7 else int(rng.integers(3)) for _ in range(4)]
        nodes = [
            {'label': STATES[k], 'per_state': {'x': np.round(rng.normal(size=3) + np.eye(3)[k], 3).tolist()}}
            for k in labels
        ]
        factors = [{'nodes': [v, (v + 1) % 4], 'per_state': {'same': 1, 'apart': distance}} for v in range(4)]
        lines.append(json.dumps({'states': STATES, 'nodes': nodes, 'factors': factors}))
    return '\n'.join(lines) + '\n'


def gap_of(*args):
    return json.loads(run('gap', '--json', '-q', *args).stdout_bytes)


@pytest.mark.parametrize('name', RELAXATIONS)
def test_models_of_three_weights(file, name):
    run('train', '-q', '--lambda', 0.02, *RELAXATIONS[name], file, 'm')
    model, report = load('m'), gap_of(file, 'm')
    assert model.header['data']['per_state'] == [1, 2]
    assert model.weights['weights.0'].size == model.weights['weights.1'].size == 0
    x, (same, apart) = model.weights['state_weights.0'], model.weights['state_weights.1']
    assert x > 0 and (same > 0 or apart < 0)
    assert report['primal'] == pytest.approx(model.header['primal'], rel=1e-9)
    assert report['dual'] == pytest.approx(model.header['dual'], rel=1e-9)
    if name not in ('dlpw', 'multipliers'):
        assert report['relative_gap'] <= 1e-3
    result = run('predict', '--evaluate', '--metrics', 'scores.json', file, 'm', 'out')
    assert 'accuracy' in result.stderr and json.loads((file.parent / 'scores.json').read_text())['accuracy'] > 0.6


def test_text_and_back(file):
    run('train', '-q', '--lambda', 0.02, file, 'm')
    run('convert', 'm', 'm.tsv')
    rows = [line.split('\t') for line in (file.parent / 'm.tsv').read_text().splitlines() if line[0] != '#']
    assert [row[:3] for row in rows[1:-1]] == [
        ['node-per-state:node', 'x', '-'],
        ['factor-per-state:factor2', 'same', '-'],
        ['factor-per-state:factor2', 'apart', '-'],
    ]
    run('convert', 'm.tsv', 'again')
    assert run('predict', file, 'again').stdout == run('predict', file, 'm').stdout
    assert gap_of(file, 'again')['primal'] == pytest.approx(gap_of(file, 'm')['primal'], rel=1e-12)


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        ('node-per-state:node\tx\t-', 'node-per-state:nod\tx\t-', 'block'),
        ('node-per-state:node\tx\t-', 'node-per-state:node\tx\tlow', 'is no state'),
        ('node-per-state:node\tx\t-', 'node-per-state:node\ty\t-', 'is not among the attributes'),
        ('factor-per-state:factor2\tsame\t-', 'factor-per-state:factor2\tapart\t-', 'a second weight'),
        ('"per_state": [1, 2]', '"per_state": [1]', 'data.per_state does not fit'),
        ('"per_state": [1, 2]', '"per_state": 3', 'data.per_state'),
        ('"per_state": [1, 2]', '"per_state": [1, "2"]', 'data.per_state'),
    ],
)
def test_a_text_that_is_no_model(file, old, new, message):
    run('train', '-q', '--lambda', 0.02, file, 'm')
    run('convert', 'm', 'm.tsv')
    text = (file.parent / 'm.tsv').read_text()
    assert old in text
    (file.parent / 'm.tsv').write_text(text.replace(old, new))
    result = run('convert', 'm.tsv', 'again', code=1)
    assert message in result.stderr and not (file.parent / 'again').exists()


def test_weights_begin_where_an_earlier_model_ended(file):
    run('train', '-q', '--lambda', 0.02, '--objective', 'log', '--solver', 'lbfgs', file, 'm')
    run('train', '-q', '--lambda', 0.02, '--objective', 'log', '--solver', 'lbfgs', '--init', 'm', file, 'again')
    assert load('again').header['passes'] <= 3 < load('m').header['passes']
    run('train', '-q', '--lambda', 0.02, '--objective', 'log', '--scale', 'std', '--rel-gap', 1e-6, file, 'scaled')
    run('predict', file, 'scaled', 'one')
    run('convert', 'scaled', 'scaled.tsv')
    run('convert', 'scaled.tsv', 'again')
    assert run('predict', file, 'again').stdout == (file.parent / 'one').read_text()


def test_one_weight_is_what_tied_weights_are(file, tmp_path):
    """A feature with a value for each state is a node feature whose weights are tied: with one state's value alone it
    is one weight of the others."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        line['factors'] = []
        for node in line['nodes']:
            x = node.pop('per_state')['x'][0]
            node['per_state'] = {f'x {state}': [x if k == j else 0 for k in range(3)] for j, state in enumerate(STATES)}
    (tmp_path / 'tied.jsonl').write_text(''.join(json.dumps(line) + '\n' for line in lines))
    for line in lines:
        for node in line['nodes']:
            node['features'] = {'x': node.pop('per_state')['x low'][0]}
    (tmp_path / 'plain.jsonl').write_text(''.join(json.dumps(line) + '\n' for line in lines))
    for name in ('tied', 'plain'):
        run('train', '-q', '--lambda', 0.02, '--objective', 'log', '--rel-gap', 1e-9, tmp_path / f'{name}.jsonl', name)
    tied, plain = load('tied'), load('plain')
    assert tied.header['primal'] == pytest.approx(plain.header['primal'], rel=1e-8)
    np.testing.assert_allclose(tied.weights['state_weights.0'], plain.weights['weights.0'][0], rtol=0, atol=1e-4)
