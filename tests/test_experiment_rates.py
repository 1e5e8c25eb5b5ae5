"""The scripts of experiments/rates on a few made-up digits, and the page of all tables and figures."""

import csv
import gzip
import random
import re
import sys

import pytest

from tests.test_experiments import ROOT, script

FOLDER = ROOT / 'experiments' / 'rates'


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A function that runs a script with smaller numbers, and gives the rows of its table."""
    rng = random.Random(0)
    rows = [[k % 10, *(round(rng.gauss(k % 10 == j, 0.5), 3) for j in range(12))] for k in range(60)]
    (tmp_path / 'usps').mkdir()
    with gzip.open(tmp_path / 'usps' / 'zip.train.gz', 'wt') as stream:
        stream.writelines(' '.join(map(str, row)) + '\n' for row in rows)
    monkeypatch.setenv('SSVM_DATA', str(tmp_path))
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.delitem(sys.modules, 'digits', raising=False)

    def run(name, program, **small):
        module = script(name, FOLDER)
        for key, value in small.items():
            monkeypatch.setattr(module, key, value)
        monkeypatch.setattr(sys, 'argv', [f'{name}.py', '--ssvm', str(program), str(tmp_path / 'out')])
        module.main()
        return list(csv.DictReader((tmp_path / 'out' / f'{name}.csv').read_text().splitlines()))

    return run


def test_the_batch_algorithm_takes_longer_the_more_examples_there_are(made, program):
    rows = made('online', program, SIZES=(15, 60), C=20, PASSES=3000)
    assert [(row['n'], row['epsilon']) for row in rows] == [(n, e) for n in ('15', '60') for e in ('0.01', '0.0001')]
    precise = [row for row in rows if row['epsilon'] == '0.0001']
    assert all(int(row['batch']) > int(row['online']) > 0 for row in precise)
    assert float(precise[1]['ratio']) > 2 * float(precise[0]['ratio'])


def test_passes_of_every_method(made, program):
    rows = made('methods', program, EXAMPLES=40, LAMBDAS=(40,), EPSILONS=(0.3, 0.1), PASSES=200)
    assert len(rows) == 12 and len({row['method'] for row in rows}) == 12
    for row in rows:
        if row['0.1']:
            assert 0 < int(row['0.3']) <= int(row['0.1'])
    assert sum(bool(row['0.3']) for row in rows) >= 10


def test_passes_of_every_scheme(made, program):
    rows = made('schemes', program, EXAMPLES=40, TIMES_N=40, EPSILONS=(0.3, 0.1), PASSES=100, STEPS=(0.01, 0.03))
    assert [row['scheme'] for row in rows] == ['1', '2', '3', '4']
    assert all(int(row['0.3']) <= int(row['0.1'] or 100) for row in rows if row['0.3'])
    assert sum(bool(row['0.3']) for row in rows) >= 3


def test_the_page_leads_to_every_experiment():
    page = (ROOT / 'experiments' / 'README.md').read_text()
    links = set(re.findall(r'\]\((\w+)/README\.md\)', page))
    assert links == {path.parent.name for path in (ROOT / 'experiments').glob('*/README.md')}
    rows = [line for line in page.splitlines() if line.startswith('| ') and not line.startswith('| table or')]
    assert len(rows) >= 30 and all(line.count(' | ') == 3 and not line.endswith('|  |') for line in rows)
    for path in re.findall(r'`(tests/[\w/.]+)`', page):
        assert (ROOT / path).exists(), path
