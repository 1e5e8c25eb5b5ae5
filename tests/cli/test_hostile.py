"""What hostile use has shown: each of these once ended in an internal error or in a wrong report."""

import subprocess
import sys

import pytest

from tests.cli.commands import environment, run

SSVM = [sys.executable, '-m', 'ssvm_cli.main']


def shell(command, **names):
    """Run a shell line in which {ssvm} is the command; (exit status, stdout, stderr)."""
    line = command.format(ssvm=' '.join(SSVM), **names)
    p = subprocess.run(['bash', '-c', line], capture_output=True, text=True, timeout=60, env=environment())
    return p.returncode, p.stdout, p.stderr


def test_an_infinite_objective_is_no_result(files, models, tmp_path):
    run('convert', models['svm'], tmp_path / 'm.tsv')
    lines = (tmp_path / 'm.tsv').read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith('state\t'))
    lines[first] = '\t'.join([*lines[first].split('\t')[:3], '1e300'])
    (tmp_path / 'm.tsv').write_text('\n'.join(lines) + '\n')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'm')
    result = run('gap', '--json', files / 'train.svm', tmp_path / 'm', code=1)
    assert 'objective of its weights is inf' in result.stderr
    assert not result.stdout


@pytest.mark.parametrize('command', ['predict', 'gap'])
def test_a_closed_standard_output_is_said(files, models, command):
    code, _, error = shell('{ssvm} ' + command + ' {data} {model} >&-', data=files / 'train.svm', model=models['svm'])
    assert (code, error) == (1, '<stdout>: is closed (expected an open standard output)\n')


def test_a_closed_standard_error_hinders_nothing(files, tmp_path):
    assert shell('{ssvm} train {data} {model} 2>&-', data=files / 'train.svm', model=tmp_path / 'm')[0] == 0
    assert (tmp_path / 'm').exists()


def test_dev_stdout_may_be_a_pipe(files, models):
    line = '{ssvm} predict {data} {model} /dev/stdout | cat'
    code, out, error = shell(line, data=files / 'train.svm', model=models['svm'])
    assert (code, error) == (0, '')
    assert out == run('predict', files / 'train.svm', models['svm']).stdout


@pytest.mark.parametrize(
    'how', [['--set', f'cache={10**20}'], ['--objective', 'log', '--solver', 'lbfgs', '--set', f'memory={10**11}']]
)
def test_numbers_beyond_reason_are_wrong_usage(files, tmp_path, how):
    assert 'expected at most' in run('train', *how, files / 'train.svm', tmp_path / 'm', code=2).stderr


def test_dev_data_without_labels_are_refused(files, tmp_path):
    (tmp_path / 'dev.conll').write_text('a\nb\n')
    how = ['--template', files / 'tpl', '--dev', tmp_path / 'dev.conll', files / 'train.conll', tmp_path / 'm']
    assert 'dev.conll: no labels' in run('train', *how, code=1).stderr


def test_an_overflow_is_one_line(files, tmp_path):
    how = ['--objective', 'log', '--solver', 'sgd', '--set', 'gamma0=1e300', '--max-passes', 5]
    line = '{ssvm} train -q {how} {data} {model}'
    names = {'how': ' '.join(map(str, how)), 'data': files / 'train.conll', 'model': tmp_path / 'm'}
    code, _, error = shell(line, **names)
    assert code == 1 and error.count('\n') == 1 and error.startswith('the run failed: primal is ')


def test_an_overflow_in_gap_is_one_line(files, models, tmp_path):
    run('convert', models['crf'], tmp_path / 'm.tsv')
    change = """awk -F'\\t' -v OFS='\\t' '$1 == "state" && !done {{$4 = "1e160"; done = 1}} {{print}}' {tsv}"""
    line = change + ' | {ssvm} convert - {model} && {ssvm} gap {data} {model}'
    names = {'tsv': tmp_path / 'm.tsv', 'model': tmp_path / 'm', 'data': files / 'train.conll'}
    code, _, error = shell(line, **names)
    assert (code, error) == (1, f'{tmp_path / "m"}: the objective of its weights is inf (expected a finite number)\n')


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('U0:%x[' + '1' * 5000 + ',0]\n', 'tpl:1: template line '),
        ('U0:%x[0,' + '1' * 3000 + ']\n', 'tpl:1: column 1111111111 of '),
        ('U0:' + '%x[0,0]' * 200_000 + '\n', 'tpl: more than 1048576 bytes (expected a small file)'),
        ('U0:' + '%x[0,0]' * 500 + '\n', 'tpl:1: 500 macros in template line '),
    ],
    ids=['digits', 'column', 'file', 'macros'],
)
def test_templates_have_bounds(files, tmp_path, text, message):
    """They once took minutes and 17 GB, or ended in an internal error."""
    (tmp_path / 'tpl').write_text(text)
    code, _, error = shell(
        '{ssvm} train --template {tpl} {data} {model}',
        tpl=tmp_path / 'tpl',
        data=files / 'train.conll',
        model=tmp_path / 'm',
    )
    assert code == 1 and error.count('\n') == 1 and message in error
    assert not (tmp_path / 'm').exists()


@pytest.mark.parametrize(
    ('option', 'text'),
    [
        ('--taxonomy', '1 top 1e308\n2 top 1e308\n3 top\n'),
        ('--class-features', '1 a:1e200\n2 a\n3 b\n'),
        ('--class-similarity', '1\t2\t3\n1e308\t0\t0\n0\t1\t0\n0\t0\t1\n'),
        ('--task-loss', '1\t2\t3\n0\t1e308\t1\n1\t0\t1\n1\t1\t0\n'),
    ],
)
@pytest.mark.parametrize('objective', ['hinge', 'log', 'softmax-margin'])
def test_numbers_of_classes_have_bounds(files, tmp_path, option, text, objective):
    """Products of them overflowed, which numpy said in warnings, or the run failed at the end."""
    (tmp_path / 'file').write_text(text)
    if (option, objective) == ('--task-loss', 'log'):
        return
    line = '{ssvm} train -q --max-passes 3 --objective {objective} {option} {file} {data} {model}'
    names = {'option': option, 'file': tmp_path / 'file', 'data': files / 'train.svm', 'model': tmp_path / 'm'}
    code, _, error = shell(line, objective=objective, **names)
    assert code == 1 and error.count('\n') == 1 and 'in size)' in error
    (tmp_path / 'file').write_text(text.replace('1e308', '1e30').replace('1e200', '1e15'))
    code, _, error = shell(line, objective=objective, **names)
    assert (code, error) == (0, '')
