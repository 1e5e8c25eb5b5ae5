"""Dependency trees through every command."""

import gzip
import itertools
import json
import re

import numpy as np
import pytest

from cython_ext.features.arcs.names import spelled
from data_formats.models.model import load, save
from tests.cli.commands import conllu_text, run

FIVE = ('--max-passes', 5)


@pytest.fixture(scope='module')
def bank(tmp_path_factory):
    """A folder with train.conllu, test.conllu (with a crossing sentence) and train.conllx, and models of them."""
    folder = tmp_path_factory.mktemp('trees')
    (folder / 'train.conllu').write_text(conllu_text(14))
    (folder / 'test.conllu').write_text(conllu_text(8, seed=1, crossing=True))
    run('convert', '-q', folder / 'train.conllu', folder / 'train.conllx')
    train = folder / 'train.conllu'
    run('train', '-q', '--lambda', 0.1, *FIVE, train, folder / 'hinge')
    run('train', '-q', '--lambda', 0.1, *FIVE, '--objective', 'log', train, folder / 'log')
    run(
        'train',
        '-q',
        '--lambda',
        0.1,
        *FIVE,
        '--objective',
        'log',
        '--nonprojective',
        '--unlabelled',
        train,
        folder / 'any',
    )
    return folder


def rows(text):
    """The columns of the words of each sentence."""
    pieces = [[line.split('\t') for line in piece.split('\n')] for piece in text.split('\n\n')]
    words = ([row for row in piece if row[0].isdigit()] for piece in pieces)
    return [sentence for sentence in words if sentence]


def attachment(gold, found, left_out=lambda row: False):
    """(UAS, LAS) by counting."""
    pairs = [
        (a[6:8], b[6:8])
        for a, b in zip(itertools.chain(*gold), itertools.chain(*found), strict=True)
        if not left_out(a)
    ]
    return tuple(np.mean([same(a, b) for a, b in pairs]) for same in (lambda a, b: a[0] == b[0], lambda a, b: a == b))


def test_scores_are_counted_and_lines_come_back(bank, tmp_path):
    before = (bank / 'test.conllu').read_text()
    said = run(
        'predict', '--evaluate', '--metrics', tmp_path / 'm', bank / 'test.conllu', bank / 'hinge', tmp_path / 'o'
    )
    after, metrics = (tmp_path / 'o').read_text(), json.loads((tmp_path / 'm').read_text())
    gold, found = rows(before), rows(after)
    uas, las = attachment(gold, found)
    assert (metrics['uas'], metrics['las']) == pytest.approx((uas, las)) and 0.7 < las <= uas < 1
    whole = np.mean([[row[6:8] for row in a] == [row[6:8] for row in b] for a, b in zip(gold, found, strict=True)])
    assert metrics['sentence_accuracy'] == pytest.approx(whole)
    assert (metrics['sentences'], metrics['words']) == (len(gold), sum(map(len, gold)))
    assert said.stderr.startswith(f'UAS {100 * uas:.2f} %, LAS {100 * las:.2f} % ({metrics["words"]} words), whole')
    figures = metrics['relations']['nsubj']
    assert figures['gold'] == sum(row[7] == 'nsubj' for row in itertools.chain(*gold))
    assert figures['found'] == sum(row[7] == 'nsubj' for row in itertools.chain(*found))
    untouched = re.compile(r'^((?:\d+\t)(?:[^\t]*\t){5})[^\t]*\t[^\t]*', re.MULTILINE)
    assert untouched.sub(r'\1', before) == untouched.sub(r'\1', after) and before != after


def test_punctuation_may_be_left_out(bank, tmp_path):
    text = (bank / 'test.conllu').read_text().replace('\tn1\t', '\t—!\t')
    options = ['--no-punctuation', '--metrics', tmp_path / 'm', '-', bank / 'hinge']
    found = rows(run('predict', *options, stdin=text).stdout)
    metrics = json.loads((tmp_path / 'm').read_text())
    assert (metrics['uas'], metrics['las']) == pytest.approx(attachment(rows(text), found, lambda row: row[1] == '—!'))
    assert metrics['punctuation'] is False and '—!' in text
    assert metrics['words'] == sum(row[1] != '—!' for row in itertools.chain(*rows(text)))


