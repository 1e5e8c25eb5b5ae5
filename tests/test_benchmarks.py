"""The benchmarks measure what they say: prepared files, the clock, and each script on made-up data, without peers."""

import gzip
import importlib
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'benchmarks'
SCRIPTS = (
    'accuracy_chunking',
    'accuracy_letters',
    'accuracy_images',
    'loading',
    'lbfgs',
    'optimum',
    'crf_training',
    'bcfw',
    'tagging',
    'images',
    'threads',
    'structures',
    'triplets',
    'solvers',
)


@pytest.fixture(scope='module')
def made_up(tmp_path_factory):
    """A folder of data sets in the originals' formats: few, small, random."""
    folder = tmp_path_factory.mktemp('data')
    rng = random.Random(0)
    for name in ('conll2000', 'ocr_letters', 'fashion_mnist', 'conll2007_spanish'):
        (folder / name).mkdir()
    for part, count in (('train', 30), ('test', 10)):
        rows = (
            f'w{rng.randrange(9)} P{rng.randrange(4)} {rng.choice(["B-NP", "I-NP", "O"])}' for _ in range(6 * count)
        )
        text = ''.join(row + ('\n\n' if k % 6 == 5 else '\n') for k, row in enumerate(rows))
        (folder / 'conll2000' / f'{part}.txt').write_text(text)
    rows = (f'{k}\tw{rng.randrange(9)}\t_\tP\tP\t_\t{rng.randrange(k)}\tr\t_\t_' for k in (1, 2, 3, 4) * 20)
    text = ''.join(row + ('\n\n' if k % 4 == 3 else '\n') for k, row in enumerate(rows))
    (folder / 'conll2007_spanish' / 'esp.train').write_text(text)
    (folder / 'gum_constituency' / 'const').mkdir(parents=True)
    cuts = [(rng.randrange(1, 9), 10 - k % 2) for k in range(20)]  # where a sentence falls into its two phrases
    trees = [f'(ROOT\n (S (X{" (A w)" * cut}) (X{" (A w)" * (end - cut)})))\n' for cut, end in cuts]
    (folder / 'gum_constituency' / 'const' / 'GUM_a.ptb').write_text(''.join(trees))
    with gzip.open(folder / 'ocr_letters' / 'letter.data.gz', 'wt') as stream:
        for k in range(60):
            following = -1 if k % 3 == 2 else k + 1
            pixels = ''.join(f'{rng.randrange(2)}\t' for _ in range(128))
            stream.write(f'{k}\t{rng.choice("abc")}\t{following}\t{k // 3 + 1}\t{k % 3 + 1}\t{k // 6}\t{pixels}\n')
    for part, count in (('train', 40), ('t10k', 20)):
        with gzip.open(folder / 'fashion_mnist' / f'{part}-images-idx3-ubyte.gz', 'wb') as stream:
            stream.write(
                b''.join(value.to_bytes(4, 'big') for value in (2051, count, 28, 28)) + rng.randbytes(784 * count)
            )
        with gzip.open(folder / 'fashion_mnist' / f'{part}-labels-idx1-ubyte.gz', 'wb') as stream:
            stream.write(b''.join(value.to_bytes(4, 'big') for value in (2049, count)))
            stream.write(bytes(rng.randrange(10) for _ in range(count)))
    return folder


