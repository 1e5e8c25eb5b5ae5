"""The small parts: schedule, tolerance, bounds, threads, memory, metrics."""

import subprocess
import sys

import numpy as np
import pytest

from cython_ext.duals.natural import NaturalPoint
from cython_ext.duals.scores import ScoresPoint
from ssvm_cli.options.click_types import with_verbosity_level
from ssvm_cli.scores.labels import Scores, are_chunk_tags
from ssvm_cli.terminal.resources import _limits, available_cpus, return_memory
from ssvm_cli.training.certificate import Bounds, Tolerance, absolute_gap, relative_gap
from ssvm_cli.training.schedule import Schedule, Turns
from tests.cli.commands import environment


def evaluations(schedule, passes, promising=lambda k: False):
    found = []
    for k in range(1, passes + 1):
        if schedule.due(k, promising(k)):
            found.append(k)
            schedule.evaluated(k)
    return found


def test_schedule_is_dense_at_first():
    assert evaluations(Schedule(), 45) == [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 41]
    assert evaluations(Schedule(5), 22) == [5, 10, 15, 20]


def test_schedule_follows_a_promise_but_not_every_time():
    assert evaluations(Schedule(), 20, lambda k: k == 19)[-2:] == [18, 19]
    found = evaluations(Schedule(), 220, lambda k: k > 199)
    tries = [k for k in found if k > 199]
    assert tries == [200, 210, 220]


def test_schedule_state():
    schedule = Schedule()
    evaluations(schedule, 30)
    again = Schedule()
    again.restore(schedule.state())
    assert [k for k in range(31, 60) if schedule.due(k, k == 40)] == [k for k in range(31, 60) if again.due(k, k == 40)]


def test_turns():
    """The best when last looked at, new ones first, and one that has waited for three evaluations."""
    turns, seen = Turns(), []
    primal = {'current': [9, 5, 4, 3.5, 3, 2.5, 2, 1.9, 1.8, 1.7], 'mean': [9, 6, 5, 4, 2, 1, 0.9, 0.8, 0.7, 0.6]}
    for k in range(10):
        name = turns.choose(['current'] if k == 0 else ['current', 'mean'])
        seen.append(name)
        turns.looked_at(name, primal[name][k])
        again = Turns()
        again.restore(turns.state())
        turns = again
    assert seen == ['current', *['mean'] * 3, *['current'] * 3, *['mean'] * 3]


def test_tolerance():
    assert Tolerance(0.1).reached(1.0, 0.9) and not Tolerance(0.1).reached(1.0, 0.89)
    assert Tolerance(0, 0.2).reached(1.0, 0.81) and not Tolerance(0, 0.2).reached(1.0, 0.79)
    assert Tolerance(0.0).reached(0.0, 0.0)
    assert Tolerance(0.1).sentence(2.0, 1.5) == 'relative gap 0.25, tolerance 0.1'
    assert Tolerance(0.1, 0.6).sentence(2.0, 1.5) == 'absolute gap 0.5, tolerance 0.6'
    assert Tolerance(0.1, 0.2).sentence(2.0, 1.5) == 'relative gap 0.25, tolerance 0.1; absolute gap 0.5, tolerance 0.2'


def test_a_gap_is_not_below_0_by_rounding():
    assert absolute_gap(0.05, 0.05 * (1 + 4e-16)) == relative_gap(0.05, 0.05 * (1 + 4e-16)) == 0
    assert absolute_gap(1.0, 1.0 + 1e-9) < 0  # more than rounding: a defect that has to be seen


def test_relative_gap_of_nothing():
    assert relative_gap(0.0, 0.0) == 0.0 and relative_gap(0.0, -1.0) == np.inf and relative_gap(4.0, 3.0) == 0.25


def test_bounds_keep_copies_of_the_best():
    bounds, w = Bounds(), np.array([1.0, 2.0])
    assert bounds.offer_primal(3.0, w) and not bounds.offer_primal(3.0, 2 * w)
    w[:] = 0
    assert bounds.w.tolist() == [1.0, 2.0] and bounds.dual == 0.0
    bounds.offer_dual(1.0, lambda: NaturalPoint([0, 1], np.full(1, 0.5)))
    bounds.offer_dual(0.5, lambda: pytest.fail('not asked for'))
    again = Bounds()
    again.restore(bounds.state())
    assert again.primal == 3.0 and again.dual == 1.0 and again.point.theta.tolist() == [0.5]