def test_a_relation_that_the_model_does_not_know_is_wrong(bank, tmp_path):
    text = '1\tv0\t_\tVERB\t_\t_\t0\tnew\t_\t_\n\n2\t'.removesuffix('2\t')
    run('predict', '--metrics', tmp_path / 'm', '-', bank / 'hinge', stdin=text)
    assert [json.loads((tmp_path / 'm').read_text())[key] for key in ('uas', 'las')] == [1, 0]


def test_trees_that_cross_are_left_out_or_not(bank, tmp_path):
    crossing = bank / 'test.conllu'
    said = run('train', '--max-passes', 1, crossing, tmp_path / 'a').stderr.splitlines()
    assert (
        said[0] == f'{crossing}: 1 of 9 sentences are not projective and are skipped (--nonprojective takes them too)'
    )
    assert said[1].startswith(f'{crossing}: 8 sentences, ')
    certificate = run('gap', '--json', '--per-example', tmp_path / 'losses', crossing, tmp_path / 'a')
    assert json.loads(certificate.stdout)['examples'] == 8 and '1 of 9 sentences' in certificate.stderr
    said = run('train', '--max-passes', 1, '--nonprojective', crossing, tmp_path / 'b').stderr
    assert 'skipped' not in said and ': 9 sentences, ' in said
    (tmp_path / 'c.conllu').write_text(crossing.read_text().split('\n\n')[-2] + '\n')
    error = run('train', tmp_path / 'c.conllu', tmp_path / 'c', code=1).stderr
    assert error.startswith(f'{tmp_path / "c.conllu"}: nothing to learn from: 1 of 1 sentence')


def test_crossing_trees_are_learned_and_predicted(tmp_path):
    text = conllu_text(0, crossing=True) * 2
    (tmp_path / 'c.conllu').write_text(text)
    run('train', '-q', '--lambda', 1e-3, '--nonprojective', tmp_path / 'c.conllu', tmp_path / 'm')
    assert run('predict', tmp_path / 'c.conllu', tmp_path / 'm').stdout == text


def test_several_roots(tmp_path):
    text = '1\ta\t_\tA\tA\t_\t0\tr\t_\t_\n2\tb\t_\tB\tB\t_\t0\tr\t_\t_\n\n' * 2
    for name in ('a.conllx', 'a.conllu'):
        (tmp_path / name).write_text(text)
    train = ('train', '-q', '--lambda', 1e-3)
    run(*train, tmp_path / 'a.conllx', tmp_path / 'x')
    run(*train, '--multi-root', tmp_path / 'a.conllu', tmp_path / 'u')
    assert run('predict', tmp_path / 'a.conllu', tmp_path / 'u').stdout == text
    assert run('predict', tmp_path / 'a.conllx', tmp_path / 'x').stdout == text
    error = run(*train, tmp_path / 'a.conllu', tmp_path / 'n', code=1).stderr
    assert error.startswith(f'{tmp_path / "a.conllu"}:2: a second root, word 2 besides word 1 (expected one HEAD 0')
    assert ':2: a second root' in run(*train, '--single-root', tmp_path / 'a.conllx', tmp_path / 'n', code=1).stderr
    (tmp_path / 'one.conllu').write_text(text.replace('2\tb\t_\tB\tB\t_\t0', '2\tb\t_\tB\tB\t_\t1'))
    run(*train, tmp_path / 'one.conllu', tmp_path / 'one')
    assert [
        [row[6] for row in sentence]
        for sentence in rows(run('predict', tmp_path / 'a.conllu', tmp_path / 'one').stdout)
    ] == [['0', '1']] * 2


@pytest.mark.parametrize(('model', 'count'), [('log', 7), ('any', 9)])
def test_nbest_is_the_whole_distribution(bank, model, count):
    """Three words with one root have 7 projective trees, 9 with crossing arcs, times the relations of three words."""
    text = '1\td1\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tn1\t_\tNOUN\t_\t_\t_\t_\t_\t_\n3\tv1\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n'
    relations = len(load(bank / model).label_names)
    said = run('predict', '--nbest', 99 * relations**3, '-', bank / model, stdin=text).stdout
    heads = [[float(x) for x in line.split()[1:]] for line in said.splitlines() if line.startswith('#')]
    ranks, scores, chances = map(list, zip(*heads, strict=True))
    trees = [tuple((row[6], row[7]) for row in sentence) for sentence in rows(said)]
    assert len(set(trees)) == len(trees) == count * relations**3 and ranks == list(range(1, len(ranks) + 1))
    assert sorted(scores, reverse=True) == scores and sum(chances) == pytest.approx(1, abs=1e-4)
    assert run('predict', '--scores', '-', bank / model, stdin=text).stdout.splitlines() == [
        f'# 1 {scores[0]:.10g}',
        *said.splitlines()[1:5],
    ]
    columns = [row[10] for row in rows(run('predict', '--marginals', '-', bank / model, stdin=text).stdout)[0]]
    for word, column in enumerate(columns):
        marginals = dict(cell.split(':') for cell in column.split('|'))
        assert list(map(float, marginals.values())) == sorted(map(float, marginals.values()), reverse=True)
        for head in '0123':
            expected = sum(p for p, tree in zip(chances, trees, strict=True) if tree[word][0] == head)
            assert float(marginals.get(head, 0)) == pytest.approx(expected, abs=1e-4)


