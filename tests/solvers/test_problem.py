"""The two sides of the certificate, as the core computes them, against the same formulas over all outputs."""

import functools

import numpy as np
import pytest

from cython_ext.duals.sparse import SparsePoint
from cython_ext.losses.loss import DecomposableLoss
from tests import optimum
from tests.solvers.problems import twin
from tests.solvers.tiny import DATA

twin = functools.cache(twin)

LOSSES = ('zero-one', 'hamming', 'matrix')
OBJECTIVES = [('log', 'hamming'), *((o, loss) for o in ('hinge', 'softmax-margin') for loss in LOSSES)]
EVERY_DATA = pytest.mark.parametrize('name', DATA)
EVERY_OBJECTIVE = pytest.mark.parametrize(('objective', 'loss'), OBJECTIVES)
EVERY_SET = pytest.mark.parametrize('feature_set', ['all', 'observed'])


def some_weights(truth, seed):
    """Weights of several magnitudes."""
    rng = np.random.default_rng(seed)
    return [scale * rng.normal(size=truth.dim) for scale in (0.0, 0.3, 3.0, 100.0)]


def random_point(twin, seed):
    """(a sparse dual point, the same as one distribution per example): some outputs of each example."""
    rng = np.random.default_rng(seed)
    indptr, weights, code_indptr, codes, alpha = [0], [], [0], [], []
    for example in twin.truth.examples:
        count = len(example.codes)
        rows = rng.permutation(count)[: rng.integers(1, min(count, 5) + 1)]
        share = rng.dirichlet(np.ones(len(rows)))
        alpha.append(np.zeros(count))
        alpha[-1][rows] = share
        for row in rows:
            codes.extend(example.codes[row])
            code_indptr.append(len(codes))
        weights.extend(share)
        indptr.append(len(weights))
    return SparsePoint(indptr, weights, code_indptr, codes), alpha


@EVERY_DATA
@EVERY_OBJECTIVE
@EVERY_SET
def test_primal_is_the_enumerated_one(name, objective, loss, feature_set):
    it = twin(name, objective, loss, 0.7, feature_set)
    for w in some_weights(it.truth, 0):
        got = it.problem.evaluate(it.to_core(w))
        assert got.primal == pytest.approx(optimum.primal(it.plain, objective, w), rel=1e-12)
        wanted = optimum.losses(it.plain, objective, w)
        np.testing.assert_allclose(got.loss_values, wanted, rtol=1e-12, atol=1e-12 * (1 + np.abs(w).max()))
        assert got.dual is None


@EVERY_DATA
@EVERY_OBJECTIVE
@EVERY_SET
def test_softmax_of_the_scores_is_a_dual_point(name, objective, loss, feature_set):
    it = twin(name, objective, loss, 0.7, feature_set)
    if objective == 'hinge':
        softmax_of_the_hinge(it)
        return
    for w in some_weights(it.truth, 1):
        gradient = it.problem.features.zeros()
        got = it.problem.value_and_gradient(it.to_core(w), gradient)
        wanted = optimum.gradient(it.plain, objective, w)
        np.testing.assert_allclose(it.from_core(gradient), wanted, rtol=1e-11, atol=1e-12)
        # a bound is rounded down, by no more than the rounding of the terms that it is the difference of
        dual = optimum.dual(it.plain, objective, optimum.posteriors(it.plain, objective, w))
        size = got.primal + wanted @ wanted / (2 * it.plain.lam)
        assert dual - 2e-11 * size <= got.dual <= dual
        again = it.problem.evaluate(it.to_core(w), softmax_dual=True)
        assert (again.primal, again.dual) == (got.primal, got.dual)
        assert got.primal == pytest.approx(it.problem.evaluate(it.to_core(w)).primal, rel=1e-13)


