"""Grammars through every command."""

import gzip
import json
import re
from collections import Counter

import numpy as np
import pytest

from data_formats.models.model import load, save
from tests import trees
from tests.cli.commands import run

FIVE = ('--lambda', 0.1, '--max-passes', 5)


def bank_text(count, seed=0):
    """Trees of sentences `NP VP`, ambiguous where a phrase with a preposition follows the object; bare on top."""
    rng = np.random.default_rng(seed)

    def word(tag):
        return f'({tag} {tag.lower()}{rng.integers(4)})'

    def noun_phrase():
        return f'(NP-SBJ {word("D")} {word("N")})' if rng.random() < 0.7 else f'(NP {word("N")})'

    lines = []
    for _ in range(count):
        subject, verb, thing, where = noun_phrase(), word('V'), noun_phrase(), f'(PP {word("P")} {noun_phrase()})'
        high = f'(VP {verb} {thing} {where})' if 'p0' in where else f'(VP {verb} (NP {thing} {where}))'
        phrase = rng.choice([high, f'(VP {verb} {thing} (NP (-NONE- *)))', f'(VP {verb})'])
        lines.append(f'( (S {subject}\n  {phrase} (. .)) )')
    return '\n'.join(lines) + '\n'


@pytest.fixture(scope='module')
def bank(tmp_path_factory):
    """A folder with train.mrg and test.mrg, and models of the former: hinge, log, and tags over tags."""
    folder = tmp_path_factory.mktemp('grammars')
    (folder / 'train.mrg').write_text(bank_text(30))
    (folder / 'test.mrg').write_text(bank_text(12, seed=1))
    for name, options in (('hinge', ()), ('log', ('--objective', 'log')), ('tags', ('--terminals', 'pos'))):
        run('train', '-q', *FIVE, *options, folder / 'train.mrg', folder / name)
    return folder


def plain(text):
    """The trees of a file without functions and traces, as tests.trees has them; TOP where there is no label on top."""
    text = re.sub(r'-SBJ|\(NP \(-NONE- \*\)\)', '', text).replace('( (', '(TOP (')
    return [trees.tree(line) for line in re.split(r'\n(?=\(|$)', text) if line]


def f1(gold, found):
    pairs = [(trees.brackets(a), trees.brackets(b)) for a, b in zip(gold, found, strict=True)]
    right = sum(sum((a & b).values()) for a, b in pairs)
    return 2 * right / sum(sum(a.values()) + sum(b.values()) for a, b in pairs)


@pytest.mark.parametrize('name', ['hinge', 'tags'])
def test_trees_are_the_best_of_all_and_their_words_come_back(bank, tmp_path, name):
    """By hand: every parse under the grammar of the training file, scored by the weights of the model as text."""
    weights = weights_of(bank / name, tmp_path)
    gold = plain((bank / 'test.mrg').read_text())
    text = run('predict', bank / 'test.mrg', bank / name).stdout
    assert text.startswith('( (S (NP (') and text.count('\n') == len(gold)
    grammar = trees.PlainGrammar(plain((bank / 'train.mrg').read_text()), 'pos' if name == 'tags' else 'word')
    assert len(weights) == len(grammar.rules)

    def score(tree):
        rules = grammar.rules_of(tree).items()
        return sum(
            count * weights[left, right if isinstance(right, str) else ' '.join(right)]
            for (left, right), count in rules
        )

    for right, found in zip(gold, plain(text), strict=True):
        assert trees.leaves(right) == trees.leaves(found)
        parses = grammar.parses(tuple(trees.leaves(right)))
        assert found in parses and score(found) == pytest.approx(max(map(score, parses)), abs=1e-12)


def test_scores_are_those_of_the_trees(bank, tmp_path):
    said = run('predict', '--evaluate', '--metrics', tmp_path / 'm', bank / 'test.mrg', bank / 'hinge', tmp_path / 'o')
    metrics, text = json.loads((tmp_path / 'm').read_text()), (tmp_path / 'o').read_text()
    gold, found = plain((bank / 'test.mrg').read_text()), plain(text)
    assert metrics['f1'] == pytest.approx(f1(gold, found)) and 0.5 < metrics['f1'] < 1
    assert (metrics['sentences'], metrics['no_parse']) == (12, 0) and said.stderr
    scored = run('predict', '--scores', bank / 'test.mrg', bank / 'hinge').stdout
    assert re.sub('^# 1 .*\n', '', scored, flags=re.MULTILINE) == text and scored.count('# 1 ') == 12