def test_models_of_heads_alone(bank, tmp_path):
    said = run('predict', '--evaluate', '--metrics', tmp_path / 'm', bank / 'test.conllu', bank / 'any', tmp_path / 'o')
    assert 'las' not in json.loads((tmp_path / 'm').read_text()) and 'LAS' not in said.stderr
    assert {row[7] for row in itertools.chain(*rows((tmp_path / 'o').read_text()))} == {'_'}


@pytest.mark.parametrize('name', ['hinge', 'log', 'any'])
def test_certificates(bank, name):
    found = json.loads(run('gap', '--json', bank / 'train.conllu', bank / name).stdout)
    header = load(bank / name).header
    assert found['primal'] == pytest.approx(header['primal'], rel=1e-9)
    assert found['dual'] == pytest.approx(header['dual'], rel=1e-6) and found['dual_source'] in ('model', 'softmax')


def test_held_out_scores_choose_the_best_of_a_path(bank, tmp_path):
    run(
        *('train', '-q', '--lambda-path', '10:0.1:0.1', '--max-passes', 3, '--dev', bank / 'test.conllu'),
        *('--log', tmp_path / 'log', bank / 'train.conllu', tmp_path / 'm'),
    )  # fmt: skip
    lines = [line for line in (tmp_path / 'log').read_text().splitlines() if not line.startswith('#')]
    table = [dict(zip(lines[0].split(','), line.split(','), strict=True)) for line in lines[1:]]
    best = max(table, key=lambda row: float(row['dev_las']))
    assert len(table) == 3 and load(tmp_path / 'm').header['lambda'] == float(best['lambda'])
    run('predict', '--metrics', tmp_path / 'j', bank / 'test.conllu', tmp_path / 'm', tmp_path / 'o')
    metrics = json.loads((tmp_path / 'j').read_text())
    assert [metrics['uas'], metrics['las']] == pytest.approx([float(best['dev_uas']), float(best['dev_las'])])


@pytest.mark.parametrize('options', [(), ('--objective', 'log', '--hash-bits', 10)], ids=['bcfw', 'eg'])
def test_resumed_runs_give_the_same_bytes(bank, tmp_path, options):
    how = ('train', '-q', '--rel-gap', 0, '--checkpoint', tmp_path / 'state', *options)
    run(*how, '--max-passes', 4, bank / 'train.conllu', tmp_path / 'whole')
    (tmp_path / 'state').unlink()
    run(*how, '--max-passes', 2, bank / 'train.conllu', tmp_path / 'part')
    run(*how, '--max-passes', 4, '--resume', bank / 'train.conllu', tmp_path / 'part')
    assert (tmp_path / 'whole').read_bytes() == (tmp_path / 'part').read_bytes()
    error = run(*how, '--resume', '--nonprojective', bank / 'train.conllu', tmp_path / 'part', code=1).stderr
    assert 'is the checkpoint of another run: ' in error and 'nonprojective' in error


def test_a_start_from_a_model(bank, tmp_path):
    how = ('train', '-q', '--objective', 'log', '--solver', 'lbfgs', '--lambda', 0.1, '--max-passes', 0)
    run(*how, '--init', bank / 'log', bank / 'train.conllu', tmp_path / 'same')
    assert load(tmp_path / 'same').header['primal'] == pytest.approx(load(bank / 'log').header['primal'], rel=1e-12)
    other = ('--nonprojective', bank / 'test.conllu')
    run(*how, *other, tmp_path / 'zero')
    run(*how, '--init', bank / 'log', *other, tmp_path / 'other')
    old, zero, new = (load(path) for path in (bank / 'log', tmp_path / 'zero', tmp_path / 'other'))
    assert old.word_names != new.word_names and not len(zero.weights['arc.weights'])
    assert new.header['primal'] < 0.7 * zero.header['primal']
    tables = [dict(named(model)) for model in (old, new)]
    assert tables[1] and all(tables[0][key] == weight for key, weight in tables[1].items())
    error = run(*how, '--hash-bits', 9, '--init', bank / 'log', *other, tmp_path / 'no', code=1).stderr
    assert error.startswith(f'{bank / "log"}: its features do not have the same weights')


