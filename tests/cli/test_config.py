"""--config FILE.yaml"""

import pytest

from data_formats.models.model import load
from tests.cli.commands import run


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / 'options.yaml'
        path.write_text(text)
        return path

    return write


def header(files, tmp_path, *options):
    run('train', *options, files / 'train.svm', tmp_path / 'm')
    return load(tmp_path / 'm').header


def test_options_by_their_long_names(files, tmp_path, config):
    text = 'objective: log\nlambda: 1e-1\nrel-gap: 0.5\nquiet: yes\nsolver: lbfgs\nset: {memory: 3}\nseed: 7\n'
    found = header(files, tmp_path, '--config', config(text))
    assert (found['objective'], found['lambda'], found['seed']) == ('log', 0.1, 7)
    assert found['settings']['memory'] == 3 and found['tolerance']['rel_gap'] == 0.5


def test_the_command_line_wins(files, tmp_path, config):
    path = config('lambda: 0.5\nseed: 7\nset: [cache=3]\n')
    found = header(files, tmp_path, '--config', path, '--seed', 1, '--set', 'cache=4', '-c', 4)
    assert (found['seed'], found['settings']['cache'], found['lambda']) == (1, 4, 0.25)


def test_the_command_line_wins_over_its_contrary(files, tmp_path, config):
    path = config('quiet: yes\nrel-gap: 0.2\n')
    how = ['--config', path, files / 'train.svm', tmp_path / 'm']
    assert run('train', *how).stderr == ''
    assert 'MB' in run('train', '-v', *how).stderr
    assert 'no certificate' in run('train', '-v1', '--no-certificate', '--max-passes', 2, *how).stderr


def test_a_hard_margin_wins_over_the_lambda_of_a_file(tmp_path, config):
    (tmp_path / 'train.svm').write_text('1 1:1\n2 2:1\n')
    path = config('lambda: 0.5\n')
    assert header(tmp_path, tmp_path, '--config', path, '--hard-margin')['lambda'] == 1
    path = config('hard-margin: on\n')
    how = ['--config', path, '--lambda', 0.5, tmp_path / 'train.svm', tmp_path / 'm']
    assert '--hard-margin has no slacks that --lambda could weigh' in run('train', *how, code=2).stderr


def test_c_has_one_letter(files, tmp_path, config):
    assert header(files, tmp_path, '--config', config('c: 2\n'))['lambda'] == 0.5


def test_an_empty_file_changes_nothing(files, tmp_path, config):
    assert header(files, tmp_path, '--config', config('# nothing\n'))['seed'] == 0


REFUSED = [
    ('lamda: 1\n', ":1: unknown option 'lamda' (expected a long option of ssvm train; did you mean 'lambda'?)"),
    ('seed: 1\nconfig: x\n', ":2: unknown option 'config'"),
    ('seed: 1\nseed: 2\n', ":2: option 'seed' stands here twice"),
    ('quiet: maybe\n', ":1: option 'quiet' is 'maybe' (expected true or false)"),
    ('seed: [1, 2]\n', ":1: option 'seed' has no plain value"),
    ('seed:\n', ":1: option 'seed' has no plain value"),
    ('seed: 1.5\n', ":1: option 'seed': '1.5' is not a valid whole number"),
    ('quiet: on\nlambda: much\n', ":2: option 'lambda': 'much' is not a number"),
    ('threads: 0\n', ":1: option 'threads': 0 is not in the range"),
    ('slack-norm: 3\n', ":1: option 'slack-norm': '3' is not one of 1, 2"),
    ('lambda: 1\nc: 1\n', 'two names for one thing'),
    ('hard-margin: on\nc: 1\n', '--hard-margin has no slacks that -c could weigh'),
    ('quiet: on\nverbose: 2\n', '--quiet and --verbose exclude each other'),
    ('rel-gap: 1\nno-certificate: on\n', '--rel-gap and --no-certificate exclude each other'),
    ('- seed\n', ':1: not a mapping'),
    ('seed: [1\n', ':2: not YAML'),
    ('[a, b]: 1\n', ':1: a key that is no option name'),
    ('quiet: on' + '1' * 5000, ":1: option 'quiet' is 'on" + '1' * 38 + "...' (expected true or false)"),
    ('[' * 5000, 'options.yaml: nested too deeply (expected lines of the form OPTION: VALUE)'),
    ('seed: ' + '{a: ' * 3000 + '}' * 3000, 'options.yaml: nested too deeply'),
    ('# ' + 'x' * 70000, 'options.yaml: more than 65536 bytes (expected a small file)'),
    ('seed: ' + '9' * 5000, ":1: option 'seed'"),
    ('solver: nope\n', "unknown solver 'nope'"),
]


@pytest.mark.parametrize(('text', 'message'), REFUSED)
def test_refused(files, tmp_path, config, text, message):
    error = run('train', '--config', config(text), files / 'train.svm', tmp_path / 'm', code=2).stderr
    assert message in error and len(error) < 600


def test_missing(files, tmp_path):
    error = run('train', '--config', tmp_path / 'none.yaml', files / 'train.svm', tmp_path / 'm', code=2).stderr
    assert 'none.yaml: No such file or directory' in error


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('oracle: topk\n', ['--set', 'oracle=exp']),
        ('set: [oracle=topk, K=3]\n', ['--oracle', 'exp']),
        ('oracle: topk\nset: [K=3]\n', ['--oracle', 'exp']),
    ],
)
def test_the_command_line_wins_with_both_names_of_the_oracle(files, tmp_path, text, words):
    (tmp_path / 'o.yaml').write_text(f'{text}solver: svrg\nmax-passes: 1\n')
    run('train', '--config', tmp_path / 'o.yaml', *words, files / 'train.svm', tmp_path / 'm')
    assert load(tmp_path / 'm').header['settings']['oracle'] == 'exp'