def test_nbest_is_the_whole_distribution(bank):
    sentence = 'd1 n1 v1 n2 p0 d2 n3 .\n'
    said = run('predict', '--nbest', 99, '-', bank / 'log', stdin=sentence).stdout
    heads = [[float(x) for x in line.split()[1:]] for line in said.splitlines() if line.startswith('#')]
    ranks, scores, chances = map(list, zip(*heads, strict=True))
    found = [trees.tree(line) for line in said.splitlines() if line.startswith('(')]
    grammar = trees.PlainGrammar(plain((bank / 'train.mrg').read_text()), 'word')
    everything = grammar.parses(tuple((None, word) for word in sentence.split()))
    assert len(found) == len(everything) > 1 and set(found) == set(everything)
    assert ranks == list(range(1, len(found) + 1)) and sorted(scores, reverse=True) == scores
    assert sum(chances) == pytest.approx(1, abs=1e-4)
    assert chances == pytest.approx(np.exp(np.array(scores) - scores[0]) * chances[0], rel=1e-4)


def test_sentences_without_a_parse(bank, tmp_path):
    """Unknown words may have the tags of rare ones; what has no parse is written flat, and counted."""
    text = '( (S (N n0) (V new)) )\n( (X (V v1) (V v2)) )\n(TOP (S (NP (N n0)) (VP (V v1)) (. .)))\n'
    said = run('predict', '--metrics', tmp_path / 'm', '-', bank / 'hinge', stdin=text).stdout.splitlines()
    assert said[1:] == ['( (V v1) (V v2))', '(TOP (S (NP (N n0)) (VP (V v1)) (. .)))']
    metrics = json.loads((tmp_path / 'm').read_text())
    assert (metrics['sentences'], metrics['no_parse']) == (3, 2)
    assert (
        run('predict', '--nbest', 2, '-', bank / 'log', stdin='v1 v2\n').stdout == '# 1 -inf\n(TOP (V v1) (V v2))\n\n'
    )
    assert run('predict', '-', bank / 'tags', stdin='new_NEW b_V\n').stdout == '(TOP (NEW new) (V b))\n'
    assert run('predict', '-', bank / 'tags', stdin='(NP (NEW a\\/b))').stdout == '(TOP (NEW a\\/b))\n'


def test_marginals_are_shares_of_all_trees(bank):
    """Of the list of all trees with their probabilities; what the brackets of the best one are is one of them."""
    out = run('predict', '--marginals', bank / 'test.mrg', bank / 'log').stdout.splitlines()
    assert out[1::2] == run('predict', bank / 'test.mrg', bank / 'log').stdout.splitlines()
    nbest = run('predict', '--nbest', 10000, bank / 'test.mrg', bank / 'log').stdout.split('\n\n')
    several = iter(nbest)
    for line, best in zip(out[::2], out[1::2], strict=True):
        found = [item.rsplit(':', 2) for item in line.split()[1:]]
        chances = {(label, *(int(k) for k in span.split('-'))): float(p) for label, span, p in found}
        assert line.startswith('# ') and sorted(chances.values(), reverse=True) == list(chances.values())
        wanted, total = Counter(), 0.0
        while total < 1 - 1e-6:
            header, tree = next(several).strip().splitlines()
            total += float(header.split()[3])
            wanted.update(dict.fromkeys(trees.brackets(plain(tree)[0]), float(header.split()[3])))
        assert {(a, i - 1, j) for a, i, j in chances} >= set(trees.brackets(plain(best)[0]))
        for (label, first, last), chance in chances.items():
            assert chance == pytest.approx(wanted[label, first - 1, last], abs=2e-6)


def test_marginals_of_sentences_without_a_parse(bank):
    out = run('predict', '--marginals', '--scores', '-', bank / 'log', stdin='n0 n1\nd0 n1 v1 .\n').stdout.splitlines()
    assert out[:2] == ['# 1 -inf', '#'] and out[2].startswith('(TOP ')
    assert out[3].startswith('# 1 ') and out[4].startswith('# ') and 'NP:1-2:' in out[4]


