"""Landmarks of the CMU house sequence: 30 points in each of 111 frames, marked by hand and matched by their shape
contexts (Caetano et al. 2009). Errors by how many frames lie between two pictures, as CSV."""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what the experiments share
import links
import program

BASELINES = (10, 30, 50, 70, 90)  # frames between the two pictures
LAMBDAS = '1:0.001:0.1'
SCALE = 5.0  # of counts, so that differences are about 1
FORCED = 1e4  # weight of the constant attribute that links all points


def frame(folder, path):
    """float64 [30, 60], the shape contexts of a frame of the lists."""
    return np.loadtxt(folder / Path(path).name) / SCALE


def pairs(folder, baseline, part):
    """(shape contexts of one picture, those of the other) of each pair of a list."""
    lines = (folder / 'pairs' / f'houses{baseline}_{part}.txt').read_text().splitlines()
    frames = [frame(folder, line.split()[1]) for line in lines if line.strip()]
    return list(zip(frames[::2], frames[1::2], strict=True))


def example(one, other):
    """All links, whose attributes are squared differences of bins; the right ones are k-k."""
    apart = (one[:, None] - other[None, :]) ** 2
    return [
        (r, c, '1' if r == c else '0', {f'bin{k}': value for k, value in enumerate(apart[r, c].tolist())})
        for r, c in np.ndindex(apart.shape[:2])
    ]


def errors(ssvm, data, folder, baseline):
    """Landmarks that are not matched rightly, in %, by method."""
    parts = {part: [example(*pair) for pair in pairs(data, baseline, part)] for part in ('train', 'validate', 'test')}
    paths = {part: folder / f'{part}.links' for part in parts}
    for part, examples in parts.items():
        links.write(paths[part], examples)
    model = folder / 'model'
    links.train(ssvm, paths['train'], paths['validate'], model, LAMBDAS)
    learned = links.weights_of(ssvm, model) | {links.BIAS: FORCED}
    plain = dict.fromkeys(learned, -1.0) | {links.BIAS: FORCED}
    row = {'baseline': baseline, 'pairs': len(parts['test'])}
    for name, weights in (('unweighted', plain), ('learned', learned)):
        made = links.with_weights(ssvm, model, weights, folder / name)
        row[f'{name}_alone'] = wrong(links.rows_alone(parts['test'], weights))
        row[f'{name}_matching'] = wrong(links.scores(ssvm, paths['test'], made))
    return row


def wrong(scores):
    return f'{100 * (1 - scores["recall"]):.1f}'


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('data', type=Path, help='the folder of the sequence')
    parser.add_argument('folder', type=Path, help='where the table is written')
    parser.add_argument('--ssvm', default='ssvm')
    given = parser.parse_args(arguments)
    house = given.data / 'data' / 'cmum' / 'house'
    program.check_there('matching_cmu_house', house / 'pairs')
    rows = []
    for baseline in BASELINES:
        rows.append(errors(given.ssvm, house, given.folder, baseline))
        print(', '.join(f'{key} {value}' for key, value in rows[-1].items()), flush=True)
    program.write(given.folder / 'points.csv', rows)


if __name__ == '__main__':
    main(sys.argv[1:])
