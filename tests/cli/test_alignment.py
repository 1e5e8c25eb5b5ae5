"""Alignments from end to end through the commands."""

import json

import numpy as np
import pytest

from data_formats.datasets.tokens import ReadOptions
from data_formats.formats import fasta
from data_formats.models.model import load
from data_formats.parsing import reading
from tests.cli.commands import run
from tests.formats.tools import homologs

TRAIN = """\
>native 1
ACDEACDE
>homolog 1 1:0:MSIMD
CEAE
>decoy 1
GGHH
>decoy 1
HAGHG
>native 2
CDEAAC
>homolog 2 0:1:MMMM
GCDEA
>decoy 2
HHG
"""
GLOBAL = """\
>native 1
ACDE
>homolog 1 0:0:MDDMII
AEGG
>decoy 1
GGG
"""
QUIET = ('-q', '--rel-gap', '1e-4')


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'train.fa').write_text(TRAIN)
    (tmp_path / 'global.fa').write_text(GLOBAL)
    return tmp_path


def data_of(text, path):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return homologs(reading.read(fasta, path, ReadOptions(require_labels=False)))


@pytest.mark.parametrize(
    'how', [(), ('--gap-model', 'affine'), ('--objective', 'log'), ('--rescale', 'slack', '--slack-norm', 2)]
)
def test_predictions_are_data_again(files, how):
    run('train', *QUIET, '--lambda', 0.01, *how, 'train.fa', 'm')
    result = run('predict', '--evaluate', '--metrics', 'scores.json', 'train.fa', 'm', 'out.fa')
    assert 'error rate 0.00 % (0 of 2 natives); aligned pairs of 2 homologs' in result.stderr
    scores = json.loads((files / 'scores.json').read_text())
    assert scores['natives'] == scores['aligned'] == 2
    assert scores['accuracy'] == 1 and scores['error_rate'] == 0
    found, given = data_of((files / 'out.fa').read_bytes(), files / 'a.fa'), data_of(TRAIN, files / 'b.fa')
    assert [[row.split()[:2] for row in rows] for rows in found] == [
        [row.split()[:2] for row in rows] for rows in given
    ]
    assert '>homolog 2 0:1:MMMM\nGCDEA\n' in (files / 'out.fa').read_text()
    report = json.loads(run('gap', '--json', 'train.fa', 'm').stdout_bytes)
    assert report['relative_gap'] <= 1e-4 and report['dual_source'] != 'none'


def test_global_alignments(files):
    result = run('train', *QUIET, '--align', 'global', 'train.fa', 'm', code=1)
    assert (
        'train.fa:3: the alignment reads letters 1 to 5 of native 1 (expected 0 to 8 for --align global)'
        in result.stderr
    )
    run('train', *QUIET, '--align', 'global', '--gap-model', 'affine', '--lambda', 0.01, 'global.fa', 'm')
    out = run('predict', 'global.fa', 'm').stdout
    (rows,) = data_of(out, files / 'out.fa')
    start, other, steps = rows[1].split()[2].split(':')
    assert (start, other) == ('0', '0')
    assert len(steps.replace('I', '')) == len(steps.replace('D', '')) == 4
    run('predict', '--evaluate', 'train.fa', 'm')  # a partial alignment is no obstacle there


def test_lists_scores_and_marginals(files):
    run('train', *QUIET, '--objective', 'log', '--lambda', 0.05, 'train.fa', 'm')
    out = run('predict', '--nbest', 3, 'train.fa', 'm').stdout
    blocks = out.strip().split('\n\n')
    assert len(blocks) == 6
    scores = [float(block.split()[2]) for block in blocks]
    assert scores[:3] == sorted(scores[:3])[::-1]
    assert all(0 < float(block.split()[3]) < 1 for block in blocks)
    assert blocks[0].split('\n')[1] == '>native 1' and blocks[0].split('\n')[3].startswith('>homolog 1 ')
    best = run('predict', '--scores', '--marginals', 'train.fa', 'm').stdout.split('\n')
    assert float(best[0].split()[2]) == pytest.approx(scores[0])
    chances = [float(word.split(':')[1]) for word in best[1].split()[1:]]
    assert len(chances) == 3 and sum(chances) == pytest.approx(1, abs=1e-5)
    assert run('predict', 'train.fa', 'm').stdout == '\n'.join(line for line in best if not line.startswith('#'))