@pytest.mark.parametrize('name', ['hinge', 'log', 'tags'])
def test_certificates(bank, name):
    found = json.loads(run('gap', '--json', bank / 'train.mrg', bank / name).stdout)
    header = load(bank / name).header
    assert found['primal'] == pytest.approx(header['primal'], rel=1e-9)
    assert header['dual'] * (1 - 1e-9) <= found['dual'] < found['primal']
    assert found['dual_source'] == ('softmax' if name == 'log' else 'model')


def test_a_certificate_is_for_the_grammar_of_the_model(bank):
    """Whatever part of the treebank it is asked about, and trees that the grammar does not have are refused."""
    few = bank_text(30).split('\n( ')[0] + '\n'
    assert json.loads(run('gap', '--json', '-', bank / 'hinge', stdin=few).stdout)['examples'] == 1
    error = run('gap', '-', bank / 'hinge', stdin='( (S (N n0) (N n1)))', code=1).stderr
    assert error == '-: the tree of sentence 1 has rules that the grammar does not have\n'


@pytest.mark.parametrize('options', [('--rescale', 'slack'), ('--task-loss', 'zero-one', '--slack-norm', 2)])
def test_losses_and_rescaling(bank, tmp_path, options):
    run('train', '-q', '--lambda', 0.1, *options, bank / 'train.mrg', tmp_path / 'm')
    found = json.loads(run('gap', '--json', bank / 'train.mrg', tmp_path / 'm').stdout)
    assert found['status'] == 'converged' and found['primal'] > 0.01


@pytest.mark.parametrize(
    ('solver', 'objective'),
    [(solver, 'hinge') for solver in ('bcfw', 'eg', 'eg-batch', 'svrg')]
    + [('excessive-gap', 'hinge'), ('eg', 'softmax-margin'), ('lbfgs', 'softmax-margin')],
)
def test_brackets_are_a_loss_that_adds_up(bank, tmp_path, solver, objective):
    """All solvers between the same bounds, of which the gap is found again from the data."""
    how = ('--task-loss', 'brackets', '--objective', objective, '--lambda', 0.1, '--rel-gap', 0.01)
    best = f'best-{objective}'
    usual = {'hinge': 'n-slack', 'softmax-margin': 'eg-batch'}[objective]
    run('train', '-q', '--solver', usual, *how, '--rel-gap', 1e-4, bank / 'train.mrg', tmp_path / best)
    extra = ('--set', 'adaptive=true') if solver == 'excessive-gap' else ()
    run('train', '-q', '--solver', solver, *extra, *how, bank / 'train.mrg', tmp_path / 'm')
    found, wanted = (
        json.loads(run('gap', '--json', bank / 'train.mrg', tmp_path / name).stdout) for name in ('m', best)
    )
    assert wanted['relative_gap'] <= 1e-4 and found['relative_gap'] <= 0.01
    rounding = 1 + 1e-12
    assert found['dual'] <= wanted['primal'] * rounding and wanted['dual'] <= found['primal'] * rounding


def test_the_usual_loss_is_one_for_the_usual_solver(bank, tmp_path):
    said = run('train', '--objective', 'softmax-margin', '--lambda', 0.1, bank / 'train.mrg', tmp_path / 'm').stderr
    assert 'softmax-margin, task loss f1, lambda 0.1, solver lbfgs' in said and 'converged' in said


def test_longer_sentences_are_left_out(bank, tmp_path):
    said = run('train', *FIVE, '--max-length', 5, bank / 'train.mrg', tmp_path / 'm').stderr.splitlines()
    lengths = np.array([len(trees.leaves(tree)) for tree in plain((bank / 'train.mrg').read_text())])
    kept = int((lengths <= 5).sum())
    assert said[0].endswith(f': {30 - kept} of 30 sentences have more than 5 words and are skipped (--max-length)')
    assert f': {kept} sentences, {lengths[lengths <= 5].sum()} words, ' in said[1] and 0 < kept < 30
    assert json.loads(run('gap', '--json', bank / 'train.mrg', tmp_path / 'm').stdout)['examples'] == kept
    error = run('train', '--max-length', 1, bank / 'train.mrg', tmp_path / 'm', code=1).stderr
    assert 'nothing to learn from: 30 of 30 sentences have more than 1 word' in error


