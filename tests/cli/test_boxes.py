"""Boxes from end to end through the commands."""

import gzip
import json

import numpy as np
import pytest

from data_formats.models.model import load
from tests.boxes import all_boxes, overlap, places
from tests.cli.commands import run
from tests.formats.tools import pictures, read

# Words a and b are in the boxes, c and d around them.
TRAIN = """\
picture 4 3 1 1 2 2
0 0 c
1 0 d
2 0 c
3 0 c
0 1 d
1 1 a
2 1 b
3 1 c
0 2 c
1 2 b
2 2 a
3 2 d
picture 3 3 0 0 1 1
0 0 a
1 0 b
2 0 d
0 1 a
1 1 b
2 1 c
0 2 d
1 2 c
2 2 d
"""
TEST = """\
# the first has a word that is not known
picture 3 2 0 0 0 1
0 0 a
0 1 e
1 0 c
2 1 d
picture 2 2
0 0 c
1 1 b
1 0 d
0 1 d
"""
QUIET = ('-q', '--rel-gap', '1e-4')


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'train.boxes').write_text(TRAIN)
    (tmp_path / 'test.boxes').write_text(TEST)
    return tmp_path


@pytest.mark.parametrize(
    'how',
    [
        (),
        ('--objective', 'log'),
        ('--objective', 'softmax-margin'),
        ('--task-loss', 'zero-one', '--rescale', 'slack', '--slack-norm', 2),
        ('--objective', 'log', '--solver', 'lbfgs'),
        ('--solver', 'n-slack', '--task-loss', 'overlap'),
    ],
)
def test_boxes_are_found(files, how):
    said = run('train', '--rel-gap', 1e-4, '--lambda', 0.01, *how, 'train.boxes', 'm').stderr
    assert '2 pictures, 21 points, 4 words (boxes, boxes)' in said
    result = run('predict', '--evaluate', '--metrics', 'scores.json', 'train.boxes', 'm')
    assert result.stdout == '1 1 2 2\n0 0 1 1\n'
    assert 'mean intersection over union 100.00 %; above one half in 100.00 % (2 of 2 pictures)' in result.stderr
    scores = json.loads((files / 'scores.json').read_text())
    assert scores == {'pictures': 2, 'overlap': 1.0, 'found': 1.0, 'accuracy': 1.0}
    report = json.loads(run('gap', '--json', 'train.boxes', 'm').stdout_bytes)
    assert report['relative_gap'] <= 1e-4 and report['dual_source'] != 'none'


def test_pictures_without_boxes_and_words_that_are_not_known(files):
    run('train', *QUIET, '--lambda', 0.01, 'train.boxes', 'm')
    result = run('predict', '--evaluate', '--metrics', 'scores.json', 'test.boxes', 'm')
    first, second = result.stdout.splitlines()
    assert first in ('0 0 0 0', '0 0 0 1') and second == '1 1 1 1'
    scores = json.loads((files / 'scores.json').read_text())
    assert scores['pictures'] == 1 and scores['overlap'] == (1 if first == '0 0 0 1' else 0.5)
    (files / 'none.boxes').write_text('picture 2 2\n0 0 a\n')
    assert 'none.boxes: no boxes: nothing to score' in run('predict', '--evaluate', 'none.boxes', 'm').stderr
    assert 'test.boxes:7: a picture without a box' in run('gap', 'test.boxes', 'm', code=1).stderr
    assert (
        'no boxes (expected boxes, as in TRAIN)'
        in run('train', '--dev', 'none.boxes', 'train.boxes', 'm', code=1).stderr
    )


def test_lists_and_scores(files):
    run('train', *QUIET, '--objective', 'log', '--lambda', 0.05, 'train.boxes', 'm')
    blocks = run('predict', '--nbest', 100, 'train.boxes', 'm').stdout.split('\n\n')[:-1]
    assert len(blocks) == 60 + 36
    scores = [float(block.split()[2]) for block in blocks[:60]]
    assert scores == sorted(scores)[::-1]
    assert sum(float(block.split()[3]) for block in blocks[:60]) == pytest.approx(1, abs=1e-4)
    assert blocks[0].split('\n')[1] == '1 1 2 2' and len({block.split('\n')[1] for block in blocks[:60]}) == 60
    lines = run('predict', '--scores', 'train.boxes', 'm').stdout.splitlines()
    assert lines[0].startswith('1 1 2 2 ') and float(lines[0].split()[4]) == pytest.approx(scores[0])
    assert 'no meaning for the task boxes' in run('predict', '--marginals', 'train.boxes', 'm', code=2).stderr
    assert '60 boxes, each of which' not in run('train', '--objective', 'log', 'train.boxes', 'm').stderr
    (files / 'large.boxes').write_text('picture 40 40 0 0 3 3\n1 1 a\n9 9 b\n')
    how = ('--objective', 'log', '--max-passes', 0)
    assert 'a picture has 672400 boxes, each of which --objective log visits' in (
        run('train', *how, 'large.boxes', 'm').stderr
    )


