"""ssvm convert: data from format to format, models to text and back."""

import pytest

from data_formats.models.model import load
from tests.cli.commands import run


def test_columns_become_attributes(files, tmp_path):
    (tmp_path / 'a.conll').write_text('w1 O\nw2 B-X\n\nw1 O\n')
    result = run('convert', '--template', files / 'tpl', tmp_path / 'a.conll', tmp_path / 'a.crfsuite')
    assert (tmp_path / 'a.crfsuite').read_text() == (
        'O\tU0\\:w1\tU1\\:_B-1\nB-X\tU0\\:w2\tU1\\:w1\n\nO\tU0\\:w1\tU1\\:_B-1\n\n'
    )
    assert result.stdout == '' and result.stderr.endswith('2 examples, 3 tokens, from conll to crfsuite\n')


def test_names_become_numbers(files, tmp_path):
    text = run('convert', '--to', 'svmhmm', '--names', tmp_path / 'names', files / 'train.crfsuite', '-').stdout
    assert text == '1 qid:1 1:1 2:0.5\n2 qid:1 3:1\n1 qid:2 2:2\n'
    names = (tmp_path / 'names').read_text().splitlines()
    assert names == [
        'label\t1\ta:b',
        'label\t2\té',
        'attribute\t1\tw=:',
        'attribute\t2\tx y',
        'attribute\t3\tdir=c:\\tmp',
    ]


def test_there_and_back(files, tmp_path):
    run('convert', '-q', '--to', 'crfsuite', files / 'train.hmm', tmp_path / 'b')
    run('convert', '-q', '--from', 'crfsuite', '--to', 'svmhmm', tmp_path / 'b', tmp_path / 'c.hmm')
    for source, name in ((files / 'train.hmm', 'one'), (tmp_path / 'c.hmm', 'two')):
        run('train', '-q', '--objective', 'log', source, tmp_path / name)
    assert load(tmp_path / 'one').header['primal'] == pytest.approx(load(tmp_path / 'two').header['primal'])


def test_single_labels_become_sets(tmp_path):
    (tmp_path / 'a.svm').write_text('b 1:1\n1 2:0.5\n')
    result = run('convert', '--bias', '--names', tmp_path / 'names', tmp_path / 'a.svm', tmp_path / 'b.ml')
    assert (tmp_path / 'b.ml').read_text() == 'b 1:1 3:1\n1 2:0.5 3:1\n'
    assert (tmp_path / 'names').read_text() == 'attribute\t1\t1\nattribute\t2\t2\nattribute\t3\tbias\n'
    assert result.stderr.endswith('2 examples, 2 tokens, from multilabel to multilabel\n')


@pytest.mark.parametrize(
    ('name', 'data'), [('svm', 'train.svm'), ('crf', 'test.conll'), ('hmm', 'train.hmm'), ('obs', 'test.conll')]
)
def test_a_model_as_text_and_back(files, models, tmp_path, name, data):
    text, back, again = tmp_path / 'm.tsv', tmp_path / 'm', tmp_path / 'again.tsv'
    run('convert', models[name], text)
    run('convert', text, back)
    run('convert', back, again)
    assert text.read_bytes() == again.read_bytes()
    for flags in ([], ['--scores'], ['--nbest', 4]):
        outputs = [run('predict', *flags, files / data, model).stdout_bytes for model in (models[name], back)]
        assert outputs[0] == outputs[1] != b''


def test_models_through_pipes(models, tmp_path):
    text = run('convert', '-', '-', stdin=models['svm'].read_bytes()).stdout_bytes
    assert text.startswith(b'# format: "ssvm-model"\n') and b'\nblock\tleft\tright\tweight\nstate\t1\t1\t' in text
    model = run('convert', '-', '-', stdin=text).stdout_bytes
    (tmp_path / 'm').write_bytes(model)
    assert load(tmp_path / 'm').header['task'] == 'multiclass'


def test_weights_changed_by_hand(files, models, tmp_path):
    run('convert', models['svm'], tmp_path / 'm.tsv')
    lines = (tmp_path / 'm.tsv').read_text().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith('state') or line.split('\t')[2] == '2']
    (tmp_path / 'm.tsv').write_text(''.join(kept).replace('state\t1\t2\t-', 'state\t1\t2\t'))
    run('convert', tmp_path / 'm.tsv', tmp_path / 'm')
    model = load(tmp_path / 'm')
    assert model.label_names.names() == ['1', '2', '3'] and not model.weights['state'][:, [0, 2]].any()


REFUSED = {
    'no format': (['train.svm', 'out'], 2, 'cannot tell the format of out by its name: give --to svmlight|svmhmm'),
    'columns': (['--to', 'conll', 'train.svm', 'out'], 2, 'conll cannot be written'),
    'template': (['--template', 'tpl', 'train.svm', 'out.crf'], 2, '--template makes attributes of CoNLL columns'),
    'options for a model': (['--to', 'crfsuite', '--bias', 'svm.model', 'out'], 2, 'is a model: --to, --bias make no'),
    'folder': (['train.svm', 'no/such/out.crf'], 2, 'does not exist'),
    'missing': (['none.svm', 'out.crf'], 1, 'none.svm: No such file or directory'),
    'data under the name of a model': (['train.svm', 'o.tsv'], 1, 'train.svm: is no model, nor the text of one (expe'),
    'data as a model': (['train.conll', 'O.Model'], 1, 'is no model, nor the text of one (expected one to make O.Mo'),
    'model under the name of data': (['svm.model', 'out.svm'], 2, 'and out.svm is the name of svmlight data'),
    'text under the name of data': (['svm.tsv', 'out.crf.gz'], 2, 'and out.crf.gz is the name of crfsuite data'),
    'transitions': (['--template', 'tpl-b', 'train.conll', 'out.crf'], 2, 'cannot hold features of transitions'),
}  # fmt: skip


@pytest.mark.parametrize(('args', 'code', 'message'), REFUSED.values(), ids=REFUSED)
def test_refused(files, models, monkeypatch, args, code, message):
    monkeypatch.chdir(files)
    (files / 'tpl-b').write_text('U0:%x[0,0]\nB1:%x[0,0]\n')
    run('convert', models['svm'], files / 'svm.tsv')
    before = sorted(files.iterdir())
    result = run('convert', *args, code=code)
    assert message in result.stderr and result.stdout == ''
    assert sorted(files.iterdir()) == before


def test_bad_data_name_the_line(tmp_path):
    (tmp_path / 'a.svm').write_text('1 1:1\n1 1:1 1:2\n')
    error = run('convert', tmp_path / 'a.svm', tmp_path / 'a.crf', code=1).stderr
    assert error.startswith(f'{tmp_path / "a.svm"}:2: ')
    assert not (tmp_path / 'a.crf').exists()
