"""As many outputs as inputs, whatever the inputs hold: in every format, by every form of output."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

from ssvm_cli.commands import run_predict
from tests.cli.commands import run

# one after the other in a file, with what stands between them
PARSED = '(TOP (S (NP (N n0)) (VP (V v1))))\n'
GRAPH = '{"states": ["a", "b"], "nodes": [{"label": "a"}, {"label": "b"}], "factors": [{"nodes": [0, 1]}]}\n'
CONLLU = '1\ta\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tNOUN\t_\t_\t0\troot\t_\t_\n'
HOMOLOG = '>native a\nABAB\n>homolog b 0:0:MM\nAB\n>decoy c\nBBB\n'
ARFF = "@relation 'x: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute x numeric\n@data\n"

BLOCK = r'(?:[^\s].*\n)+'  # lines up to a blank one
LINE = r'.*\n'
TREE = r'\(.*\n'


@dataclass
class Case:
    """A format: the name of a file to train on and its text; inputs, and what may stand between them, which is none;
    what one output looks like; the options that the task has no use for."""

    name: str
    train: str
    inputs: tuple
    between: tuple
    output: str
    without: tuple = ()
    options: tuple = ()
    start: str = ''


LINES = ('\n', '# a comment\n')
CASES = {
    'svmlight': Case('a.svm', '1 1:1\n2 2:1\n', ('1 1:1\n', '2\n', '1 9:1 # unknown\n'), LINES, LINE),
    'svmhmm': Case('a.hmm', '1 qid:1 1:1\n2 qid:2 2:1\n', ('1 qid:{} 1:1\n', '1 qid:{}\n'), LINES, LINE),
    'conll': Case('a.conll', 'a X\nb Y\n\na X\n', ('a X\n\n', 'c X\nb X\n\n'), ('\n', ' \n'), BLOCK),
    'crfsuite': Case('a.crfsuite', 'a\tx\nb\ty\n\na\tx\n', ('a\tx\n\n', 'a\n\n', '\tz\n \n'), ('\n', ' \n'), BLOCK),
    'tokens': Case(
        'a.crfsuite', 'a\tx\nb\ty\n', ('a\tx\n', 'a\n', '\tz\n'), LINES[:1], r'.+\n', (), ('--task', 'multiclass')
    ),
    'multilabel': Case('a.ml', 'a,b 1:1\nb 2:1\n', ('a 1:1\n', ' \n', ' 1:1\n', 'a,b\n', ' 9:1\n'), LINES, LINE),
    'arff': Case(
        'a.arff', ARFF + '{0 1,2 1}\n{1 1}\n', ('{}\n', '{0 1}\n', '{2 1}\n'), ('\n', '% a\n'), LINE, start=ARFF
    ),
    'conllu': Case(
        'a.conllu',
        CONLLU,
        (CONLLU + '\n', '# text\n\n', '0.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n', '# text\n' + CONLLU + ' \n'),
        ('\n', ' \n'),
        BLOCK,
    ),
    'conllx': Case('a.conllx', CONLLU, (CONLLU + '\n', '# text\n\n'), ('\n', ' \n'), BLOCK),
    'brackets': Case(
        'a.mrg',
        PARSED,
        (PARSED, '(TOP (NP (-NONE- *)))\n', '(())\n', '(\n(N n0)\n)\n', '(X (N n9))\n'),
        ('\n', ' \n'),
        TREE,
    ),
    'sentences': Case('a.mrg', PARSED, ('n0 v1\n', '\n', ' \n', 'n9 v9\n'), (), TREE),
    'tags': Case('a.mrg', PARSED, ('n0_N v1_V\n', '\n', '\t\n', 'n9_N n9_X\n'), (), TREE, (), ('--terminals', 'pos')),
    'fasta': Case('a.fa', HOMOLOG, (HOMOLOG, '>native x\nAB\n', '>native y\nA\n>decoy z\nC\n'), LINES, r'>native.*\n'),
    'graph': Case(
        'a.jsonl', GRAPH, (GRAPH, '{"nodes": []}\n', '{"states": 2, "nodes": [], "factors": []}\n'), LINES, '{.*\n'
    ),
    'links': Case(
        'a.links',
        '1 qid:1 0-0 same:1\n0 qid:1 0-1 same:0.5\n\n0 qid:2 0-0 other:1\n',
        ('1 0-0 same:1\n0 0-1 other:1\n\n', '0 0-0 other:1\n\n', '0 0-0 new:1\n\n'),
        ('\n', '# a comment\n\n'),
        LINE,
        ('--marginals',),
    ),
    'svmrank': Case(
        'a.rank',
        '0 qid:1 1:1\n1 qid:1 2:1\n',
        ('0 qid:{}\n', '0 qid:{} 1:1\n', '1 qid:{0} 1:1\n0 qid:{0} 2:1\n'),
        LINES,
        LINE,
        ('--scores',),
    ),
    'boxes': Case(
        'a.boxes',
        'picture 2 2 0 0 1 0\n0 0 a\n1 1 b\n',
        ('picture 3 2\n', 'picture 2 2 0 0 1 0\n0 0 a\n', 'picture 1 1\n0 0 new\n'),
        LINES,
        LINE,
        ('--scores', '--marginals'),
    ),
}


@pytest.fixture(scope='module', params=CASES)
def case(request, tmp_path_factory):
    """(a Case, a model trained for it, whether this gives probabilities)."""
    case = CASES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    (folder / case.name).write_text(case.train)
    log = '--marginals' not in case.without
    objective = ('--objective', 'log') if log else ()
    run('train', '-q', '--lambda', 0.1, '--max-passes', 5, *objective, *case.options, folder / case.name, folder / 'm')
    return case, folder / 'm'


def random_file(case, rng):
    """(text, number of inputs)."""
    text, count = case.start, int(rng.integers(1, 12))
    for i in range(1, count + 1):
        while case.between and rng.random() < 0.3:
            text += case.between[rng.integers(len(case.between))]
        piece = case.inputs[rng.integers(len(case.inputs))]
        text += piece.format(*[i] * 2) if 'qid:' in piece else piece
    # of nothing but empty lines nobody knows whether they are sentences, or stand between trees
    return text, count if text.strip() or case.inputs[0][0] != 'n' else 0


def outputs_in(text, case):
    if case.output != BLOCK:  # where comments are lines of an input
        text = re.sub(r'^#.*\n', '', text, flags=re.MULTILINE)
    return len(re.findall(f'^{case.output}', text, re.MULTILINE))


@pytest.mark.parametrize('seed', range(4))
def test_as_many_outputs_as_inputs(case, tmp_path, monkeypatch, seed):
    case, model = case
    # small parts of the file, so that what is carried from one to the next matters
    monkeypatch.setattr(run_predict, 'PART_BYTES', [1 << 19, 40][seed % 2])
    rng = np.random.default_rng(seed)
    text, count = random_file(case, rng)
    (tmp_path / case.name).write_text(text)
    plain = run('predict', '-q', tmp_path / case.name, model).stdout
    assert outputs_in(plain, case) == count, text
    assert run('predict', '-q', '--threads', 3, '-', model, stdin=text).stdout == plain
    run('predict', '-q', tmp_path / case.name, model, tmp_path / 'out')
    assert (tmp_path / 'out').read_text() == plain
    for k in (1, 3):
        best = run('predict', '-q', '--nbest', k, tmp_path / case.name, model).stdout
        assert len(re.findall('^# 1 ', best, re.MULTILINE)) == count, text
    for options in (('--scores',), ('--marginals',), ('--scores', '--marginals')):
        if set(options).isdisjoint(case.without):
            more = run('predict', '-q', *options, tmp_path / case.name, model).stdout
            assert outputs_in(more, case) == count, text
            assert '--scores' not in options or '\n# 1 ' not in '\n' + more or more.count('# 1 ') == count


@pytest.mark.parametrize('inference', ['exact', 'lp', 'dual-decomposition'])
def test_graphs_without_nodes_by_any_inference(tmp_path, inference):
    (tmp_path / 'a.jsonl').write_text(GRAPH)
    (tmp_path / 'b.jsonl').write_text('{"nodes": []}\n' + GRAPH + '{"nodes": [], "factors": []}\n')
    run('train', '-q', tmp_path / 'a.jsonl', tmp_path / 'm')
    found = run('predict', '--inference', inference, tmp_path / 'b.jsonl', tmp_path / 'm').stdout.splitlines()
    assert [line.rpartition('"prediction": ')[2] for line in found] == ['[]}', '["a", "b"]}', '[]}']
