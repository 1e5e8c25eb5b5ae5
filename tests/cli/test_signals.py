"""Signals: what was done is saved, and a resumed run ends as if nothing had happened."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from data_formats.files.log import read_log
from data_formats.models.model import load
from tests.cli.commands import conll_text, environment, run, start

EACH = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU]


@pytest.fixture(scope='module')
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp('corpus') / 'big.conll'
    path.write_text(conll_text(400, seed=2, longest=25))
    return path


def wait_for_rows(path, rows, process):
    """Until the log has some rows; the run is in the middle of its work then."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, process.stderr.read()
        if path.exists() and path.read_text().count('\n') >= rows + 2:
            return
        time.sleep(0.005)
    raise AssertionError(f'no {rows} rows in {path}')


def finish(process):
    process.communicate(timeout=60)
    return process.returncode


@pytest.mark.parametrize(
    ('solver', 'objective', 'signum', 'rows'),
    [
        ('bcfw', 'hinge', signal.SIGTERM, 4),
        ('bcfw', 'hinge', signal.SIGUSR1, 3),
        ('sgd', 'hinge', signal.SIGINT, 3),
        ('sgd', 'hinge', signal.SIGHUP, 3),
        ('sgd', 'log', signal.SIGUSR2, 5),
        ('lbfgs', 'log', signal.SIGXCPU, 2),
    ],
)
def test_resumed_equals_uninterrupted(corpus, tmp_path, solver, objective, signum, rows):
    log = tmp_path / 'log'
    how = ['--solver', solver, '--objective', objective, '--rel-gap', '1e-12', '--max-passes', 60, '--seed', 3]
    how += ['--threads', 1, '--log', log, corpus]
    run('train', '-q', *how, tmp_path / 'whole')
    whole = [list(row.values()) for row in read_log(log)]
    log.unlink()
    process = start('train', *how, tmp_path / 'cut')
    wait_for_rows(log, rows, process)
    process.send_signal(signum)
    assert finish(process) == 128 + signum
    assert load(tmp_path / 'cut').header['status'] == 'interrupted'
    assert (tmp_path / 'cut.checkpoint').exists()
    run('train', '-q', *how, '--resume', tmp_path / 'cut')
    assert (tmp_path / 'cut').read_bytes() == (tmp_path / 'whole').read_bytes()
    assert not (tmp_path / 'cut.checkpoint').exists()
    seconds = 2
    assert [r[:seconds] + r[seconds + 1 :] for r in whole] == [
        r[:seconds] + r[seconds + 1 :] for r in (list(row.values()) for row in read_log(log))
    ]


def test_the_interrupted_model_can_be_used(corpus, tmp_path):
    process = start('train', '--log', tmp_path / 'log', '--rel-gap', 0, corpus, tmp_path / 'm')
    wait_for_rows(tmp_path / 'log', 2, process)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert b'--resume goes on from there' in said and said.splitlines()[-1].startswith(b'interrupted after ')
    run('predict', corpus, tmp_path / 'm', tmp_path / 'out')
    primal = load(tmp_path / 'm').header['primal']
    assert f'primal        {primal:.10g}' in run('gap', corpus, tmp_path / 'm').stdout


def test_kill_leaves_the_previous_model(corpus, files, tmp_path):
    model = tmp_path / 'm'
    run('train', '-q', '--max-passes', 1, files / 'train.conll', model)
    before = model.read_bytes()
    process = start('train', '--log', tmp_path / 'log', '--checkpoint-every', '1e-9', '--rel-gap', 0, corpus, model)
    wait_for_rows(tmp_path / 'log', 3, process)
    process.kill()
    assert finish(process) == -signal.SIGKILL
    assert model.read_bytes() == before
    # the checkpoint is whole too, whenever the kill came
    run('train', '-q', '--max-passes', 20, '--rel-gap', 0, '--resume', '--log', tmp_path / 'log', corpus, model)