@pytest.fixture
def module(monkeypatch, tmp_path, made_up):
    """Import a module of benchmarks/ as its scripts do, with a work folder of its own."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv('SSVM_DATA', str(made_up))
    monkeypatch.setenv('SSVM_BENCH', str(tmp_path))
    return importlib.import_module


def test_attribute_file(module, tmp_path):
    """The expansion that CRF++ makes, escaped for CRFsuite."""
    source, target = tmp_path / 'in.txt', tmp_path / 'out.crfsuite'
    source.write_text('a:b X O\nc\\ Y B\n\nd Z I\n')
    with open(target, 'w') as stream:
        module('data').attribute_file(source, stream)
    first, second, blank, third = target.read_text().splitlines()[:4]
    assert first.split('\t')[:8] == [
        'O',
        'U00=_B-2',
        'U01=_B-1',
        r'U02=a\:b',
        r'U03=c\\',
        'U04=_B+1',
        r'U05=_B-1/a\:b',
        r'U06=a\:b/c\\',
    ]
    assert second.split('\t')[0] == 'B' and blank == ''
    assert third.split('\t')[-3:] == ['U20=_B-2/_B-1/Z', 'U21=_B-1/Z/_B+1', 'U22=Z/_B+1/_B+2']


def test_attribute_file_holds_what_the_template_makes(module, tmp_path):
    """The two files of the chunking benchmarks are the same training problem."""
    from ssvm_cli.examples.reading import read_training_data

    folder = module('data').chunking()
    columns, _ = read_training_data(folder / 'train.txt', 'auto', folder / 'chunking.template', None, 1, False)
    attributes, facts = read_training_data(folder / 'train.crfsuite', 'auto', None, None, 1, False)
    assert facts['format'] == 'crfsuite'
    assert [name.replace(':', '=', 1) for name in columns.attributes.names()] == attributes.attributes.names()
    for part in ('offsets', 'indptr', 'indices', 'labels'):
        assert getattr(columns, part).tolist() == getattr(attributes, part).tolist()
    assert columns.transitions and attributes.transitions


def test_letters_are_ten_folds(module, made_up):
    folder = module('data').letters() / 'letters'
    only = [(folder / f'only-{k}.hmm').read_text().splitlines() for k in range(10)]
    everything = sorted(line for lines in only for line in lines)
    assert len(everything) == 60 and all(len(lines) == 6 for lines in only)
    for k in range(10):
        assert sorted((folder / f'rest-{k}.hmm').read_text().splitlines() + only[k]) == everything
    with gzip.open(made_up / 'ocr_letters' / 'letter.data.gz', 'rt') as stream:
        _, letter, _, word, _, _, *pixels = stream.readline().rstrip().split('\t')
    tag, qid, *on = only[0][0].partition(' #')[0].split()
    assert (tag, qid) == (str('abc'.index(letter) + 1), f'qid:{word}')
    assert on == [f'{k}:1' for k, pixel in enumerate(pixels, 1) if pixel == '1']


def test_dependencies_are_the_projective_sentences(module, monkeypatch, tmp_path):
    (tmp_path / 'conll2007_spanish').mkdir()
    heads = ((0, 1, 1), (0, 1, 1, 2), (3, 4, 0, 3))  # the arcs of the last two cross
    sentences = (''.join(f'{k}\tw\t_\tP\tP\t_\t{h}\tr\t_\t_\n' for k, h in enumerate(s, 1)) for s in heads)
    (tmp_path / 'conll2007_spanish' / 'esp.train').write_text('\n'.join(sentences))
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    path, words = module('data').dependencies()
    assert words == 3 and path.read_text().count('\n\n') == 1


def test_images_are_what_the_idx_files_hold(module, made_up):
    folder = module('data').images()
    lines = (folder / 'fashion-train.svm').read_text().splitlines()
    with gzip.open(made_up / 'fashion_mnist' / 'train-images-idx3-ubyte.gz') as stream:
        pixels = stream.read()[16:]
    assert len(lines) == 40
    for number, line in enumerate(lines):
        found = [0.0] * 784
        for word in line.split()[1:]:
            index, value = word.split(':')
            found[int(index) - 1] = float(value)
        assert found == pytest.approx([v / 255 for v in pixels[784 * number : 784 * (number + 1)]], abs=1e-6)


def test_a_data_set_that_is_not_there_is_named(module, monkeypatch, tmp_path):
    data = module('data')
    monkeypatch.setenv('SSVM_DATA', str(tmp_path / 'nowhere'))
    with pytest.raises(data.MissingDataError, match='data set conll2000 is not there'):
        data.chunking()


def test_cpu_time_is_that_of_the_process_and_its_children(module):
    measure = module('measure')
    spin = 'import time; t = time.process_time()\nwhile time.process_time() < t + 0.3: pass'
    nested = f'import subprocess, sys; subprocess.run([sys.executable, "-c", {spin!r}], check=True)'
    sleep = measure.run([sys.executable, '-c', 'import time; time.sleep(0.5)'])
    assert sleep.elapsed >= 0.5 and sleep.cpu < 0.4
    for program in (spin, nested):
        assert 0.3 <= measure.run([sys.executable, '-c', program]).cpu < 1.5


def test_peak_memory_is_that_of_the_process():
    """Measured from a small process, as the benchmarks do: on Linux a child begins with its parent's peak."""
    large = 'x = bytearray(200_000_000); x[::4096] = bytes(len(x[::4096]))'
    program = f'import sys, measure; print(measure.run([sys.executable, "-c", {large!r}]).peak)'
    out = subprocess.run([sys.executable, '-c', program], cwd=FOLDER, capture_output=True, text=True, check=True).stdout
    small = 'import sys, measure; print(measure.run([sys.executable, "-c", "pass"]).peak, *sys.modules)'
    peak, *modules = subprocess.run(
        [sys.executable, '-c', small], cwd=FOLDER, capture_output=True, text=True, check=True
    ).stdout.split()
    assert 200e6 < int(out) < 300e6
    assert int(peak) < 50e6 and 'numpy' not in modules


