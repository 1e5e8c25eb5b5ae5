"""Options of other programs: refused, with the name of ours."""

import re

import pytest

from ssvm_cli.cli import COMMANDS, cli
from ssvm_cli.habits import HABITS, PARAMETERS
from tests.cli.commands import run

SAID = {
    '-t 0': "svm_struct's -t 0 is --kernel linear here.",
    '-t 2': "svm_struct's -t 2 is --kernel rbf here.",
    '-t2': "svm_struct's -t 2 is --kernel rbf here.",
    '-t 3': "svm_struct's -t is --kernel linear, poly or rbf here.",
    '-g 0.5': "svm_struct's -g is --gamma GAMMA here.",
    '-d 3': "svm_struct's -d is --degree N here.",
    '-w 0': "svm_struct's -w 0 is --solver n-slack here.",
    '-w 4': "svm_struct's -w 4 is --solver one-slack here.",
    '-# 100': "svm_struct's -# is --max-passes N (which bounds the whole run) here.",
    '-a lbfgs': "crfsuite's -a lbfgs is --objective log --solver lbfgs here.",
    '-a CRF-L2': "crf_learn's -a CRF-L2 is --objective log here.",
    '-m 20': "crf_learn's -m is --max-passes N here.",
    '-s 4': "svm_struct's -s is --gamma GAMMA here. liblinear's -s 4 is --objective hinge here.",
    '-s 0.5': "svm_struct's -s is --gamma GAMMA here. liblinear's -s is --objective, and --solver if need be here.",
    '--maxiter 20': "crf_learn's --maxiter is --max-passes N here.",
    '--t 2': "svm_hmm's --t 2 is --order 2 here.",
    '--t 3': "svm_hmm's --t is --order 1 or 2 here.",
    '--e 1': "svm_hmm's --e is --edge-features for an order of 1, and nothing for 0, here.",
    '--textmodel': "crf_learn's --textmodel is ssvm convert MODEL MODEL.tsv here.",
    '-p 4': "'4' is not one of 1, 2. crf_learn's -p is --threads N here.",
    '-p c1=1': "crfsuite's -p c1=1 is missing: --lambda, of the squared weights, is the only penalty here.",
    '-lambda 0.1': 'No such option: -lambda. It has two dashes here: --lambda.',
    '-max-passes=3': 'No such option: -max-passes. It has two dashes here: --max-passes.',
    '-o 3': "'3' is not one of margin (or 2), slack (or 1).",
    '-l 100': '--task-loss 100: no such file '
    '(expected zero-one (or 0), hamming (or 1), f1, given, overlap, tree or a file)',
    '-p c2=1': "'c2=1' is not one of 1, 2. crfsuite's -p c2=1 is --lambda, with 2 c2/n for n examples here.",
}


@pytest.mark.parametrize(('options', 'said'), SAID.items(), ids=SAID)
def test_train_names_its_own_option(tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    result = run('train', *options.split(), 'train.svm', 'model', code=2)
    assert result.stdout == '' and said in result.stderr and ('Usage: ssvm' in result.stderr or '-l' in options)
    assert list(tmp_path.iterdir()) == []


def test_predict_names_its_own_option():
    said = run('predict', '-m', 'model', 'test.conll', code=2).stderr
    assert "No such option: -m. crf_test and crfsuite's -m is the second argument, MODEL, here." in said


@pytest.mark.parametrize(
    ('name', 'ours'), [('learn', 'train'), ('classify', 'predict'), ('tag', 'predict'), ('dump', 'convert')]
)
def test_subcommands_of_others(name, ours):
    said = run(name, 'a', 'b', code=2).stderr
    assert said.endswith(f"No such command '{name}'. It is ssvm {ours} here.\n") and ours in COMMANDS


def test_a_template_as_the_first_argument(files, tmp_path):
    how = ['train', files / 'tpl', files / 'train.conll', tmp_path / 'm']
    said = run(*how, code=2).stderr
    assert f"{files / 'tpl'} is a template, and crf_learn's first argument is --template FILE here." in said
    how[1] = files / 'train.svm'
    assert 'unexpected extra argument' in (said := run(*how, code=2).stderr) and '--template' not in said
    assert 'unexpected extra argument' in run('predict', 'a', 'b', 'c', 'd', code=2).stderr


def test_words_behind_two_dashes_are_names(files, tmp_path):
    said = run('train', '--', '-lambda', tmp_path / 'm', code=1).stderr
    assert said == '-lambda: No such file or directory\n'


@pytest.mark.parametrize('option', ['-z', '--lamda'])
def test_options_of_nobody_stay_with_click(option):
    said = run('train', option, '1', 'a', 'b', code=2).stderr
    assert 'No such option' in said and ' here.' not in said


def test_options_that_are_named_exist():
    assert set(HABITS) <= set(COMMANDS)
    for name, habits in HABITS.items():
        ours = {option for param in cli.get_command(None, name).params for option in param.opts}
        assert ours.isdisjoint(habits), 'what exists is never refused'
        said = [
            text for meanings in habits.values() for _, text, values in meanings for text in (text, *values.values())
        ]
        said += PARAMETERS.values() if name == 'train' else []
        assert set(re.findall(r'--[a-z][a-z0-9-]*', ' '.join(said))) <= ours


@pytest.mark.parametrize(
    'options',
    sorted({text for meanings in HABITS['train'].values() for _, _, values in meanings for text in values.values()}),
)
def test_options_that_are_named_are_understood(tmp_path, options):
    """As far as the first look at the data, of which there are none."""
    missing = tmp_path / 'missing.crfsuite'
    assert (
        run('train', *options.split(), missing, tmp_path / 'm', code=1).stderr
        == f'{missing}: No such file or directory\n'
    )
