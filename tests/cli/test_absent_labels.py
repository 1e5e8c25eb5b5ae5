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
    assert f"-: '?' {SAID}" in said


@pytest.mark.parametrize('labels', ['??', '__'])
def test_what_has_a_letter_or_stands_alone_is_a_name(tmp_path, labels):
    (tmp_path / 't.svm').write_text(f'a 1:1\n{labels} 2:1\n')
    assert SAID not in run('train', tmp_path / 't.svm', tmp_path / 'm').stderr


def test_the_relation_of_a_treebank_is_a_name(tmp_path):
    rows = [f'{k}\tw{k}\t_\tN\t_\t_\t{k - 1}\t{name}\t_\t_' for k, name in ((1, 'root'), (2, '_'))]
    (tmp_path / 't.conllu').write_text('\n'.join(rows) + '\n\n')
    assert SAID not in run('train', '--max-passes', 1, tmp_path / 't.conllu', tmp_path / 'm').stderr