def test_long_sentences_are_warned_about(tmp_path):
    words = ' '.join(f'(N n{k})' for k in range(21))
    (tmp_path / 'a.mrg').write_text(f'(S {words})\n')
    how = ('train', '--max-passes', 1, tmp_path / 'a.mrg', tmp_path / 'm')
    warning = 'a sentence of 21 words: the loss f1 has to tell its parses apart, which takes long (--max-length N, or'
    assert warning in run(*how).stderr
    for options in (('--task-loss', 'zero-one'), ('--max-length', 21, '--objective', 'log')):
        assert 'takes long' not in run(*how, *options).stderr


def test_held_out_scores_and_resumed_runs(bank, tmp_path):
    how = ('train', '-q', '--rel-gap', 0, '--dev', bank / 'test.mrg', '--checkpoint', tmp_path / 'state')
    run(*how, '--max-passes', 4, '--log', tmp_path / 'log', bank / 'train.mrg', tmp_path / 'whole')
    (tmp_path / 'state').unlink()
    run(*how, '--max-passes', 2, bank / 'train.mrg', tmp_path / 'part')
    run(*how, '--max-passes', 4, '--resume', bank / 'train.mrg', tmp_path / 'part')
    assert (tmp_path / 'whole').read_bytes() == (tmp_path / 'part').read_bytes()
    lines = [line for line in (tmp_path / 'log').read_text().splitlines() if not line.startswith('#')]
    table = [dict(zip(lines[0].split(','), line.split(','), strict=True)) for line in lines[1:]]
    assert all(0.3 < float(row['dev_f1']) <= 1 for row in table)


def weights_of(model, folder):
    """The weight of each rule, by its left and right side."""
    run('convert', model, folder / 'model.tsv')
    rows = [line.split('\t') for line in (folder / 'model.tsv').read_text().splitlines() if line.startswith('rule\t')]
    return {(left, right.removeprefix('\\')): float(weight) for _, left, right, weight in rows}


def test_a_start_from_a_model(bank, tmp_path):
    how = ('train', '-q', '--objective', 'log', '--solver', 'lbfgs', '--lambda', 0.1, '--max-passes', 0)
    run(*how, '--init', bank / 'log', bank / 'train.mrg', tmp_path / 'same')
    assert load(tmp_path / 'same').header['primal'] == pytest.approx(load(bank / 'log').header['primal'], rel=1e-12)
    run(*how, '--init', bank / 'log', bank / 'test.mrg', tmp_path / 'other')
    old, new = (weights_of(path, tmp_path) for path in (bank / 'log', tmp_path / 'other'))
    assert old.keys() != new.keys() and len(old.keys() & new.keys()) > 10
    assert all(weight == old.get(rule, 0) for rule, weight in new.items())
    error = run(*how, '--terminals', 'pos', '--init', bank / 'log', bank / 'test.mrg', tmp_path / 'no', code=1).stderr
    assert error == f'{bank / "log"}: has other --terminals (expected those of this run)\n'


def test_bytes_do_not_depend_on_threads_or_on_compression(bank, tmp_path):
    text = (bank / 'test.mrg').read_bytes() * 150
    (tmp_path / 'big').write_bytes(text)
    (tmp_path / 'big.gz').write_bytes(gzip.compress(text))
    expected = run('predict', '--threads', 1, tmp_path / 'big', bank / 'tags').stdout_bytes
    assert run('predict', '--threads', 3, tmp_path / 'big', bank / 'tags').stdout_bytes == expected
    assert run('predict', '-', bank / 'tags', stdin=text).stdout_bytes == expected
    assert run('predict', tmp_path / 'big.gz', bank / 'tags').stdout_bytes == expected


