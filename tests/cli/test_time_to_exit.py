"""From a signal to the end: at most one oracle call and the writing, whatever the task and however many examples.

Measured in time of the CPU, which a busy machine does not stretch much, on examples as large as tests can have.
"""

import json
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from ssvm_cli.training import monitor
from tests.cli.commands import environment, run
from tests.large_examples import LARGE

BESIDES = 0.25  # seconds of what is neither an oracle nor writing
# The command with a signal when it has worked for some time in the evaluation of its start, or else in its first pass.
# At the end it says how long it has worked since, and how many ranges of examples were begun after the stop flag was
# set.
SIGNALLED = """
import json, os, signal, sys, threading, time
from cython_ext.common.parallel import Pool
from ssvm_cli import cli
from ssvm_cli.training import monitor

place, seconds, *args = sys.argv[1:]
at, flag, late = [], [], []
value, passes, ranges = monitor.Monitor._value, monitor.Monitor._passes, Pool.map

def signal_later(stop):
    if not flag:
        flag.append(stop)
        threading.Thread(target=wait, args=(time.process_time() + float(seconds),), daemon=True).start()

def wait(end):
    while time.process_time() < end:
        time.sleep(0.001)
    at.append(time.process_time())
    os.kill(os.getpid(), signal.SIGTERM)

def evaluate(self, w, stop):
    if place == 'start':
        signal_later(stop)
    return value(self, w, stop)

def first_pass(self, stop):
    signal_later(stop.flag)
    return passes(self, stop)

def each(self, function, items):
    def counted(*item):
        if flag and flag[0][0]:
            late.append(item)
        return function(*item)
    return ranges(self, counted, items)

monitor.Monitor._value, monitor.Monitor._passes, Pool.map = evaluate, first_pass, each
try:
    cli.cli.main(args)
finally:
    print(json.dumps({'seconds': time.process_time() - at[0], 'late': len(late)}))
"""


@pytest.fixture(scope='module')
def measured(tmp_path_factory):
    """A function of a task: its file and options, seconds of an evaluation, of one oracle call, and of the writing."""
    known = {}

    def measure(task):
        if task not in known:
            function, ending, options, n = LARGE[task]
            path = tmp_path_factory.mktemp(task) / f'large{ending}'
            path.write_text(function(n, np.random.default_rng(0)))
            known[task] = SimpleNamespace(path=path, options=options, **seconds_of(path, options, n))
        return known[task]

    return measure


def seconds_of(path, options, n):
    """Of an evaluation of the start and of what comes after it."""
    taken, whole = [], monitor.Monitor._value

    def value(self, w, stop):
        begin = time.process_time()
        found = whole(self, w, stop)
        taken[:] = [time.process_time() - begin, time.process_time()]
        return found

    monitor.Monitor._value = value
    try:
        run('train', '-q', '--threads', 1, '--max-passes', 0, *options, path, path.with_suffix('.model'))
    finally:
        monitor.Monitor._value = whole
    evaluation, end = taken
    return {'evaluation': evaluation, 'oracle': evaluation / n, 'writing': time.process_time() - end}


@pytest.mark.parametrize('place', ['start', 'pass'])
@pytest.mark.parametrize('task', LARGE)
def test_one_oracle_call_at_most(measured, tmp_path, task, place):
    it = measured(task)
    how = ['train', '--rel-gap', 0, '--threads', 1, *it.options, it.path, tmp_path / 'm']
    argv = [sys.executable, '-c', SIGNALLED, place, 0.3 * it.evaluation, *how]
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 143, done.stderr
    found = json.loads(done.stdout)
    assert found['late'] == 0
    assert found['seconds'] <= 3 * (it.oracle + it.writing) + BESIDES, (it, found)
    assert (tmp_path / 'm').exists() and (tmp_path / 'm.checkpoint').exists()