def named(model):
    rows = spelled(model.weights, model.word_names.names(), model.tag_names.names())
    return (((feature, model.label_names.name(k) if k >= 0 else None), weight) for feature, k, weight in rows)


def test_bytes_do_not_depend_on_threads_or_on_compression(bank, tmp_path):
    text = (bank / 'test.conllu').read_bytes() * 60
    (tmp_path / 'big').write_bytes(text)
    (tmp_path / 'big.gz').write_bytes(gzip.compress(text))
    expected = run('predict', '--threads', 1, tmp_path / 'big', bank / 'hinge').stdout_bytes
    assert run('predict', '--threads', 3, tmp_path / 'big', bank / 'hinge').stdout_bytes == expected
    assert run('predict', tmp_path / 'big.gz', bank / 'hinge').stdout_bytes == expected
    assert run('predict', '-', bank / 'hinge', stdin=text).stdout_bytes == expected


@pytest.mark.parametrize('name', ['hinge', 'any'])
def test_a_model_as_text_and_back(bank, tmp_path, name):
    run('convert', bank / name, tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'm')
    run('convert', tmp_path / 'm', tmp_path / 'again.tsv')
    assert (tmp_path / 'm.tsv').read_bytes() == (tmp_path / 'again.tsv').read_bytes()
    scores = [
        run('predict', '--nbest', 3, bank / 'test.conllu', model).stdout for model in (bank / name, tmp_path / 'm')
    ]
    assert scores[0] == scores[1]
    text = (tmp_path / 'm.tsv').read_text()
    blocks = {tuple(line.split('\t')[:1]) for line in text.splitlines() if not line.startswith('#')}
    assert blocks == {('block',), ('arc',), ('end',)} and re.search(r'^arc\thp,dp .*\t-\t', text, re.MULTILINE)
    primal = json.loads(run('gap', '--json', bank / 'train.conllu', tmp_path / 'm').stdout)['primal']
    assert primal == pytest.approx(load(bank / name).header['primal'], rel=1e-9)


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        ('arc\t', 'ark\t', "block 'ark' (expected arc)"),
        ('arc\thp', 'arc\thq', 'hq'),
        ('NOUN', 'ADJ', 'ADJ'),
        ('\t-\t', '\troot\t', 'with a relation (expected -)'),
        ('\troot\t', '\tnew\t', "label 'new' is not among the labels of the model"),
        ('\tnsubj\t', '\tnsubj\tx', 'expected a finite number'),
    ],
)
def test_text_of_a_model_that_is_wrong(bank, tmp_path, old, new, message):
    run('convert', bank / 'hinge', tmp_path / 'm.tsv')
    lines = (tmp_path / 'm.tsv').read_text().splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if line.startswith('arc') and old in line)
    lines[at] = lines[at].replace(old, new, 1)
    (tmp_path / 'm.tsv').write_text(''.join(lines))
    error = run('convert', tmp_path / 'm.tsv', tmp_path / 'm', code=1).stderr
    assert error.startswith(f'{tmp_path / "m.tsv"}:{at + 1}: ') and message in error


@pytest.fixture(scope='module')
def hashed(bank, tmp_path_factory):
    """A folder of models with hashed features, with relations and without, and the text of the first."""
    folder = tmp_path_factory.mktemp('hashed')
    run('train', '-q', *FIVE, '--hash-bits', 9, bank / 'train.conllu', folder / 'relations')
    run('train', '-q', *FIVE, '--hash-bits', 8, '--unlabelled', bank / 'train.conllu', folder / 'unlabelled')
    run('convert', folder / 'relations', folder / 'relations.tsv')
    return folder


