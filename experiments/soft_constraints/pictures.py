"""Pictures whose cells are in coarse cells, as MSRC-21 is used by the paper: fine and coarse nodes have scores of each
class, a fine node is joined with the coarse one that it is in, and the score of a labeling is

    sum over all nodes i of w_{y_i} x_{i, y_i} + v * the number of pairs that are in one class,

a weight for each class and one for all pairs. Beside these stars, the same fine nodes joined with their neighbours, by
one weight for all pairs or by one for each pair of classes and direction.

`made_up` draws pictures of the size of those of MSRC-21. `snakes` takes the pictures of Nowozin et al. (2011), whose
scores are those of a log-linear classifier of 3 x 3 colours, trained on other pictures.
"""

import json
import pickle
import subprocess

import numpy as np

CLASSES, SIDE, COARSE = 21, 8, 31  # MSRC-21 has 65 fine and 31 coarse nodes in a picture
REGIONS, NOISE = 4, {'fine': 1.2, 'coarse': 0.9}
BLOCK, FOLDS, LEAST = 2, 4, -8.0  # of snakes: the side of a coarse cell, parts of the training data, the least score
MODELS = ('alone', 'stars', 'neighbours', 'tables')


# --------------------------------------------------------------------------------------------------- made-up pictures


def made_up(count, seed):
    """[(labels of fine cells [side, side], coarse cell of each, labels of coarse cells, scores of both)]."""
    rng = np.random.default_rng(seed)
    strengths = np.random.default_rng(0).uniform(1, 4, CLASSES)
    chances = 1 / np.arange(2, CLASSES + 2)
    drawn = []
    for _ in range(count):
        region = nearest(rng, REGIONS)
        labels = rng.choice(CLASSES, REGIONS, p=chances / chances.sum())[region]
        _, within = np.unique(nearest(rng, COARSE), return_inverse=True)
        within = within.reshape(labels.shape)
        of_coarse = majority(labels, within)
        fine, coarse = ('fine', labels.ravel()), ('coarse', of_coarse)
        scores = [scores_of(rng, each, strengths, NOISE[kind]) for kind, each in (fine, coarse)]
        drawn.append((labels, within, of_coarse, *scores))
    return drawn


def nearest(rng, centres):
    """int [SIDE, SIDE]: the nearest of random centres."""
    cells = np.stack(np.indices((SIDE, SIDE)), axis=-1)
    places = rng.uniform(-0.5, SIDE - 0.5, (centres, 2))
    return np.linalg.norm(cells[:, :, None] - places, axis=-1).argmin(axis=-1)


def majority(labels, within):
    """The label that most cells of each coarse cell have, the first one of several."""
    return np.array([np.bincount(labels[within == k]).argmax() for k in range(within.max() + 1)])


def scores_of(rng, labels, strengths, noise):
    """log probabilities [nodes, CLASSES] of a classifier that knows some classes better than others."""
    logits = noise * rng.normal(size=(len(labels), len(strengths)))
    logits[np.arange(len(labels)), labels] += strengths[labels]
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


# --------------------------------------------------------------------------------------------------------------- snakes


class Arrays(pickle.Unpickler):
    """Reads arrays and nothing else."""

    def find_class(self, module, name):
        if name == '_reconstruct' and module in ('numpy.core.multiarray', 'numpy._core.multiarray'):
            return np.empty(0).__reduce__()[0]
        if (module, name) in (('numpy', 'ndarray'), ('numpy', 'dtype')):
            return getattr(np, name)
        raise pickle.UnpicklingError(f'{module}.{name} is no array')


def snakes(ssvm, path, folder):
    """{'train', 'test': pictures as of made_up}."""
    with open(path, 'rb') as stream:
        data = Arrays(stream, encoding='latin1').load()
    pictures = {part: list(zip(data[f'X_{part}'], data[f'Y_{part}'], strict=True)) for part in ('train', 'test')}
    folder.mkdir(parents=True, exist_ok=True)
    train, found = pictures['train'], {'test': scored(ssvm, folder, pictures['train'], pictures['test'])}
    folds = [train[k::FOLDS] for k in range(FOLDS)]
    found['train'] = []
    for k, fold in enumerate(folds):
        others = [picture for j, each in enumerate(folds) if j != k for picture in each]
        found['train'] += scored(ssvm, folder, others, fold)
    return found


