"""ssvm train: what it says, what it writes, what it refuses."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import warnings

import numpy as np
import pytest

from data_formats.errors import DataError
from data_formats.files.log import COLUMNS, TrainingLog, read_log
from data_formats.models.model import load
from tests.cli.commands import environment, run


def gap(data, model):
    return json.loads(run('gap', '--json', data, model).stdout)


@pytest.mark.parametrize(
    ('objective', 'solver', 'passes'),
    [
        ('hinge', 'bcfw', 1000),
        ('hinge', 'sgd', 100),
        ('log', 'sgd', 100),
        ('log', 'lbfgs', 1000),
        ('softmax-margin', 'lbfgs', 1000),
        ('softmax-margin', 'sgd', 100),
    ],
)
@pytest.mark.parametrize('name', ['train.svm', 'train.hmm'])
def test_every_solver_writes_a_model_that_gap_confirms(files, tmp_path, name, objective, solver, passes):
    model = tmp_path / 'm'
    run('train', '-q', '--objective', objective, '--solver', solver, '--max-passes', passes, files / name, model)
    header, found = load(model).header, gap(files / name, model)
    assert found['primal'] == header['primal']
    assert found['dual'] == pytest.approx(header['dual'], rel=1e-9) or found['dual_source'] == 'bcfw'
    assert (header['status'] == 'converged') == (found['status'] == 'converged') or found['dual_source'] == 'bcfw'
    assert header['status'] == 'converged' or solver == 'sgd'


def test_what_it_says(files, tmp_path):
    lines = run('train', '--threads', 1, files / 'train.svm', tmp_path / 'm').stderr.splitlines()
    assert lines[0] == f'{files / "train.svm"}: 30 examples, 3 labels, 4 attributes (svmlight, multiclass)'
    assert lines[1] == ('hinge, task loss zero-one, lambda 0.0333333 (1/n, the default), solver bcfw, seed 0, 1 thread')
    assert re.fullmatch(r'pass 1  primal \S+  dual \S+  relative gap \S+  \S+ s', lines[2])
    last = r'converged after \d+ passes: relative gap \S+, tolerance 0\.001 \(primal \S+, dual \S+\)'
    assert re.fullmatch(last, lines[-1])


def test_a_limit_is_no_error_unless_the_gap_is_required(files, tmp_path):
    short = ['--max-passes', 1, '--rel-gap', '1e-7', files / 'train.svm', tmp_path / 'm']
    last = run('train', *short).stderr.splitlines()[-1]
    assert re.match(r'stopped at --max-passes after 1 pass: relative gap \S+, tolerance 1e-07 ', last)
    before = (tmp_path / 'm').read_bytes()
    assert load(tmp_path / 'm').header['status'] == 'max-passes'
    run('train', '--require-gap', *short, code=3)
    assert (tmp_path / 'm').read_bytes() == before


def test_absolute_gap(files, tmp_path):
    how = ['--rel-gap', 0, '-e', '0.05', files / 'train.svm', tmp_path / 'm']
    last = run('train', *how).stderr.splitlines()[-1]
    assert 'converged' in last and 'absolute gap' in last and 'tolerance 0.05' in last
    assert gap(files / 'train.svm', tmp_path / 'm')['gap'] <= 0.05
    last = run('train', '--max-passes', 1, *how).stderr.splitlines()[-1]
    assert 'tolerance 0;' in last and 'absolute gap' in last


def test_time_limit(files, tmp_path):
    how = ['--rel-gap', 0, '--max-time', 0.1, '--max-passes', 10**9, '--solver', 'sgd']
    last = run('train', *how, files / 'train.svm', tmp_path / 'm').stderr.splitlines()[-1]
    assert last.startswith('stopped at --max-time after ')


def test_max_passes_0_evaluates_the_start(files, tmp_path):
    run('train', '--max-passes', 0, '--log', tmp_path / 'log', files / 'train.svm', tmp_path / 'm')
    rows = read_log(tmp_path / 'log')
    assert [row['pass'] for row in rows] == ['0']
    assert float(rows[0]['primal']) == 1.0
    assert not load(tmp_path / 'm').weights['state'].any()


def test_c_is_one_over_lambda(files, tmp_path):
    run('train', '-q', '-c', 8, files / 'train.svm', tmp_path / 'c')
    run('train', '-q', '--lambda', 0.125, files / 'train.svm', tmp_path / 'lambda')
    assert (tmp_path / 'c').read_bytes() == (tmp_path / 'lambda').read_bytes()


def test_command_line_of_svm_struct(files, tmp_path):
    old = ['-c', '10', '-e', '0.01', '-l', '0', '-o', '2', '-p', '1', '-v', '0']
    result = run('train', *old, files / 'train.svm', tmp_path / 'm')
    assert result.stderr == '' and result.stdout == ''
    assert load(tmp_path / 'm').header['lambda'] == 0.1


def test_verbosity(files, tmp_path):
    quiet = run('train', '-q', files / 'train.svm', tmp_path / 'm').stderr
    usual = run('train', files / 'train.svm', tmp_path / 'm').stderr
    more = run('train', '-v', files / 'train.svm', tmp_path / 'm').stderr
    assert quiet == '' and len(more.splitlines()) == len(usual.splitlines()) + 1
    assert len(run('train', '-vv', files / 'train.svm', tmp_path / 'm').stderr.splitlines()) >= len(more.splitlines())


def test_one_is_no_plural(tmp_path):
    (tmp_path / 'one.conll').write_text('w X\n')
    (tmp_path / 'tpl').write_text('U0:%x[0,0]\n')
    how = ['--template', tmp_path / 'tpl', '--threads', 1, '--max-passes', 1, '--checkpoint', tmp_path / 'state']
    lines = run('train', *how, tmp_path / 'one.conll', tmp_path / 'm').stderr.splitlines()
    assert lines[0].endswith('one.conll: 1 example, 1 token, 1 label, 1 attribute (conll, chain)')
    assert lines[2].endswith(' 1 thread') and ' after 1 pass: ' in lines[-1]
    lines = run('train', '--resume', *how, tmp_path / 'one.conll', tmp_path / 'm').stderr.splitlines()
    assert lines[3].endswith('/state after 1 pass')
    said = run('predict', '-v', tmp_path / 'one.conll', tmp_path / 'm').stderr
    assert said.endswith(': 1 example, 1 token\n')
    said = run('convert', '--template', tmp_path / 'tpl', tmp_path / 'one.conll', tmp_path / 'one.crfsuite').stderr
    assert said.endswith(': 1 example, 1 token, from conll to crfsuite\n')


def test_log_and_dev(files, tmp_path):
    how = ['--objective', 'log', '--gap-every', 2, '--log', tmp_path / 'log', '--dev', files / 'test.conll']
    run('train', *how, '--seed', 5, files / 'train.conll', tmp_path / 'm')
    text = (tmp_path / 'log').read_text().splitlines()
    assert text[0].startswith('# ssvm 0.1.0 ') and 'seed=5' in text[0]
    assert text[1] == ','.join((*COLUMNS, 'dev_accuracy', 'dev_f1'))
    rows = list(csv.DictReader(text[1:]))
    assert all(int(row['pass']) % 2 == 0 for row in rows[:-1])
    for row in rows:
        assert float(row['gap']) == pytest.approx(float(row['primal']) - float(row['dual']))
        assert 0 <= float(row['dev_f1']) <= 1
    metrics = tmp_path / 'metrics'
    run('predict', '--metrics', metrics, files / 'test.conll', tmp_path / 'm', tmp_path / 'out')
    found = json.loads(metrics.read_text())
    assert found['accuracy'] == float(rows[-1]['dev_accuracy'])
    assert found['chunks']['f1'] == pytest.approx(float(rows[-1]['dev_f1']))


def test_observed_pairs(files, models, tmp_path):
    model = load(models['obs'])
    names, labels = model.attributes.names(), model.label_names.names()
    lines = [line.split() for line in (files / 'train.conll').read_text().splitlines() if line]
    seen = {(f'U0:{word}', label) for word, label in lines}
    rows = np.repeat(np.arange(len(names)), np.diff(model.weights['state.indptr']))
    pairs = {(names[row], labels[k]) for row, k in zip(rows, model.weights['state.labels'], strict=True)}
    assert {pair for pair in pairs if pair[0].startswith('U0')} == seen
    how = ['--feature-set', 'observed', '--objective', 'log', '--template', files / 'tpl', '--log', tmp_path / 'log']
    run('train', '-q', *how, '--dev', files / 'test.conll', files / 'train.conll', tmp_path / 'm')
    assert (tmp_path / 'm').read_bytes() == models['obs'].read_bytes()
    run('predict', '--metrics', tmp_path / 'metrics', files / 'test.conll', tmp_path / 'm', tmp_path / 'out')
    accuracy = json.loads((tmp_path / 'metrics').read_text())['accuracy']
    assert float(read_log(tmp_path / 'log')[-1]['dev_accuracy']) == accuracy


def test_no_certificate(files, tmp_path):
    how = ['--no-certificate', '--max-passes', 5, '--log', tmp_path / 'log']
    last = run('train', *how, files / 'train.svm', tmp_path / 'm').stderr.splitlines()[-1]
    assert last.startswith('stopped at --max-passes after 5 passes: primal ') and last.endswith('no certificate')
    rows = read_log(tmp_path / 'log')
    assert all(row['dual'] == row['gap'] == row['relative_gap'] == '' for row in rows)
    model = load(tmp_path / 'm')
    assert model.dual is None and 'dual' not in model.header
    assert gap(files / 'train.svm', tmp_path / 'm')['dual_source'] == 'bcfw'


def test_cost_matrix(files, tmp_path):
    (tmp_path / 'costs').write_text('\t1\t2\t3\n1\t0\t1\t4\n3\t4\t1\t0\n2\t1\t0\t1\n')
    run('train', '-q', '-l', tmp_path / 'costs', files / 'train.svm', tmp_path / 'm')
    model = load(tmp_path / 'm')
    assert model.cost.tolist() == [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    assert gap(files / 'train.svm', tmp_path / 'm')['status'] == 'converged'
    run('train', '-q', '--max-passes', 0, '-l', tmp_path / 'costs', files / 'train.svm', tmp_path / 'm')
    assert gap(files / 'train.svm', tmp_path / 'm')['primal'] == pytest.approx(3.0)


COSTS = [
    ('', 'no cost matrix'),
    ('1\t2\t3\n0\t1\t1\n', 'no row for label'),
    ('1\t2\t3\n0\t1\t1\n1\t0\t1\n1\t1\n', ':4: 2 costs (expected 3'),
    ('1\t2\t3\n0\t1\t1\n1\t0\tx\n1\t1\t0\n', ":3: cost 'x'"),
    ('1\t2\t3\n0\t1\t1\n1\t0\t-1\n1\t1\t0\n', ":3: cost '-1'"),
    ('1\t2\t3\n0\t1\t1\n1\t5\t1\n1\t1\t0\n', ":3: predicting '2' where it is right costs 5"),
    ('1\t2\t4\n0\t1\t1\n1\t0\t1\n1\t1\t0\n', ":1: label '3' of the data is missing"),
    ('1\t2\t2\n0\t1\t1\n1\t0\t1\n1\t1\t0\n', ":1: label '2' stands twice"),
    ('1\t2\t3\n0\t1\t1\n1\t0\t1\n1\t1\t0\n1\t1\t0\n', ':5: one row too many'),
    ('\t1\t2\t3\n1\t0\t1\t1\n1\t1\t0\t1\n', ":3: a second row for label '1'"),
    ('\t1\t2\t3\nx\t0\t1\t1\n', ":2: row of 'x'"),
]


@pytest.mark.parametrize(('text', 'message'), COSTS)
def test_malformed_cost_matrix(files, tmp_path, text, message):
    path = tmp_path / 'costs'
    path.write_text(text)
    error = run('train', '-q', '-l', path, files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert error.startswith(str(path)) and message in error


def test_a_checkpoint_that_was_asked_for_stays(files, tmp_path):
    how = ['--rel-gap', '1e-6', '--checkpoint', tmp_path / 'state', '--log', tmp_path / 'log']
    run('train', '-q', '--max-passes', 7, *how, files / 'train.hmm', tmp_path / 'short')
    run('train', '-q', '--max-passes', 40, '--resume', *how, files / 'train.hmm', tmp_path / 'resumed')
    run('train', '-q', '--max-passes', 40, '--rel-gap', '1e-6', files / 'train.hmm', tmp_path / 'whole')
    assert (tmp_path / 'resumed').read_bytes() == (tmp_path / 'whole').read_bytes()
    passes = [int(row['pass']) for row in read_log(tmp_path / 'log')]
    assert passes == sorted(set(passes))


def test_resuming_a_run_that_had_come_to_its_end(files, tmp_path):
    how = ['--checkpoint', tmp_path / 'state', '--log', tmp_path / 'log', files / 'train.hmm', tmp_path / 'm']
    run('train', '-q', *how)
    before, rows = (tmp_path / 'm').read_bytes(), (tmp_path / 'log').read_text()
    assert 'converged after ' in run('train', '--resume', *how).stderr.splitlines()[-1]
    assert ((tmp_path / 'm').read_bytes(), (tmp_path / 'log').read_text()) == (before, rows)
    run('train', '-q', '--resume', '--rel-gap', '1e-5', *how)
    assert gap(files / 'train.hmm', tmp_path / 'm')['relative_gap'] <= 1e-5


def test_no_checkpoint_is_left_behind(files, tmp_path):
    run('train', '-q', '--checkpoint-every', '1e-9', files / 'train.hmm', tmp_path / 'm')
    assert [path.name for path in tmp_path.iterdir()] == ['m']


def test_resuming_needs_the_same_run(files, tmp_path):
    how = ['--max-passes', 3, '--checkpoint', tmp_path / 'state', '--rel-gap', '1e-9']
    run('train', '-q', *how, files / 'train.hmm', tmp_path / 'm')
    how += ['-q', '--resume']
    error = run('train', *how, '--lambda', 2, files / 'train.hmm', tmp_path / 'm', code=1).stderr
    assert 'is the checkpoint of another run: lambda was 0.0666' in error and 'and is 2.0' in error
    error = run('train', *how, '--seed', 2, files / 'train.hmm', tmp_path / 'm', code=1).stderr
    assert 'seed was 0 and is 2' in error
    changed = tmp_path / 'changed.hmm'
    changed.write_text((files / 'train.hmm').read_text().replace('1:1', '1:2', 1))
    assert 'data was' in run('train', *how, changed, tmp_path / 'm', code=1).stderr
    run('train', *how, files / 'train.hmm', tmp_path / 'm')


def test_resuming_without_a_checkpoint(files, tmp_path):
    error = run('train', '--resume', files / 'train.hmm', tmp_path / 'm', code=1).stderr
    assert (
        error == f'{tmp_path / "m.checkpoint"}: no such checkpoint (leave --resume out to start from the beginning)\n'
    )


def test_starting_from_a_model(files, tmp_path):
    how = ['-q', '--objective', 'log', files / 'train.hmm']
    run('train', *how, tmp_path / 'first')
    run('train', '--log', tmp_path / 'log', '--init', tmp_path / 'first', *how, tmp_path / 'second')
    assert [row['pass'] for row in read_log(tmp_path / 'log')] == ['0']
    assert load(tmp_path / 'second').weights['state'].tolist() == load(tmp_path / 'first').weights['state'].tolist()


def test_bcfw_starts_from_a_dual_point(files, tmp_path):
    """At the same lambda the first model's certificate is the start; at another one its dual point still helps."""
    how = ['-q', '--objective', 'hinge', '--rel-gap', '1e-4', files / 'train.hmm']
    run('train', '--lambda', '0.1', *how, tmp_path / 'first')
    for lam, passes in (('0.1', 3), ('0.09', 200)):
        run(
            'train', '--lambda', lam, '--log', tmp_path / 'log', '--init', tmp_path / 'first', *how, tmp_path / 'second'
        )
        rows = read_log(tmp_path / 'log')
        assert float(rows[0]['dual']) > 0.5 * float(rows[-1]['dual'])
        assert int(rows[-1]['pass']) <= passes
        assert load(tmp_path / 'second').header['status'] == 'converged'
    error = run('train', '--init', tmp_path / 'first', '-q', files / 'train.svm', tmp_path / 'third', code=1).stderr
    assert 'first: ' in error


