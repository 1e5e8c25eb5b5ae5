"""Kernel maps against kernel matrices written out: scores, predictions, blocks of the basis, the cache, the model's
blocks. test_features.py has their share of the contract of feature maps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cython_ext.common.parallel import Pool
from cython_ext.features.calls import add_parts_to, scores_of
from cython_ext.features.capabilities import Following
from cython_ext.features.kernel.basis import KernelBasis
from cython_ext.features.kernel.distinct_rows import DistinctRows
from cython_ext.features.kernel.function import Kernel
from cython_ext.features.kernel.kernel import KernelFeatures
from cython_ext.features.tokens.sparse_rows import SparseRows
from cython_ext.tasks.build import build_decoder, build_problem
from tests.kernels import dense, kernel_matrix
from tests.solvers import tiny
from tests.solvers.problems import dataset_of

KERNELS = [
    Kernel('poly', 1, 2.0, 0.0),
    Kernel('poly', 2, 0.5, 1.0),
    Kernel('poly', 5, 0.3, 0.2),
    Kernel('rbf', gamma=0.4),
    Kernel('rbf', gamma=20.0),
]
every_kernel = pytest.mark.parametrize('kernel', KERNELS, ids=str)


def random_rows(rng, n, columns, most, binary=False):
    """A CSR triple of n rows with up to `most` entries."""
    rows = [np.sort(rng.choice(columns, size=rng.integers(most + 1), replace=False)) for _ in range(n)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.concatenate(rows).astype(np.int32)
    return indptr, indices, None if binary else rng.normal(size=len(indices))


def as_dense(triple, columns):
    indptr, indices, values = triple
    out = np.zeros((len(indptr) - 1, columns))
    out[np.repeat(np.arange(len(out)), np.diff(indptr)), indices] = 1.0 if values is None else values
    return out


def features_on(triple, columns, basis, n_labels=3, pool=None):
    """A map over a CSR triple as one sequence of tokens, without transitions."""
    offsets = np.array([0, len(triple[0]) - 1], np.int64)
    return KernelFeatures(SparseRows(*triple, columns), basis, offsets, n_labels, 4, True, False, None, pool)


def expansion(features, basis_rows, rows, beta):
    """Label scores [T, 4] of tokens by the definition."""
    return kernel_matrix(rows, basis_rows, **features.basis.kernel.facts()) @ beta


@every_kernel
@pytest.mark.parametrize('binary', [True, False])
@pytest.mark.parametrize('cache_mb', [0, 0.01, 10])
def test_scores_of_training_and_other_tokens(kernel, binary, cache_mb):
    """Before and after the cache is filled, for tokens in the basis and for others, with values and without."""
    rng = np.random.default_rng(0)
    columns, train = 30, random_rows(rng, 60, 30, 8, binary)
    basis = KernelBasis(kernel, [train], columns, cache_mb)
    assert basis.counts == binary
    distinct = as_dense((basis.rows.indptr_array, basis.rows.index_array, basis.rows.value_array), columns)
    beta = rng.normal(size=(basis.size, 4))
    beta[:, 3] = 0
    for triple in (train, random_rows(rng, 40, columns, 12, binary), random_rows(rng, 40, columns, 12, not binary)):
        features = features_on(triple, columns, basis)
        wanted = expansion(features, distinct, as_dense(triple, columns), beta)
        for _ in range(2):
            theta = scores_of(features, 0, beta.ravel())[: wanted.size].reshape(wanted.shape)
            np.testing.assert_allclose(theta, wanted, rtol=0, atol=1e-12 * max(1, np.abs(wanted).max()))


@every_kernel
@pytest.mark.parametrize('binary', [True, False])
@pytest.mark.parametrize('cache_mb', [0, 10])
def test_scores_that_are_kept_follow_what_is_added(kernel, binary, cache_mb):
    """Of one label, of several and of all labels of a token; inner products read them as well."""
    rng = np.random.default_rng(3)
    columns, train = 30, random_rows(rng, 50, 30, 8, binary)
    basis = KernelBasis(kernel, [train], columns, cache_mb)
    features = features_on(train, columns, basis)
    w, other = (np.where(np.arange(features.dim) % 4 < 3, rng.normal(size=features.dim), 0.0) for _ in range(2))
    features.helper(Following).follow(w)
    for count in (1, 2, 3, 40, 150):
        ids = np.sort(rng.choice([t * 4 + k for t in range(50) for k in range(3)], count, replace=False))
        add_parts_to(features, w, 0, ids.astype(np.int32), rng.normal(size=count))
        apart = w.copy()
        assert features.helper(Following).scores(apart) is None
        kept = features.helper(Following).scores(w)[: basis.size * 4].reshape(-1, 4)
        wanted = scores_of(features, 0, apart)[: 50 * 4].reshape(-1, 4)
        np.testing.assert_allclose(kept[basis.find(*train)], wanted, rtol=0, atol=1e-12 * max(1, np.abs(wanted).max()))
        scale = features.inner(apart, apart)
        assert features.inner(w, w) == pytest.approx(scale, rel=1e-11)
        assert features.inner(other, w) == pytest.approx(features.inner(other, apart), rel=1e-11, abs=1e-12 * scale)
    features.helper(Following).follow(other)
    assert features.helper(Following).scores(w) is None


@every_kernel
def test_more_tokens_than_a_block_holds(kernel):
    """Sums go on over blocks, of which the last is not full; inner products are the same on any number of threads."""
    rng = np.random.default_rng(1)
    columns, train = 50, random_rows(rng, 5000, 50, 12, binary=True)
    basis = KernelBasis(kernel, [train], columns)
    assert basis.size > 2 * 2048
    features = features_on(train, columns, basis)
    distinct = as_dense((basis.rows.indptr_array, basis.rows.index_array, None), columns)
    products = distinct @ distinct.T
    norms = np.diag(products)
    table = (kernel.gamma * products + kernel.coef0) ** kernel.degree
    if kernel.kind == 'rbf':
        table = np.exp(-kernel.gamma * (norms[:, None] + norms - 2 * products))
    v, w = rng.normal(size=(2, basis.size, 4))
    v[rng.random(basis.size) < 0.5] = 0
    scores = table @ w
    place = basis.find(*train)
    theta = scores_of(features, 0, w.ravel())[: 5000 * 4].reshape(-1, 4)
    np.testing.assert_allclose(theta, scores[place], rtol=0, atol=1e-11 * np.abs(scores).max())
    wanted = (v * scores).sum()
    found = features.inner(v.ravel(), w.ravel())
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9 * np.abs(v * scores).sum())
    features.pool = Pool(3)
    assert features.inner(v.ravel(), w.ravel()) == features.inner(w.ravel(), v.ravel()) == found


@pytest.mark.parametrize('binary', [True, False])
def test_threads_that_share_rows_of_the_cache(binary):
    """Many examples of the same few tokens at once: whoever finds a row half filled does without."""
    rng = np.random.default_rng(2)
    few = random_rows(rng, 7, 40, 10, binary)
    order = rng.integers(7, size=4000)
    matrix = as_dense(few, 40)[order]
    indptr = np.concatenate([[0], np.cumsum((matrix != 0).sum(axis=1))]).astype(np.int64)
    triple = indptr, np.nonzero(matrix)[1].astype(np.int32), None if binary else matrix[matrix != 0]
    data = tiny.arrays('multiclass', (1,) * 4000, 3, 40)
    data.indptr, data.indices, data.values = triple
    dataset = dataset_of(data)
    found = []
    for threads, cache in ((1, 0), (4, 1), (4, 1)):
        kernel = {'kind': 'rbf', 'gamma': 0.1}
        problem = build_problem(dataset, 'multiclass', lam=0.1, kernel=kernel, kernel_cache=cache, threads=threads)
        assert problem.features.basis.size == len(np.unique(matrix, axis=0))
        w = np.random.default_rng(3).normal(size=problem.dim)
        found.append(problem.evaluate(w).loss_values.tobytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize('kernel', [KERNELS[1], KERNELS[3]], ids=str)
@pytest.mark.parametrize('name', ['multiclass', 'chain', 'chain-binary', 'chain-edges'])
def test_blocks_hold_what_weights_need(kernel, name):
    """From the tokens with coefficients alone data get their scores; with others in the basis all is as before."""
    data = tiny.named(name)
    problem = build_problem(dataset_of(data), data.task, kernel=kernel.facts())
    features = problem.features
    rng = np.random.default_rng(4)
    w = features.zeros()
    states = w[: features.basis.size * features.stride].reshape(-1, features.stride)
    some = np.arange(features.basis.size) % 2 == 0
    states[some, : data.n_labels] = rng.normal(size=(some.sum(), data.n_labels))
    for view in features._transition_views(w).values():
        view[...] = rng.normal(size=view.shape)
    states[0, 0] = 1e-30
    blocks = features.blocks(w)
    assert len(blocks['support.weights']) == some.sum()
    np.testing.assert_array_equal(features.weights(blocks), w)

    support = tuple(blocks.get(f'support.{part}') for part in ('indptr', 'indices', 'values'))
    assert (support[2] is None) == (data.values is None)
    basis = KernelBasis(kernel, [support], data.n_attributes, 0)
    decoder = build_decoder(dataset_of(data), data.task, basis=basis)
    codes, scores = decoder.predict(decoder.features.weights(blocks))
    wanted = build_decoder(dataset_of(data), data.task, basis=features.basis).predict(w)
    np.testing.assert_array_equal(codes, wanted[0])
    np.testing.assert_allclose(scores, wanted[1], rtol=1e-12)

    half = dataset_of(data).subset(np.arange(len(data.offsets) - 2))
    joined = build_problem(half, data.task, kernel=kernel.facts(), support=support).features
    vector = joined.weights(blocks)
    assert joined.inner(vector, vector) == pytest.approx(features.inner(w, w), rel=1e-12)


def test_tokens_that_are_not_in_the_basis_are_refused():
    data = dataset_of(tiny.named('multiclass'))
    features = build_problem(data, 'multiclass', kernel=KERNELS[1].facts()).features
    blocks = features.blocks(np.ones(features.dim))
    blocks['support.indptr'] = np.zeros_like(blocks['support.indptr'])
    blocks['support.indices'] = np.zeros(0, np.int32)
    blocks['support.values'] = np.zeros(0)
    with pytest.raises(ValueError, match='of other data'):
        features.weights(blocks)
    with pytest.raises(ValueError, match='for 3 labels'):
        features.weights({})
    with pytest.raises(ValueError, match='for 3 labels'):
        features.weights({**blocks, 'support.weights': np.ones((2, 2))})


rows = st.lists(st.dictionaries(st.integers(0, 3), st.sampled_from([1.0, -2.0, 0.5]), max_size=3), max_size=6)


@settings(deadline=None)
@given(st.lists(st.tuples(rows, st.booleans()), min_size=1, max_size=3))
def test_distinct_rows(parts):
    """Equal rows have one place, whether their ones are written or not."""
    triples, seen = [], []
    for part, binary in parts:
        pairs = [sorted((k, 1.0 if binary else v) for k, v in row.items()) for row in part]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in pairs])]).astype(np.int64)
        indices = np.array([k for row in pairs for k, _ in row], np.int32)
        values = None if binary else np.array([v for row in pairs for _, v in row])
        triples.append((indptr, indices, values))
        seen += map(tuple, pairs)
    found = DistinctRows(triples)
    first = list(dict.fromkeys(seen))
    values = np.ones(len(found.indices)) if found.values is None else found.values
    back = [
        tuple(zip(found.indices[a:b].tolist(), values[a:b].tolist(), strict=True))
        for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)
    ]
    assert back == first
    assert (found.values is None) == all(v == 1 for row in first for _, v in row)
    places = np.concatenate([found.find(*triple) for triple in triples])
    assert places.tolist() == [first.index(row) for row in seen]
    assert found.find(np.array([0, 1]), np.array([9], np.int32), None).tolist() == [-1]


@pytest.mark.parametrize(
    ('facts', 'message'),
    [
        ({'kind': 'sigmoid'}, "unknown kernel 'sigmoid'"),
        ({'kind': 'poly', 'degree': 0}, 'degree is 0'),
        ({'kind': 'poly', 'degree': 2.5}, 'degree is 2.5'),
        ({'kind': 'poly', 'degree': 101}, 'degree is 101'),
        ({'kind': 'poly', 'degree': True}, 'degree is True'),
        ({'kind': 'rbf', 'gamma': 0}, 'gamma is 0'),
        ({'kind': 'rbf', 'gamma': float('nan')}, 'gamma is nan'),
        ({'kind': 'poly', 'coef0': -1.0}, 'coef0 is -1.0'),
        ({'kind': 'poly', 'coef0': '1'}, "coef0 is '1'"),
        ({'kind': 'rbf', 'width': 1.0}, 'a kernel has no width'),
        ({'gamma': 1.0}, 'is no kernel'),
        ([], 'is no kernel'),
    ],
)
def test_what_is_no_kernel(facts, message):
    with pytest.raises(ValueError, match=message):
        Kernel.of(facts)


def test_kernels_that_overflow_and_feature_sets_are_refused():
    data = dataset_of(tiny.named('multiclass'))
    with pytest.raises(ValueError, match='too large'):
        build_problem(data, 'multiclass', kernel={'kind': 'poly', 'degree': 100, 'gamma': 1e300})
    with pytest.raises(ValueError, match='feature-set all'):
        build_problem(data, 'multiclass', feature_set='observed', kernel={'kind': 'rbf'})


def test_the_cache_keeps_to_its_size():
    data = dataset_of(tiny.named('chain'))
    for name, width in (('chain', 8), ('chain-binary', 1)):
        data = dataset_of(tiny.named(name))
        size = len(np.unique(dense(tiny.named(name)), axis=0))
        for rows in (0, 1, size - 1, size, size + 7):
            features = build_problem(
                data, 'chain', kernel={'kind': 'rbf'}, kernel_cache=rows * size * width / 2**20
            ).features
            assert features.basis.size == size and features.basis.kept == min(rows, size)
            assert features.basis.cache_bytes == min(rows, size) * size * width