def test_programs_run_single_threaded_and_failures_are_told(module):
    measure = module('measure')
    usage = measure.run([sys.executable, '-c', 'import os; print(os.environ["OMP_NUM_THREADS"])'])
    assert usage.stdout == '1\n'
    with pytest.raises(measure.CommandError, match=r'exit 3 from .*\n.*went wrong'):
        measure.run([sys.executable, '-c', 'import sys; print("went wrong", file=sys.stderr); sys.exit(3)'])


def test_compare_takes_turns_and_medians(module, tmp_path):
    measure = module('measure')
    note = f'import sys; open({str(tmp_path / "order")!r}, "a").write(sys.argv[1])'
    usages = measure.compare({name: [sys.executable, '-c', note, name] for name in 'ab'}, runs=3)
    assert (tmp_path / 'order').read_text() == 'ababab'
    assert set(usages) == {'a', 'b'}
    ranks = [measure.Usage(cpu, 10 - cpu, 100 * cpu, f'{cpu}', '') for cpu in (1, 5, 2)]
    assert measure.median(ranks) == measure.Usage(2, 8, 200, '2', '')


def test_crf_learn_tells_its_reading_time(module):
    text = 'CRF++\n\nreading training data: 100.. 200.. \nDone!1.13 s\n\nNumber of sentences: 200\n'
    assert module('loading').reading_seconds(text) == 1.13
    assert module('loading').reading_seconds('something else') is None


def test_commands_are_shown_as_typed(module, monkeypatch):
    monkeypatch.setenv('SSVM', '/some/where/ssvm')
    report, data, ours = module('report'), module('data'), module('ours')
    work = data.work()
    argv = ours.train(work / 'a.txt', work / 'b.model', '--objective', 'log', lam=0.1)
    assert report.shown(argv) == 'ssvm train --threads 1 --objective log --lambda 0.1 --log b.csv a.txt b.model'
    assert report.shown(ours.read(work / 'a.txt')) == 'python read_with_ssvm.py a.txt'


@pytest.mark.parametrize('name', SCRIPTS)
def test_every_benchmark_runs(name, made_up, tmp_path_factory):
    """On made-up data and without peers each script prints its section, with a row of figures for each run."""
    work = tmp_path_factory.mktemp('work')
    arguments = {
        'accuracy_chunking': '',
        'accuracy_images': '',
        'accuracy_letters': 'folds=[1]',
        'optimum': '',
        'solvers': 'limit=1',
        'triplets': '',
    }.get(name, 'runs=1')
    program = f'import {name}; {name}.main({arguments})'
    env = {
        **os.environ,
        'SSVM_DATA': str(made_up),
        'SSVM_BENCH': str(work),
        'SSVM_PEERS': str(work / 'none'),
        'SSVM': str(ssvm(work)),
        'PYTHONPATH': f'{FOLDER}{os.pathsep}{ROOT}',
        'PATH': '/usr/bin:/bin' if name == 'loading' else os.environ['PATH'],
    }
    run = subprocess.run(
        [sys.executable, '-c', program], env=env, cwd=work, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert re.search(r'^## .+\n', run.stdout)
    assert len(re.findall(r'^\|.*\d.*\|$', run.stdout, re.MULTILINE)) >= 1
    assert str(work) not in run.stdout


def test_results_keep_the_parts_that_are_not_run(module):
    run = module('run')
    first = run.update('', {'tagging': 'one\n', 'bcfw': '## two\n\ntext\n'})
    assert first == f'{run.INTRODUCTION}\n<!-- bcfw -->\n## two\n\ntext\n\n<!-- tagging -->\none\n'
    assert run.update(first, {'tagging': 'three\n'}) == first.replace('\none\n', '\nthree\n')
    assert run.update(first, {}) == first


def test_every_script_is_run_by_run_py(module):
    assert set(module('run').NAMES) == set(SCRIPTS)
    text = (FOLDER / 'README.md').read_text()
    assert all(f'`{name}.py`' in text for name in SCRIPTS)


def ssvm(folder):
    """The installed command of this Python, or a stand-in that runs the package in place."""
    installed = Path(sys.executable).with_name('ssvm')
    if installed.exists():
        return installed
    program = folder / 'ssvm'
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m ssvm_cli.main "$@"\n')
    program.chmod(0o755)
    return program