@pytest.mark.parametrize('name', ['hinge', 'tags', 'odd'])
def test_a_model_as_text_and_back(bank, tmp_path, name):
    """odd: words that are named as labels are, or begin with a backslash."""
    if name == 'odd':
        text = '(S (NP (N NP) (N \\a)) (VP (V N) (NP (N (N (N S))))))\n(S (NP (N a)) (VP (V \\NP)))\n'
        (bank / 'odd.mrg').write_text(text * 2 + text.replace(' a)', ' NP)'))
        run('train', '-q', '--lambda', 1e-3, '--max-passes', 3, bank / 'odd.mrg', bank / 'odd')
    run('convert', bank / name, tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'm')
    run('convert', tmp_path / 'm', tmp_path / 'again.tsv')
    assert (tmp_path / 'm.tsv').read_bytes() == (tmp_path / 'again.tsv').read_bytes()
    data = bank / ('odd.mrg' if name == 'odd' else 'test.mrg')
    said = [run('predict', '--nbest', 3, data, model).stdout for model in (bank / name, tmp_path / 'm')]
    assert said[0] == said[1] and ('TOP' in said[0]) is False
    train = bank / ('odd.mrg' if name == 'odd' else 'train.mrg')
    primal = json.loads(run('gap', '--json', train, tmp_path / 'm').stdout)['primal']
    assert primal == pytest.approx(load(bank / name).header['primal'], rel=1e-9)


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        ('rule\t', 'state\t', "block 'state' (expected rule)"),
        ('\tNP VP .\t', '\tNP XP .\t', "label 'XP' is not among the labels of the model"),
        ('\tn1\t', '\tn9\t', "'n9' is no label and no word of the model"),
        ('rule\tN\tn2\t', 'rule\tN\tn1\t', "a second weight for the rule 'N' 'n1'"),
        ('\tn1\t', '\tn1\tx', 'expected a finite number'),
        ('rule\tNP\tN\t', 'rule\tPP\tN\t', None),
        ('# open_tags: ["', '# open_tags: ["X', None),
        ('# chains: [', '# chains: [["NP", "XP"], ', None),
        ('"top": "TOP"', '"top": null', None),
    ],
)
def test_text_of_a_model_that_is_wrong(bank, tmp_path, old, new, message):
    """message: None where no line is to blame."""
    run('convert', bank / 'hinge', tmp_path / 'm.tsv')
    text = (tmp_path / 'm.tsv').read_text()
    at = text[: text.index(old)].count('\n') + 1
    (tmp_path / 'm.tsv').write_text(text.replace(old, new, 1))
    error = run('convert', tmp_path / 'm.tsv', tmp_path / 'm', code=1).stderr
    place = f'{tmp_path / "m.tsv"}:' + (f'{at}: ' if message else ' ')
    assert error.startswith(place) and (message or '') in error


@pytest.mark.parametrize(
    ('name', 'change'),
    [
        ('grammar.lhs', lambda array: array[::-1]),
        ('grammar.rhs', lambda array: array + 1000),
        ('grammar.rhs_indptr', lambda array: array[:-1]),
        ('grammar.lexical_words', lambda array: array[:-1]),
        ('grammar.lexical_tags', lambda array: array - 1000),
        ('grammar.chain_rules', lambda array: array * 0),
        ('grammar.chain_indptr', lambda array: array + 1),
        ('grammar.open_tags', lambda array: array.astype(np.int64)),
        ('grammar.open_tags', lambda array: array[:0]),
        ('rule', lambda array: array[:-1]),
        ('rule', lambda array: array * np.nan),
    ],
)
def test_altered_models(bank, tmp_path, name, change):
    model = load(bank / 'hinge')
    model.weights[name] = change(model.weights[name])
    save(model, tmp_path / 'm')
    assert run('predict', bank / 'test.mrg', tmp_path / 'm', code=1).stderr.startswith(f'{tmp_path / "m"}: ')


def test_files_are_told_by_content_and_made_plain(bank, tmp_path):
    (tmp_path / 'trees').write_text(bank_text(3))
    said = run('convert', '--to', 'brackets', tmp_path / 'trees', tmp_path / 'plain').stderr
    text = (tmp_path / 'plain').read_text()
    assert plain(text) == plain(bank_text(3)) and text.count('\n') == 3 and '-SBJ' not in text
    traces = bank_text(3).count('-NONE-')
    assert re.search(rf': 3 sentences, \d+ words, from brackets to brackets, {traces} traces? left out$', said.strip())