def softmax_of_the_hinge(it):
    """It has no gradient; the softmax of its augmented scores is a dual point if the loss is a sum over parts."""
    with pytest.raises(TypeError, match='hinge'):
        it.problem.value_and_gradient(it.problem.features.zeros(), it.problem.features.zeros())
    if not isinstance(it.problem.objective.loss, DecomposableLoss):
        with pytest.raises(ValueError, match='sum over parts'):
            it.problem.evaluate(it.problem.features.zeros(), softmax_dual=True)
        return
    for w in some_weights(it.truth, 1):
        alpha = optimum.posteriors(it.plain, 'softmax-margin', w)
        got = it.problem.evaluate(it.to_core(w), softmax_dual=True)
        dual = optimum.dual(it.plain, 'hinge', alpha)
        assert got.dual == pytest.approx(dual, rel=1e-9, abs=1e-9 * got.primal)
        assert got.primal == pytest.approx(optimum.primal(it.plain, 'hinge', w), rel=1e-11)


@EVERY_DATA
@pytest.mark.parametrize('loss', LOSSES)
@EVERY_SET
def test_certificate_of_a_sparse_dual_point(name, loss, feature_set):
    it = twin(name, 'hinge', loss, 0.7, feature_set)
    for seed in range(5):
        point, alpha = random_point(it, seed)
        value, w = point.certify(it.problem)
        assert value == pytest.approx(optimum.dual(it.plain, 'hinge', alpha), rel=1e-11, abs=1e-12)
        np.testing.assert_allclose(it.from_core(w), optimum.weights(it.plain, alpha), rtol=1e-11, atol=1e-13)


def test_altered_dual_points_are_refused_or_worth_what_they_are():
    """Whatever stands in the arrays, a value that comes back is the dual value of a feasible point."""
    it = twin('chain', 'hinge', 'hamming', 0.7)
    best = it.best.primal
    point, _ = random_point(it, 0)

    def altered(**arrays):
        return {**{name: array.copy() for name, array in point.arrays().items()}, **arrays}

    first = slice(point.indptr[0], point.indptr[1])
    heavy, negative, foreign, short = (altered() for _ in range(4))
    heavy['weights'][first] *= 2
    negative['weights'][first] = -1.0
    foreign['codes'][0] = 3
    short['code_indptr'][1] -= 1
    below = altered()
    below['codes'][-1] = -1
    not_a_number = altered(weights=np.full_like(point.weights, np.nan))
    fewer = altered(indptr=point.indptr[:-1])
    beyond = altered(weights=point.weights[:-1])
    backwards = altered(indptr=point.indptr[::-1].copy())
    for wrong in (heavy, negative, foreign, short, below, not_a_number, fewer, beyond, backwards):
        with pytest.raises(ValueError, match='dual point'):
            SparsePoint(**wrong).certify(it.problem)
    rng = np.random.default_rng(0)
    for _ in range(50):
        mixed = altered()
        mixed['weights'] = rng.dirichlet(np.ones(len(mixed['weights']))) * it.problem.n
        for i in range(it.problem.n):
            part = slice(mixed['indptr'][i], mixed['indptr'][i + 1])
            mixed['weights'][part] /= mixed['weights'][part].sum()
        mixed['codes'] = rng.integers(3, size=len(mixed['codes'])).astype(np.int32)
        assert SparsePoint(**mixed).certify(it.problem)[0] <= best * (1 + 1e-10)


@EVERY_DATA
@EVERY_SET
def test_weights_survive_the_way_to_a_model_and_back(name, feature_set):
    it = twin(name, 'hinge', 'hamming', 0.7, feature_set)
    features, w = it.problem.features, np.random.default_rng(0).normal(size=it.truth.dim)
    vector = it.to_core(w)
    np.testing.assert_array_equal(it.from_core(vector), w)
    blocks = features.blocks(vector)
    np.testing.assert_array_equal(features.weights(blocks), vector)
    for block in blocks:
        with pytest.raises(ValueError, match='weights'):
            features.weights({**blocks, block: blocks[block][:-1]})
        with pytest.raises(ValueError, match='weights'):
            features.weights({name: array for name, array in blocks.items() if name != block})