def test_a_model_as_text(files):
    run('train', *QUIET, '--gap-model', 'affine', 'train.fa', 'm')
    run('convert', 'm', 'm.tsv')
    rows = (files / 'm.tsv').read_text().split('\n')
    assert len([row for row in rows if row.startswith('substitute\t')]) == 36
    assert [row.split('\t')[:3] for row in rows if row.startswith('gap\t')] == [
        ['gap', 'open', '-'],
        ['gap', 'extend', '-'],
    ]
    run('convert', 'm.tsv', 'again')
    one, two = load('m'), load('again')
    assert all(np.array_equal(one.weights[name], two.weights[name]) for name in ('substitute', 'gap'))
    assert run('predict', 'train.fa', 'm').stdout == run('predict', 'train.fa', 'again').stdout


@pytest.mark.parametrize(
    ('old', 'new', 'said'),
    [
        ('substitute\tA\tC\t', 'substitute\tA\tZ\t', "label 'Z' is not among the labels"),
        ('substitute\tA\tC\t', 'substitute\tA\tA\t', "a second weight for 'substitute' 'A' 'A'"),
        ('gap\tany\t-', 'gap\topen\t-', "row 'gap' 'open' '-' (expected substitute and two letters, or gap any -)"),
        ('"gap_model": "linear"', '"gap_model": "cubic"', 'structure.gap_model'),
        ('"align": "local"', '"align": null', 'header has structure.align = None (expected local or global)'),
    ],
)
def test_text_that_is_no_model(files, old, new, said):
    run('train', *QUIET, '--max-passes', 1, 'train.fa', 'm')
    run('convert', 'm', 'm.tsv')
    text = (files / 'm.tsv').read_text()
    assert old in text
    (files / 'm.tsv').write_text(text.replace(old, new, 1))
    assert said in run('convert', 'm.tsv', 'again', code=1).stderr


def test_data_as_data(files):
    run('convert', '-q', 'train.fa', 'same.fasta')
    assert (files / 'same.fasta').read_text() == TRAIN
    assert 'nothing in common' in run('convert', 'train.fa', 'x.svm', code=2).stderr
    assert 'alignment data, without attributes: --bias' in run('convert', '--bias', 'train.fa', 'x.fa', code=2).stderr


def test_held_out_data_and_an_earlier_model(files):
    (files / 'dev.fa').write_text('>native 1\nCDX\n>homolog 1\nACD\n>decoy 1\nGG\n')
    run('train', *QUIET, '--dev', 'dev.fa', '--log', 'log.csv', 'train.fa', 'm')
    assert 'dev_accuracy' in (files / 'log.csv').read_text().split('\n')[1]
    (files / 'more.fa').write_text(TRAIN.replace('H', 'K'))
    result = run('train', '--init', 'm', '--objective', 'log', '--solver', 'lbfgs', '--max-passes', 0, 'more.fa', 'n')
    old, new = load('m'), load('n')
    place = {c: k for k, c in enumerate(old.label_names.names())}
    for a, b in (('A', 'C'), ('G', 'E')):
        first, second = (new.label_names.names().index(c) for c in (a, b))
        assert new.weights['substitute'][first, second] == old.weights['substitute'][place[a], place[b]], result.stderr
    affine = ('--gap-model', 'affine', '--objective', 'log', '--solver', 'lbfgs')
    assert 'another --gap-model' in run('train', *affine, '--init', 'm', 'train.fa', 'n', code=1).stderr
    assert 'letter K, which m does not know' in run('gap', 'more.fa', 'm', code=1).stderr


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (('--kernel', 'rbf'), '--kernel has no meaning'),
        (('--bias',), '--bias has no meaning'),
        (('--task-loss', 'hamming'), 'alignment has no task loss hamming'),
        (('--feature-set', 'observed'), 'use --feature-set all'),
        (('--task', 'chain'), 'fasta files hold no data for --task chain'),
    ],
)
def test_options_without_meaning(files, options, said):
    assert said in run('train', *options, 'train.fa', 'm', code=2).stderr


def test_options_of_alignments_alone(files):
    (files / 'x.svm').write_text('1 1:1\n2 2:1\n')
    assert (
        '--align has no meaning for the task multiclass'
        in run('train', '--align', 'global', 'x.svm', 'm', code=2).stderr
    )


def test_a_native_without_decoys_is_told(files):
    (files / 'alone.fa').write_text('>native 1\nAC\n>homolog 1 0:0:MM\nAC\n')
    assert '1 of 1 native have no decoys' in run('train', 'alone.fa', 'm').stderr


def test_the_same_bytes_from_any_number_of_threads(files):
    (files / 'many.fa').write_text(40 * TRAIN)
    outs = []
    for threads in (1, 2):
        run('train', *QUIET, '--threads', threads, '--max-passes', 3, 'many.fa', f'm{threads}')
        run('predict', '--threads', threads, 'many.fa', f'm{threads}', f'o{threads}')
        outs.append(((files / f'm{threads}').read_bytes(), (files / f'o{threads}').read_bytes()))
    assert outs[0] == outs[1]