def scored(ssvm, folder, train, test):
    """Pictures as of made_up, with the log probabilities of a classifier that was trained on some others."""
    for name, several in (('train', train), ('test', test)):
        lines = [line for colours, labels in several for line in lines_of(colours, labels)]
        (folder / f'{name}.svm').write_text('\n'.join(lines) + '\n')
    words = ('train', '-q', '--objective', 'log', '--lambda', 1e-4, '--threads', 1, folder / 'train.svm', folder / 'm')
    subprocess.run([ssvm, *map(str, words)], check=True)
    words = ('predict', '-q', '--marginals', folder / 'test.svm', folder / 'm', folder / 'found')
    subprocess.run([ssvm, *map(str, words)], check=True)
    rows = (folder / 'found').read_text().splitlines()
    drawn, at = [], 0
    for _, labels in test:
        scores = np.array([marginals_of(row) for row in rows[at : at + labels.size]])
        at += labels.size
        down, right = (int(np.ceil(side / BLOCK)) for side in labels.shape)
        places = np.indices(labels.shape) // BLOCK
        within = places[0] * right + places[1]
        of_coarse = np.array([scores[within.ravel() == k].mean(axis=0) for k in range(down * right)])
        drawn.append((labels, within, majority(labels, within), scores, of_coarse))
    return drawn


def lines_of(colours, labels):
    """A line of SVMlight for each cell: its label, and which colours it and the eight around it have."""
    height, width = labels.shape
    kinds = colours.reshape(-1, 3).astype(int) @ (4, 2, 1) // 255
    padded = np.pad(kinds.reshape(height, width), 1, constant_values=8)
    for y in range(height):
        for x in range(width):
            around = padded[y : y + 3, x : x + 3].ravel()
            yield f'{labels[y, x]} ' + ' '.join(f'{9 * k + kind + 1}:1' for k, kind in enumerate(around))


def marginals_of(row):
    """float64[classes]: the logarithms of the probabilities in a row of `predict --marginals`, ordered by class."""
    pairs = (word.rsplit(':', 1) for word in row.split() if ':' in word)
    found = {int(label): float(chance) for label, chance in pairs}
    chances = np.array([found[label] for label in sorted(found)])
    return np.log(np.maximum(chances, 10**LEAST))


# ------------------------------------------------------------------------------------------------------------ as graphs


def graph(picture, model):
    """A picture as a line of JSON. model: one of MODELS."""
    labels, within, of_coarse, fine, coarse = picture
    cells = np.arange(labels.size).reshape(labels.shape)
    nodes = [node(label, scores) for label, scores in zip(labels.ravel(), fine, strict=True)]
    beside = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1).tolist()
    above = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1).tolist()
    if model == 'stars':
        nodes += [node(label, scores) for label, scores in zip(of_coarse, coarse, strict=True)]
        pairs = np.stack([cells.ravel(), labels.size + within.ravel()], axis=1).tolist()
        factors = [{'nodes': pair, 'per_state': {'same': 1}} for pair in pairs]
    elif model == 'neighbours':
        factors = [{'nodes': pair, 'per_state': {'same': 1}} for pair in beside + above]
    else:
        named = [('beside', pair) for pair in beside] + [('above', pair) for pair in above]
        factors = [{'nodes': pair, 'type': name} for name, pair in named]
    example = {'states': fine.shape[1], 'nodes': nodes}
    return json.dumps(example if model == 'alone' else example | {'factors': factors})


def node(label, scores):
    """A weight for each class, which multiplies the score of that class."""
    per_state = {f'score {k}': {str(k): round(score, 3)} for k, score in enumerate(scores.tolist())}
    return {'label': int(label), 'per_state': per_state}
