"""Features of arcs: the map against joint features written out in full, its dictionary and its hashes, its blocks."""

import itertools

import numpy as np
import pytest

from cython_ext.features.arcs.dictionary import arc_features
from cython_ext.features.arcs.key_table import KeyTable
from cython_ext.features.arcs.names import spelled
from cython_ext.features.arcs.table import ArcTable, table_of_blocks
from cython_ext.features.calls import add_parts_to, adjoint, gram_of, norm2_of, scores_of, step
from cython_ext.features.capabilities import Radius, Tables
from cython_ext.tasks.dependency import INFO as DEPENDENCY
from tests import sentences
from tests.solvers.treebanks import TREEBANKS, dataset_of, tree_twin, treebank_problem


@pytest.fixture(params=itertools.product(TREEBANKS, ('all', 'observed'), (False, True)), ids=str)
def it(request):
    """A TreeTwin; with the places of features kept, and computed when needed."""
    name, feature_set, kept = request.param
    found = tree_twin(name, feature_set=feature_set)
    found.problem.features.helper(Tables).forget()
    if kept:
        found.problem.features.helper(Tables).keep()
    return found


def parts_vector(it, i, values):
    a = np.zeros(it.problem.structure.size(i))
    a[it.columns(i)] = values
    return a


def test_scores_give_every_tree_its_score(it):
    w = np.random.default_rng(0).normal(size=len(it.truth.keys))
    vector = it.to_core(w)
    for i, example in enumerate(it.truth.examples):
        theta = scores_of(it.problem.features, i, vector)
        scores = example.parts @ theta[it.columns(i)]
        np.testing.assert_allclose(scores, example.features @ w, rtol=0, atol=1e-11)


def test_adjoint_of_the_statistics_is_the_joint_feature(it):
    for i, example in enumerate(it.truth.examples):
        for parts, phi in list(zip(example.parts, example.features, strict=True))[::5]:
            got = adjoint(it.problem.features, i, parts_vector(it, i, parts))
            np.testing.assert_allclose(it.from_core(got), phi, rtol=0, atol=1e-13)


def test_the_adjoint_its_norm_and_its_gram(it):
    """<theta(w), a> = <w, Phi a>, |Phi a|^2 and Phi' Phi a, for dense and for sparse a."""
    features, rng = it.problem.features, np.random.default_rng(1)
    for i, example in enumerate(it.truth.examples):
        for share in (1.0, 0.3):
            w = it.to_core(rng.normal(size=len(it.truth.keys)))
            values = rng.normal(size=len(example.part_keys)) * (rng.random(len(example.part_keys)) < share)
            a = parts_vector(it, i, values)
            image = adjoint(features, i, a)
            assert scores_of(features, i, w) @ a == pytest.approx(w @ image, rel=0, abs=1e-11)
            assert norm2_of(features, i, a) == pytest.approx(image @ image, rel=1e-12, abs=1e-12)
            ids = np.flatnonzero(a).astype(np.int32)
            sparse = features.zeros()
            add_parts_to(features, sparse, i, ids, a[ids])
            np.testing.assert_allclose(sparse, image, rtol=0, atol=1e-12)
            columns = it.columns(i)
            wanted = scores_of(features, i, image)[columns]
            np.testing.assert_allclose(gram_of(features, i, a)[columns], wanted, rtol=0, atol=1e-11)
            held = w.copy()
            assert step(features, held, i, a, -0.5) == pytest.approx(image @ image, rel=1e-12, abs=1e-12)
            np.testing.assert_allclose(held, w - 0.5 * image, rtol=0, atol=1e-12)


def test_differences_have_the_norm_of_psi_and_not_more_than_the_bound(it):
    for i, example in enumerate(it.truth.examples):
        norms = []
        for parts, psi in list(zip(example.parts, example.differences, strict=True))[::3]:
            norms.append(norm2_of(it.problem.features, i, parts_vector(it, i, example.parts[example.gold] - parts)))
            assert norms[-1] == pytest.approx(psi @ psi, rel=1e-12, abs=1e-12)
        right = np.flatnonzero(parts_vector(it, i, example.parts[example.gold])).astype(np.int32)
        bound = it.problem.features.helper(Radius).radius2(i, right, np.ones(len(right)), float(len(right)))
        assert max(norms) - 1e-9 <= bound <= 16 * max(1.0, *norms, len(right) * 100.0)


def test_places_that_are_kept_are_those_computed():
    """Down to the last digit, whatever was kept; too many are not kept at all."""
    for hash_bits in (None, 10):
        problem = treebank_problem('projective-relations', hash_bits=hash_bits)
        features, rng = problem.features, np.random.default_rng(2)
        w = features.zeros()
        w[:] = rng.normal(size=len(w))
        a = [rng.normal(size=problem.structure.size(i)) for i in range(problem.n)]

        def everything(features=features, w=w, a=a):
            scores = [scores_of(features, i, w).tobytes() for i in range(len(a))]
            return scores, [(adjoint(features, i, x).tobytes(), norm2_of(features, i, x)) for i, x in enumerate(a)]

        first = everything()
        features.helper(Tables).keep()
        assert features.keeps_places
        assert everything() == first
        features.helper(Tables).forget()
        features.kept_limit = 100
        features.helper(Tables).keep()
        assert not features.keeps_places
        assert everything() == first


