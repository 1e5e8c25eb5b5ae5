"""Parts with rows of attributes: the map against dense matrices."""

import itertools

import numpy as np
import pytest

from cython_ext.features.calls import add_parts_to, adjoint, gram_of, norm2_of, scores_of
from cython_ext.features.capabilities import Radius
from cython_ext.features.parts.rows import PartRows
from cython_ext.features.tokens.sparse_rows import SparseRows

COUNTS, BLANKS = (3, 0, 4), (2, 1, 0)  # parts of three examples, with rows and without
ATTRIBUTES = 5


@pytest.fixture(params=['values', 'ones'])
def made(request):
    """The map, and for each example the dense matrix of its parts, without a row for the last ones."""
    rng = np.random.default_rng(3)
    dense = rng.integers(0, 2, (sum(COUNTS), ATTRIBUTES)).astype(float)
    if request.param == 'values':
        dense *= rng.normal(size=dense.shape)
    dense[4] = 0.0
    indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))])
    values = dense[dense != 0] if request.param == 'values' else None
    rows = SparseRows(indptr, np.nonzero(dense)[1].astype(np.int32), values, ATTRIBUTES)
    offsets = np.concatenate([[0], np.cumsum(COUNTS)])
    parts = [dense[a:b] for a, b in itertools.pairwise(offsets)]
    return PartRows(rows, offsets, BLANKS), [
        np.vstack([x, np.zeros((blank, ATTRIBUTES))]) for x, blank in zip(parts, BLANKS, strict=True)
    ]


def test_scores_and_their_adjoint(made):
    features, examples = made
    rng = np.random.default_rng(5)
    w = rng.normal(size=ATTRIBUTES)
    for i, x in enumerate(examples):
        a = rng.normal(size=len(x)) * rng.integers(0, 2, len(x))
        np.testing.assert_allclose(scores_of(features, i, w), x @ w, atol=1e-14)
        np.testing.assert_allclose(adjoint(features, i, a), a @ x, atol=1e-14)
        some = np.zeros(ATTRIBUTES)
        ids = np.array([k for k in range(len(x)) for _ in range(2)], np.int32)  # each part twice
        add_parts_to(features, some, i, ids, np.repeat(a, 2))
        np.testing.assert_allclose(some, 2 * a @ x, atol=1e-14)


def test_inner_products_of_parts(made):
    """Twice: the memory that is used for it is clean again."""
    features, examples = made
    rng = np.random.default_rng(6)
    for i, x in [*enumerate(examples)] * 2:
        a = rng.normal(size=len(x))
        np.testing.assert_allclose(gram_of(features, i, a), x @ (a @ x), atol=1e-13)
        assert norm2_of(features, i, a) == pytest.approx((a @ x) @ (a @ x), abs=1e-13)


def test_differences_are_within_the_bound(made):
    """Of any outputs that have at most two parts."""
    features, examples = made
    for i, x in enumerate(examples):
        pairs = [x[p] + x[q] for p in range(len(x)) for q in range(p)]
        if pairs:
            ids = np.array([0, 1], np.int32)
            bound = features.helper(Radius).radius2(i, ids, np.ones(2), 2.0)
            assert bound >= max(((x[0] + x[1] - other) ** 2).sum() for other in pairs) - 1e-12


def test_blocks(made):
    features, _ = made
    w = np.arange(5.0)
    blocks = features.blocks(w)
    assert list(blocks) == ['feature']
    np.testing.assert_array_equal(features.weights(blocks), w)
    with pytest.raises(ValueError, match=r'shape \(4,\) for 5 attributes'):
        features.weights({'feature': np.zeros(4)})


def test_parts_that_all_have_a_row():
    rows = SparseRows(np.array([0, 1, 2]), np.array([0, 1], np.int32), None, 2)
    features = PartRows(rows, np.array([0, 2]))
    np.testing.assert_array_equal(scores_of(features, 0, np.array([2.0, 3.0])), [2.0, 3.0])
