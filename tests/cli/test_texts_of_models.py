"""Models as text and back through the command: what they predict and how good they are stays the same."""

import json

import pytest

from data_formats.models.model import load
from tests.cli.commands import hmm_text, run

ODD = ['a\tb', 'a\\tb', 'c\nd', 'e\rf', 'g\0h', 'i\\j', '\\', '"\\"', 'é']  # names of states, types and attributes
CRFSUITE = 'X\ta\tb\nY\tc\n\nY\ta\n\nX\tb\nX\ta\tc\nY\td\n'


def through_text(tmp_path, data, *how):
    """Train, turn the model to text and back, compare; returns the text."""
    model, text, back = (tmp_path / name for name in ('m', 'm.tsv', 'back'))
    run('train', '-q', *how, data, model)
    run('convert', model, text)
    run('convert', text, back)
    run('convert', back, tmp_path / 'again.tsv')
    assert (tmp_path / 'again.tsv').read_bytes() == text.read_bytes()
    assert run('predict', data, back).stdout == run('predict', data, model).stdout
    before, after = (json.loads(run('gap', '--json', data, path).stdout) for path in (model, back))
    assert after['primal'] == before['primal'] and after['dual'] == pytest.approx(before['dual'], rel=1e-2)
    return text.read_text(encoding='utf-8', errors='surrogateescape')


@pytest.mark.parametrize('more', [(), ('--order', 2), ('--edge-features',), ('--bias',), ('--objective', 'log')])
@pytest.mark.parametrize('name', ['w.crfsuite', 'w.hmm'])
def test_observed_pairs_of_a_window(tmp_path, name, more):
    (tmp_path / name).write_text(CRFSUITE if name == 'w.crfsuite' else hmm_text(4) + '1 qid:9 7:1\n')
    text = through_text(tmp_path, tmp_path / name, '--window', 1, '--feature-set', 'observed', *more)
    names = load(tmp_path / 'm').attributes.names()
    assert f'\n# attributes: {json.dumps(names)}\n' in text
    assert load(tmp_path / 'back').attributes.names() == names


def test_all_attributes_are_named_only_where_one_is_in_no_pair(tmp_path):
    (tmp_path / 'w.crfsuite').write_text(CRFSUITE)
    for how in (['--feature-set', 'observed'], ['--window', 1]):
        assert '# attributes:' not in through_text(tmp_path, tmp_path / 'w.crfsuite', *how)


def test_scaled_values_of_a_window(tmp_path):
    (tmp_path / 'w.hmm').write_text(hmm_text(4) + '1 qid:9 7:3\n')
    through_text(tmp_path, tmp_path / 'w.hmm', '--window', 1, '--feature-set', 'observed', '--scale', 'max')


def test_rows_of_attributes_that_are_not_listed(tmp_path):
    (tmp_path / 'w.crfsuite').write_text(CRFSUITE)
    text = through_text(tmp_path, tmp_path / 'w.crfsuite', '--window', 1, '--feature-set', 'observed')
    (tmp_path / 'm.tsv').write_text(text.replace('\nstate\ta\tX', '\nstate\tnew\tX'))
    line = text[: text.index('\nstate\ta\tX')].count('\n') + 2
    error = run('convert', tmp_path / 'm.tsv', tmp_path / 'n', code=1).stderr
    assert error == f"{tmp_path / 'm.tsv'}:{line}: attribute 'new' is not among the attributes of the model\n"
    (tmp_path / 'm.tsv').write_text(''.join(row for row in text.splitlines(True) if not row.startswith('state\ta\t')))
    run('convert', tmp_path / 'm.tsv', tmp_path / 'n')
    assert load(tmp_path / 'n').attributes == load(tmp_path / 'm').attributes