@pytest.mark.parametrize(('name', 'bits'), [('relations', 9), ('unlabelled', 8)])
def test_a_hashed_model_as_text_and_back(bank, hashed, tmp_path, name, bits):
    """All weights are there, and nothing else; predictions stay."""
    run('convert', hashed / name, tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'm')
    model, again = load(hashed / name), load(tmp_path / 'm')
    assert set(again.weights) == set(model.weights) and len(again.weights['arc.weights']) == 1 << bits
    for key, weights in model.weights.items():
        np.testing.assert_array_equal(again.weights[key], weights)
    lines = (tmp_path / 'm.tsv').read_text().splitlines()
    assert json.loads(next(line for line in lines if line.startswith('# structure:'))[12:])['hash_bits'] == bits
    written = sum(line.partition('\t')[0] in ('arc-bucket', 'relation-bucket') for line in lines)
    assert written == sum(np.count_nonzero(model.weights[key]) for key in model.weights if key.endswith('.weights'))
    how = ('predict', '--nbest', 3, bank / 'test.conllu')
    assert run(*how, tmp_path / 'm').stdout == run(*how, hashed / name).stdout


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        (r'^arc-bucket\t', 'arc\t', "block 'arc' (expected arc-bucket or relation-bucket)"),
        (r'^arc-bucket\t\d+', 'arc-bucket\t512', "bucket '512' (expected a number from 0 to 511)"),
        (r'^arc-bucket\t\d+', 'arc-bucket\t-1', "bucket '-1' (expected a number from 0 to 511)"),
        (r'^arc-bucket\t\d+', 'arc-bucket\t' + '1' * 5000, 'expected a number from 0 to 511'),
        (r'^arc-bucket\t(\d+)\t-', r'arc-bucket\t\1\troot', 'arc-bucket with a relation (expected -)'),
        (r'^relation-bucket\t\d+', 'relation-bucket\t999', "bucket '999'"),
        (r'^(relation-bucket\t\d+)\t\w+', r'\1\t-', "label '-' is not among the labels of the model"),
        (r'^(arc-bucket\t.*\n)', r'\1\1', 'a second weight of arc-bucket'),
        (r'"hash_bits": 9', '"hash_bits": 99', '99 hash bits (expected 8 to 27)'),
        (r'"hash_bits": 9', '"hash_bits": 0', 'expected arc)'),
    ],
)
def test_text_of_a_hashed_model_that_is_wrong(hashed, tmp_path, old, new, message):
    text = (hashed / 'relations.tsv').read_text()
    (tmp_path / 'm.tsv').write_text(re.sub(old, new, text, count=1, flags=re.MULTILINE))
    assert (tmp_path / 'm.tsv').read_text() != text
    error = run('convert', tmp_path / 'm.tsv', tmp_path / 'm', code=1).stderr
    assert error.startswith(f'{tmp_path / "m.tsv"}:') and message in error


@pytest.mark.parametrize(
    ('name', 'change'),
    [
        ('arc.keys', lambda array: array[:-1]),
        ('arc.bins', lambda array: array * 0),
        ('arc.weights', lambda array: array[:-1]),
        ('arc.weights', lambda array: array * np.nan),
        ('arc.shape', lambda array: array + 1),
        ('relation.weights', lambda array: array[:, :-1]),
        ('relation.keys', lambda array: array.astype(np.int64)),
    ],
)
def test_altered_models(bank, tmp_path, name, change):
    model = load(bank / 'hinge')
    model.weights[name] = change(model.weights[name])
    save(model, tmp_path / 'm')
    assert run('predict', bank / 'test.conllu', tmp_path / 'm', code=1).stderr.startswith(f'{tmp_path / "m"}: ')