def test_the_right_outputs_prove_a_bound_of_0():
    bounds = Bounds()
    bounds.offer_dual(1e-17, lambda: NaturalPoint([0, 1], np.zeros(1)))
    bounds.prove(-1e-13)
    assert bounds.dual == 0 and bounds.stored_point is None


def test_bounds_of_a_softmax_need_no_second_copy_of_the_best_weights():
    kept = []
    bounds = Bounds(lambda w, temperature: kept.append((w.copy(), temperature)) or ScoresPoint({'state': w.copy()}))
    one, two, three, four = (np.array([float(k)]) for k in (1, 2, 3, 4))
    assert bounds.offer_primal(9.0, one, 1.0, 0.5)  # the best on both sides
    assert bounds.dual == 1.0 and bounds.stored_point.temperature == 0.5 and not kept
    assert bounds.offer_primal(8.0, two, 0.7, 0.4)  # the better primal, a worse dual: the old weights are the proof
    assert kept == [(one, 0.5)] and bounds.dual == 1.0 and bounds.own_dual == 0.7
    assert bounds.stored_point.blocks == {'state': one}
    assert not bounds.offer_primal(8.5, three, 2.0, 0.3)  # the better dual only
    assert kept[1:] == [(three, 0.3)] and bounds.dual == 2.0
    assert bounds.offer_primal(7.0, four, 3.0, 0.2)  # both again
    assert len(kept) == 2 and bounds.stored_point.temperature == 0.2
    bounds.prove(2.5)
    assert bounds.dual == 3.0 and bounds.point is None  # those of the weights themselves stand


def test_memory_is_returned_or_not():
    assert return_memory() is None


def test_cpus(tmp_path):
    none = tmp_path / 'none'
    here = available_cpus({}, none, none)
    assert here >= 1
    assert available_cpus({'SLURM_CPUS_PER_TASK': '1'}, none, none) == 1
    assert available_cpus({'SLURM_CPUS_PER_TASK': 'many'}, none, none) == here
    (tmp_path / 'v2').write_text('0::/job/step\n')
    (tmp_path / 'job' / 'step').mkdir(parents=True)
    (tmp_path / 'job' / 'cpu.max').write_text('100000 100000\n')
    (tmp_path / 'job' / 'step' / 'cpu.max').write_text('max 100000\n')
    assert available_cpus({}, tmp_path / 'v2', tmp_path) == 1
    (tmp_path / 'v1').write_text('3:cpu,cpuacct:/\n')
    (tmp_path / 'cpu,cpuacct').mkdir()
    (tmp_path / 'cpu,cpuacct' / 'cpu.cfs_quota_us').write_text('50000\n')
    (tmp_path / 'cpu,cpuacct' / 'cpu.cfs_period_us').write_text('100000\n')
    assert available_cpus({}, tmp_path / 'v1', tmp_path) == 1


@pytest.mark.parametrize(
    ('args', 'expected'),
    [
        (['-v', '3', 'a'], ['-v', '3', 'a']),
        (['-v', 'a', 'b'], ['-v', '2', 'a', 'b']),
        (['a', 'b', '-v'], ['a', 'b', '-v', '2']),
        (['--verbose', '--', '-v'], ['--verbose', '2', '--', '-v']),
        (['-v1', 'a'], ['-v1', 'a']),
    ],
)
def test_verbosity_with_and_without_level(args, expected):
    assert with_verbosity_level(args) == expected


def test_chunk_tags():
    assert are_chunk_tags(['O', 'B-NP', 'I-NP']) and are_chunk_tags(['O', 'I-NP']) and are_chunk_tags(['B', 'I', 'O'])
    assert are_chunk_tags(['O', 'S-A', 'B-A', 'I-A', 'E-A'])
    for names in (['1', '2'], ['NN', 'O'], ['O', 'X'], ['S', 'E'], ['B-A', 'NN-B'], ['I', 'B']):
        assert not are_chunk_tags(names)


def chunk_figures(gold, found):
    names = sorted({tag for s in gold + found for tag in s})
    scores = Scores(names, chunks=True)
    flat = [np.array([names.index(tag) for s in tags for tag in s], np.int32) for tags in (gold, found)]
    scores.add(np.cumsum([0] + [len(s) for s in gold]), *flat)
    chunks = scores.summary()['chunks']
    return chunks['gold'], chunks['found'], chunks['right']


