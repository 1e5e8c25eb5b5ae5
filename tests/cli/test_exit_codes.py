"""Usage, help, exit codes and streams of the whole command."""

import subprocess
import sys

import pytest

from ssvm_cli import __version__
from ssvm_cli.cli import COMMANDS, cli
from tests.cli.commands import ROOT, environment, run, start


def test_help_lists_the_commands():
    text = run('--help').stdout
    for name in ('train', 'predict', 'gap', 'convert'):
        assert f'  {name} ' in text
    assert run('-h').stdout == text


@pytest.mark.parametrize('name', COMMANDS)
def test_every_command_has_help_with_an_example(name):
    text = run(name, '--help').stdout
    assert f'\n    ssvm {name} ' in text and 'Example' in text
    assert all(len(line) <= 100 for line in text.splitlines())
    command = cli.get_command(None, name)
    for param in command.params:
        if param.param_type_name == 'option':
            assert param.help, f'{name} {param.opts} has no help'
            assert param.help.endswith(('.', '].'))


def test_version():
    assert run('--version').stdout == f'ssvm {__version__}\n'
    assert f'version = "{__version__}"' in (ROOT / 'pyproject.toml').read_text()


@pytest.mark.parametrize(
    'args',
    [['trian'], ['train'], ['train', 'a'], ['predict', 'a'], ['gap', 'a', 'b', 'c'], ['gap', '--nope', 'a', 'b']],
)
def test_usage_errors(args):
    result = run(*args, code=2)
    assert result.stdout == '' and 'Usage: ssvm' in result.stderr and 'Error: ' in result.stderr


def test_no_arguments_are_wrong_usage():
    result = run(code=2)
    assert result.stdout == '' and 'Usage: ssvm' in result.stderr


def test_help_and_version_start_without_the_core():
    code = (
        'import sys; from ssvm_cli.cli import cli\n'
        'try: cli.main(["--help"])\n'
        'except SystemExit: sys.exit("numpy" in sys.modules or "yaml" in sys.modules)'
    )
    subprocess.run([sys.executable, '-c', code], check=True, stdout=subprocess.DEVNULL, env=environment())


def test_predict_and_bcfw_start_without_scipy(files, models, tmp_path):
    code = (
        'import sys; from ssvm_cli.cli import cli\n'
        'try: cli.main(sys.argv[1:])\n'
        'except SystemExit as e: sys.exit(e.code or "scipy" in sys.modules)'
    )
    for args in (
        ['predict', '--evaluate', files / 'train.svm', models['svm'], tmp_path / 'out'],
        ['train', '-q', files / 'train.conll', tmp_path / 'm'],
        ['gap', files / 'train.svm', models['svm']],
    ):
        argv = [sys.executable, '-c', code, *map(str, args)]
        subprocess.run(argv, check=True, capture_output=True, env=environment())


def test_an_error_of_ours_says_where_to_look(files, tmp_path, monkeypatch):
    def broken(o):
        raise RuntimeError('what a pity')

    monkeypatch.setattr('ssvm_cli.commands.run_train.train', broken)
    error = run('train', files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert error.startswith('ssvm: internal error: RuntimeError: what a pity (SSVM_TRACEBACK=1 shows where')


def test_traceback_on_demand(tmp_path):
    process = start('train', tmp_path / 'none.svm', tmp_path / 'm', env={**environment(), 'SSVM_TRACEBACK': '1'})
    _, error = process.communicate(timeout=30)
    assert process.returncode == 1 and b'Traceback (most recent call last)' in error and b'none.svm' in error


def test_names_of_files_may_be_any_bytes(files, tmp_path):
    name = bytes(tmp_path) + b'/n\xff\xe9'
    process = start('train', '-q', '--dev', name + b'.svm', files / 'train.svm', tmp_path / 'm')
    process.communicate()
    argv = [sys.executable, '-m', 'ssvm_cli.main', 'train', name + b'.svm', b'm']
    done = subprocess.run(argv, capture_output=True, env=environment(), cwd=tmp_path, check=False)
    assert done.returncode == 1 and done.stderr == name + b'.svm: No such file or directory\n'


def test_progress_is_redrawn_on_a_terminal_only(files, tmp_path):
    pty = pytest.importorskip('pty')
    import os

    leader, follower = pty.openpty()
    process = start('train', files / 'train.svm', tmp_path / 'm', stderr=follower)
    process.wait(30)
    os.close(follower)
    drawn = os.read(leader, 1 << 16)
    os.close(leader)
    process.stdout.close()
    assert b'\rpass 1 ' in drawn and b'\x1b[K' in drawn
    assert drawn.rstrip().splitlines()[-1].split(b'\x1b[K')[-1].startswith(b'converged after ')
