"""ssvm predict: golden outputs, scores and probabilities, metrics, streams."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from data_formats.models.model import load, save
from tests.cli.commands import conll_text, environment, multiclass_text, run, start


def test_one_label_a_line(files, models, tmp_path):
    lines = run('predict', files / 'train.svm', models['svm']).stdout.splitlines()
    assert len(lines) == 30 and set(lines) == {'1', '2', '3'}
    run('predict', files / 'train.svm', models['svm'], tmp_path / 'out')
    assert (tmp_path / 'out').read_text().splitlines() == lines
    by_hand = scores_by_hand(files / 'train.svm', load(models['svm']))
    assert lines == [str(1 + k) for k in by_hand.argmax(axis=1)]


def scores_by_hand(path, model):
    rows = [[float(pair.split(':')[1]) for pair in line.split()[1:]] for line in path.read_text().splitlines()]
    assert model.attributes.names() == ['1', '2', '3', '4']
    return np.array(rows) @ model.weights['state']


def test_columns_come_back_with_one_more(files, models):
    text = run('predict', files / 'test.conll', models['crf']).stdout
    given = (files / 'test.conll').read_text()
    assert [line.split()[:2] for line in text.splitlines()] == [line.split() for line in given.splitlines()]
    assert {line.split()[2] for line in text.splitlines() if line} <= {'O', 'B-X', 'I-X', 'B-Y'}


def test_golden_nbest(files, models):
    data = 'w3\nw6\n\nw1\n\n'
    text = run('predict', '--nbest', 2, '-', models['crf'], stdin=data).stdout
    shown = re.sub(r'(# \d) \S+ \S+', r'\1 SCORE P', text)
    assert shown == (
        '# 1 SCORE P\nw3 B-X\nw6 I-X\n\n# 2 SCORE P\nw3 B-X\nw6 O\n\n# 1 SCORE P\nw1 O\n\n# 2 SCORE P\nw1 B-X\n\n'
    )


def test_nbest_is_the_whole_distribution(files, models):
    """Two tokens of four labels: sixteen outputs, whose probabilities add up to 1 and to the marginals."""
    names = load(models['crf']).label_names.names()
    data = 'w4\nw6\n'
    heads, outputs = [], []
    for line in run('predict', '--nbest', 99, '-', models['crf'], stdin=data).stdout.splitlines():
        if line.startswith('#'):
            heads.append([float(x) for x in line.split()[1:]])
            outputs.append([])
        elif line:
            outputs[-1].append(line.split()[1])
    ranks, scores, chances = zip(*heads, strict=True)
    assert ranks == tuple(range(1, 17)) and len(set(map(tuple, outputs))) == 16
    assert sorted(scores, reverse=True) == list(scores)
    assert sum(chances) == pytest.approx(1, abs=1e-4)
    text = run('predict', '--marginals', '-', models['crf'], stdin=data).stdout.splitlines()
    for t in range(2):
        columns = text[t].split()[2:]
        marginals = dict(column.rsplit(':', 1) for column in columns)
        assert list(marginals) == names
        for name in names:
            expected = sum(p for p, y in zip(chances, outputs, strict=True) if y[t] == name)
            assert float(marginals[name]) == pytest.approx(expected, abs=1e-4)


def test_nbest_of_a_hinge_model_has_no_probabilities(files, models):
    text = run('predict', '--nbest', 3, files / 'train.svm', models['svm']).stdout
    heads = [line.split() for line in text.splitlines() if line.startswith('#')]
    assert len(heads) == 90 and all(len(head) == 3 for head in heads)
    scores = np.array([float(head[2]) for head in heads]).reshape(30, 3)
    by_hand = np.sort(scores_by_hand(files / 'train.svm', load(models['svm'])), axis=1)[:, ::-1]
    np.testing.assert_allclose(scores, by_hand, rtol=1e-9)


def test_scores_of_labels(files, models):
    lines = run('predict', '--scores', files / 'train.svm', models['svm']).stdout.splitlines()
    by_hand = scores_by_hand(files / 'train.svm', load(models['svm']))
    for line, row in zip(lines, by_hand, strict=True):
        columns = line.split()[1:]
        assert [column.split(':')[0] for column in columns] == ['1', '2', '3']
        np.testing.assert_allclose([float(column.split(':')[1]) for column in columns], row, rtol=1e-8)


def test_scores_of_sequences(files, models):
    with_scores = run('predict', '--scores', files / 'test.conll', models['crf']).stdout
    best = run('predict', '--nbest', 1, files / 'test.conll', models['crf']).stdout
    heads = [line.split()[2] for line in with_scores.splitlines() if line.startswith('#')]
    assert heads == [line.split()[2] for line in best.splitlines() if line.startswith('#')]
    plain = run('predict', files / 'test.conll', models['crf']).stdout
    assert re.sub(r'# .*\n', '', with_scores) == plain


def test_evaluate_and_metrics(files, models, tmp_path):
    metrics = tmp_path / 'm.json'
    result = run('predict', '--evaluate', '--metrics', metrics, files / 'test.conll', models['crf'], tmp_path / 'out')
    found = json.loads(metrics.read_text())
    assert result.stdout == ''
    assert result.stderr.splitlines()[0].startswith(f'accuracy {100 * found["accuracy"]:.2f} % (')
    assert f'{100 * found["chunks"]["f1"]:.2f}' in result.stderr.splitlines()[-1]
    rows = [line.split() for line in (tmp_path / 'out').read_text().splitlines() if line]
    assert found['accuracy'] == pytest.approx(np.mean([row[1] == row[2] for row in rows]))
    label = found['labels']['B-Y']
    assert label['gold'] == sum(row[1] == 'B-Y' for row in rows)
    assert label['found'] == sum(row[2] == 'B-Y' for row in rows)


def test_multiclass_has_no_chunks(files, models, tmp_path):
    run('predict', '--metrics', tmp_path / 'm.json', files / 'train.svm', models['svm'], tmp_path / 'out')
    assert 'chunks' not in json.loads((tmp_path / 'm.json').read_text())


def test_labels_that_the_model_does_not_know_are_errors(files, models, tmp_path):
    data = 'w0 O\nw3 B-NEW\n\n'
    run('predict', '--metrics', tmp_path / 'm.json', '-', models['crf'], tmp_path / 'out', stdin=data)
    found = json.loads((tmp_path / 'm.json').read_text())
    assert found['accuracy'] == 0.5 and found['labels']['B-NEW']['gold'] == 1
    assert found['chunks']['types'].keys() == {'NEW', 'X'}


def test_evaluating_without_labels(models, tmp_path):
    how = ('--evaluate', '--metrics', tmp_path / 'm.json', '-', models['crf'], tmp_path / 'out')
    for given, examples in (('w0\nw1\n', 1), ('', 0)):
        error = run('predict', *how, stdin=given).stderr
        assert error == '<stdin>: no labels in column 2: nothing to score\n'
        assert (tmp_path / 'out').read_text().count('w0') == examples
        assert json.loads((tmp_path / 'm.json').read_text())['tokens'] == 0


def test_threads_change_nothing(files, models, tmp_path):
    big = tmp_path / 'big.conll'
    big.write_text(conll_text(40, seed=3) * 800)  # more than one block
    outputs = []
    for threads in (1, 2, 5):
        out = tmp_path / str(threads)
        run('predict', '--threads', threads, '--metrics', tmp_path / f'm{threads}', big, models['crf'], out)
        outputs.append((out.read_bytes(), (tmp_path / f'm{threads}').read_bytes()))
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='reads the peak of the memory in /proc')
@pytest.mark.parametrize('threads', ['1', '2'])
def test_memory_does_not_grow_with_the_input(models, tmp_path, threads):
    peaks = []
    for name, times in (('short', 4000), ('long', 20000)):
        (tmp_path / name).write_text(multiclass_text() * times)
        code = (
            'import sys; from ssvm_cli.cli import cli\n'
            'try: cli.main(sys.argv[1:])\n'
            'except SystemExit: print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0], file=sys.stderr)'
        )
        how = ['predict', '--threads', threads, str(tmp_path / name), str(models['svm']), str(tmp_path / 'out')]
        process = subprocess.run([sys.executable, '-c', code, *how], capture_output=True, check=True, env=environment())
        peaks.append(int(process.stderr.split()[-1]))
    assert peaks[1] < 1.1 * peaks[0]


def test_a_failure_leaves_the_old_output(files, models, tmp_path):
    (tmp_path / 'out').write_text('old')
    (tmp_path / 'bad').write_text((files / 'train.svm').read_text() + '1 x:y\n')
    error = run('predict', tmp_path / 'bad', models['svm'], tmp_path / 'out', code=1).stderr
    assert error.startswith(f'{tmp_path / "bad"}:31: ')
    assert (tmp_path / 'out').read_text() == 'old'
    assert sorted(path.name for path in tmp_path.iterdir()) == ['bad', 'out']


def test_a_closed_pipe_is_no_error(models, tmp_path):
    (tmp_path / 'big.svm').write_text(multiclass_text() * 3000)
    process = start('predict', tmp_path / 'big.svm', models['svm'])
    assert process.stdout.readline() in (b'1\n', b'2\n', b'3\n')
    process.stdout.close()
    assert process.wait(30) == 0
    assert process.stderr.read() == b''
    process.stderr.close()


REFUSED = {
    'nbest 0': (['--nbest', '0'], 'svm', 2, 'not in the range'),
    'nbest and marginals': (['--nbest', '2', '--marginals'], 'crf', 2, '--nbest writes scores and'),
    'marginals of a hinge model': (['--marginals'], 'svm', 2, '--marginals needs a log or softmax-margin model'),
    'standard input twice': (['--metrics', '-'], 'svm', 2, 'standard output can be written only once'),
    'no folder': (['--metrics', 'no/such/file'], 'svm', 2, 'does not exist'),
    'another format': (['--format', 'svmlight'], 'crf', 2, 'svmlight files hold no data for a chain model'),
}  # fmt: skip


@pytest.mark.parametrize(('options', 'model', 'code', 'message'), REFUSED.values(), ids=REFUSED)
def test_refused(files, models, options, model, code, message):
    result = run('predict', *options, files / 'train.svm', models[model], code=code)
    assert message in result.stderr and result.stdout == ''


def test_missing_files(files, models, tmp_path):
    assert 'none.svm: No such file' in run('predict', tmp_path / 'none.svm', models['svm'], code=1).stderr
    assert 'none: No such file' in run('predict', files / 'train.svm', tmp_path / 'none', code=1).stderr


def test_data_are_no_model(files):
    error = run('predict', files / 'train.svm', files / 'train.svm', code=1).stderr
    assert 'not an ssvm model' in error


def test_the_input_is_not_overwritten(files, models):
    before = (files / 'test.conll').read_bytes()
    error = run('predict', files / 'test.conll', models['crf'], files / 'test.conll', code=2).stderr
    assert 'test.conll is both TEST and OUTPUT' in error
    assert (files / 'test.conll').read_bytes() == before


def test_a_model_whose_parts_do_not_fit_the_data(files, models, tmp_path):
    model = load(models['crf'])
    del model.weights['transition']
    save(model, tmp_path / 'm')
    error = run('predict', files / 'test.conll', tmp_path / 'm', code=1).stderr
    assert error.startswith(f'{tmp_path / "m"}: does not fit the data: ')
    error = run('gap', files / 'test.conll', tmp_path / 'm', code=1).stderr
    assert error.startswith(f'{tmp_path / "m"}: does not fit {files / "test.conll"}: ')
