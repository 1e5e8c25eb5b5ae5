"""The losses of trees against the list of all trees, codes that are none, and sentences that have no tree."""

import functools
from collections import Counter

import numpy as np
import pytest

from cython_ext.core.bracket_marginals import Brackets
from cython_ext.duals.sparse import SparsePoint
from cython_ext.losses.cfg.bracket_errors import BracketErrors
from cython_ext.losses.cfg.bracket_f1 import BracketF1
from cython_ext.losses.zero_one import ZeroOne
from cython_ext.objectives.registry import Variant
from cython_ext.structures.cfg.bracketed import BracketedCfg
from cython_ext.structures.cfg.cfg import Cfg
from cython_ext.structures.cfg.grammar import Grammar
from cython_ext.tasks.build import build_problem
from tests import trees
from tests.optimum import log_sum_exp, softmax
from tests.variants import terms

KINDS = [(name, terminals) for name in ('normal form', 'chains', 'long rules') for terminals in ('word', 'pos')]


@functools.cache
def parsed(name, terminals, kept=True, kind=Cfg):
    right = trees.named(name)
    data = trees.dataset_of(right)
    grammar = Grammar.of(data, terminals)
    return kind(grammar, data, grammar.codes(data), *([] if kept else [0]))


truth_of = functools.cache(lambda name, terminals, loss: trees.TreeEnumeration(trees.named(name), terminals, loss))
LOSSES = {'zero-one': ZeroOne, 'f1': BracketF1, 'brackets': BracketErrors}


def scores_of(kind, example, seed):
    rng, m = np.random.default_rng(seed), len(example.part_keys)
    if kind == 'ties':
        return rng.integers(-1, 2, size=m).astype(float)
    far = 1e4 * (example.parts[example.gold] > 0)
    return rng.normal(size=m) + {'normal': 0.0, 'right': far, 'wrong': -far}[kind]


@pytest.mark.parametrize('kind', ['normal', 'ties', 'right', 'wrong'])
@pytest.mark.parametrize('loss', LOSSES)
@pytest.mark.parametrize(('name', 'terminals'), KINDS)
def test_losses_are_those_of_the_list(name, terminals, loss, kind):
    for kept in (True, False):
        structure = parsed(name, terminals, kept, BracketedCfg if loss == 'brackets' else Cfg)
        task_loss = LOSSES[loss](structure)
        for i, example in enumerate(truth_of(name, terminals, loss).examples):
            for row in range(0, len(example.codes), 7):
                code = np.array(example.codes[row], np.int32)
                assert task_loss.value_of(i, code) == pytest.approx(example.losses[row], abs=1e-14)
            scores = scores_of(kind, example, i)
            totals = example.parts @ scores + example.losses
            rounding = 1e-14 * np.abs(scores).max(initial=1.0) * (example.parts.sum(axis=1).max() + 1) ** 2
            value, code, delta = task_loss.max_of(i, scores)
            row = example.codes.index(tuple(code.tolist()))
            assert value == pytest.approx(totals.max(), rel=0, abs=rounding)
            assert totals[row] == pytest.approx(totals.max(), rel=0, abs=rounding)
            assert delta == pytest.approx(example.losses[row], abs=1e-14)
            log_partition, mean = task_loss.exp_of(i, scores)
            assert log_partition == pytest.approx(log_sum_exp(totals), rel=0, abs=1e-12 + 8 * rounding)
            np.testing.assert_allclose(mean, softmax(totals) @ example.parts, rtol=0, atol=1e-11 + 8 * rounding)


@pytest.mark.parametrize(('name', 'terminals'), KINDS)
def test_brackets_have_the_probabilities_of_the_trees_that_have_them(name, terminals):
    truth, rng = truth_of(name, terminals, 'zero-one'), np.random.default_rng(3)
    problem = build_problem(
        trees.dataset_of(trees.named(name)), 'cfg', 'log', None, 1.0, structure={'terminals': terminals}
    )
    for size in (0.0, 1.0, 300.0):
        w = size * rng.normal(size=truth.dim)
        told = Brackets(problem.structure, problem.features, 0.0).probabilities(w)
        for right, example, found in zip(trees.named(name), truth.examples, told, strict=True):
            wanted = Counter()
            parses = truth.grammar.parses(tuple(trees.leaves(right)))
            for one, chance in zip(parses, softmax(example.features @ w), strict=True):
                wanted.update(dict.fromkeys(trees.brackets(one), chance))
            got = {(truth.grammar.labels[label], begin, end): p for begin, end, label, p in found}
            assert len(got) == len(found) and max(got.values(), default=0) <= 1
            for bracket in wanted.keys() | got.keys():
                assert got.get(bracket, 0.0) == pytest.approx(wanted[bracket], rel=0, abs=1e-11)