def slow_to_save(corpus, tmp_path, seconds):
    """A run with one row of its log, which prints `saving` before it saves its model for some seconds."""
    code = (
        'import sys, time; from ssvm_cli import cli; from ssvm_cli.training import model_file\n'
        'whole = model_file.save\n'
        f'def save(*args): print("saving", flush=True); time.sleep({seconds}); whole(*args)\n'
        'model_file.save = save; cli.cli.main(sys.argv[1:])'
    )
    how = ['train', '-q', '--log', tmp_path / 'log', '--rel-gap', '0', corpus, tmp_path / 'm']
    argv = [sys.executable, '-c', code, *how]
    process = subprocess.Popen(list(map(str, argv)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    wait_for_rows(tmp_path / 'log', 1, process)
    return process


def test_a_second_signal_ends_at_once(corpus, tmp_path):
    """The first one is being obeyed, which here takes a minute."""
    process = slow_to_save(corpus, tmp_path, 60)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == b'saving\n'
    process.send_signal(signal.SIGINT)
    assert finish(process) == 130
    assert time.monotonic() - begin < 30
    assert not (tmp_path / 'm').exists()


@pytest.mark.parametrize('signum', EACH)
def test_a_signal_before_there_is_anything_to_save(tmp_path, signum):
    """Standard input never ends: the run is still reading."""
    process = start('train', '-q', '--format', 'svmlight', '-', tmp_path / 'm', stdin=-1)
    process.stdin.write(b'1 1:1\n')
    process.stdin.flush()
    time.sleep(1.5)
    process.send_signal(signum)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signum
    assert said == b'stopped before training began: nothing has been written\n'
    assert list(tmp_path.iterdir()) == []


# The command with a signal between reading and the first pass.
INTERRUPTED_AT_THE_START = (
    'import signal, sys, time; from ssvm_cli import cli; from ssvm_cli.training import monitor\n'
    'loop = monitor.Monitor._loop\n'
    'def begin(self, stop):\n'
    '    signal.raise_signal(signal.SIGTERM)\n'
    '    while stop.signum is None: time.sleep(0.01)\n'
    '    return loop(self, stop)\n'
    'monitor.Monitor._loop = begin; cli.cli.main(sys.argv[1:])'
)


def test_a_signal_before_the_first_checkpoint(files, tmp_path):
    """The weights of the start, of which nothing is known, and its state are saved, and a run can go on from them."""
    how = ['train', '-q', files / 'train.conll']
    argv = [sys.executable, '-c', INTERRUPTED_AT_THE_START, *how, tmp_path / 'cut']
    assert subprocess.run(list(map(str, argv)), env=environment(), check=False).returncode == 143
    header = load(tmp_path / 'cut').header
    assert header['status'] == 'interrupted' and (tmp_path / 'cut.checkpoint').exists()
    run(*how, '--resume', tmp_path / 'cut')
    run(*how, tmp_path / 'whole')
    assert (tmp_path / 'cut').read_bytes() == (tmp_path / 'whole').read_bytes()


# The command with a signal in the middle of its evaluation of the start, or else of its first pass.
INTERRUPTED_ON_THE_WAY = (
    'import signal, sys, time; from ssvm_cli import cli; from ssvm_cli.training import monitor\n'
    'def raised(stop):\n'
    '    signal.raise_signal(signal.SIGTERM)\n'
    '    while not stop[0]: time.sleep(0.01)\n'
    'place, *args = sys.argv[1:]\n'
    'value = monitor.Monitor._value\n'
    'class Solver:\n'
    '    def __init__(self, solver): self.solver = solver\n'
    '    def __getattr__(self, name): return getattr(self.solver, name)\n'
    '    def run_pass(self, stop):\n'
    '        for _ in range(3): self.solver.run_pass(stop)\n'
    '        raised(stop); return False\n'
    'def start(self, w, stop):\n'
    '    if place == "start": raised(stop)\n'
    '    elif place == "pass": self.solver = Solver(self.solver)\n'
    '    return value(self, w, stop)\n'
    'monitor.Monitor._value = start; cli.cli.main(args)'
)
UNKNOWN = ('primal', 'dual', 'gap', 'relative_gap')


@pytest.mark.parametrize('place', ['start', 'pass'])
@pytest.mark.parametrize('options', [(), ('--objective', 'log', '--solver', 'sgd'), ('--solver', 'svrg')])
def test_a_model_of_which_nothing_is_known(files, tmp_path, place, options):
    """The figures are null, and everything that takes a model takes this one."""
    model, data = tmp_path / 'm', files / 'train.conll'
    argv = [sys.executable, '-c', INTERRUPTED_ON_THE_WAY, place, 'train', *options, '--threads', 1, data, model]
    done = subprocess.run(list(map(str, argv)), env=environment(), check=False, capture_output=True, text=True)
    assert done.returncode == 143, done.stderr
    saved, last = done.stderr.splitlines()[-2:]
    assert saved.startswith(f'{model} and {model}.checkpoint are saved')
    assert last.startswith('interrupted after ') and 'before anything was evaluated' in last
    header = load(model).header
    assert header['status'] == 'interrupted' and [header[key] for key in UNKNOWN] == [None] * 4
    assert np.any(load(model).weights['state']) == (place == 'pass')
    assert run('gap', data, model).stdout.startswith('primal ')
    run('predict', '--evaluate', data, model, tmp_path / 'out')
    run('convert', model, tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'again')
    assert load(tmp_path / 'again').header['primal'] is None
    if place == 'pass':
        run('train', '-q', '--max-passes', 1, *options, '--init', model, data, tmp_path / 'next')


def test_a_signal_before_there_are_weights_that_satisfy_a_hard_margin(tmp_path):
    (tmp_path / 'train.svm').write_text('1 1:1\n2 2:1\n')
    how = ['train', '--hard-margin', tmp_path / 'train.svm', tmp_path / 'm']
    argv = [sys.executable, '-c', INTERRUPTED_AT_THE_START, *map(str, how)]
    done = subprocess.run(argv, env=environment(), check=False, capture_output=True, text=True)
    assert done.returncode == 143 and not (tmp_path / 'm').exists()
    assert done.stderr.splitlines()[-1] == (
        'interrupted before any weights satisfy all constraints: no model is written; '
        f'{tmp_path / "m.checkpoint"} is saved and --resume goes on from there'
    )
    run(*how[:2], '--resume', *how[2:])
    assert load(tmp_path / 'm').header['status'] == 'converged'


@pytest.mark.parametrize(
    'module', ['click', 'data_formats.errors', 'ssvm_cli.commands.train', 'numpy', 'cython_ext.core.problem']
)
def test_an_interrupt_while_modules_are_imported(files, tmp_path, module):
    code = (
        'import runpy, signal, sys\n'
        'class Finder:\n'
        '    def find_spec(self, name, path, target=None):\n'
        f'        if name == {module!r}: signal.raise_signal(signal.SIGINT)\n'
        'sys.meta_path.insert(0, Finder())\n'
        'runpy.run_module("ssvm_cli.main", run_name="__main__")'
    )
    argv = [sys.executable, '-c', code, 'train', files / 'train.svm', tmp_path / 'm']
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 130 and 'Traceback' not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('signum', EACH)
def test_predict_ends_without_half_an_output(models, tmp_path, signum):
    process = start('predict', '-', models['svm'], tmp_path / 'out', stdin=-1)
    process.stdin.write(b'1 1:1\n' * 300000)
    process.stdin.flush()
    time.sleep(1.0)
    process.send_signal(signum)
    assert finish(process) == 128 + signum
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('signum', EACH)
def test_convert_ends_without_half_an_output(tmp_path, signum):
    how = ['--from', 'conllu', '--to', 'conllx', '-', tmp_path / 'out']
    process = start('convert', *how, stdin=-1)
    process.stdin.write(b'1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n' * 100000)
    process.stdin.flush()
    time.sleep(0.5)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == ['.lock', '.tmp']
    assert all(path.name.startswith('.') for path in tmp_path.iterdir())  # on its way
    process.send_signal(signum)
    assert finish(process) == 128 + signum
    assert list(tmp_path.iterdir()) == []


def test_what_comes_in_repeats_ends_no_run_that_is_saving(corpus, tmp_path):
    """A terminal that is closed sends SIGHUP, and so does its shell; the kernel sends SIGXCPU every second."""
    process = slow_to_save(corpus, tmp_path, 3)
    process.send_signal(signal.SIGHUP)
    assert process.stdout.readline() == b'saving\n'
    for signum in (signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU, signal.SIGTERM):
        process.send_signal(signum)
        time.sleep(0.1)
    assert finish(process) == 128 + signal.SIGHUP
    assert load(tmp_path / 'm').header['status'] == 'interrupted'


def test_a_cpu_limit(corpus, tmp_path):
    """`ulimit -t`: the signal comes from the kernel, once a second."""
    import resource

    process = start(
        'train', '--rel-gap', 0, '--max-passes', 10**9, '--set', 'acceleration=false', corpus, tmp_path / 'm',
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (3, 60)),
    )  # fmt: skip
    assert finish(process) == 128 + signal.SIGXCPU
    assert load(tmp_path / 'm').header['status'] == 'interrupted'


def test_nohup_is_obeyed(corpus, tmp_path):
    """An ignored SIGHUP stays ignored: before training, and in it."""
    log = tmp_path / 'log'
    process = start(
        'train', '--log', log, '--rel-gap', 0, '--max-passes', 2000, corpus, tmp_path / 'm',
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    process.send_signal(signal.SIGHUP)
    wait_for_rows(log, 2, process)
    process.send_signal(signal.SIGHUP)
    assert finish(process) == 0
    assert load(tmp_path / 'm').header['status'] in ('max-passes', 'converged', 'finished')


# A command whose kernel holds the main thread for ever, as soon as it has begun to write.
HELD = (
    'import ctypes, sys; from ssvm_cli import cli; from ssvm_cli.commands import run_gap\n'
    'def hold(*args):\n'
    '    print("held", flush=True); libc = ctypes.CDLL(None)\n'
    '    while True: libc.sleep(60)\n'
    'run_gap.problem_of = hold; cli.cli.main(sys.argv[1:])'
)


@pytest.mark.parametrize('signum', [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_gap_ends_although_a_kernel_holds_it(files, models, signum):
    argv = [sys.executable, '-c', HELD, 'gap', files / 'train.svm', models['svm']]
    process = subprocess.Popen(list(map(str, argv)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    assert process.stdout.readline() == b'held\n'
    begin = time.monotonic()
    process.send_signal(signum)
    assert finish(process) == 128 + signum
    assert time.monotonic() - begin < 30
