"""Small files to train on, and models trained on them."""

import pytest

from tests.cli.commands import conll_text, hmm_text, multiclass_text, run


@pytest.fixture(scope='session')
def files(tmp_path_factory):
    """A folder with train.svm, train.hmm, train.conll, test.conll, train.crfsuite and the template tpl."""
    folder = tmp_path_factory.mktemp('data')
    (folder / 'train.svm').write_text(multiclass_text())
    (folder / 'train.hmm').write_text(hmm_text())
    (folder / 'train.conll').write_text(conll_text())
    (folder / 'test.conll').write_text(conll_text(8, seed=1))
    (folder / 'tpl').write_text('U0:%x[0,0]\nU1:%x[-1,0]\nB\n')
    (folder / 'train.crfsuite').write_text('a\\:b\tw=\\:\tx y:0.5\né\tdir=c\\:\\\\tmp\n\na\\:b\tx y:2\n')
    return folder


@pytest.fixture(scope='session')
def models(files):
    """Trained models by name: svm (multiclass hinge), crf (chain log, columns), hmm (chain hinge), obs (crf with the
    observed pairs only)."""
    found = {name: files / f'{name}.model' for name in ('svm', 'crf', 'hmm', 'obs')}
    run('train', '-q', files / 'train.svm', found['svm'])
    log = ('--objective', 'log', '--solver', 'lbfgs')
    run('train', '-q', *log, '--template', files / 'tpl', files / 'train.conll', found['crf'])
    run('train', '-q', '--lambda', '0.1', files / 'train.hmm', found['hmm'])
    observed = ['--feature-set', 'observed', '--objective', 'log', '--template', files / 'tpl']
    run('train', '-q', *observed, files / 'train.conll', found['obs'])
    return found