@pytest.mark.parametrize('variant', [Variant('slack', 1), Variant('margin', 2), Variant('slack', 2)], ids=str)
@pytest.mark.parametrize('loss', ['zero-one', 'f1'])
@pytest.mark.parametrize(('name', 'terminals'), KINDS)
def test_variants_of_the_hinge_loss(name, terminals, loss, variant):
    truth = truth_of(name, terminals, loss)
    data = trees.dataset_of(trees.named(name))
    problem = build_problem(data, 'cfg', 'hinge', loss, 0.3, variant=variant, structure={'terminals': terminals})
    for size in (0.0, 1.0, 100.0):
        w = size * np.random.default_rng(1).normal(size=truth.dim)
        wanted = []
        for example in truth.examples:
            b, c = terms(example.losses, variant)
            margin = (b - c * (example.differences @ w)).max()
            wanted.append(margin if variant.slack_norm == 1 else margin**2 / 2)
        np.testing.assert_allclose(problem.evaluate(w).loss_values, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(('name', 'terminals'), KINDS)
def test_the_number_of_bracket_errors_is_that_of_the_f1_loss(name, terminals):
    """Both losses count the same brackets: 1 - F1 is errors / (gold + found), where there are any."""
    structures = [parsed(name, terminals, kind=kind) for kind in (BracketedCfg, Cfg)]
    errors, f1 = BracketErrors(structures[0]), BracketF1(structures[1])
    for i, right in enumerate(trees.named(name)):
        gold = trees.brackets(right).total()
        for one, code in zip(*sentence(name, terminals, i), strict=True):
            total = gold + trees.brackets(one).total()
            assert errors.value_of(i, code) == pytest.approx(f1.value_of(i, code) * total, abs=1e-12)
            assert errors.expected_of(i, structures[0].statistics(i, code)) == errors.value_of(i, code)


def sentence(name, terminals, i):
    """(trees, codes) of a sentence."""
    truth = truth_of(name, terminals, 'brackets')
    found = truth.grammar.parses(tuple(trees.leaves(trees.named(name)[i])))
    return found, [np.array(code, np.int32) for code in truth.examples[i].codes]


@pytest.mark.parametrize(('name', 'terminals'), KINDS)
def test_only_codes_of_trees_make_a_dual_point(name, terminals):
    """A code with any number changed is that of another tree, or none."""
    data = trees.dataset_of(trees.named(name))
    problem = build_problem(data, 'cfg', 'hinge', 'zero-one', 1.0, structure={'terminals': terminals})
    truth, rng = truth_of(name, terminals, 'zero-one'), np.random.default_rng(0)
    lengths = [len(example.codes[0]) for example in truth.examples]
    code_indptr = np.concatenate([[0], np.cumsum(lengths)])

    def value(codes):
        return SparsePoint(np.arange(len(lengths) + 1), np.ones(len(lengths)), code_indptr, codes).value(problem)

    gold = np.concatenate([example.codes[example.gold] for example in truth.examples]).astype(np.int32)
    assert value(gold) == 0
    for _ in range(200):
        codes = gold.copy()
        codes[rng.integers(len(codes))] = rng.integers(-2 - len(truth.grammar.labels), truth.dim + 2)
        pieces = np.split(codes, code_indptr[1:-1])
        known = all(tuple(p.tolist()) in e.codes for p, e in zip(pieces, truth.examples, strict=True))
        if known:
            value(codes)
        else:
            with pytest.raises(ValueError, match='is not a distribution'):
                value(codes)


def test_a_sentence_may_have_no_tree():
    """It has no parts, the score -inf and a code of -1; words that no rule writes have the tags of rare ones."""
    grammar = Grammar.of(trees.dataset_of(trees.named('chains')), 'word')
    data = trees.dataset_of(trees.named('chains'))
    data.words = np.where(np.arange(data.tokens) < 4, -1, data.words).astype(np.int32)
    unknown = Cfg(grammar, data)
    assert unknown.parsed.all()
    assert np.isfinite(unknown.max_oracle(0, np.zeros(unknown.size(0)))[0])
    data.tags = np.zeros_like(data.tags)
    structure = Cfg(Grammar.of(trees.dataset_of(trees.named('chains')), 'pos'), data)
    assert not structure.parsed.any()
    for i in range(structure.n):
        value, code = structure.max_oracle(i, np.zeros(0))
        assert value == -np.inf and (code == -1).all()
        values, codes = structure.topk_oracle(i, np.zeros(0), 3)
        assert list(values) == [-np.inf] and (codes == -1).all()
        assert structure.exp_oracle(i, np.zeros(0))[0] == -np.inf


def test_overlong_sentences_have_no_tree():
    """Where right trees are not known: the line of a file that holds no sentences would take for ever."""
    grammar = Grammar.of(trees.dataset_of(trees.named('halves')), 'word')
    data = trees.dataset_of([('S', *[('S', 'a')] * length) for length in (30, 1001, 2)])
    assert Cfg(grammar, data).parsed.tolist() == [True, False, True]
    with pytest.raises(ValueError, match='sentence 2 has 1001 words, and the longest that are parsed have 1000'):
        Cfg(grammar, data, [None] * 3)


def test_trees_that_the_grammar_does_not_write_are_refused():
    grammar = Grammar.of(trees.dataset_of(trees.named('halves')), 'word')
    data = trees.dataset_of([trees.tree('(S (S (S a)) (S a))')])
    with pytest.raises(ValueError, match='the tree of sentence 1 has rules that the grammar does not have'):
        Cfg(grammar, data, grammar.codes(data))