def test_models_and_data_as_text(files):
    run('train', *QUIET, 'train.boxes', 'm')
    run('convert', 'm', 'm.tsv')
    rows = [row.split('\t')[:3] for row in (files / 'm.tsv').read_text().split('\n') if row.startswith('feature')]
    assert rows == [['feature', word, '-'] for word in 'cdab']
    run('convert', 'm.tsv', 'again')
    assert np.array_equal(load('m').weights['feature'], load('again').weights['feature'])
    one, two = (run('predict', '--scores', 'test.boxes', model).stdout for model in ('m', 'again'))
    assert one == two
    run('convert', '-q', 'test.boxes', 'same.boxes')
    assert (files / 'same.boxes').read_text() == TEST.split('\n', 1)[1]
    assert 'nothing in common' in run('convert', 'test.boxes', 'x.svm', code=2).stderr
    assert 'pictures, without attributes: --bias' in run('convert', '--bias', 'test.boxes', 'x.boxes', code=2).stderr


def test_pipes_and_compressed_files(files):
    (files / 'train.boxes.gz').write_bytes(gzip.compress(TRAIN.encode()))
    run('train', *QUIET, 'train.boxes.gz', 'm')
    run('train', *QUIET, '-', 'n', stdin=TRAIN.encode())
    assert (files / 'm').read_bytes() == (files / 'n').read_bytes()


def test_held_out_data_and_an_earlier_model(files):
    run('train', *QUIET, '--dev', 'test.boxes', '--log', 'log.csv', 'train.boxes', 'm')
    columns, *rows = (row.split(',') for row in (files / 'log.csv').read_text().split('\n')[1:-1])
    run('predict', '--metrics', 'scores.json', 'test.boxes', 'm')
    scores = json.loads((files / 'scores.json').read_text())
    assert columns[-2:] == ['dev_found', 'dev_overlap']
    assert [float(field) for field in rows[-1][-2:]] == [scores['found'], scores['overlap']]
    (files / 'more.boxes').write_text(TRAIN.replace(' b', ' e'))
    start = ('--objective', 'log', '--solver', 'lbfgs', '--max-passes', 0)
    run('train', *QUIET, *start, '--init', 'm', 'more.boxes', 'n')
    old, new = (dict(zip(m.attributes.names(), m.weights['feature'], strict=True)) for m in map(load, ('m', 'n')))
    assert new == {**{word: old[word] for word in 'acd'}, 'e': 0.0} and old['a'] > 0


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (('--kernel', 'rbf'), '--kernel has no meaning'),
        (('--bias',), '--bias has no meaning'),
        (('--grades',), '--grades has no meaning'),
        (('--task-loss', 'hamming'), 'boxes has no task loss hamming'),
        (('--rescale', 'slack'), 'of overlap on boxes there are too many values (use --task-loss zero-one'),
        (('--feature-set', 'observed'), 'use --feature-set all'),
        (('--task', 'candidates'), 'boxes files hold no data for --task candidates'),
        (('--solver', 'counts'), 'counts is for labels'),
        (('--solver', 'eg'), 'overlap on boxes is not (solvers that do without: bcfw, sgd'),
        (('--solver', 'eg-batch'), 'overlap on boxes is not (solvers that do without: bcfw, sgd'),
        (('--solver', 'excessive-gap'), 'overlap on boxes is not (solvers that do without: bcfw, sgd'),
    ],
)
def test_options_without_meaning(files, options, said):
    assert said in run('train', *options, 'train.boxes', 'm', code=2).stderr


def test_the_same_bytes_from_any_number_of_threads(files):
    (files / 'many.boxes').write_text(50 * TRAIN)
    outs = []
    for threads in (1, 2):
        run('train', *QUIET, '--threads', threads, '--max-passes', 3, 'many.boxes', f'm{threads}')
        run('predict', '--threads', threads, '--scores', 'many.boxes', f'm{threads}', f'o{threads}')
        outs.append(((files / f'm{threads}').read_bytes(), (files / f'o{threads}').read_bytes()))
    assert outs[0] == outs[1] and outs[0][1].count(b'\n') == 100


def test_candidates_that_are_all_boxes_give_the_same_problem(files):
    """The two ways to say it: listed with their losses, or as a picture. Their optima are the same."""
    dataset = pictures(read(files, 'boxes', TRAIN))
    numbers = {'a': 1, 'b': 2, 'c': 3, 'd': 4}
    lines = []
    for qid, (width, height, right, points) in enumerate(dataset, 1):
        boxes = sorted(all_boxes(width, height), key=lambda box, right=right: box != right)
        for box in boxes:
            inside = [word for x, y, word in points if (x, y) in places(box)]
            pairs = ' '.join(f'{numbers[word]}:{inside.count(word)}' for word in numbers if word in inside)
            lines.append(f'{1 - overlap(box, right)!r} qid:{qid} {pairs}\n')
    (files / 'listed.rank').write_text(''.join(lines))
    for objective in ('hinge', 'log'):
        primals = []
        for data in ('train.boxes', 'listed.rank'):
            run('train', '-q', '--objective', objective, '--lambda', 0.1, '--rel-gap', 1e-7, data, 'm')
            primals.append(load('m').header['primal'])
        assert primals[0] == pytest.approx(primals[1], rel=2e-7)
