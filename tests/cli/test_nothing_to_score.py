"""`ssvm predict` on files without anything to compare with, or to predict: it says so, and that is no error."""

import json

import pytest

from tests.cli.commands import conll_text, conllu_text, hmm_text, multiclass_text, run

HOMOLOG = '>native a\nABAB\n>homolog b 0:0:MM\nAB\n>decoy c\nBBB\n'
GRAPH = '{"states": ["a", "b"], "nodes": [{"label": "a"}, {"label": "b"}], "factors": [{"nodes": [0, 1]}]}\n'
LINKS = '1 qid:1 0-0 same:1\n0 qid:1 0-1 same:0.5\n'
TREES = '(TOP (S (NP (N n0)) (VP (V v1))))\n'

# what is trained on, a file of the same format without right outputs, what it lacks
CASES = {
    'multiclass': ('train.svm', multiclass_text(), None, 'no labels'),
    'svmhmm': ('train.hmm', hmm_text(), None, 'no labels'),
    'crfsuite': ('train.crfsuite', 'a\tx\nb\ty\n\n', '\tx\n\ty\n\n', 'no labels'),
    'conll': ('train.conll', conll_text(), 'w0\nw1\n\n', 'no labels in column 2'),
    'conllu': ('train.conllu', conllu_text(), '1\tv0\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n', 'no heads in column 7'),
    'fasta': ('train.fa', HOMOLOG, HOMOLOG.replace('homolog b 0:0:MM', 'decoy b'), 'no homologs'),
    'brackets': ('train.mrg', TREES, 'n0 v1\n', 'no trees'),
    'multilabel': ('train.ml', 'a,b 1:1\nb 2:1\n', None, 'no labels'),
    'graph': ('train.jsonl', GRAPH, GRAPH.replace(', "label"', ', "of"').replace('"label"', '"of"'), 'no labels'),
    'links': ('train.links', LINKS, LINKS.replace('1 qid', '0 qid'), 'no right links'),
    'svmrank': ('train.rank', '0 qid:1 1:1\n1 qid:1 2:1\n', '0 qid:1 1:1\n0 qid:1 2:1\n', 'no losses that differ'),
    'boxes': ('train.boxes', 'picture 2 2 0 0 1 0\n0 0 a\n1 1 b\n', 'picture 2 2\n0 0 a\n', 'no boxes'),
}


@pytest.mark.parametrize(('name', 'train', 'blind', 'lack'), CASES.values(), ids=CASES)
def test_nothing_to_score(tmp_path, monkeypatch, name, train, blind, lack):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(train)
    run('train', '-q', '--max-passes', 2, name, 'm')
    for given in ('', blind):
        if given is None:
            continue
        result = run('predict', '-q', '--evaluate', '--metrics', 'm.json', '-', 'm', stdin=given)
        assert result.stderr == f'<stdin>: {lack}: nothing to score\n'
        assert bool(result.stdout) is bool(given)
        json.loads((tmp_path / 'm.json').read_text(), parse_constant=pytest.fail)  # no NaN
        assert run('predict', '-q', '-', 'm', stdin=given).stdout == result.stdout
    assert 'nothing to score' not in run('predict', '--evaluate', name, 'm').stderr


# lines that hold no example, where they may be blank and where they may be comments
HOLLOW = {name: ['\n \n\n'] for name in CASES} | {'multilabel': ['\n\n\n'], 'conllu': ['\n\n\n']}
for name in ('multiclass', 'svmhmm', 'multilabel', 'graph', 'links', 'svmrank', 'boxes', 'fasta'):
    HOLLOW[name].append('# a\n\n# b\n')


@pytest.mark.parametrize(('name', 'train', 'hollow'), [(*CASES[k][:2], HOLLOW[k]) for k in CASES], ids=CASES)
def test_nothing_to_predict(tmp_path, monkeypatch, name, train, hollow):
    """Which is said in a line; it is only an end of the file that `train`, `gap` and `convert` refuse."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(train)
    run('train', '-q', '--max-passes', 2, name, 'm')
    for text in ('', *hollow):
        (tmp_path / 'hollow').write_text(text)
        held = ' in 3 lines' if text else ''
        result = run('predict', 'hollow', 'm')
        assert result.stderr == f'hollow: no examples{held}: nothing to predict\n'
        assert result.stdout.strip() == '' and run('predict', '-q', 'hollow', 'm').stderr == ''
        assert 'in this file (expected one' in run('gap', 'hollow', 'm', code=1).stderr
    assert 'nothing to predict' not in run('predict', name, 'm').stderr
