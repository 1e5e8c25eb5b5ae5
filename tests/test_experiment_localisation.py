"""The scripts of experiments/localisation: features and overlaps of boxes, average precision, and curves and tables of
made-up pictures through the real program."""

import csv
import importlib.util
import random
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parent.parent / 'experiments' / 'localisation'
ANNOTATION = """<annotation>{}</annotation>"""
OBJECT = '<object><name>{}</name><bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox></object>'


def script(name, monkeypatch):
    spec = importlib.util.spec_from_file_location(f'localisation_{name}', FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def prepare(monkeypatch):
    return script('prepare', monkeypatch)


@pytest.fixture
def run(monkeypatch):
    module = script('run', monkeypatch)
    for name, value in {
        'PASSES': (1, 4, 8),
        'LAMBDAS': (1, 0.1),
        'SMOOTHINGS': (0.1, 1.0),
        'SHOWN': (8, 18),
    }.items():
        monkeypatch.setattr(module, name, value)
    return module


def test_the_one_cell(prepare, tmp_path):
    path = tmp_path / 'x.xml'
    cell, other = OBJECT.format('WBC', 40, 80, 240, 200), OBJECT.format('RBC', 0, 0, 4, 4)
    path.write_text(ANNOTATION.format(other + cell))
    assert prepare.marked(path) == [10, 20, 60, 50]
    path.write_text(ANNOTATION.format(cell + cell))
    assert prepare.marked(path) is None
    path.write_text(ANNOTATION.format(other))
    assert prepare.marked(path) is None


def test_overlaps(prepare):
    """Counted pixel by pixel."""
    rng = np.random.default_rng(0)
    corners = rng.integers(0, 12, size=(30, 2))
    boxes = np.hstack([corners, corners + rng.integers(1, 9, size=(30, 2))])

    def pixels(box):
        return {(x, y) for x in range(box[0], box[2]) for y in range(box[1], box[3])}

    expected = [len(pixels(box) & pixels(boxes[0])) / len(pixels(box) | pixels(boxes[0])) for box in boxes.tolist()]
    np.testing.assert_allclose(prepare.overlaps(boxes, boxes[0].tolist()), expected)
    assert expected[0] == 1


def test_features_are_shares_of_colours(prepare):
    """Against counting, inside and in the frame."""
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 256, size=(30, 40, 3)).astype(np.uint8)
    boxes = np.array([[0, 0, 40, 30], [5, 6, 17, 20], [30, 20, 40, 30]])
    rows = prepare.features(prepare.integral(pixels), boxes)
    levels = pixels.astype(int) * prepare.COLOURS // 256
    colours = (levels * [prepare.COLOURS**2, prepare.COLOURS, 1]).sum(axis=2)
    for row, (x, y, right, bottom) in zip(rows, boxes.tolist(), strict=True):
        dx, dy = (-(-side // 4) for side in (right - x, bottom - y))
        inside = np.zeros((30, 40), bool)
        inside[y:bottom, x:right] = True
        outer = np.zeros((30, 40), bool)
        outer[max(0, y - dy) : bottom + dy, max(0, x - dx) : right + dx] = True
        size = prepare.COLOURS**3
        for part, mask in ((row[:size], inside), (row[size:], outer & ~inside)):
            counted = np.bincount(colours[mask], minlength=size)
            np.testing.assert_allclose(part, counted / max(1, mask.sum()), atol=1e-12)


def test_candidates_lie_in_the_picture(prepare):
    boxes = prepare.candidates(160, 120)
    assert len(boxes) == len(np.unique(boxes, axis=0))
    assert boxes.min() == 0 and boxes[:, 2].max() <= 160 and boxes[:, 3].max() <= 120
    assert {tuple(sides) for sides in (boxes[:, 2:] - boxes[:, :2]).tolist()} == {
        (w, h) for w in prepare.SIDES for h in prepare.SIDES
    }


def test_average_precision(run):
    assert run.average_precision([3, 2, 1], [True, True, True]) == 1
    assert run.average_precision([3, 2, 1], [False, False, False]) == 0
    # ranked right, wrong, right: recall 1/3 at precision 1, 2/3 at 2/3, of three cells
    assert run.average_precision([1, 9, 5], [True, True, False]) == pytest.approx((1 + 2 / 3) / 3)
    # the precision at a recall is the highest from there on
    assert run.average_precision([4, 3, 2], [False, True, True]) == pytest.approx(2 * (2 / 3) / 3)


def made_up(path, pictures, seed):
    """Groups of candidates whose first feature tells how much each overlaps."""
    rng = random.Random(seed)
    with path.open('w') as stream:
        for number in range(1, pictures + 1):
            for _ in range(6):
                overlap = rng.random()
                stream.write(
                    f'{1 - overlap:.4f} qid:{number} 1:{overlap + rng.gauss(0, 0.1):.3f} 2:{rng.random():.3f}\n'
                )


def test_curves_and_tables(run, program, tmp_path, capsys):
    for part, pictures in (('train', 20), ('val', 8), ('test', 8)):
        made_up(tmp_path / f'{part}.rank', pictures, pictures)
    run.main([str(tmp_path), '--ssvm', program])
    said = capsys.readouterr().out
    assert 'optimum: ' in said and 'sc-svrg-adapt: mu = ' in said
    methods = [*run.METHODS, *run.SMOOTHED]
    with (tmp_path / 'curves.csv').open(newline='') as stream:
        rows = list(csv.DictReader(stream))
    assert [row['method'] for row in rows] == [name for name in methods for _ in run.PASSES]
    best = float(said.split('optimum: ')[1].split()[0])
    for name in methods:
        mine = [row for row in rows if row['method'] == name]
        calls, primal = ([float(row[column]) for row in mine] for column in ('calls', 'primal'))
        assert calls == sorted(calls) and primal == sorted(primal, reverse=True) and primal[-1] >= best * (1 - 1e-9)
        assert all(0 <= float(row['test_ap']) <= 1 for row in mine)
    assert float(rows[-1]['test_overlap']) > 0.6
    with (tmp_path / 'table.csv').open(newline='') as stream:
        table = list(csv.DictReader(stream))
    assert [row['method'] for row in table] == methods and table[1]['gap_18']
    before = (tmp_path / 'curves.csv').read_text()
    run.main([str(tmp_path), '--ssvm', program])
    assert (tmp_path / 'curves.csv').read_text() == before


def test_absent_data_are_named(prepare, run, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    prepare.main([str(tmp_path / 'out')])
    run.main([str(tmp_path / 'out')])
    said = capsys.readouterr().out
    assert 'skipped: data set localization_bccd is not there' in said
    assert 'skipped: prepare.py has not filled' in said
