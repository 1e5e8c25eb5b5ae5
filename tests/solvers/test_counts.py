"""Counting: scores are the logarithms of the probabilities that one gets by hand."""

import functools
from collections import Counter
from math import exp, log

import numpy as np
import pytest

from cython_ext.features.calls import scores_of
from cython_ext.tasks.build import build_problem
from data_formats.models.model import load
from tests import optimum, trees
from tests.cli.commands import run as ssvm
from tests.enumeration import Enumeration, example_of
from tests.solvers import problems, tiny
from tests.solvers.runs import go, make, run

twin = functools.cache(problems.twin)


class Reference:
    """log p(x_i, y) of a hidden Markov model (naive Bayes where nothing is linked), by counting one by one.

    silent: attributes that are not emitted, without any the first label has no probability; linked: whether labels
    depend on the one before.
    """

    def __init__(self, data, n_labels, smoothing, silent, linked):
        self.examples = [example_of(data, i) for i in range(len(data.offsets) - 1)]
        self.smoothing, self.silent, self.n_labels, self.linked = smoothing, silent, n_labels, linked
        self.attributes, self.edges = data.n_attributes - len(silent), data.n_edge_attributes
        self.emitted, self.begun, self.followed, self.on_edges = Counter(), Counter(), Counter(), Counter()
        self.triples, self.order = Counter(), getattr(data, 'order', 1)
        for example in self.examples:
            for t, y in enumerate(example.gold):
                for a, value in example.tokens[t]:
                    if a not in silent:
                        self.emitted[a, y] += value
                        self.emitted[y] += value
                if t == 0 or not linked:
                    self.begun[y] += 1
                    self.begun['all'] += 1
                if t > 0:
                    p = example.gold[t - 1]
                    self.followed[p, y] += 1
                    self.followed[p] += 1
                    if t > 1:
                        self.triples[(*example.gold[t - 2 : t], y)] += 1
                        self.triples[example.gold[t - 2 : t]] += 1
                    for e, value in example.edges[t] if example.edges is not None else ():
                        self.on_edges[e, p, y] += value
                        self.on_edges[p, y] += value

    def p(self, counter, outcome, given, outcomes):
        return (counter[outcome] + self.smoothing) / (counter[given] + self.smoothing * outcomes)

    def joint(self, i, code):
        example, total = self.examples[i], 0.0
        for t, y in enumerate(code):
            for a, value in example.tokens[t]:
                if a not in self.silent:
                    total += value * log(self.p(self.emitted, (a, y), y, self.attributes))
            if self.silent and (t == 0 or not self.linked):
                total += log(self.p(self.begun, y, 'all', self.n_labels))
            if t > 0:
                p = code[t - 1]
                if self.linked and (t == 1 or self.order == 1):
                    total += log(self.p(self.followed, (p, y), p, self.n_labels))
                elif self.linked:
                    before = tuple(code[t - 2 : t])
                    total += log(self.p(self.triples, (*before, y), before, self.n_labels))
                for e, value in example.edges[t] if example.edges is not None else ():
                    total += value * log(self.p(self.on_edges, (e, p, y), (p, y), self.edges))
        return total


