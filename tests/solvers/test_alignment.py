"""Alignments: every solver to the independently computed optimum, the variants of the hinge, and the feature map."""

import functools
import itertools

import numpy as np
import pytest

from cython_ext.features.calls import adjoint, gram_of, norm2_of, scores_of
from cython_ext.objectives.registry import Variant
from cython_ext.solvers.registry import solver_info
from cython_ext.tasks.build import build_problem
from tests import alignments, optimum, variants
from tests.oracles.cases import alignment_column
from tests.solvers.problems import Twin
from tests.solvers.runs import bounds, make, run
from tests.solvers.test_optimum import DENSE, MINIMISERS, REACH, check_both_sides, close_in

# The homolog is first; an empty decoy, and a native without decoys.
EXAMPLES = {
    'local': [
        ('ACG', ['ACA', 'GG', 'CAG'], 0, (0, 0, 'SS')),
        ('CG', ['CCG', 'AA'], 0, (0, 1, 'SS')),
        ('GAC', ['GC', '', 'CAA'], 0, (0, 0, 'SDS')),
        ('AC', ['A'], 0, (0, 0, 'S')),
    ],
    'global': [
        ('ACG', ['ACA', 'GG', 'CAG'], 0, (0, 0, 'SSS')),
        ('CG', ['CCG', 'AA'], 0, (0, 0, 'ISS')),
        ('GAC', ['C', '', 'CAA'], 0, (0, 0, 'DDS')),
        ('AC', ['A'], 0, (0, 0, 'SD')),
    ],
}
MODELS = [('local', 'linear'), ('global', 'affine')]


class AlignedTwin(Twin):
    """A problem of the core beside the one on all outputs; w[k] belongs to truth.keys[k]."""

    def places(self):
        """Where the weights of truth.keys stand."""
        return np.array([alignment_column(key, self.letters) for key in self.truth.keys], dtype=np.intp)

    def to_core(self, w):
        vector = self.problem.features.zeros()
        vector[self.places()] = w
        return vector

    def from_core(self, vector):
        vector = np.asarray(vector, np.float64)
        rest = vector.copy()
        rest[self.places()] = 0.0
        assert not rest.any(), 'a feature that no output has got a weight'
        return vector[self.places()]

    def _softmax(self, i, point):
        example = self.truth.examples[i]
        theta = point.theta[point.theta_indptr[i] : point.theta_indptr[i + 1]].astype(float)
        features = self.problem.features
        places = [alignment_column(key, self.letters) for key in example.part_keys]
        places = [
            p + (features.gaps if key[0] == 'label' else 0) for p, key in zip(places, example.part_keys, strict=True)
        ]
        return optimum.softmax(example.parts @ theta[places])


@functools.cache
def twin(align, gap_model, objective='hinge', variant=None, lam=0.5):
    local, affine = align == 'local', gap_model == 'affine'
    examples = EXAMPLES[align]
    dataset = alignments.dataset_of(examples)
    how = {'align': align, 'gap_model': gap_model}
    problem = build_problem(dataset, 'alignment', objective, None, lam, variant=variant, structure=how)
    truth = alignments.AlignmentEnumeration(examples, affine, local)
    it = AlignedTwin(problem, None, truth, optimum.Problem.of(truth, lam), objective)
    it.letters = dataset.label_names.names()
    return it


CASES = [
    (solver, objective, *model)
    for solver in MINIMISERS
    for objective, model in itertools.product(solver_info(solver).objectives, MODELS)
]


@pytest.mark.parametrize('case', CASES, ids='-'.join)
def test_bounds_close_in_on_the_optimum(case):
    solver, objective, align, gap_model = case
    it = twin(align, gap_model, objective)
    method = make(solver, it.problem, seed=3)
    close_in(it, method, *REACH[solver])
    check_both_sides(it, method, solver in DENSE)


VARIANTS = [Variant('slack', 1), Variant('margin', 2), Variant('slack', 2)]


@pytest.mark.parametrize('variant', VARIANTS, ids=lambda v: '+'.join(v.names))
@pytest.mark.parametrize('solver', ['n-slack', 'bcfw'])
def test_variants_of_the_hinge(solver, variant):
    it = twin('global', 'linear', variant=variant)
    method, best = make(solver, it.problem, seed=3), variants.solve(it.truth, variant, it.plain.lam)
    primal, dual = bounds(method)
    while primal - dual > 1e-6 * primal and method.passes < 60:
        primal, dual = bounds(run(method, 1))
        assert dual <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= primal <= best * (1 + 1e-6) + 1e-12


def test_a_hard_margin():
    """One native that can be told from its decoys."""
    examples = [('ACC', ['ACC', 'CAA'], 0, (0, 0, 'SSS'))]
    problem = build_problem(alignments.dataset_of(examples), 'alignment', variant=Variant(hard_margin=True))
    truth = alignments.AlignmentEnumeration(examples, False, True)
    method = run(make('n-slack', problem), 100)
    best = variants.solve(truth, Variant(hard_margin=True), 1.0)
    assert bounds(method)[1] == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(('align', 'gap_model'), MODELS)
def test_the_feature_map(align, gap_model):
    it, rng = twin(align, gap_model), np.random.default_rng(1)
    features, structure = it.problem.features, it.problem.structure
    w = it.to_core(rng.normal(size=it.truth.dim))
    for i, example in enumerate(it.truth.examples):
        scores = scores_of(features, i, w)
        for row in range(0, len(example.codes), 5):
            s = structure.statistics(i, np.array(example.codes[row], np.int32))
            assert scores @ s == pytest.approx(example.features[row] @ it.from_core(w), abs=1e-12)
            np.testing.assert_allclose(it.from_core(adjoint(features, i, s)), example.features[row], atol=1e-12)
            assert norm2_of(features, i, s) == pytest.approx(example.features[row] @ example.features[row])
            np.testing.assert_allclose(
                gram_of(features, i, s), scores_of(features, i, adjoint(features, i, s)), atol=1e-12
            )
    assert features.weights(features.blocks(w)).tobytes() == w.tobytes()
    with pytest.raises(ValueError, match='weights of shapes'):
        features.weights({'substitute': np.zeros((2, 2))})


def test_unknown_letters_score_nothing():
    from cython_ext.tasks.build import build_decoder
    from data_formats.datasets.alignment import joined

    train = alignments.dataset_of([('AC', ['AC', 'CA'], 0, (0, 0, 'SS'))])
    other = alignments.dataset_of([('AXC', ['AXC', 'XX'], 0, (0, 0, 'SSS'))])
    other = joined([other._piece(0)], train.label_names)
    decoder = build_decoder(other, 'alignment', structure={'free': True})
    codes, scores = decoder.predict(np.array([2.0, -1.0, -1.0, 3.0, -0.5]))
    assert codes.tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 0]
    assert scores.tolist() == [5.0]
