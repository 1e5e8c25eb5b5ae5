"""Options of other programs: refused, with the name of ours."""

import re

import pytest

from ssvm_cli.cli import COMMANDS, cli
from ssvm_cli.options.other_programs import HABITS, PARAMETERS
from tests.cli.commands import run

SAID = {
    '-t 0': "svm_struct's -t 0 is --kernel linear here.",
    '-t 2': "svm_struct's -t 2 is --kernel rbf here.",
    '-t2': "svm_struct's -t 2 is --kernel rbf here.",
    '-t 3': "svm_struct's -t 3 is missing: there are --kernel linear, poly and rbf here.",
    '-t 7': "svm_struct's -t is --kernel linear, poly or rbf here.",
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
    '(expected zero-one (or 0), hamming (or 1), f1, brackets, given, overlap, tree or a file)',
    '-t 1d': "crfsuite's -t 1d is --order 1, the default, here.",
    '-w1 2': "liblinear's -w1 2, the weight of a class, is missing (a cost matrix, --task-loss FILE, makes",
    '-w-1 0.5': "liblinear's -w-1 0.5, the weight of a class, is missing",
    '-w 1': "svm_struct's -w 1 is --solver n-slack here.",
    '-w 9': "svm_struct's -w 9 is missing: an algorithm of its own",
    '-v 5': "5 is not in the range 0<=x<=3. liblinear's -v 5, cross-validation, is missing (--dev FILE scores",
    '-s 5': "liblinear's -s 5 is missing: --lambda, of the squared weights, is the only penalty here.",
    '-s 6': "liblinear's -s 6 is missing: --lambda, of the squared weights, is the only penalty here.",
    '-s 11': "liblinear's -s 11 is missing: outputs are labels and structures, no numbers here.",
    '-a CRF-L1': "crf_learn's -a CRF-L1 is missing: --lambda, of the squared weights, is the only penalty here.",
    '-a rprop': "wapiti's -a rprop is missing: --objective log --solver eg is the nearest here.",
    '-T maxent': "wapiti's -T maxent is --task multiclass --objective log here.",
    '-2 0.1': "wapiti's -2 is --lambda, with RHO2/n for n examples, here.",
    '-j 3': "svm_learn's -j is missing (a cost matrix",
    '-y 1': "svm_struct's -y is -v LEVEL here.",
    '--cost 2': "crf_learn's --cost is --lambda, with 1/(n COST) for n examples, here.",
    '-p 2 --objective log': "variants of hinge, not of log. crf_learn's -p is --threads N here.",
    '-p c2=1': "'c2=1' is not one of 1, 2. crfsuite's -p c2=1 is --lambda, with 2 c2/n for n examples here.",
}


@pytest.mark.parametrize(('options', 'said'), SAID.items(), ids=SAID)
def test_train_names_its_own_option(tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    result = run('train', *options.split(), 'train.svm', 'model', code=2)
    assert (
        result.stdout == ''
        and said in result.stderr
        and ('Usage: ssvm' in result.stderr or options[:2] in ('-l', '-p'))
    )
    assert list(tmp_path.iterdir()) == []


def test_predict_names_its_own_option():
    said = run('predict', '-m', 'model', 'test.conll', code=2).stderr
    assert "No such option: -m. crf_test and crfsuite's -m is the second argument, MODEL, here." in said


@pytest.mark.parametrize(('option', 'ours'), [('-b 1', '--marginals'), ('-s', '--scores'), ('-c', '--evaluate')])
def test_predict_names_what_else_prints_probabilities(option, ours):
    assert f' is {ours} here.' in run('predict', *option.split(), 'test.conll', 'model', code=2).stderr


@pytest.mark.parametrize('level', ['-v1', '-v2'])
def test_probabilities_of_crf_test_are_no_verbosity(files, models, level):
    said = run('predict', level, files / 'test.conll', models['crf']).stderr
    assert f"{level} says how much is said; crf_test's {level}, probabilities, is --marginals here\n" in said
    assert 'crf_test' not in run('predict', '-v', level[-1], files / 'test.conll', models['crf']).stderr


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


@pytest.mark.parametrize('option', ['-Z', '--lamda'])
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
    sorted(
        text.removesuffix(', the default,')
        for text in {
            text for meanings in HABITS['train'].values() for _, _, texts in meanings for text in texts.values()
        }
        if not text.startswith('missing')
    ),
)
def test_options_that_are_named_are_understood(tmp_path, options):
    """As far as the first look at the data, of which there are none."""
    missing = tmp_path / 'missing.crfsuite'
    assert (
        run('train', *options.split(), missing, tmp_path / 'm', code=1).stderr
        == f'{missing}: No such file or directory\n'
    )