@pytest.mark.parametrize(
    ('gold', 'found', 'figures'),
    [
        ('B-A I-A O', 'B-A I-A O', (1, 1, 1)),
        ('B-A I-A O', 'I-A I-A O', (1, 1, 1)),  # I- after O begins a chunk
        ('I-A B-A I-A', 'I-A I-A I-A', (2, 1, 0)),
        ('B-A I-B O', 'B-A B-B O', (2, 2, 2)),  # a change of type begins a chunk
        ('B-A I-A I-A', 'B-A I-A B-A', (1, 2, 0)),
        ('B-A E-A S-B', 'B-A I-A S-B', (2, 2, 2)),
        ('S-A S-A', 'B-A E-A', (2, 1, 0)),
        ('B-A E-A E-A', 'B-A E-A S-A', (2, 2, 2)),
        ('B-A S-A', 'B-A I-A', (2, 1, 0)),
        ('I-A S-A I-A', 'I-A B-A I-A', (3, 2, 1)),
        ('O O', 'O I-A', (0, 1, 0)),
        ('B I O', 'B I I', (1, 1, 0)),
    ],
)
def test_chunks_by_hand(gold, found, figures):
    assert chunk_figures([gold.split()], [found.split()]) == figures


def test_chunks_end_with_the_sentence():
    assert chunk_figures([['B-A'], ['I-A']], [['B-A'], ['I-A']]) == (2, 2, 2)


def test_tokens_without_label_are_not_counted():
    scores = Scores(['a', 'b'])
    scores.add(np.array([0, 3]), np.array([0, -1, 1], np.int32), np.array([0, 0, 0], np.int32))
    assert scores.tokens == 2 and scores.accuracy() == 0.5


def proc_and_groups(tmp_path, lines, **files):
    """A /proc/self and a folder of control groups with these files, __ in a name being a slash."""
    (tmp_path / 'self').mkdir()
    (tmp_path / 'self' / 'cgroup').write_text(lines)
    (tmp_path / 'self' / 'status').write_text('Name:\tssvm\nVmSize:\t  4096 kB\nVmRSS:\t  1024 kB\n')
    (tmp_path / 'meminfo').write_text('MemTotal:  99 kB\n')
    for name, text in files.items():
        path = tmp_path / 'groups' / name.replace('__', '/').replace('_dot_', '.')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {'proc': tmp_path / 'self', 'meminfo': tmp_path / 'meminfo', 'cgroups': tmp_path / 'groups'}


def test_memory_of_control_groups_version_2(tmp_path):
    stat = 'anon 5\ninactive_file 1000\n'
    where = proc_and_groups(
        tmp_path, '0::/a/b\n',
        a__b__memory_dot_max='max\n', a__b__memory_dot_current='50\n',
        a__memory_dot_max='900000\n', a__memory_dot_current='51000\n', a__memory_dot_stat=stat,
    )  # fmt: skip
    assert (900_000, 50_000) in _limits({}, **where)


def test_memory_of_control_groups_version_1(tmp_path):
    where = proc_and_groups(
        tmp_path, '4:memory:/job\n3:cpuset:/\n',
        memory__job__memory_dot_limit_in_bytes='700000\n', memory__job__memory_dot_usage_in_bytes='30000\n',
        memory__job__memory_dot_stat='cache 1\ntotal_inactive_file 10000\n',
    )  # fmt: skip
    assert (700_000, 20_000) in _limits({}, **where)


def test_memory_of_a_job(tmp_path):
    where = proc_and_groups(tmp_path, '')
    assert (2000 << 20, 1 << 20) in _limits({'SLURM_MEM_PER_NODE': '2000'}, **where)
    assert (600 << 20, 1 << 20) in _limits({'SLURM_MEM_PER_CPU': '200', 'SLURM_CPUS_ON_NODE': '3'}, **where)
    assert _limits({'SLURM_MEM_PER_NODE': '0'}, **where) == _limits({'SLURM_MEM_PER_CPU': '200'}, **where)


@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='reads /proc')
def test_memory_below_a_limit_of_the_process():
    code = 'from ssvm_cli.terminal.resources import free_memory, total_memory; print(total_memory(), free_memory())'
    line = f'ulimit -v 2000000; exec {sys.executable} -c "{code}"'
    found = subprocess.run(['bash', '-c', line], capture_output=True, text=True, check=True, env=environment()).stdout
    total, free = map(int, found.split())
    assert total == 2000000 << 10 and 0 < free < total
