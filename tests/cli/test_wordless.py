"""Sentences without words, through every command."""

import json

import numpy as np
import pytest

from data_formats.parsing import reading
from tests.cli.commands import run

TREES = """(TOP (S (NP (N n0)) (VP (V v1))))
(TOP (NP (-NONE- *)))
(TOP (S (NP (N n1)) (VP (V v1) (-NONE- *T*))))
(())
"""
WORD = '1\tb\t_\tNOUN\t_\t_\t0\troot\t_\t_\n'
BANK = f'# a treebank\n\n# one\n{WORD}\n\n# two\n0.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n{WORD}'
LEFT_OUT = '2 of 4 sentences have no words and are left out'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'a.mrg').write_text(TREES)
    (tmp_path / 'a.conllu').write_text(BANK)
    return tmp_path


def test_trees_of_traces_alone(folder):
    assert f'a.mrg: {LEFT_OUT}' in run('train', '--lambda', 0.1, 'a.mrg', 'm').stderr
    written = '(TOP (S (NP (N n0)) (VP (V v1))))\n(())\n(TOP (S (NP (N n1)) (VP (V v1))))\n(())\n'
    result = run('predict', '--evaluate', '--metrics', 'scores.json', 'a.mrg', 'm')
    assert result.stdout == written and '2 without words skipped' in result.stderr
    assert 'complete match 100.00 % of 2 sentences' in result.stderr
    scores = json.loads((folder / 'scores.json').read_text())
    # EVALB: 4 sentences, 2 skipped, 2 valid; averages are over these
    assert (scores['sentences'], scores['skipped'], scores['no_parse'], scores['complete_match']) == (4, 2, 0, 1)
    assert (scores['gold'], scores['found'], scores['right'], scores['average_crossing']) == (6, 6, 6, 0)
    run('convert', 'a.mrg', 'b.mrg')
    assert (folder / 'b.mrg').read_text() == written
    run('convert', 'b.mrg', 'c.mrg')
    assert (folder / 'c.mrg').read_text() == written


@pytest.mark.parametrize(('name', 'numbers'), [('a.mrg', [1, 3]), ('a.conllu', [2, 4])])
def test_gap_numbers_examples_as_the_file_does(folder, name, numbers):
    said = run('train', '--lambda', 0.1, name, 'm').stderr
    assert f'{name}: {LEFT_OUT}' in said
    assert f'{name}: {LEFT_OUT}' in run('gap', '--per-example', 'losses', name, 'm').stderr
    rows = (folder / 'losses').read_text().splitlines()[1:]
    assert [int(row.split('\t')[0]) for row in rows] == numbers
    run('gap', '--threads', 1, '--per-example', 'again', name, 'm')
    assert (folder / 'again').read_text() == (folder / 'losses').read_text()


def test_numbers_in_messages_are_those_of_the_file(folder):
    run('train', '-q', 'a.mrg', 'm')
    (folder / 'new.mrg').write_text('(())\n(TOP (NEW (N n0)))\n')
    assert 'tree 2 has a label that m does not know' in run('gap', 'new.mrg', 'm', code=1).stderr
    run('train', '-q', 'a.conllu', 'm')
    (folder / 'new.conllu').write_text('# nothing\n\n' + WORD.replace('root', 'new'))
    assert 'word 1 of sentence 2 has a relation' in run('gap', 'new.conllu', 'm', code=1).stderr


def test_lines_to_parse_before_among_and_behind_others(folder):
    """Leading lines count as soon as the first word shows that there are no trees."""
    run('train', '-q', 'a.mrg', 'm')
    tree = '(TOP (S (NP (N n0)) (VP (V v1))))'
    found = run('predict', '-', 'm', stdin='\n \nn0 v1\r\n\r\n\nn0 v1').stdout
    assert found.splitlines() == ['(())', '(())', tree, '(())', '(())', tree]
    assert run('predict', '-', 'm', stdin='\n\n').stdout == ''
    assert run('predict', '-', 'm', stdin=f'\n\n{tree}\n\n{tree}\n\n').stdout == f'{tree}\n{tree}\n'


@pytest.mark.parametrize('text', ['(() )\n(( ))\n', '((()) (N n0))\n', '(() (N n0))\n', '((N n0) ())\n', '(TOP ())\n'])
def test_what_is_no_empty_tree(folder, text):
    run('train', '-q', 'a.mrg', 'm')
    if '(( ))' in text:
        assert run('predict', '-', 'm', stdin=text).stdout == '(())\n(())\n'
    else:
        assert '<stdin>:1: ' in run('predict', '-', 'm', stdin=text, code=1).stderr


def test_files_of_nothing_else(folder):
    (folder / 'none.mrg').write_text('(())\n(TOP (NP (-NONE- *)))\n')
    (folder / 'none.conllu').write_text('# nothing\n\n# more\n')
    said = 'no trees in this file (expected one with words at least)'
    assert said in run('train', 'none.mrg', 'm', code=1).stderr
    assert 'no sentences in this file' in run('train', 'none.conllu', 'm', code=1).stderr
    run('train', '-q', 'a.mrg', 'm')
    result = run('predict', '--evaluate', 'none.mrg', 'm')
    assert result.stdout == '(())\n(())\n' and 'nothing to score' in result.stderr


def test_sentences_of_comments_become_no_conllx(folder):
    said = run('convert', 'a.conllu', 'a.conllx').stderr
    assert '4 sentences, 2 words, from conllu to conllx, 2 wordless sentences left out' in said
    run('convert', 'a.conllu', 'b.conllu')
    assert (folder / 'b.conllu').read_text().rstrip('\n') == BANK.rstrip('\n')


def test_scores_and_candidates_of_sentences_without_words(folder):
    run('train', '-q', '--objective', 'log', '--lambda', 0.1, 'a.conllu', 'm')
    best = run('predict', '--nbest', 2, 'a.conllu', 'm').stdout
    assert best.startswith('# 1 0 1\n# a treebank\n\n# 1 ') and '\n# 1 0 1\n# two\n0.1\tx' in best
    scored = run('predict', '--scores', 'a.conllu', 'm').stdout
    assert scored.startswith('# a treebank\n# 1 0\n\n# one\n# 1 ') and scored.count('# 1 ') == 4


def test_datasets_joined_from_blocks_know_where_they_stand(folder):
    """Read side by side in small parts, and whole."""
    from data_formats.datasets.empties import numbers_of
    from data_formats.datasets.tokens import ReadOptions
    from data_formats.files.source import Source
    from data_formats.formats import brackets

    (folder / 'many.mrg').write_text(TREES * 50)
    learned = reading.read(brackets, 'many.mrg', ReadOptions(task='cfg'))
    numbers = [k for k in range(1, 201) if k % 4 in (1, 3)]
    assert numbers_of(learned).tolist() == numbers
    for threads in (1, 3):
        source = Source('many.mrg', block=100)
        read = reading.read(brackets, source, ReadOptions(task='cfg', threads=threads), learned)
        assert numbers_of(read).tolist() == numbers
        assert np.array_equal(read.words, learned.words)