def check(data, task, smoothing, silent, merge=False):
    """The score of every output of every example is its log probability, as that of the reference."""
    structure = getattr(data, 'structure', None)
    problem = build_problem(problems.dataset_of(data), task, 'log', None, 1.0, merge=merge, structure=structure)
    assert (problem.features.groups is not None) == merge
    truth = Enumeration(task, data, data.n_labels)
    linked = task == 'chain' and getattr(data, 'transitions', True)
    reference = Reference(data, data.n_labels, smoothing, silent, linked)
    solver = run(make('counts', problem, smoothing=smoothing), 5)
    assert solver.finished and solver.passes == 1 and solver.oracle_calls == 0
    ((_, w),) = solver.iterates()
    for i, example in enumerate(truth.examples):
        theta = scores_of(problem.features, i, w)
        for code in example.codes:
            score = theta @ problem.structure.statistics(i, np.array(code, np.int32))
            assert score == pytest.approx(reference.joint(i, code), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize('smoothing', [1.0, 0.3, 1e-6])
@pytest.mark.parametrize('name', tiny.COUNTABLE)
def test_scores_are_log_probabilities(name, smoothing):
    data = tiny.named(name)
    check(data, data.task, smoothing, silent={data.n_attributes - 1})


@pytest.mark.parametrize('task', ['multiclass', 'chain'])
def test_values_are_numbers_of_occurrences(task):
    """The attribute that every token has carries the prior only where its value is always 1."""
    data = tiny.arrays(task, (3, 1, 4, 2, 2), 3, attributes=5, bias=True, seed=3)
    data.values = np.round(np.abs(data.values) * 3)
    data.values[data.indices == 4] = 1
    check(data, task, 1.0, silent={4})


def test_without_an_attribute_that_every_token_has():
    """A chain begins with any label; what a token has of attributes makes no difference to the others' weights."""
    check(tiny.named('chain-binary'), 'chain', 1.0, silent=set())


@pytest.mark.parametrize('bias', [True, False])
def test_attributes_that_share_a_column(bias):
    """Training merges attributes that always occur together; several constant ones carry the prior together."""
    data = tiny.arrays('chain', (3, 1, 4, 2, 2), 3, attributes=3, bias=bias, binary=True, seed=6)
    if not bias:  # two on every token: one of 0 and 1, one of 2 and 3
        tokens = data.offsets[-1]
        first = np.random.default_rng(1).integers(2, size=tokens)
        data.indptr, data.n_attributes = np.arange(0, 2 * tokens + 1, 2), 4
        data.indices = np.stack([first, 2 + first], axis=1).ravel().astype(np.int32)
        check(data, 'chain', 1.0, silent=set(), merge=True)
        return
    twice = [np.sort(np.concatenate([row, row + 3])) for row in np.split(data.indices, data.indptr[1:-1])]
    data.indices, data.indptr, data.n_attributes = np.concatenate(twice).astype(np.int32), 2 * data.indptr, 6
    check(data, 'chain', 1.0, silent={2, 5}, merge=True)


def test_a_hidden_markov_model_by_hand():
    """Two sentences, `the dog barks` and `dog barks`, with the tags D N V and N V."""
    data = tiny.arrays('chain', (3, 2), 3, attributes=3)
    data.labels = np.array([0, 1, 2, 1, 2], np.int32)
    data.indptr, data.indices, data.values = np.arange(6), np.array([0, 1, 2, 1, 2], np.int32), None
    problem = build_problem(problems.dataset_of(data), 'chain', 'log', None, 1.0)
    blocks = problem.features.blocks(run(make('counts', problem), 1).iterates()[0][1])
    emission = np.log([[2 / 4, 1 / 5, 1 / 5], [1 / 4, 3 / 5, 1 / 5], [1 / 4, 1 / 5, 3 / 5]])
    transition = np.log([[1 / 4, 2 / 4, 1 / 4], [1 / 5, 1 / 5, 3 / 5], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(blocks['state'], emission, rtol=0, atol=1e-14)
    np.testing.assert_allclose(blocks['transition'], transition, rtol=0, atol=1e-14)


@pytest.mark.parametrize('name', tiny.COUNTABLE)
def test_posteriors(name):
    """The log loss of its weights is -log p(y_i | x_i) of the model."""
    it = twin(name, 'log')
    data = tiny.named(name)
    linked = data.task == 'chain' and data.transitions
    reference = Reference(data, data.n_labels, 1.0, {data.n_attributes - 1}, linked)
    ((_, w),) = run(make('counts', it.problem), 1).iterates()
    wanted = []
    for i, example in enumerate(it.truth.examples):
        joint = np.array([reference.joint(i, code) for code in example.codes])
        wanted.append(optimum.log_sum_exp(joint) - joint[example.gold])
    np.testing.assert_allclose(it.problem.evaluate(w).loss_values, wanted, rtol=1e-11, atol=1e-12)


def grammar_weights(parses, terminals, smoothing):
    """(log p of each rule by its key, the problem) of trees, counted by the program."""
    data = trees.dataset_of(parses)
    problem = build_problem(data, 'cfg', 'log', None, 1.0, structure={'terminals': terminals})
    ((_, w),) = run(make('counts', problem, smoothing=smoothing), 5).iterates()
    keys = trees.PlainGrammar(parses, terminals).number
    return {key: w[k] for key, k in keys.items()}, problem


@pytest.mark.parametrize('smoothing', [1.0, 0.3, 1e-9])
@pytest.mark.parametrize('terminals', ['word', 'pos'])
@pytest.mark.parametrize('name', ['normal form', 'chains', 'long rules'])
def test_rules_with_the_same_left_side_share_one(name, terminals, smoothing):
    """What is a tag and a phrase too writes either words or phrases."""
    parses = trees.named(name)
    weights, problem = grammar_weights(parses, terminals, smoothing)
    counts = sum((trees.PlainGrammar(parses, terminals).rules_of(one) for one in parses), Counter())
    assert set(counts) == set(weights)
    for (left, right), weight in weights.items():
        same = [counts[rule] + smoothing for rule in counts if rule[0] == left]
        assert exp(weight) == pytest.approx((counts[left, right] + smoothing) / sum(same), rel=1e-13)
    truth = trees.TreeEnumeration(parses, terminals)
    vector = np.array([weights[key] for key in truth.keys])
    for i, example in enumerate(truth.examples):
        total = problem.structure.exp_oracle(i, scores_of(problem.features, i, vector))[0]
        assert total == pytest.approx(optimum.log_sum_exp(example.features @ vector), rel=1e-12)
        if terminals == 'word':  # all sentences together have the probability 1
            assert total < 0


def test_a_grammar_by_hand():
    """S is always NP VP; of three NP one is D N; of the words of N dog is two of three."""
    parses = [
        trees.tree('(S (NP (D the) (N dog)) (VP (V barks)))'),
        trees.tree('(S (NP (N dog)) (VP (V sees) (NP (N cat))))'),
    ]
    weights, _ = grammar_weights(parses, 'word', 1.0)
    wanted = {
        ('S', ('NP', 'VP')): 3 / 3,
        ('NP', ('D', 'N')): 2 / 5,
        ('NP', ('N',)): 3 / 5,
        ('VP', ('V',)): 2 / 4,
        ('VP', ('V', 'NP')): 2 / 4,
        ('N', 'dog'): 3 / 5,
        ('N', 'cat'): 2 / 5,
        ('D', 'the'): 1,
        ('V', 'barks'): 2 / 4,
        ('V', 'sees'): 2 / 4,
    }
    assert {key: exp(weight) for key, weight in weights.items()} == pytest.approx(wanted, rel=1e-14)


def test_the_objective_has_no_influence():
    weights = set()
    for objective, loss, lam in (('hinge', 'matrix', 1.0), ('log', None, 1e-3), ('softmax-margin', 'zero-one', 9.0)):
        solver = run(make('counts', twin('chain-countable', objective, loss or 'hamming', lam).problem), 1)
        weights.add(solver.iterates()[0][1].tobytes())
    assert len(weights) == 1


def test_stopped_before_it_has_counted():
    it = twin('chain-countable', 'log')
    solver = make('counts', it.problem)
    assert not solver.run_pass(np.ones(1, np.int32))
    assert not solver.finished and not solver.iterates()[0][1].any()
    assert solver.run_pass(go())


def refused(data, task='chain', **how):
    with pytest.raises(ValueError) as found:
        make('counts', build_problem(problems.dataset_of(data), task, 'log', None, 1.0, **how))
    return str(found.value)


def test_what_cannot_be_counted_is_refused():
    data = tiny.named('chain-countable')
    assert 'use --feature-set all' in refused(data, feature_set='observed')
    assert 'use --bias' in refused(tiny.named('multiclass-binary'), 'multiclass')
    unlinked = tiny.named('chain-unlinked')
    unlinked.values = None
    assert 'use --bias' in refused(unlinked)
    data.values = np.ones(len(data.indices))
    data.values[3] = -1
    assert 'negative' in refused(data)
    assert 'a line B in the template' in refused(tiny.named('chain-unlinked'), structure={'order': 2})
    data = tiny.named('chain-edges-countable')
    data.edge_values = -np.ones(len(data.edge_indices))
    assert 'negative' in refused(data)


WORDS = 'the DT\ndog NN\nbarks VB\n\ndog NN\nbarks VB\n\nthe DT\ncat NN\nsees VB\nthe DT\ndog NN\n'


def test_the_command(tmp_path):
    """Train, tag, marginals and text work as for any model; probabilities in the text are those of the counts."""
    train, test, model = tmp_path / 'train.conll', tmp_path / 'test.conll', tmp_path / 'model'
    train.write_text(WORDS)
    (tmp_path / 'template').write_text('U0:%x[0,0]\nB\n')
    test.write_text('the\ndog\nsees\nthe\ncat\n')
    how = ['--bias', '--template', tmp_path / 'template', '--solver', 'counts', '--objective', 'log', train, model]
    done = ssvm('train', *how)
    assert 'stopped because the solver has nothing left to do after 1 pass: relative gap' in done.stderr
    assert load(model).header['status'] == 'finished'
    tagged = ssvm('predict', test, model).stdout
    assert [line.split()[1] for line in tagged.splitlines() if line] == ['DT', 'NN', 'VB', 'DT', 'NN']
    assert 'DT:' in ssvm('predict', '--marginals', test, model).stdout
    ssvm('convert', model, tmp_path / 'model.tsv')
    rows = [line.split('\t') for line in (tmp_path / 'model.tsv').read_text().splitlines()]
    weights = {tuple(row[:3]): float(row[3]) for row in rows if len(row) == 4 and row[0] in ('state', 'transition')}
    start = {'DT': log(3 / 6), 'NN': log(2 / 6), 'VB': log(1 / 6)}
    assert weights['state', 'bias', 'DT'] == pytest.approx(start['DT'], rel=1e-14)
    assert weights['state', 'U0:dog', 'NN'] == pytest.approx(log((3 + 1) / (4 + 5)), rel=1e-14)
    assert weights['transition', 'NN', 'VB'] == pytest.approx(log((3 + 1) / (3 + 3)) - start['VB'], rel=1e-14)


@pytest.mark.parametrize('options', [['--feature-set', 'observed'], ['--set', 'smoothing=0'], ['--template', 'none']])
def test_the_command_refuses_with_what_to_do(tmp_path, options):
    (tmp_path / 'train.svm').write_text('1 1:1 2:2\n2 1:1\n2 2:1\n')
    (tmp_path / 'train.conll').write_text(WORDS)
    name = 'train.svm' if options[0] == '--template' else 'train.conll'
    # what the data lack is a matter of the file
    options, code = ([], 1) if options[0] == '--template' else (options, 2)
    message = ssvm('train', '--solver', 'counts', *options, tmp_path / name, tmp_path / 'm', code=code).stderr
    assert '--feature-set all' in message or 'expected at least 1e-09' in message or '--bias' in message
    assert not (tmp_path / 'm').exists()
