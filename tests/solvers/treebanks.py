"""Tiny problems on dependency trees as the core builds them, each beside the same problem written out in full."""

import functools

import numpy as np

from cython_ext.common.parallel import Pool
from cython_ext.features.arcs.names import parsed, spelled
from cython_ext.tasks.build import build_decoder, build_problem
from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.dependency import SentenceDataset
from tests import optimum, sentences
from tests.enumeration import Enumeration
from tests.solvers.problems import Twin

# Arguments of sentences.tiny by name; together all kinds of trees, with relations and without, coarse tags and none.
TREEBANKS = {
    'projective': {'lengths': (3, 1, 3), 'seed': 1},
    'projective-relations': {'lengths': (2, 0, 3, 1), 'relations': 3, 'coarse': True, 'seed': 2},
    'projective-multi': {'lengths': (3, 2, 1), 'coarse': True, 'single_root': False, 'seed': 3},
    'spanning': {'lengths': (3, 1, 3), 'projective': False, 'seed': 4},
    'spanning-relations': {'lengths': (3, 2, 1), 'relations': 2, 'projective': False, 'single_root': False, 'seed': 5},
}


def dataset_of(data):
    """The SentenceDataset of some sentences.tiny."""
    arrays = {name: getattr(data, name) for name in ('offsets', 'words', 'tags', 'coarse', 'heads', 'relations')}
    names = {name: Vocabulary(getattr(data, name)) for name in ('word_names', 'tag_names', 'label_names')}
    return SentenceDataset(**arrays, **names)


def kind_of(options):
    """What build_problem and Enumeration call the kind of trees."""
    projective, single = options.get('projective', True), options.get('single_root', True)
    return {'nonprojective': not projective, 'single_root': single}, {'projective': projective, 'single_root': single}


class TreeTwin(Twin):
    """A Twin whose weights are told apart by their names."""

    def to_core(self, w):
        features = self.problem.features
        rows = [(name, r, x) for (_, name, r), x in zip(self.truth.keys, w, strict=True)]
        return features.weights(parsed(rows, *self.names(), len(self.dataset.label_names)))

    def names(self):
        return self.dataset.word_names.names(), self.dataset.tag_names.names()

    def from_core(self, vector):
        blocks = self.problem.features.blocks(np.asarray(vector, np.float64))
        rows = spelled(blocks, *self.names())
        weight = {('arc', name, r): x for name, r, x in rows}
        w = np.array([weight.pop(key, 0.0) for key in self.truth.keys])
        assert not weight, f'features that no output has got weights: {weight}'
        return w

    def columns(self, i):
        """Where the parts of sentence i stand in theta."""
        length, stride = len(self.truth.examples[i].codes[0]) // 2, self.problem.structure.stride
        keys = self.truth.examples[i].part_keys
        return np.array([((d - 1) * (length + 1) + h) * stride + r for _, d, h, r in keys], dtype=np.intp)

    def _softmax(self, i, point):
        theta = point.theta[point.theta_indptr[i] : point.theta_indptr[i + 1]].astype(float)
        return optimum.softmax(self.truth.examples[i].parts @ theta[self.columns(i)])


def treebank_problem(
    name,
    objective='hinge',
    loss='hamming',
    lam=1.0,
    feature_set='all',
    threads=1,
    hash_bits=None,
    variant=None,
    **other,
):
    """The Problem of a treebank; other: more options for sentences.tiny."""
    options = TREEBANKS[name] | other
    how = {**kind_of(options)[0], 'hash_bits': hash_bits}
    dataset = dataset_of(sentences.tiny(**options))
    how = {'feature_set': feature_set, 'threads': threads, 'variant': variant, 'structure': how}
    return build_problem(dataset, 'dependency', objective, loss, lam, **how)


@functools.cache
def tree_twin(name, objective='hinge', loss='hamming', lam_times_n=1.0, feature_set='all', threads=1):
    """The problem on TREEBANKS[name] with lambda = lam_times_n / n."""
    options = TREEBANKS[name]
    data, (how, kind) = sentences.tiny(**options), kind_of(options)
    lam = lam_times_n / (len(data.offsets) - 1)
    problem = treebank_problem(name, objective, loss, lam, feature_set, threads)
    how = {**how, 'table': problem.features.table}
    decoder = build_decoder(dataset_of(data), 'dependency', feature_set, Pool(threads), structure=how)
    truth = Enumeration('dependency', data, None, loss, feature_set, **kind)
    it = TreeTwin(problem, decoder, truth, optimum.Problem.of(truth, lam), objective)
    it.dataset = dataset_of(data)
    return it