REFUSED = {
    'template': (['train', '--template', 'train.conllu', 'train.conllu', 'm'], 2, '--template has no meaning'),
    'kernel': (['train', '--kernel', 'rbf', 'train.conllu', 'm'], 2, '--kernel has no meaning for the task dep'),
    'bias': (['train', '--bias', 'train.conllu', 'm'], 2, '--bias has no meaning for the task dependency'),
    'another task': (['train', '--task', 'chain', 'train.conllu', 'm'], 2, 'conllu files hold no data for'),
    'another format': (['train', '--task', 'dependency', '--format', 'conll', 'train.conllu', 'm'], 2, 'hold no'),
    'trees of labels': (['train', '--nonprojective', 'a.svm', 'm'], 2, '--nonprojective has no meaning for'),
    'roots of labels': (['train', '--multi-root', 'a.svm', 'm'], 2, '--single-root and --multi-root has no meaning'),
    'costs': (['train', '--task-loss', 'costs', 'train.conllu', 'm'], 2, 'takes no cost matrix (choose from ham'),
    'hashes observed': (['train', '--hash-bits', 9, '--feature-set', 'observed', 'train.conllu', 'm'], 2, 'hashed'),
    'hash bits': (['train', '--hash-bits', 40, 'train.conllu', 'm'], 2, 'not in the range'),
    'no scores': (['predict', '--no-punctuation', 'test.conllu', 'hinge'], 2, '--no-punctuation is about the figures'),
    'marginals': (['predict', '--marginals', 'test.conllu', 'hinge'], 2, '--marginals needs a log or softmax-margin'),
    'dev': (['train', '--dev', 'blind.conllu', 'train.conllu', 'm'], 1, 'no heads (expected heads in column 7'),
    'relation': (['gap', 'new.conllu', 'hinge'], 1, 'word 2 of sentence 1 has a relation that hinge does not know'),
    'incomplete': (['gap', 'blind.conllu', 'hinge'], 1, "blind.conllu:1: HEAD '_' (expected a number"),
    'tokens': (['convert', 'train.conllu', 'a.crfsuite'], 2, 'conllu and crfsuite have nothing in common'),
    'names': (['convert', '--names', 'n', 'train.conllu', 'a.conllx'], 2, '--names make no sense'),
    'labels': (['predict', 'a.svm', 'hinge', '--format', 'svmlight'], 2, 'svmlight files hold no data'),
}  # fmt: skip


@pytest.mark.parametrize(('args', 'code', 'message'), REFUSED.values(), ids=REFUSED)
def test_refused(bank, monkeypatch, args, code, message):
    monkeypatch.chdir(bank)
    (bank / 'a.svm').write_text('1 1:1\n2 2:1\n')
    (bank / 'costs').write_text('a\tb\n0\t1\n1\t0\n')
    (bank / 'blind.conllx').write_text('1\tv0\t_\tVERB\t_\t_\n')
    (bank / 'blind.conllu').write_text('1\tv0\t_\tVERB\t_\t_\t_\t_\t_\t_\n')
    (bank / 'new.conllu').write_text('1\tv0\t_\tVERB\t_\t_\t0\troot\t_\t_\n2\tn0\t_\tNOUN\t_\t_\t1\tnew\t_\t_\n')
    result = run(*args, code=code)
    assert message in result.stderr and result.stdout == '' and not (bank / 'm').exists()


def test_the_format_is_told_by_the_content(bank, tmp_path):
    text = (bank / 'train.conllu').read_text()
    (tmp_path / 'data').write_text(text)
    said = run('train', '--max-passes', 1, tmp_path / 'data', tmp_path / 'm').stderr
    assert '(conllu, dependency)' in said
    (tmp_path / 'a.conll').write_text(text)
    said = run('train', '--task', 'dependency', tmp_path / 'a.conll', tmp_path / 'm', code=2).stderr
    assert 'a.conll: looks like a treebank, but its name is one of columns (--format conllu reads' in said
    assert said.endswith('for --task dependency (expected chain or multiclass, or --format conllx|conllu)\n')
    said = run('convert', '--to', 'conllx', tmp_path / 'data', tmp_path / 'out').stderr
    assert said.endswith(' from conllu to conllx, 14 comments left out\n')
    assert (tmp_path / 'out').read_text() == re.sub('^#.*\n', '', text, flags=re.MULTILINE)


def test_spanish(data_file, tmp_path):
    """A treebank as people have it: CoNLL-X without an ending, several roots, `_` for a relation, crossing arcs."""
    for name, count in (('esp.train', 150), ('esp.test', 40)):
        text = data_file('conll2007_spanish', name).read_text(encoding='utf-8')
        (tmp_path / name).write_text('\n\n'.join(text.split('\n\n')[:count]) + '\n\n', encoding='utf-8')
    said = run('train', '--lambda', 0.01, '--max-passes', 3, tmp_path / 'esp.train', tmp_path / 'm').stderr
    assert '(conllx, dependency)' in said and ' of 150 sentences are not projective and are skipped' in said
    assert not load(tmp_path / 'm').header['structure']['single_root']
    run('predict', '--metrics', tmp_path / 'j', tmp_path / 'esp.test', tmp_path / 'm', tmp_path / 'out')
    metrics = json.loads((tmp_path / 'j').read_text())
    gold, found = (rows((tmp_path / name).read_text(encoding='utf-8')) for name in ('esp.test', 'out'))
    assert (metrics['uas'], metrics['las']) == pytest.approx(attachment(gold, found))
    assert metrics['uas'] > 0.7 and metrics['relations']['_']['f1'] > 0.7
