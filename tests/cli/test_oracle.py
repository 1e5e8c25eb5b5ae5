"""--oracle, a word of its own for --set oracle=."""

import pytest

from data_formats.models.model import load
from tests.cli.commands import run


def test_oracle_is_short_for_a_setting(files, tmp_path):
    for given in (['--oracle', 'topk'], ['--set', 'oracle=topk']):
        run('train', '--solver', 'svrg', '--max-passes', 3, *given, files / 'train.svm', tmp_path / given[0])
    assert (tmp_path / '--oracle').read_bytes() == (tmp_path / '--set').read_bytes()
    assert load(tmp_path / '--set').header['settings']['oracle'] == 'topk'
    said = run('train', '--oracle', 'topk', files / 'train.svm', tmp_path / 'm', code=2).stderr
    assert '--oracle: bcfw has no choice of oracles (solvers that have: svrg, sc-svrg)' in said
    both = ['--solver', 'svrg', '--oracle', 'topk', '--set', 'oracle=exp']
    assert (
        '--oracle and --set oracle= are given both'
        in run('train', *both, files / 'train.svm', tmp_path / 'm', code=2).stderr
    )


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (['--objective', 'log', '--oracle', 'topk'], '--oracle has no effect on --objective log, where svrg takes'),
        (
            ['--objective', 'softmax-margin', '--set', 'oracle=topk'],
            '--set oracle= has no effect on --objective softmax',
        ),
        (['--objective', 'log', '--set', 'K=3'], '--set K= has no effect on --objective log'),
        (['--oracle', 'exp', '--set', 'K=3'], '--set K= has no effect on the exp oracle (use --oracle topk)'),
        (['--set', 'oracle=max', '--set', 'K=3'], '--set K= has no effect on the max oracle (use --oracle topk)'),
    ],
)
def test_oracles_without_effect_are_refused(files, tmp_path, options, said):
    assert said in run('train', '--solver', 'svrg', *options, files / 'train.svm', tmp_path / 'm', code=2).stderr


@pytest.mark.parametrize('options', [['--oracle', 'topk'], ['--set', 'oracle=auto']])
def test_k_is_of_the_topk_oracle(files, tmp_path, options):
    how = ['--solver', 'sc-svrg', *options, '--set', 'K=3', '--max-passes', 1]
    run('train', *how, files / 'train.svm', tmp_path / 'm')
    assert load(tmp_path / 'm').header['settings']['K'] == 3
