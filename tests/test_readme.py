"""The documentation is true: every command of the README runs, in its order, in a copy of examples/; options that other
pages mention exist; the tables name what there is."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cython_ext.objectives.registry import OBJECTIVES
from cython_ext.solvers.registry import all_solvers
from cython_ext.tasks.registry import TASKS as STRUCTURES
from cython_ext.tasks.registry import task_info
from data_formats.formats.registry import FORMATS
from ssvm_cli.cli import cli
from ssvm_cli.tasks import task_named

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / 'README.md').read_text(encoding='utf-8')
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *ROOT.glob('examples/**/*.md'), *ROOT.glob('benchmarks/*.md')]
COMMANDS = ('train', 'predict', 'gap', 'convert')


def blocks(text, language):
    """(line number, code) of the fenced blocks of a language."""
    found = re.finditer(rf'^```{language}\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)
    return [(text.count('\n', 0, match.start()) + 1, match[1]) for match in found]


def table_column(heading, column=0):
    """The words in backquotes of one column of the table whose header begins with a heading."""
    header = f'| {heading}'
    rows = README[README.index(header) :].split('\n\n')[0].splitlines()[2:]
    return [word for row in rows for word in re.findall(r'`([^`]+)`', row.split('|')[column + 1])]


class Tour:
    """The blocks of the README, run in their order in a copy of examples/ with the ssvm under test first on PATH. They
    build on each other: whichever is asked for, by whichever process, those before it run first."""

    def __init__(self, folder):
        self.work = folder / 'examples'
        shutil.copytree(ROOT / 'examples', self.work, ignore=shutil.ignore_patterns('out'))
        programs = folder / 'bin'
        programs.mkdir()
        program = programs / 'ssvm'
        installed = Path(sys.executable).parent / 'ssvm'
        self.env = {**os.environ, 'PATH': f'{programs}{os.pathsep}{os.environ["PATH"]}'}
        if installed.exists():
            program.symlink_to(installed)
        else:
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ssvm_cli.main "$@"\n')
            program.chmod(0o755)
            self.env['PYTHONPATH'] = str(ROOT)
        self.waiting = blocks(README, 'sh')

    def run(self, code):
        return subprocess.run(
            ['bash', '-euc', code], cwd=self.work, env=self.env, capture_output=True, text=True, timeout=300
        )

    def run_to(self, line):
        """Run the blocks up to that line that have not run yet."""
        while self.waiting and self.waiting[0][0] <= line:
            at, code = self.waiting.pop(0)
            run = self.run(code)
            assert run.returncode == 0, (
                f'README.md:{at}: exit {run.returncode}\n{run.stdout[-2000:]}{run.stderr[-2000:]}'
            )
            assert 'Traceback' not in run.stderr


@pytest.fixture(scope='module')
def tour(tmp_path_factory):
    return Tour(tmp_path_factory.mktemp('readme'))


def test_the_tour_begins_in_its_folder_with_the_program_of_the_demo(tmp_path):
    ((_, code),) = blocks(README, 'console')
    folder = re.search(r'^VENV \?= (.+)$', (ROOT / 'Makefile').read_text(), re.MULTILINE)[1]
    program = tmp_path / folder / 'bin' / 'ssvm'
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho found in "${PWD##*/}"\n')
    program.chmod(0o755)
    (tmp_path / 'examples').mkdir()
    commands = re.sub(r'^\$ ', '', code, flags=re.MULTILINE) + 'ssvm\n'
    done = subprocess.run(['sh', '-euc', commands], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == 'found in examples\n'


@pytest.mark.parametrize('line', [line for line, _ in blocks(README, 'sh')])
def test_every_command_runs(tour, line):
    tour.run_to(line)


def test_the_tour_has_commands_of_every_kind():
    code = ''.join(code for _, code in blocks(README, 'sh'))
    assert all(f'ssvm {command} ' in code for command in COMMANDS)


def test_ssvm_is_shown_nowhere_else():
    """A command outside an sh block would be one that no test runs."""
    rest = re.sub(r'^```sh\n.*?^```$', '', README, flags=re.MULTILINE | re.DOTALL)
    inline = re.findall(r'`ssvm [^`]+`', rest)
    assert not [
        text
        for text in inline
        if not re.fullmatch(r'`ssvm (train|predict|gap|convert)( --help| --list-solvers)?`', text)
    ]


def test_set_up_is_what_ci_runs():
    ci = ROOT / '.ci' / 'run'
    if not ci.exists():
        pytest.skip('.ci/run is not part of the source distribution')
    (_, setup), *_ = blocks(README, 'bash')
    script = ci.read_text()
    for command in re.findall(r'^make \w+', setup, re.MULTILINE):
        assert f'\n{command}\n' in script


def test_the_tour_shows_weights_and_a_score_worth_showing(tour):
    """What its blocks have left behind: rows of weights, not comments; entities that are found."""
    tour.run_to(math.inf)
    (line,) = re.findall(r'^grep .* pos\.tsv .*$', README, re.MULTILINE)
    shown = tour.run(line).stdout
    rows = [row.split('\t') for row in shown.splitlines()]
    assert [row[:2] for row in rows] == [['transition', 'DET']] * 3
    assert float(rows[0][3]) >= float(rows[1][3]) >= float(rows[2][3]) > 0
    entities, *trees = (json.loads((tour.work / f'{name}.json').read_text()) for name in ('ner', 'phrases', 'counted'))
    found = [round(100 * scores['f1']) for scores in (entities['chunks'], *trees)]
    assert found == [int(said) for said in re.findall(r'(?:F1 of|one of) (\d+)', README)]
    rate = json.loads((tour.work / 'points.json').read_text())['aer']
    assert [round(100 * rate)] == [int(said) for said in re.findall(r'alignment error rate of (\d+)', README)]


@pytest.mark.skipif(not (ROOT / 'Makefile').exists() or shutil.which('make') is None, reason='needs make and Makefile')
@pytest.mark.parametrize('goal', ['demo', 'test'])
def test_make_says_that_compiling_takes_time(tmp_path, goal):
    argv = ['make', '-n', goal, f'VENV={tmp_path / "venv"}']
    lines = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    compiling = next(k for k, line in enumerate(lines) if 'build_ext' in line)
    assert lines[compiling - 1].startswith('echo ') and 'minutes' in lines[compiling - 1]


def test_tables_name_what_there_is():
    assert table_column('`--objective`') == list(OBJECTIVES)
    assert table_column('`--task`') == list(STRUCTURES)
    assert sorted(table_column('`--solver`')) == sorted(solver.name for solver in all_solvers())
    assert table_column('format | `--format`', 1) == list(FORMATS)


def test_task_table_has_their_formats_and_losses():
    """Formats by the task that is the usual one of them."""
    rows = README[README.index('| `--task`') :].split('\n\n')[0].splitlines()[2:]
    for name, row in zip(STRUCTURES, rows, strict=True):
        formats, losses = row.split('|')[3:5]
        reads = task_named(name).reads
        assert {*formats.strip().split(', ')} == {name for name, fmt in FORMATS.items() if fmt.TASKS[0] == reads}
        info = task_info(name)
        assert {*re.findall('`([^`]+)`', losses)} - {'tree'} == {*info.losses}
        assert re.findall(r'`([^`]+)` \(default', losses) == [info.default_loss]
        assert ('a cost matrix' in losses) == (info.cost_matrix is not None)


def test_solver_table_has_their_objectives():
    rows = README[README.index('| `--solver`') :].split('\n\n')[0].splitlines()[2:]
    for solver in all_solvers():
        (row,) = [row for row in rows if row.startswith(f'| `{solver.name}`')]
        named = row.split('|')[2].strip()
        assert named.split(', ') == list(solver.objectives)


def test_file_endings_are_those_of_the_formats():
    rows = README[README.index('| format | `--format`') :].split('\n\n')[0].splitlines()[2:]
    for row, module in zip(rows, FORMATS.values(), strict=True):
        assert sorted(row.split('|')[3].split()) == sorted(module.EXTENSIONS)


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_exist(page):
    """Every long option on a line that calls ssvm, or alone in backquotes, is one of the command's."""
    known = {command: set(re.findall(r'--[a-z][a-z-]*', help_of(command))) for command in COMMANDS}
    text = page.read_text(encoding='utf-8')
    for command, words in re.findall(r'ssvm (train|predict|gap|convert)\b([^\n`|]*)', text):
        assert set(re.findall(r'(?<!\S)--[a-z][a-z-]*', words)) <= known[command], words
    if page.name == 'README.md' and page.parent == ROOT:
        alone = set(re.findall(r'`(--[a-z][a-z-]*)[ `]', text))
        assert alone <= set().union(*known.values())


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r'\]\((?!https?:|#)([^)#]+)', page.read_text(encoding='utf-8')):
            assert (page.parent / target).exists(), f'{page.name}: {target}'


def help_of(command):
    result = CliRunner().invoke(cli, [command, '--help'])
    assert result.exit_code == 0, result.output
    return result.output
