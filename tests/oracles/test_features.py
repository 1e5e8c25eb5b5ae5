"""The contract of feature maps: one suite over every map, against joint features written out in full."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

from cython_ext.features.calls import adjoint, gram_of, norm2_of, scores_of
from cython_ext.features.capabilities import Tables
from cython_ext.features.kernel.basis import KernelBasis
from cython_ext.features.kernel.function import Kernel
from cython_ext.features.kernel.kernel import KernelFeatures
from cython_ext.features.tokens.observed import ObservedFeatures
from cython_ext.features.tokens.sparse import SparseFeatures
from cython_ext.features.tokens.sparse_rows import SparseRows
from cython_ext.tasks.boxes import build as build_boxes
from cython_ext.tasks.candidates import build as build_listed
from tests import boxes, candidates
from tests.enumeration import Enumeration
from tests.kernels import explicit_features, with_features
from tests.oracles.cases import theta_column
from tests.solvers import tiny


@dataclass
class Case:
    """A feature map, all outputs of its examples, and where each weight stands in a weight vector.

    expand: of a map whose vectors hold coefficients of tokens, the vector of weights that one stands for.
    """

    features: SparseFeatures
    truth: Enumeration
    columns: np.ndarray
    stride: int
    lengths: tuple
    places: np.ndarray
    expand: object = np.asarray

    def random_vector(self, rng):
        """A random weight vector of the map."""
        vector = self.features.zeros()
        vector[self.places] = rng.normal(size=len(self.places))
        return vector

    def weights(self, vector):
        """What a weight vector of the map says about the features truth.keys."""
        return self.expand(vector)[self.columns]

    def part_columns(self, i):
        """Where the parts of example i stand in theta."""
        keys, features = self.truth.examples[i].part_keys, self.features
        places = [theta_column(key, self.lengths[i], features.n_labels, features.edges is None) for key in keys]
        return np.array(places, dtype=np.intp)

    def parts_vector(self, i, values):
        """A vector over the parts of example i, 0 in the padding."""
        columns = self.part_columns(i)
        vector = np.zeros(len(scores_of(self.features, i, self.features.zeros())))
        vector[columns] = values
        return vector


class ListedCase(Case):
    """Of examples whose parts stand in theta in their order, without padding between them."""

    def part_columns(self, i):
        return np.arange(len(self.truth.examples[i].part_keys))


def build_candidates(binary):
    counts = (3, 1, 8, 5)
    examples = candidates.random_examples(counts, attributes=5, binary=binary, seed=4)
    data = candidates.dataset_of(examples)
    _, features = build_listed(data)
    places = np.arange(features.dim)
    return ListedCase(features, candidates.CandidateEnumeration(examples), places, 4, counts, places)


def build_pictures():
    pictures = boxes.random_pictures([(3, 2), (1, 1), (2, 3)], points=6, words=5, seed=2)
    _, features = build_boxes(boxes.dataset_of(pictures))
    places = np.arange(features.dim)
    return ListedCase(features, boxes.BoxEnumeration(pictures), places, 4, (0, 0, 0), places)


def build(task, n_labels, edges=0, transitions=True, order=1, binary=False, kind='all'):
    """A map over examples of several lengths, an empty one among them (chains only). kind: 'all', 'all-with-table' (of
    the inner products of positions), 'observed', or the name of one of KERNELS."""
    lengths = (1, 1, 1) if task == 'multiclass' else (3, 1, 0, 4)
    data = tiny.arrays(task, lengths, n_labels, attributes=4, edges=edges, binary=binary, seed=n_labels)
    data.transitions, data.order = transitions, order
    stride = -(-n_labels // 4) * 4
    tokens = SparseRows(data.indptr, data.indices, data.values, data.n_attributes)
    rows = SparseRows(data.edge_indptr, data.edge_indices, data.edge_values, edges) if edges else None
    layout = (n_labels, stride, order if task == 'chain' else 0, task == 'chain' and transitions, rows)
    if kind in KERNELS:
        return build_kernel(task, data, tokens, layout, lengths, *KERNELS[kind])
    truth = Enumeration(task, data, n_labels, feature_set=kind.split('-')[0])
    if kind == 'observed':
        features = ObservedFeatures(tokens, data.offsets, data.labels, *layout)
    else:
        features = SparseFeatures(tokens, data.offsets, *layout)
    if kind == 'all-with-table':
        features.helper(Tables).keep_gram()
    states = state_columns(features, kind, data.n_attributes, n_labels, stride)
    pairs = features.dim - features.triple_size - stride**2 * (edges + (task == 'chain' and transitions))
    columns = np.array([weight_column(key, states, pairs, features) for key in truth.keys], dtype=np.intp)
    return Case(features, truth, columns, stride, lengths, columns)


# kernel, MB for its cache, whether a table of the kernel of positions is kept
KERNELS = {
    'poly': (Kernel('poly', 3, 0.5, 1.0), 1, False),
    'rbf': (Kernel('rbf', gamma=0.3), 0, True),
}


def build_kernel(task, data, tokens, layout, lengths, kernel, cache_mb, with_table):
    """A kernel map, beside joint features whose inner products are the kernel's."""
    n_labels, stride, *_ = layout
    basis = KernelBasis(kernel, [(data.indptr, data.indices, data.values)], data.n_attributes, cache_mb)
    features = KernelFeatures(tokens, basis, data.offsets, *layout)
    if with_table:
        features.helper(Tables).keep_gram()
    explicit = explicit_features(data, **kernel.facts())
    truth = Enumeration(task, with_features(data, explicit), n_labels)
    place = basis.find(data.indptr, data.indices, data.values)
    token_features = np.zeros((basis.size, explicit.shape[1]))
    token_features[place] = explicit
    size = basis.size * stride

    def expand(vector):
        states = token_features.T @ np.asarray(vector)[:size].reshape(basis.size, stride)
        return np.concatenate([states.ravel(), vector[size:]])

    states = {(a, y): a * stride + y for a in range(explicit.shape[1]) for y in range(n_labels)}
    first_pair = explicit.shape[1] * stride
    columns = [weight_column(key, states, first_pair, features) for key in truth.keys]
    columns = np.array(columns, dtype=np.intp)
    beta = [u * stride + y for u in range(basis.size) for y in range(n_labels)]
    pairs = columns[columns >= first_pair] - first_pair + size
    return Case(features, truth, columns, stride, lengths, np.concatenate([beta, pairs]), expand)


