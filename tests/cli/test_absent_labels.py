"""Labels that look like marks of what has none."""

import gzip

import pytest

from tests.cli.commands import run

SAID = 'is learned as a label like any other (if it marks what has no label, leave those examples out'
FILES = {
    'a.svm': ('# ?\na 1:1 # ?\n? 2:1\nb 1:1\n', 3),
    'b.hmm': ('1 qid:1 1:1\n\n# note\n? qid:1 2:1\n', 4),
    'c.crfsuite': ('a\t?\n\na\tx\n_\ty\n\n', 4),
    'd.conll': ('? a\n\nv *  \n', 3),
    'e.ml': ('1 1:1\n2,? 1:1\n2 2:1\n', 2),
    'g.arff': ('@relation "x: -C 2"\n% @attribute ? {0,1}\n@ATTRIBUTE  "?"  {0,1}\n@attribute b {0,1}\n'
               '@attribute c numeric\n@data\n1,0,1\n0,1,1\n', 3),
    'h.arff': ('@relation "x: -C 2"\n@attribute a {0,1}\n@attribute * {0,1}\n@attribute c real\n'
               '@data\n1,0,1\n0,1,1\n', 3),
    'i.conllu': ('# ?\n1\t?\t?\t?\t_\t_\t0\troot\t_\t_\n2\t?\t_\tN\t_\t_\t1\t?\t_\t_\n\n', 3),
    'j.conllx': ('1\t*\t_\tN\tN\t_\t0\troot\n\n1\ta\t_\tN\tN\t_\t0\t*\n\n', 3),
    'k.mrg': ('(S (D ?) (N a))\n(S (D *)\n  (? The))\n', 3),
    'l.mrg': ('(S (D a) (N b))\n(S\n  (*-SBJ (D a) (N b)))\n', 3),
    'f.jsonl': ('{"states": ["a", "?"], "nodes": [{"features": {"?": 1}, "label": "a"}]}\n'
                '{"states": ["a", "?"], "nodes": [{"features": {"x": 1}, "label": "?"}]}\n', 2),
}  # fmt: skip


@pytest.mark.parametrize('name', FILES)
def test_a_mark_among_labels_is_named_with_its_line(tmp_path, name):
    text, line = FILES[name]
    path = tmp_path / name
    path.write_text(text)
    said = [row for row in run('train', '--max-passes', 1, path, tmp_path / 'm').stderr.splitlines() if SAID in row]
    assert len(said) == 1 and said[0].startswith(f'{path}:{line}: ')
    path.write_text(text.replace('?', 'q').replace('_', 'q').replace('*', 'q'))
    assert SAID not in run('train', '--max-passes', 1, path, tmp_path / 'm').stderr


def test_the_line_is_right_behind_the_first_part_of_a_large_file(tmp_path):
    path = tmp_path / 'large.svm.gz'
    with gzip.open(path, 'wt') as stream:
        stream.write('a 1:1 2:0.25 3:0.125\nb 2:1\n' * 250_000 + '? 1:1\na 1:1\n')
    how = ['--max-passes', 0, '--no-certificate', path, tmp_path / 'm']
    assert f"{path}:500001: '?' {SAID}" in run('train', *how).stderr


def test_a_pipe_has_no_lines_to_name(tmp_path):
    said = run('train', '--format', 'svmlight', '-', tmp_path / 'm', stdin='a 1:1\n? 2:1\n').stderr
    assert f"\n<stdin>: '?' {SAID}" in said


def test_several_marks_are_named(tmp_path):
    path = tmp_path / 't.svm'
    for marks, text in (('?_', "'?' and '_'"), ('?_*', "'?', '_' and '*'")):
        path.write_text('a 1:1\n' + ''.join(f'{mark} 2:1\n' for mark in marks))
        said = run('train', path, tmp_path / 'm').stderr
        assert f'\n{path}:2: {text} are learned as labels like any other (if they mark what has no label, leave' in said


@pytest.mark.parametrize('labels', ['??', '__'])
def test_what_has_a_letter_or_stands_alone_is_a_name(tmp_path, labels):
    (tmp_path / 't.svm').write_text(f'a 1:1\n{labels} 2:1\n')
    assert SAID not in run('train', tmp_path / 't.svm', tmp_path / 'm').stderr


NAMES = {
    't.conllu': ''.join(f'{k}\tw{k}\t_\tN\t_\t_\t{k - 1}\t{name}\t_\t_\n' for k, name in ((1, 'root'), (2, '_')))
    + '\n',
    't.mrg': '(S (_ a) (N ?))\n( (S (N a) (_ *)))\n',
}


@pytest.mark.parametrize('name', NAMES)
def test_a_line_is_a_name_in_a_treebank(tmp_path, name):
    (tmp_path / name).write_text(NAMES[name])
    assert 'learned as' not in run('train', '--max-passes', 1, tmp_path / name, tmp_path / 'm').stderr