@EVERY_DATA
@pytest.mark.parametrize('objective', ['hinge', 'log'])
@EVERY_SET
def test_predictions(name, objective, feature_set):
    """Labels, n-best lists, marginals and scores are those of the enumeration."""
    it = twin(name, objective, 'hamming', 0.7, feature_set)
    for w in some_weights(it.truth, 2)[1:3]:
        vector = it.to_core(w)
        labels, best = it.decoder.predict(vector)
        lists = it.decoder.nbest(vector, 4)
        sums, marginals = it.decoder.marginals(vector)
        np.testing.assert_array_equal(sums, it.decoder.log_partitions(vector))
        at = 0
        for i, (example, (found, scores)) in enumerate(zip(it.truth.examples, lists, strict=True)):
            totals = example.features @ w
            length = len(example.codes[0])
            assert tuple(labels[at : at + length]) == example.codes[int(totals.argmax())]
            assert best[i] == scores[0] == pytest.approx(totals.max(), rel=1e-12, abs=1e-12)
            assert sums[i] == pytest.approx(optimum.log_sum_exp(totals), rel=1e-12, abs=1e-12)
            assert len(found) == len(scores) == min(4, len(totals))
            np.testing.assert_allclose(scores, np.sort(totals)[::-1][: len(scores)], rtol=1e-12, atol=1e-12)
            rows = [example.codes.index(tuple(int(y) for y in code)) for code in found]
            np.testing.assert_allclose(totals[rows], scores, rtol=1e-12, atol=1e-12)
            p = optimum.softmax(totals)
            wanted = np.zeros((length, marginals.shape[1]))
            for code, share in zip(example.codes, p, strict=True):
                wanted[range(length), code] += share
            np.testing.assert_allclose(marginals[at : at + length], wanted, rtol=0, atol=1e-11)
            at += length
        assert at == len(labels) == len(marginals)


@EVERY_DATA
@pytest.mark.parametrize('objective', ['hinge', 'softmax-margin'])
@EVERY_SET
def test_threads_change_no_digit(name, objective, feature_set):
    """Everything that a thread pool computes, on 1, 2 and 5 threads."""
    answers = []
    for threads in (1, 2, 5):
        it = twin(name, objective, 'matrix', 0.7, feature_set, threads)
        vector = it.to_core(some_weights(it.truth, 3)[2])
        got = it.problem.evaluate(vector)
        answer = [got.primal, got.loss_values.tobytes()]
        for found in (it.decoder.predict(vector), it.decoder.marginals(vector), *it.decoder.nbest(vector, 3)):
            answer += [part.tobytes() for part in found]
        if objective == 'hinge':
            value, w = random_point(it, 0)[0].certify(it.problem)
            answer += [value, w.tobytes()]
        else:
            got = it.problem.evaluate(vector, softmax_dual=True)
            gradient = it.problem.features.zeros()
            it.problem.value_and_gradient(vector, gradient)
            answer += [got.dual, gradient.tobytes()]
        answers.append(answer)
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize('objective', ['log', 'softmax-margin'])
@pytest.mark.parametrize('lam_times_n', [1e-3, 1.0, 1e3])
def test_dual_bounds_survive_rounding(objective, lam_times_n):
    """Far from the optimum the softmax of the scores has a dual value far below; rounding must not lift it above."""
    it = twin('chain', objective, 'hamming', lam_times_n)
    rng = np.random.default_rng(5)
    for scale in 10.0 ** np.arange(0, 15, 2):
        for _ in range(10):
            w = it.to_core(scale * rng.normal(size=it.truth.dim))
            got = it.problem.evaluate(w, softmax_dual=True)
            assert got.dual <= it.best.primal * (1 + 1e-12)
            assert got.primal >= it.best.dual