@pytest.mark.parametrize(('hash_bits', 'labels'), [(None, 1), (None, 3), (8, 1), (8, 3)])
def test_what_is_kept_of_long_sentences_does_what_is_computed(hash_bits, labels):
    """Also where features share weights, and where sentences of other lengths come between."""
    rng = np.random.default_rng(8)
    data, lengths = sentences.tiny((1,), relations=labels), (30, 0, 7, 41)
    data.offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    data.words, data.tags = (rng.integers(0, n, 78).astype(np.int32) for n in (4, 3))
    data.coarse, data.relations = data.tags // 2, rng.integers(0, labels, 78).astype(np.int32)
    data.heads = np.concatenate([np.arange(length, dtype=np.int32) for length in lengths])
    features = arc_features(dataset_of(data), labels, 1 if labels == 1 else 4, hash_bits=hash_bits)
    w = features.zeros()
    w[:] = rng.normal(size=len(w))
    vectors = []
    for i in range(4):
        arcs = int(features.arc_indptr[i + 1] - features.arc_indptr[i])
        a = np.zeros((arcs, features.stride))
        a[:, :labels] = rng.normal(size=(arcs, labels)) * (rng.random((arcs, 1)) < 0.6)
        vectors.append(a.ravel())
    images = [adjoint(features, i, a) for i, a in enumerate(vectors)]
    norms = [norm2_of(features, i, a) for i, a in enumerate(vectors)]
    grams = [scores_of(features, i, image) for i, image in enumerate(images)]
    features.helper(Tables).keep()
    assert features.keeps_places
    for i in (3, 1, 0, 2, 3):
        held = w.copy()
        assert step(features, held, i, vectors[i], 0.25) == pytest.approx(norms[i], rel=1e-12)
        np.testing.assert_allclose(held, w + 0.25 * images[i], rtol=0, atol=1e-11)
        scale = 1e-12 * max(1.0, abs(grams[i]).max(initial=0.0))
        np.testing.assert_allclose(gram_of(features, i, vectors[i]), grams[i], rtol=0, atol=scale)


@pytest.mark.parametrize('hash_bits', [None, 12])
def test_many_different_tags_between(hash_bits):
    """More features of an arc than are computed at a time; a right one is as long as the sentence."""
    rng, length = np.random.default_rng(4), 150
    data = sentences.tiny((1,), words=length, tags=length, coarse=True)
    data.offsets, data.heads = np.array([0, length], np.int64), np.arange(length, dtype=np.int32)
    data.heads[-1] = 1
    data.words, data.tags, data.coarse = (rng.permutation(length).astype(np.int32) for _ in range(3))
    data.relations = np.zeros(length, np.int32)
    features = arc_features(dataset_of(data), 1, 1, 'all' if hash_bits else 'observed', hash_bits)
    w = features.zeros()
    w[:] = rng.normal(size=len(w))
    theta = scores_of(features, 0, w)
    features.helper(Tables).keep()
    assert features.keeps_places
    np.testing.assert_array_equal(scores_of(features, 0, w), theta)
    if hash_bits is None:
        sentence = sentences.sentence_of(data, 0, True, True)
        weight = {name: x for name, _, x in spelled(features.blocks(w), data.word_names, data.tag_names)}
        for h, d in ((1, length), (length, 1), (3, 90), (139, 140)):
            wanted = sum(weight.get(name, 0.0) for name in sentences.arc_features(sentence, h, d)[0])
            assert theta.reshape(length, length + 1)[d - 1, h] == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize('name', ['projective-multi', 'projective-relations'])
@pytest.mark.parametrize('hash_bits', [None, 8])
def test_blocks_and_back(name, hash_bits):
    """From the blocks of a model alone, and on the data that it was trained on; weights of 0 are left out."""
    problem, rng = treebank_problem(name, hash_bits=hash_bits), np.random.default_rng(5)
    features = problem.features
    w = features.zeros()
    for i in range(problem.n):
        ids = np.flatnonzero(problem.structure.statistics(i, problem.structure.gold_code(i))).astype(np.int32)
        add_parts_to(features, w, i, ids, rng.normal(size=len(ids)))
    blocks = features.blocks(w)
    np.testing.assert_array_equal(features.weights(blocks), w)
    if hash_bits is None:
        assert len(blocks['arc.keys']) < features.table.arcs.count
    table = table_of_blocks(blocks, hash_bits)
    dataset = dataset_of(sentences.tiny(**TREEBANKS[name]))
    other = arc_features(dataset, features.n_labels, features.stride, table=table)
    other_w = other.weights(blocks)
    for i in range(problem.n):
        np.testing.assert_allclose(scores_of(other, i, other_w), scores_of(features, i, w), rtol=0, atol=1e-13)
    single = {key: a.astype(np.float32) if a.dtype == np.float64 else a for key, a in blocks.items()}
    np.testing.assert_allclose(features.weights(single), w, rtol=1e-6)