@pytest.mark.parametrize('odd', ODD)
def test_odd_names_in_graphs(tmp_path, odd):
    graphs = [
        {
            'nodes': [{'type': odd, 'states': [odd, 'b'], 'label': label, 'features': {odd: 1}} for label in labels],
            'factors': [{'type': odd, 'nodes': [0, 1], 'features': {odd: 1, 'x': 0.5}}],
        }
        for labels in ((odd, 'b'), ('b', odd), (odd, odd))
    ]
    (tmp_path / 't.jsonl').write_text(''.join(json.dumps(graph) + '\n' for graph in graphs))
    text = through_text(tmp_path, tmp_path / 't.jsonl')
    assert ('\n# escaped: true\n' in text) == any(c in odd for c in '\t\n\r\0')


def test_a_state_with_a_tab(tmp_path):
    graph = {'states': ['a\tb', 'b'], 'nodes': [{'label': 'a\tb'}, {'label': 'b'}], 'factors': [{'nodes': [0, 1]}]}
    (tmp_path / 't.jsonl').write_text(json.dumps(graph) + '\n')
    text = through_text(tmp_path, tmp_path / 't.jsonl')
    states = [row.split('\t')[2] for row in text.splitlines() if row.startswith(('node:', 'factor:'))]
    assert {r'a\tb', r'["a\\tb","b"]'} <= set(states)


ARFF = r"""@relation 'x: -C 2'
@attribute 'a\tb' {0,1}
@attribute 'c\nd\\t' {0,1}
@attribute 'e\rf\\n' numeric
@attribute g numeric
@data
1,0,2,1
0,1,1,3
1,1,0,0
"""


def test_odd_names_of_label_sets(tmp_path):
    (tmp_path / 'a.arff').write_text(ARFF)
    text = through_text(tmp_path, tmp_path / 'a.arff')
    assert '\n# labels: ["a\\tb", "c\\nd\\\\t"]\n' in text and '\nstate\te\\rf\\\\n\ta\\tb\t' in text


DATA = {
    't.conllu': '1\tQ1\t_\tT\t_\t_\t2\td\t_\t_\n2\tQ2\t_\tV\t_\t_\t0\troot\t_\t_\n\n',
    't.mrg': '(S (A Q1) (B (C Q2) (A Q1)))\n(S (A Q2) (C Q1))\n',
}
WORDS = [('\t', '\\t'), ('\0', '\\0'), ('S', 'A'), ('\\', '\\\\n')]


@pytest.mark.parametrize('words', WORDS)
@pytest.mark.parametrize('name', DATA)
def test_odd_words_in_a_text_that_was_changed_by_hand(tmp_path, name, words):
    """No treebank has such words, and the text of a model may."""
    (tmp_path / name).write_text(DATA[name])
    run('train', '-q', tmp_path / name, tmp_path / 'm')
    run('convert', tmp_path / 'm', tmp_path / 'm.tsv')
    lines = (tmp_path / 'm.tsv').read_text().splitlines(True)
    for k, line in enumerate(lines):
        for old, new in zip(('Q1', 'Q2'), words, strict=True):
            if line.startswith('#'):
                line = line.replace(old, json.dumps(new)[1:-1])
                continue
            if name == 't.conllu':
                new = new.replace('\\', '\\\\')  # as in a feature
            elif new[0] in 'SA\\':
                new = '\\' + new  # no label
            line = line.replace(old, new.replace('\\', '\\\\').replace('\t', '\\t').replace('\0', '\\0'))
        lines[k] = line
    lines.insert(1, '# escaped: true\n')
    (tmp_path / 'm.tsv').write_text(''.join(lines))
    run('convert', tmp_path / 'm.tsv', tmp_path / 'odd')
    run('convert', tmp_path / 'odd', tmp_path / 'odd.tsv')
    run('convert', tmp_path / 'odd.tsv', tmp_path / 'back')
    assert set(words) <= set(load(tmp_path / 'odd').word_names.names())
    assert (tmp_path / 'back').read_bytes() == (tmp_path / 'odd').read_bytes()