REFUSED = {
    'template': (['train', '--template', 'train.mrg', 'train.mrg', 'm'], 2, '--template has no meaning for the task'),
    'kernel': (['train', '--kernel', 'rbf', 'train.mrg', 'm'], 2, '--kernel has no meaning for the task cfg'),
    'another task': (['train', '--task', 'chain', 'train.mrg', 'm'], 2, 'brackets files hold no data for --task chain'),
    'terminals': (['train', '--terminals', 'pos', 'a.svm', 'm'], 2, '--terminals has no meaning for the task multi'),
    'lengths': (['train', '--max-length', 9, 'a.svm', 'm'], 2, '--max-length has no meaning for the task multi'),
    'hamming': (['train', '--task-loss', 'hamming', 'train.mrg', 'm'], 2, 'cfg has no task loss hamming (choose from'),
    'f1': (['train', '--task-loss', 'f1', 'a.svm', 'm'], 2, 'multiclass has no task loss f1'),
    'no loss': (
        ['train', '--task-loss', 'f2', 'train.mrg', 'm'],
        2,
        'hamming (or 1), f1, brackets, given, overlap, tree or a file)',
    ),
    'costs': (['train', '--task-loss', 'a.svm', 'train.mrg', 'm'], 2, 'takes no cost matrix (choose from zero-one'),
    'eg': (['train', '--objective', 'softmax-margin', '--solver', 'eg', 'train.mrg', 'm'], 2, 'eg'),
    'marginals': (['predict', '--marginals', 'test.mrg', 'hinge'], 2, 'scores of hinge are no probabilities'),
    'dev': (['train', '--dev', 'words', 'train.mrg', 'm'], 1, 'words: no trees (expected trees, as in TRAIN)'),
    'sentences': (['train', '--format', 'brackets', 'words', 'm'], 1, "words:1: 'n0' outside of any tree"),
    'a label': (['gap', 'new.mrg', 'hinge'], 1, 'tree 2 has a label that hinge does not know (expected known ones)'),
    'another format': (['convert', 'train.mrg', 'a.conllu'], 2, 'brackets and conllu have nothing in common'),
    'names': (['convert', '--names', 'n', 'train.mrg', 'a.mrg'], 2, '--names make no sense'),
    'untagged': (['predict', 'words', 'tags'], 1, "words:1: word 'n0' without tag (expected WORD_TAG"),
}


@pytest.mark.parametrize(('args', 'code', 'message'), REFUSED.values(), ids=REFUSED)
def test_refused(bank, monkeypatch, args, code, message):
    monkeypatch.chdir(bank)
    (bank / 'a.svm').write_text('1 1:1\n2 2:1\n')
    (bank / 'words').write_text('n0 v1 .\n')
    (bank / 'new.mrg').write_text('(TOP (S (NP (N n0)) (VP (V v1)) (. .)))\n(TOP (NEW (N n0)))\n')
    result = run(*args, code=code)
    assert message in result.stderr and result.stdout == '' and not (bank / 'm').exists()


DAMAGED = '(S (N n) (V v))\n(S (N n'
EG = ('train', '--solver', 'eg')
NO_SUM = 'eg needs a task loss that is a sum over parts, and f1 on cfg is not (losses of cfg that are: brackets; '


@pytest.mark.parametrize(
    ('name', 'options'),
    [
        ('data', ('--task', 'cfg')),
        ('data', ('--format', 'brackets')),
        ('data.mrg', ()),
        ('data.mrg.gz', ('--task-loss', 'f1', '--objective', 'softmax-margin')),
    ],
)
def test_a_loss_that_does_not_fit_is_refused_before_reading(tmp_path, name, options):
    (tmp_path / name).write_text(DAMAGED)
    assert NO_SUM in run(*EG, *options, tmp_path / name, tmp_path / 'm', code=2).stderr
    assert NO_SUM not in run(*EG, *options, '--solver', 'sgd', tmp_path / name, tmp_path / 'm', code=1).stderr


def test_a_loss_that_does_not_fit_is_refused_after_reading(tmp_path):
    """Where only what is in the file says that there are trees in it."""
    (tmp_path / 'data').write_text(DAMAGED)
    assert f'{tmp_path / "data"}:2: ' in run(*EG, tmp_path / 'data', tmp_path / 'm', code=1).stderr
    (tmp_path / 'data').write_text('(S (N n) (V v))\n')
    for options in ((), ('--task-loss', 'f1')):
        assert NO_SUM in run(*EG, *options, tmp_path / 'data', tmp_path / 'm', code=2).stderr
    assert not (tmp_path / 'm').exists()
    run(*EG, '--objective', 'log', '--max-passes', 1, tmp_path / 'data', tmp_path / 'm')