@pytest.mark.parametrize('feature_set', ['all', 'observed'])
@pytest.mark.parametrize(('objective', 'solver'), [('log', 'lbfgs'), ('log', 'sgd'), ('hinge', 'sgd')])
def test_the_start_of_every_solver_that_has_one(files, models, tmp_path, feature_set, objective, solver):
    how = ['--feature-set', feature_set, '--objective', objective, '--solver', solver, '--template', files / 'tpl']
    how += ['--init', models['obs'], '--max-passes', 0]
    run('train', '-q', *how, files / 'train.conll', tmp_path / 'm')
    old, new = load(models['obs']), load(tmp_path / 'm')
    if feature_set == 'observed':
        assert (new.weights['state.weights'] == old.weights['state.weights']).all()
    else:
        assert np.count_nonzero(new.weights['state']) == np.count_nonzero(old.weights['state.weights'])
    assert (new.weights['transition'] == old.weights['transition']).all()


def test_starting_from_a_model_of_other_data(files, models, tmp_path):
    how = ['-q', '--objective', 'log', '--max-passes', 0, '--init']
    # words in another order: names decide where a weight goes
    lines = (files / 'train.conll').read_text().split('\n\n')
    (tmp_path / 'train.conll').write_text('new B-X\n\n' + '\n\n'.join(reversed(lines)))
    model = tmp_path / 'm'
    run('train', *how, models['crf'], '--template', files / 'tpl', tmp_path / 'train.conll', model)
    old, new = load(models['crf']), load(model)
    for name in ('U0:w0', 'U0:w7', 'U1:w3'):
        assert (new.weights['state'][new.attributes.get(name)] == old.weights['state'][old.attributes.get(name)]).all()
    assert not new.weights['state'][new.attributes.get('U0:new')].any()
    assert (new.weights['transition'] == old.weights['transition']).all()
    error = run('train', *how, models['crf'], files / 'train.svm', model, code=1).stderr
    assert 'none of its labels occurs' in error