def state_columns(features, kind, n_attributes, n_labels, stride):
    """Where the weight of (attribute, label) stands: rows of labels, or the observed pairs in ascending order."""
    if kind != 'observed':
        return {(a, y): a * stride + y for a in range(n_attributes) for y in range(n_labels)}
    blocks = features.blocks(features.zeros())
    rows = np.repeat(np.arange(n_attributes), np.diff(blocks['state.indptr']))
    pairs = list(zip(rows.tolist(), blocks['state.labels'].tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    return {pair: k for k, pair in enumerate(pairs)}


def weight_column(key, states, first_pair, features):
    """State weights first, then the [from, to] block of the transitions if there is one, a block per edge attribute,
    the triplets (second, first, third)."""
    kind, *where = key
    stride, n_labels = features.stride, features.n_labels
    if kind == 'state':
        return states[tuple(where)]
    if kind == 'triple':
        p, q, r = where
        edges = 0 if features.edges is None else features.edges.columns
        return first_pair + ((features.transitions + edges) * stride**2) + (q * n_labels + p) * stride + r
    *edge, p, q = where
    block = features.transitions + edge[0] if edge else 0
    return first_pair + (block * stride + p) * stride + q


KINDS = {
    'multiclass-K2': ('multiclass', 2),
    'multiclass-K5': ('multiclass', 5),
    'chain-K2': ('chain', 2),
    'chain-K5': ('chain', 5),
    'chain-K3-without-transitions': ('chain', 3, 0, False),
    'chain-K3-edges': ('chain', 3, 2),
    'chain-K5-edges-only': ('chain', 5, 2, False),
    'chain2-K3': ('chain', 3, 0, True, 2),
    'chain2-K2-edges': ('chain', 2, 2, True, 2),
    'chain2-K2-without-transitions': ('chain', 2, 0, False, 2),
}

CASES = {
    f'{name}-{"binary" if binary else "real"}-{kind}': functools.partial(build, *shape, binary=binary, kind=kind)
    for name, shape in KINDS.items()
    for binary in (True, False)
    for kind in ('all', 'all-with-table', 'observed', *KERNELS)
}
CASES |= {
    f'candidates-{"binary" if binary else "real"}': functools.partial(build_candidates, binary)
    for binary in (True, False)
}
CASES['boxes'] = build_pictures


@functools.cache
def case(name):
    return CASES[name]()


@pytest.fixture(params=CASES)
def example(request):
    return case(request.param)


def test_scores_give_every_output_its_score(example):
    """<theta_i(w), s(y)> = <w, phi(x_i, y)> for all y."""
    w = example.random_vector(np.random.default_rng(0))
    for i, enumerated in enumerate(example.truth.examples):
        theta = scores_of(example.features, i, w)
        scores = enumerated.parts @ theta[example.part_columns(i)]
        np.testing.assert_allclose(scores, enumerated.features @ example.weights(w), rtol=0, atol=1e-11)


def test_adjoint_of_the_statistics_is_the_joint_feature(example):
    """Phi_i s(y) = phi(x_i, y) for all y, and nothing beside it."""
    for i, enumerated in enumerate(example.truth.examples):
        for parts, phi in zip(enumerated.parts, enumerated.features, strict=True):
            got = adjoint(example.features, i, example.parts_vector(i, parts))
            np.testing.assert_allclose(example.weights(got), phi, rtol=0, atol=1e-13)
            assert not got[np.setdiff1d(np.arange(len(got)), example.places)].any()


def test_adjoint_is_the_adjoint(example):
    """<theta_i(w), a> = <w, Phi_i a> for arbitrary a, not only statistics of outputs."""
    rng = np.random.default_rng(1)
    for i, enumerated in enumerate(example.truth.examples):
        w = example.random_vector(rng)
        a = example.parts_vector(i, rng.normal(size=len(enumerated.part_keys)))
        theta, image = scores_of(example.features, i, w), adjoint(example.features, i, a)
        product = example.weights(w) @ example.weights(image)
        assert theta @ a == pytest.approx(product, rel=0, abs=1e-11)
        assert example.features.inner(w, image) == pytest.approx(product, rel=0, abs=1e-11)
        assert example.features.inner(image, w) == pytest.approx(product, rel=0, abs=1e-11)


@pytest.mark.parametrize('share', [1.0, 0.3])
def test_norm_and_gram_are_those_of_the_adjoint(example, share):
    """|Phi_i a|^2 and Phi_i' Phi_i a, for dense and for sparse a."""
    rng = np.random.default_rng(2)
    for i, enumerated in enumerate(example.truth.examples):
        for _ in range(3):
            values = rng.normal(size=len(enumerated.part_keys)) * (rng.random(len(enumerated.part_keys)) < share)
            a = example.parts_vector(i, values)
            image = adjoint(example.features, i, a)
            explicit = example.weights(image)
            assert norm2_of(example.features, i, a) == pytest.approx(explicit @ explicit, rel=1e-12, abs=1e-11)
            gram = gram_of(example.features, i, a)
            wanted = scores_of(example.features, i, image)
            columns = example.part_columns(i)
            np.testing.assert_allclose(gram[columns], wanted[columns], rtol=0, atol=1e-11)


def test_differences_have_the_norm_of_psi(example):
    """a = s(y_i) - s(y), the directions that solvers move along."""
    for i, enumerated in enumerate(example.truth.examples):
        for parts, psi in zip(enumerated.parts, enumerated.differences, strict=True):
            a = example.parts_vector(i, enumerated.parts[enumerated.gold] - parts)
            assert norm2_of(example.features, i, a) == pytest.approx(psi @ psi, rel=1e-12, abs=1e-12)


def test_vectors_of_another_length_are_refused(example):
    with pytest.raises(ValueError, match=f'expected {example.features.dim}'):
        example.features.inner(example.features.zeros(), np.zeros(example.features.dim + 1))


def test_places_without_a_feature_stay_zero(example):
    """Padding, and pairs of labels that were not observed, even for an arbitrary a."""
    unused = np.setdiff1d(np.arange(example.features.dim), example.places)
    rng = np.random.default_rng(3)
    for i, enumerated in enumerate(example.truth.examples):
        a = example.parts_vector(i, rng.normal(size=len(enumerated.part_keys)))
        np.testing.assert_array_equal(adjoint(example.features, i, a)[unused], 0)


@pytest.mark.parametrize('feature_set', ['all', 'observed'])
@pytest.mark.parametrize(('edges', 'order'), [(False, 1), (True, 1), (True, 2)])
def test_long_sequences_take_another_way_to_the_same_products(feature_set, edges, order):
    """Beyond 512 positions no inner products are kept; what is used instead leaves nothing behind."""
    rng = np.random.default_rng(5)
    n, k, columns = 600, 3, 40
    indices = np.sort(np.array([rng.permutation(columns)[:4] for _ in range(n)]), axis=1).astype(np.int32)
    rows = np.arange(0, 4 * n + 1, 4, dtype=np.int64)
    tokens = SparseRows(rows, indices.ravel(), rng.normal(size=4 * n), columns)
    pairs = SparseRows(rows, indices.ravel() % 7, None, 7) if edges else None
    offsets = np.array([0, n], np.int64)
    layout = (k, 4, order, True, pairs)
    if feature_set == 'all':
        features = SparseFeatures(tokens, offsets, *layout)
    else:
        features = ObservedFeatures(tokens, offsets, rng.integers(0, k, n).astype(np.int32), *layout)
    features.helper(Tables).keep_gram()
    labels, others = rng.integers(0, k, (2, n))
    a = np.zeros(len(scores_of(features, 0, features.zeros())))
    for y, sign in ((labels, 1.0), (others, -1.0)):
        np.add.at(a, np.arange(n) * 4 + y, sign)
        block = np.arange(n - 1) * 16 * edges
        np.add.at(a, 4 * n + block + y[:-1] * 4 + y[1:], sign)
        if order == 2:
            np.add.at(a, len(a) - k * k * 4 + (y[1:-1] * k + y[:-2]) * 4 + y[2:], sign)
    image = adjoint(features, 0, a)
    for _ in range(2):
        np.testing.assert_allclose(gram_of(features, 0, a), scores_of(features, 0, image), rtol=0, atol=1e-9)
        np.testing.assert_allclose(norm2_of(features, 0, a), image @ image, rtol=1e-12)