def test_blocks_that_do_not_fit_are_refused():
    problem = treebank_problem('projective-relations')
    features = problem.features
    w = features.zeros()
    w[:] = 1.0
    blocks = features.blocks(w)
    for change, said in (
        ({'arc.keys': blocks['arc.keys'] + np.uint64(10**15)}, 'that these data do not have'),
        ({'arc.keys': blocks['arc.keys'][1:]}, 'do not fit together'),
        ({'arc.bins': blocks['arc.bins'].astype(float)}, 'arc.bins of dtype float64'),
        ({'arc.weights': blocks['arc.weights'][1:]}, 'do not fit together'),
        ({'relation.weights': blocks['relation.weights'][:, 1:]}, 'do not fit together'),
        ({'arc.shape': np.array([7, 7])}, 'features of .7, 7. words and tags .expected .4, 3..'),
        ({'state': w}, 'expected .*arc.bins'),
    ):
        with pytest.raises(ValueError, match=said):
            features.weights(blocks | change)
    with pytest.raises(ValueError, match=r'expected .*arc.keys'):
        table_of_blocks({'arc.shape': np.array([4, 3]), 'arc.weights': w})
    with pytest.raises(ValueError, match='there twice'):
        table_of_blocks(blocks | {'arc.keys': np.full_like(blocks['arc.keys'], 5)})


@pytest.mark.parametrize('hash_bits', [None, 9])
@pytest.mark.parametrize('name', ['projective', 'spanning-relations'])
def test_sums_over_the_data_do_not_depend_on_threads(name, hash_bits):
    """The same bytes, and what add gives."""
    rng = np.random.default_rng(6)
    w = gradient = None
    for threads in (1, 2, 3, 20):
        problem = treebank_problem(name, 'log', None, threads=threads, hash_bits=hash_bits)
        w = problem.features.zeros() if w is None else w
        if gradient is None:
            w[:] = rng.normal(size=len(w))
        slope = problem.features.zeros()
        for prepared in (False, True):
            if prepared:
                problem.features.helper(Tables).keep()
            problem.value_and_gradient(w, slope)
            gradient = slope.copy() if gradient is None else gradient
            assert slope.tobytes() == gradient.tobytes()
    wanted = problem.lam * w
    for i in range(problem.n):
        mean = problem.structure.exp_oracle(i, scores_of(problem.features, i, w))[1]
        right = problem.structure.statistics(i, problem.structure.gold_code(i))
        wanted += adjoint(problem.features, i, mean - right) / problem.n
    np.testing.assert_allclose(gradient, wanted, rtol=0, atol=1e-12)


def test_what_is_not_possible_is_refused():
    data = dataset_of(sentences.tiny())
    for how, said in (
        ({'feature_set': 'some'}, 'unknown feature set some'),
        ({'feature_set': 'observed', 'hash_bits': 10}, 'hashed features are not listed'),
        ({'hash_bits': 40}, '40 hash bits .expected 8 to 27'),
        ({'table': ArcTable((9, 9), 1, 1)}, 'features of .9, 9. words and tags'),
    ):
        with pytest.raises(ValueError, match=said):
            arc_features(data, 1, 1, **how)
    with pytest.raises(ValueError, match=r'too many for a dictionary of arc features .use --hash-bits'):
        ArcTable((10**7, 10**4), 1, 1)
    with pytest.raises(ValueError, match='a kernel is between the features of positions'):
        DEPENDENCY.compose(data, basis=object())


def test_a_table_of_many_keys():
    """Every key is found, and no other."""
    rng = np.random.default_rng(7)
    keys = np.unique(rng.integers(1, 1 << 63, 5000, np.uint64))
    rng.shuffle(keys)
    bits = rng.integers(1, 1 << 15, len(keys)).astype(np.uint16)
    table = KeyTable(keys, bits)
    places, found = table.look_up(keys)
    assert places.tolist() == list(range(len(keys))) and (found == bits).all()
    assert (table.look_up(keys + np.uint64(1))[0][~np.isin(keys + np.uint64(1), keys)] == -1).all()
    sizes = [int(b).bit_count() for b in bits]
    assert table.lay_out() == sum(sizes)
    np.testing.assert_array_equal(table.look_up(keys)[0], np.cumsum(sizes) - sizes)
    np.testing.assert_array_equal(table.arrays()[0], keys)