def test_standard_streams(files, tmp_path):
    run('train', '-q', '--format', 'svmlight', files / 'train.svm', tmp_path / 'm')
    data = (files / 'train.svm').read_bytes()
    result = run('train', '-q', '-', '-', stdin=data)
    assert result.stdout_bytes == (tmp_path / 'm').read_bytes()


def test_a_device_is_no_place_for_a_checkpoint(files):
    run('train', '-q', '--checkpoint-every', '1e-9', files / 'train.svm', '/dev/null')
    assert run('train', '-q', '--log', '-', files / 'train.svm', '/dev/null').stdout.startswith('# ssvm 0.1.0 ')
    error = run('train', '--resume', files / 'train.svm', '/dev/null', code=2).stderr
    assert '--resume needs --checkpoint FILE' in error


def test_a_full_disk_does_not_lose_the_run(files, tmp_path, monkeypatch):
    """The model is written all the same, and the status says that not all is well."""
    how = ['--checkpoint', '/dev/full', '--max-passes', 3]
    error = run('train', '-q', *how, files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert error == '/dev/full: cannot be written: No space left on device\n'
    assert load(tmp_path / 'm').header['status'] == 'max-passes'

    def full(self, row):
        raise DataError(self.path, None, 'No space left on device')

    monkeypatch.setattr(TrainingLog, 'write', full)
    error = run('train', '-q', '--log', tmp_path / 'log', files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert error.splitlines()[0] == f'{tmp_path / "log"}: No space left on device'
    assert load(tmp_path / 'm').header['status'] == 'converged'


def test_same_bytes_twice(files, tmp_path):
    for threads in (1, 2):
        run('train', '-q', '--threads', threads, files / 'train.conll', tmp_path / str(threads))
    assert (tmp_path / '1').read_bytes() == (tmp_path / '2').read_bytes()


def test_list_solvers():
    text = run('train', '--list-solvers').stdout
    for name in ('auto', 'bcfw', 'sgd', 'lbfgs'):
        assert re.search(f'^{name} ', text, re.MULTILINE)
    for word in ('hinge', 'softmax-margin', 'max oracle', 'exp oracle', 'certificate', 'paper', '--set acceleration='):
        assert word in text


REFUSED = {
    'lambda and c': (['--lambda', '1', '-c', '1'], 'two names for one thing'),
    'lambda 0': (['--lambda', '0'], 'is not above 0'),
    'lambda nan': (['--lambda', 'nan'], 'is not a finite number'),
    'lambda inf': (['-c', 'inf'], 'is not a finite number'),
    'unknown option': (['--lamda', '1'], '--lamda'),
    'unknown solver': (['--solver', 'nope'], "unknown solver 'nope' (choose from auto, bcfw"),
    'solver that does not fit': (
        ['--solver', 'lbfgs'],
        '(solvers for hinge: bcfw, eg, eg-batch, sgd, svrg, sc-svrg, n-slack, one-slack, bmrm, smo, extragradient, fw, '
        'excessive-gap)',
    ),
    'option of the hinge': (
        ['--solver', 'bmrm', '--objective', 'log', '--set', 'cache=3'],
        'bmrm has cache for cuts of the hinge loss only',
    ),
    'option of a log loss': (['--solver', 'bmrm', '--set', 'planes=3'], 'has planes for planes of a log loss only'),
    'solver of graphs': (['--solver', 'dlpw'], '--solver dlpw has no meaning for the task multiclass'),
    'short for a relaxation': (['--solver', 'soft-bcfw'], '--solver soft-bcfw has no meaning for the task multiclass'),
    'unknown setting': (['--set', 'nope=1'], "bcfw has no option 'nope'"),
    'no value': (['--set', 'cache'], 'expected KEY=VALUE'),
    'wrong type': (['--set', 'cache=many'], 'expected a whole number'),
    'no bool': (['--set', 'acceleration=perhaps'], 'expected true or false'),
    'not offered': (['--rescale', 'both'], "'both' is not"),
    'norm not offered': (['-p', '3'], "'3' is not"),
    'task not offered': (['--task', 'tagging'], "'tagging' is not"),
    'loss without effect': (['--objective', 'log', '-l', 'hamming'], '--task-loss has no effect'),
    'no such loss': (
        ['-l', 'nope'],
        'no such file (expected zero-one (or 0), hamming (or 1), f1, brackets, given, overlap, tree or a file)',
    ),
    'passes': (['--max-passes', '2.5'], "'2.5' is not a valid whole number"),
    'task of the format': (['--task', 'chain'], 'svmlight files hold no data for --task chain'),
    'template of the format': (['--template', 'tpl'], '--template makes attributes of CoNLL columns'),
    'certificate': (['--no-certificate', '--require-gap'], '--no-certificate computes no gap'),
    'a gap of none': (['--rel-gap', 0.1, '--no-certificate'], '--rel-gap and --no-certificate exclude each other'),
    'set twice': (['--set', 'cache=5', '--set', 'cache=6'], '--set cache=6: cache is given twice'),
    'quiet and verbose': (['-q', '-v'], '--quiet and --verbose exclude each other: give one of them'),
    'quiet and verbose in one': (['-qv'], '--quiet and --verbose exclude each other: give one of them'),
    'resume and init': (['--resume', '--init', 'm'], 'give one of them'),
    'model is train': (['--template', 'model'], 'model is both --template and MODEL'),
    'log is model': (['--log', './model'], './model is both MODEL and --log'),
    'two standard inputs': (['--dev', '-', '--template', '-'], 'standard input can be read only once'),
    'log folder': (['--log', 'no/such/log'], 'does not exist'),
    'two values': (['--seed', '-1'], 'not in the range'),
}  # fmt: skip


@pytest.mark.parametrize(('options', 'message'), REFUSED.values(), ids=REFUSED)
def test_refused(files, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    result = run('train', *options, files / 'train.svm', 'model', code=2)
    assert message in result.stderr and result.stdout == ''
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written_is_refused_before_the_data_are_read(tmp_path):
    for model in (tmp_path / 'no' / 'folder' / 'm', tmp_path):
        error = run('train', tmp_path / 'missing.svm', model, code=2).stderr
        assert 'missing.svm' not in error and str(model) in error


@pytest.mark.parametrize(
    ('model', 'message'),
    [
        ('', 'MODEL is empty (expected the name of a file)'),
        ('no-such-folder/', 'no-such-folder/: is a folder (expected the name of a file to write)'),
        ('.', '.: is a folder'),
        ('no-such-folder/.', 'is a folder'),
        ('n' * 300, 'File name too long (expected the name of a file to write)'),
    ],
)
def test_names_that_no_file_can_have(tmp_path, monkeypatch, model, message):
    monkeypatch.chdir(tmp_path)
    assert message in run('train', 'missing.svm', model, code=2).stderr
    assert not list(tmp_path.iterdir())


def test_a_failed_run_leaves_the_old_model(files, tmp_path):
    run('train', '-q', files / 'train.svm', tmp_path / 'm')
    before = (tmp_path / 'm').read_bytes()
    (tmp_path / 'bad.svm').write_text('1 1:1\n2 1:x\n')
    error = run('train', tmp_path / 'bad.svm', tmp_path / 'm', code=1).stderr
    assert error.startswith(f'{tmp_path / "bad.svm"}:2: ')
    assert (tmp_path / 'm').read_bytes() == before


def scaled(text, factor):
    """SVMlight lines with their values multiplied."""
    return re.sub(r':(\S+)', lambda found: f':{float(found[1]) * factor}', text)


@pytest.mark.parametrize('how', [['--lambda', '1e-20'], ['--lambda', '1e-15'], []])
def test_the_dual_never_gets_worse_at_extreme_scales(files, tmp_path, how):
    """Running figures drown in rounding errors there; 0 is a bound all the same."""
    (tmp_path / 't.svm').write_text(scaled((files / 'train.svm').read_text(), 1 if how else 1e9))
    run('train', '-q', '--max-passes', 20, *how, '--log', tmp_path / 'log', tmp_path / 't.svm', tmp_path / 'm')
    duals = [float(row['dual']) for row in read_log(tmp_path / 'log')]
    duals.append(load(tmp_path / 'm').header['dual'])
    assert duals == sorted(duals) and duals[0] >= 0
    assert duals[-1] <= gap(tmp_path / 't.svm', tmp_path / 'm')['dual']


@pytest.mark.parametrize('how', [['--solver', 'bcfw'], ['--solver', 'sgd', '--set', 't0=1e-300']])
def test_more_passes_end_no_worse(files, tmp_path, how):
    """The weights before the first pass are an iterate too."""
    how = ['--min-freq', 10**5, '--rel-gap', 0, *how, '--log', tmp_path / 'log', files / 'train.conll', tmp_path / 'm']
    primal = []
    for passes in (0, 1, 2, 5):
        run('train', '-q', '--max-passes', passes, *how)
        primal.append(load(tmp_path / 'm').header['primal'])
        assert gap(files / 'train.conll', tmp_path / 'm')['primal'] == primal[-1]
    assert primal == sorted(primal, reverse=True)
    assert any(float(row['primal_now']) > primal[0] for row in read_log(tmp_path / 'log'))


def test_the_search_for_a_step_takes_time_too(files, tmp_path):
    how = ('--solver', 'sgd', '--max-passes', 0, '--log', tmp_path / 'log')
    run('train', '-q', *how, files / 'train.conll', tmp_path / 'm')
    (row,) = read_log(tmp_path / 'log')
    assert int(row['oracle_calls']) > 0 and float(row['seconds']) > 0


@pytest.mark.parametrize('how', [[], ['--objective', 'log'], ['--lambda-path', '1:0.1:0.1'], ['--solver', 'n-slack']])
def test_features_that_are_too_large_are_named(files, tmp_path, how):
    text = (files / 'train.svm').read_text()
    (tmp_path / 'large.svm').write_text(re.sub(r'(:\S+)', r'\1e9', text))
    how = [*how, '--max-passes', 3, '--rel-gap', 1e-9]
    said = run('train', *how, tmp_path / 'large.svm', tmp_path / 'm').stderr
    assert re.search(r'large\.svm: features have values up to \d\S+e\+09; scaled to about 1 they would', said)
    assert 'scaled' not in run('train', *how, files / 'train.svm', tmp_path / 'm').stderr


def test_grey_values_are_named_where_the_gap_is_wide(files, tmp_path):
    (tmp_path / 'grey.svm').write_text(scaled((files / 'train.svm').read_text(), 255))
    how = ['--max-passes', 3, '--rel-gap', 1e-9, tmp_path / 'grey.svm', tmp_path / 'm']
    assert re.search(r'grey\.svm: features have values up to \d{3}; scaled to about 1', run('train', *how).stderr)
    said = run('train', '--lambda', 1e4, *how).stderr
    assert gap(tmp_path / 'grey.svm', tmp_path / 'm')['relative_gap'] < 0.1 and 'scaled' not in said


def test_the_short_steps_of_excessive_gap_are_named(files, tmp_path):
    how = ['--solver', 'excessive-gap', '--max-passes', 5, files / 'train.svm', tmp_path / 'm']
    lines = run('train', *how).stderr.splitlines()
    assert '--set adaptive=true is much faster' in lines[-3]
    assert lines[-2].endswith('lowest objective of all passes (more passes or another --solver may find better ones)')
    for other in (['--set', 'adaptive=true'], ['--rel-gap', 1], ['--no-certificate']):
        assert '--set adaptive' not in run('train', *other, *how).stderr


@pytest.mark.parametrize(
    'how',
    [
        ['--objective', 'log', '--solver', 'eg'],
        ['--objective', 'log', '--solver', 'eg', '--lambda-path', '1:0.1:0.1'],
        ['--solver', 'excessive-gap'],
    ],
    ids=['eg', 'path', 'excessive-gap'],
)
def test_a_run_that_fails_because_features_are_too_large_says_so(files, tmp_path, how):
    text = (files / 'train.svm').read_text()
    (tmp_path / 'large.svm').write_text(re.sub(r'(:\S+)', r'\1e200', text))
    with warnings.catch_warnings():
        warnings.simplefilter('error')  # of numpy, which would be lines among ours
        said = run('train', '-q', *how, tmp_path / 'large.svm', tmp_path / 'm', code=1).stderr
    hint, error = said.splitlines()
    assert 'scaled to about 1' in hint and error.startswith('the run failed: primal is nan')


@pytest.mark.parametrize('certificate', [[], ['--no-certificate'], ['--rel-gap', 1]])
def test_weights_that_stay_0_because_features_are_too_large_say_so(tmp_path, certificate):
    (tmp_path / 't.svm').write_text('1 1:1e20\n2 2:1e20\n1 1:1e20 3:1\n2 2:-1e20 3:2\n')
    how = ['--solver', 'lbfgs', '--objective', 'log', *certificate, tmp_path / 't.svm', tmp_path / 'm']
    hint, zeros = run('train', *how).stderr.splitlines()[-3:-1]
    assert hint.startswith(f'{tmp_path / "t.svm"}: features have values up to 1e+20; scaled to about 1 they would ')
    assert 'all weights are 0' in zeros
    (tmp_path / 't.svm').write_text('1 1:1\n2 1:1\n')
    said = run('train', *how).stderr
    assert 'all weights are 0' in said and 'scaled' not in said


def test_weights_that_are_all_zero_are_said(files, tmp_path):
    """Examples that contradict each other are best left alone; who gets such a model is told."""
    (tmp_path / 'same.svm').write_text('1 1:1\n2 1:1\n')
    said = 'all weights are 0, which had the lowest objective'
    advice = f'{said} of all passes (a smaller --lambda, that is a larger -c, lets them grow)'
    assert advice in run('train', tmp_path / 'same.svm', tmp_path / 'm').stderr
    weights = load(tmp_path / 'm').weights
    assert not weights.get('state.weights', weights.get('state')).any()
    assert said not in run('train', files / 'train.svm', tmp_path / 'm').stderr


@pytest.mark.parametrize('option', ['--dev', '--init'])
def test_files_that_are_read_late_are_missed_early(files, tmp_path, option):
    said = run('train', '--solver', 'eg', option, tmp_path / 'nope', files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert said == f'{tmp_path / "nope"}: No such file or directory\n'


def test_nothing_to_learn_is_said(files, tmp_path):
    (tmp_path / 'one.svm').write_text('1 1:1\n1 2:1\n')
    said = run('train', tmp_path / 'one.svm', tmp_path / 'm').stderr
    assert 'one.svm: only one label, 1: there is nothing to decide' in said
    said = run('train', '--min-freq', '1000', files / 'train.svm', tmp_path / 'm').stderr
    assert 'no attributes are left (none occurs --min-freq 1000 times)' in said


def test_what_counts_lacks_is_lacking_in_the_file(files, tmp_path):
    (tmp_path / 't.svm').write_text('1 1:1\n2 2:1\n')
    how = ['-q', '--solver', 'counts', tmp_path / 't.svm', tmp_path / 'm']
    said = run('train', *how, code=1).stderr
    assert said.startswith(f'{tmp_path / "t.svm"}: counts needs an attribute that every token has')
    assert 'use --feature-set all' in run('train', '--feature-set', 'observed', *how, code=2).stderr
    run('train', '--bias', *how)


def test_checkpoints_before_any_weights_fit(tmp_path):
    """With a hard margin the primal is infinite at first."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(60, 6))
    y = (x @ rng.normal(size=(6, 4))).argmax(axis=1)
    lines = [f'{k} ' + ' '.join(f'{j + 1}:{v:.3f}' for j, v in enumerate(row)) for k, row in zip(y, x, strict=True)]
    (tmp_path / 'train.svm').write_text('\n'.join(lines) + '\n')
    how = ('-q', '--hard-margin', '--checkpoint', tmp_path / 'c', '--checkpoint-every', 1e-9, tmp_path / 'train.svm')
    run('train', *how, '--max-passes', 40, tmp_path / 'whole')
    (tmp_path / 'c').unlink()
    run('train', *how, '--max-passes', 1, tmp_path / 'm', code=1)
    run('train', *how, '--max-passes', 40, '--resume', tmp_path / 'm')
    assert load(tmp_path / 'm').header['primal'] == load(tmp_path / 'whole').header['primal']


@pytest.mark.skipif(not os.path.exists('/dev/full'), reason='/dev/full is not there')
@pytest.mark.parametrize('closed', [False, True])
def test_a_run_that_cannot_speak_is_not_lost(files, tmp_path, closed):
    """A closed standard error is what the caller wants; a full disk loses what the run says."""
    model = tmp_path / 'm'
    if closed:
        command = f'{shlex.quote(sys.executable)} -m ssvm_cli.main train {files / "train.svm"} {model} 2>&-'
        process = subprocess.run(command, shell=True, env=environment(), timeout=60)
    else:
        with open('/dev/full', 'w') as full:
            argv = [sys.executable, '-m', 'ssvm_cli.main', 'train', files / 'train.svm', model]
            process = subprocess.run(argv, stderr=full, env=environment(), timeout=60)
    assert process.returncode == (0 if closed else 1) and load(model).header['status'] == 'converged'
