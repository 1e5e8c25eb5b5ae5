"""--scale: training on the values of a file divided by what they are at most, or by their root mean square, is training
on a file of the divided values; predict, gap and the rest divide by what the model says."""

import json
import re

import numpy as np
import pytest

from data_formats.files.log import read_log
from data_formats.files.source import Source
from data_formats.models.model import load, save
from tests.cli.commands import run
from tests.scaled import KINDS, examples, scale_of, written

FIGURES = ('primal', 'dual')
OTHERS = {  # further options with which a format is tried
    'bias': ('svmlight', ['--bias']),
    'bias of sequences': ('svmhmm', ['--bias']),
    'bias of sets': ('multilabel', ['--bias']),
    'bias of links': ('links', ['--bias']),
    'bias of graphs': ('graph', ['--bias']),
    'window': ('svmhmm', ['--window', 1, '--bias']),
    'edges': ('crfsuite', ['--edge-features', '--window', 2]),
    'order': ('svmhmm', ['--order', 2]),
    'rare': ('crfsuite', ['--min-freq', 40]),
    'rare in graphs': ('graph', ['--min-freq', 40]),
    'observed': ('crfsuite', ['--feature-set', 'observed', '--objective', 'log']),
    'poly': ('svmlight', ['--kernel', 'poly', '--degree', 2]),
    'rbf': ('svmhmm', ['--kernel', 'rbf', '--gamma', 0.5, '--bias']),
    'multiclass': ('svmhmm', ['--task', 'multiclass']),
    'cuts': ('links', ['--solver', 'n-slack']),
    'grades': ('svmrank', ['--grades']),
    'soft': ('multilabel', ['--relaxation', 'soft', '--rho', 0.1]),
    'soft graphs': ('graph', ['--relaxation', 'soft', '--rho', '1:0.1:0.1']),
    'path': ('svmlight', ['--lambda-path', '1:0.01:0.1']),
}
CASES = {**{f'{kind}-{how}': (kind, how, []) for kind in KINDS for how in ('max', 'std')}}
CASES |= {name: (kind, 'max', more) for name, (kind, more) in OTHERS.items()}


def gap(*args):
    return json.loads(run('gap', '--json', *args).stdout_bytes)


def named_scale(model):
    """name -> what its values are divided by."""
    model = load(model)
    return dict(zip(model.attributes.names(), model.scale.tolist(), strict=True))


class Files:
    """A training and a test file of a format as they are, and divided beforehand."""

    def __init__(self, folder, kind, how='max'):
        self.folder, self.kind = folder, kind
        self.rows = {'train': examples(kind), 'test': examples(kind, seed=1)}
        self.scale = scale_of(self.rows['train'], how)
        for name, rows in self.rows.items():
            (folder / name).write_text(written(kind, rows))
        self.divide(self.scale)

    def divide(self, scale):
        for name, rows in self.rows.items():
            (self.folder / f'{name}-divided').write_text(written(self.kind, rows, scale))

    def divide_as(self, model):
        """By what a model says, so that values are the same to the last bit."""
        own = {k: v for k, v in named_scale(model).items() if k in self.scale}
        assert own == pytest.approx({name: self.scale[name] for name in own}, rel=1e-14)
        self.divide(self.scale | own)

    def train(self, divided, model, *how):
        path = self.folder / ('train-divided' if divided else 'train')
        run('train', '-q', '--format', self.kind, *how, path, self.folder / model)
        return self.folder / model

    def predicted(self, divided, model, *how, name='test'):
        path = self.folder / (f'{name}-divided' if divided else name)
        output = run('predict', *how, path, model).stdout_bytes
        return re.sub(rb'"features": \{.*?\}', b'', output)  # graphs come back with them


@pytest.mark.parametrize(('kind', 'how', 'more'), CASES.values(), ids=CASES)
def test_scaling_is_dividing_beforehand(tmp_path, kind, how, more):
    files = Files(tmp_path, kind, how)
    steps = ['--lambda', 0.01, '--max-passes', 30, '--rel-gap', 0.01] if '--lambda-path' not in more else []
    scaled = files.train(False, 'scaled', '--scale', how, *steps, *more)
    files.divide_as(scaled)
    divided = files.train(True, 'divided', *steps, *more)
    one, two = load(scaled).header, load(divided).header
    assert [one[name] for name in FIGURES] == pytest.approx([two[name] for name in FIGURES], rel=1e-9)
    one, two = gap(tmp_path / 'train', scaled), gap(tmp_path / 'train-divided', divided)
    assert [one[name] for name in FIGURES] == pytest.approx([two[name] for name in FIGURES], rel=1e-9)
    assert one.pop('scale') == how and one.keys() == two.keys()
    assert files.predicted(False, scaled) == files.predicted(True, divided)
    scales = named_scale(scaled)
    assert scales.get('bias') == (1 if '--bias' in more else None)
    if '--window' in more:
        assert scales['2[-1]'] == scales['2[+1]'] == scales['2'] > 1


@pytest.mark.parametrize('kind', KINDS)
def test_a_scaled_model_becomes_text_and_back(tmp_path, kind):
    files = Files(tmp_path, kind)
    more = ['--window', 1] if kind == 'crfsuite' else []
    scaled = files.train(False, 'scaled', '--scale', 'max', '--max-passes', 5, *more)
    run('convert', '-q', scaled, tmp_path / 'm.tsv')
    rows = re.findall(r'^scale\t(\S+)\t-\t(\S+)$', (tmp_path / 'm.tsv').read_text(), re.MULTILINE)
    found = {name: float(value) for name, value in rows}
    assert (
        found == {name: files.scale[re.sub(r'\[.*', '', name)] for name in found} and files.scale.keys() <= found.keys()
    )
    run('convert', '-q', tmp_path / 'm.tsv', tmp_path / 'again')
    np.testing.assert_array_equal(load(tmp_path / 'again').scale, load(scaled).scale)
    assert files.predicted(False, scaled) == files.predicted(False, tmp_path / 'again')


STARTS = {
    'svmlight': ['--solver', 'lbfgs', '--objective', 'log'],
    'svmhmm': ['--solver', 'lbfgs', '--objective', 'log', '--edge-features'],
    'crfsuite': ['--solver', 'lbfgs', '--objective', 'log', '--feature-set', 'observed', '--window', 1],
    'svmrank': ['--solver', 'sgd', '--objective', 'log'],
    'multilabel': ['--solver', 'sgd', '--objective', 'log'],
    'links': ['--solver', 'sgd'],
    'graph': ['--solver', 'sgd', '--objective', 'log', '--bias'],
}


@pytest.mark.parametrize('hows', [('none', 'max'), ('max', 'std'), ('std', 'none')], ids=' to '.join)
@pytest.mark.parametrize('kind', STARTS)
def test_a_start_gives_the_same_scores_on_another_scale(tmp_path, kind, hows):
    files = Files(tmp_path, kind)
    first = files.train(True, 'first', '--scale', hows[0], '--max-passes', 3, *STARTS[kind])
    start = ['--scale', hows[1], '--max-passes', 0, '--init', first]
    again = files.train(True, 'again', *start, *STARTS[kind])
    one, two = (files.predicted(True, model, '--nbest', 1) for model in (first, again))
    numbers = r'-?\d+\.\d+(?:e-?\d+)?'
    assert re.sub(numbers, '', one.decode()) == re.sub(numbers, '', two.decode())
    scores = [np.array(re.findall(numbers, text.decode()), float) for text in (one, two)]
    np.testing.assert_allclose(*scores, rtol=1e-6)
    assert len(set(scores[0])) > 1


def test_a_dual_point_is_one_on_another_scale_too(tmp_path):
    files = Files(tmp_path, 'svmhmm')
    how = ['--lambda', 0.01, '--max-passes', 5]
    first = files.train(False, 'first', '--scale', 'std', *how)
    said = run(
        'train', '--scale', 'max', '--init', first, *how, '--log', tmp_path / 'log', tmp_path / 'train', tmp_path / 'm'
    )
    assert 'values scaled by max' in said.stderr
    assert float(read_log(tmp_path / 'log')[0]['dual']) > 0
    assert gap(tmp_path / 'train', tmp_path / 'm')['dual'] == pytest.approx(
        load(tmp_path / 'm').header['dual'], rel=1e-9
    )


def test_a_resumed_run_is_the_whole_one(tmp_path):
    files = Files(tmp_path, 'multilabel')
    how = ['--scale', 'std', '--rel-gap', 0, '--checkpoint', tmp_path / 'c']
    whole = files.train(False, 'whole', *how, '--max-passes', 6).read_bytes()
    (tmp_path / 'c').unlink()
    files.train(False, 'm', *how, '--max-passes', 2)
    for other in ('max', 'none'):
        args = ['--resume', *how, '--scale', other, '--format', 'multilabel', tmp_path / 'train', tmp_path / 'm']
        said = run('train', *args, code=1).stderr
        now = 'None' if other == 'none' else "'max'"
        assert f"is the checkpoint of another run: scale was 'std' and is {now}" in said
    assert files.train(False, 'm', *how, '--max-passes', 6, '--resume').read_bytes() == whole


@pytest.mark.parametrize('kind', KINDS)
def test_held_out_data_are_scaled_as_the_training_data(tmp_path, kind):
    files = Files(tmp_path, kind)
    rows = []
    for divided, how in ((False, ['--scale', 'max']), (True, [])):
        dev = tmp_path / ('test-divided' if divided else 'test')
        files.train(divided, 'm', *how, '--max-passes', 4, '--dev', dev, '--log', tmp_path / 'log')
        rows.append([{k: v for k, v in row.items() if k.startswith('dev')} for row in read_log(tmp_path / 'log')])
    assert rows[0] == rows[1] and rows[0]


def test_a_certificate_says_that_it_is_of_scaled_values(tmp_path):
    files = Files(tmp_path, 'svmlight')
    for how, what in (('max', 'the largest absolute value'), ('std', 'the root mean square')):
        said = run('gap', tmp_path / 'train', files.train(False, how, '--scale', how)).stdout_bytes.decode()
        assert re.search(rf'^values scaled by +{how} \({what} of each attribute', said, re.MULTILINE)
    plain = files.train(False, 'plain', '--scale', 'none', '--max-passes', 2)
    assert 'scale' not in run('gap', tmp_path / 'train', plain).stdout_bytes.decode()
    assert 'scale' not in gap(tmp_path / 'train', plain)
    assert load(plain).scale is None and 'scale' not in load(plain).header['data']
    bytes_ = plain.read_bytes()
    assert files.train(False, 'plain', '--max-passes', 2).read_bytes() == bytes_


def test_flags_converge_once_they_are_scaled(tmp_path):
    """Areas and populations up to a million, as the Flags data have them."""
    rng = np.random.default_rng(3)
    lines = []
    for _ in range(100):
        x = rng.exponential(size=6)
        labels = [k for k in range(4) if x[k] + 0.3 * rng.normal() > 0.8]
        values = x * [1e4, 1e5, 1e6, 1e4, 3e5, 1]
        lines.append(','.join(map(str, labels)) + ' ' + ' '.join(f'{k + 1}:{v:.0f}' for k, v in enumerate(values)))
    (tmp_path / 'flags.ml').write_text('\n'.join(lines) + '\n')
    how = ['--max-passes', 200, tmp_path / 'flags.ml', tmp_path / 'm']
    said = run('train', *how).stderr
    assert re.search(r'values up to \S+; scaled to about 1 they would make the gap close sooner \(--scale max\)', said)
    assert gap(tmp_path / 'flags.ml', tmp_path / 'm')['relative_gap'] > 0.5
    for scale in ('max', 'std'):
        said = run('train', '--scale', scale, *how).stderr
        assert f'multilabel, values scaled by {scale})' in said and 'converged after' in said
        assert gap(tmp_path / 'flags.ml', tmp_path / 'm')['status'] == 'converged'


def test_real_pieces_of_music_converge_once_they_are_scaled(data_file, tmp_path):
    train, test = (data_file('multilabel', 'emotions', f'emotions-{part}.arff') for part in ('train', 'test'))
    how, wrong = ['-q', '--max-passes', 150, train, tmp_path / 'm'], []
    for scale in ('none', 'max', 'std'):
        run('train', '--scale', scale, *how)
        found = gap(train, tmp_path / 'm')
        assert found['relative_gap'] > 0.5 if scale == 'none' else found['status'] == 'converged'
        run('predict', '--metrics', tmp_path / 'json', test, tmp_path / 'm', tmp_path / 'out')
        wrong.append(json.loads((tmp_path / 'json').read_text())['hamming_loss'])
    assert max(wrong[1:]) < wrong[0]


@pytest.mark.parametrize('kernel', ['poly', 'rbf'])
def test_tokens_of_a_kernel_are_kept_divided(tmp_path, kernel):
    files = Files(tmp_path, 'svmhmm', 'std')
    scaled = files.train(False, 'm', '--scale', 'std', '--kernel', kernel, '--max-passes', 5)
    values = load(scaled).weights['support.values']
    assert 1 < np.abs(values).max() < 10
    run('convert', '-q', scaled, tmp_path / 'm.tsv')
    run('convert', '-q', tmp_path / 'm.tsv', tmp_path / 'again')
    assert files.predicted(False, scaled, '--scores') == files.predicted(False, tmp_path / 'again', '--scores')
    primal = gap(tmp_path / 'train', tmp_path / 'again')['primal']
    assert primal == pytest.approx(load(scaled).header['primal'], rel=1e-9)


def test_values_that_are_too_large_for_a_kernel_are_not_once_they_are_scaled(tmp_path):
    (tmp_path / 't.svm').write_text('1 1:1e200 2:1e150\n2 1:-1e200 2:1e150\n')
    how = ['--kernel', 'poly', tmp_path / 't.svm', tmp_path / 'm']
    assert 'are too large (expected a smaller gamma or degree, or values scaled by --scale max)' in (
        run('train', *how, code=1).stderr
    )
    run('train', '-q', '--scale', 'max', *how)
    assert gap(tmp_path / 't.svm', tmp_path / 'm')['status'] == 'converged'


@pytest.mark.parametrize('threads', [1, 2])
def test_every_part_of_a_long_file_is_divided(tmp_path, threads, monkeypatch):
    monkeypatch.setattr(Source.__init__, '__defaults__', (300,))
    monkeypatch.setattr('ssvm_cli.commands.run_predict.PART_BYTES', 300)
    files = Files(tmp_path, 'svmlight')
    scaled = files.train(False, 'm', '--scale', 'max', '--max-passes', 20)
    divided = files.train(True, 'd', '--max-passes', 20)
    one, two = (
        gap('--threads', threads, tmp_path / name, model)
        for name, model in (('train', scaled), ('train-divided', divided))
    )
    assert one['primal'] == pytest.approx(two['primal'], rel=1e-9)
    how = ['--threads', threads, '--scores']
    assert files.predicted(False, scaled, *how) == files.predicted(True, divided, *how)


def test_zeros_and_ones_stay_what_they_are(tmp_path):
    """Columns of ones have scale 1, and so have those that are all zero; zeros do not count in a root mean square."""
    (tmp_path / 't.svm').write_text('1 1:1 2:0 3:3 4:0 5:-8\n2 1:1 2:0 3:-4 4:2\n')
    for how, scale in (('max', [1, 1, 4, 2, 8]), ('std', [1, 1, 12.5**0.5, 2, 8])):
        run('train', '-q', '--scale', how, tmp_path / 't.svm', tmp_path / 'm')
        found = named_scale(tmp_path / 'm')
        assert found == pytest.approx({name: s for name, s in zip('12345', scale, strict=True) if name in found})
        assert {'1', '3', '4', '5'} <= found.keys()


def test_values_that_a_file_leaves_out_are_ones(tmp_path):
    """Without values, all of a part of a file are 1, which is divided like others."""
    (tmp_path / 'train.crfsuite').write_text('a\tx:4\ty\n\nb\tx:-4\tz\n\na\tx:2\ty\n')
    (tmp_path / 'one.crfsuite').write_text('a\tx\ty\n')
    (tmp_path / 'other.crfsuite').write_text('a\tx:1\tx2:5\ty\n')
    run('train', '-q', '--scale', 'max', tmp_path / 'train.crfsuite', tmp_path / 'm')
    assert load(tmp_path / 'm').scale.tolist() == [4, 1, 1]
    scores = [run('predict', '--scores', tmp_path / f'{name}.crfsuite', tmp_path / 'm') for name in ('one', 'other')]
    weights = load(tmp_path / 'm', as_stored=False).weights['state']
    assert scores[0].stdout_bytes == scores[1].stdout_bytes
    score = float(scores[0].stdout_bytes.split()[2])
    assert score == pytest.approx((weights[0] / 4 + weights[1]).max(), rel=1e-9)


def test_data_are_converted_as_they_are(tmp_path):
    files = Files(tmp_path, 'svmlight')
    scaled = files.train(False, 'm', '--scale', 'max')
    run('convert', '-q', '--from', 'svmlight', tmp_path / 'train', tmp_path / 'c.crfsuite')
    assert run('predict', '--format', 'crfsuite', tmp_path / 'c.crfsuite', scaled).stdout_bytes.split() == (
        files.predicted(False, scaled, name='train').split()
    )


def test_a_value_beyond_all_measure_is_named(tmp_path):
    (tmp_path / 'small.svm').write_text('1 1:1e-300\n2 1:-1e-300\n')
    (tmp_path / 'large.svm').write_text('1 1:1e100\n')
    run('train', '-q', '--scale', 'max', tmp_path / 'small.svm', tmp_path / 'm')
    for command in (['predict'], ['gap']):
        said = run(*command, tmp_path / 'large.svm', tmp_path / 'm', code=1).stderr
        assert said == (
            f"{tmp_path / 'large.svm'}: a value of '1' is too large for its scale, 1e-300 "
            '(expected values like those of the training data)\n'
        )


@pytest.mark.parametrize('how', ['max', 'std'])
def test_values_at_the_ends_of_what_numbers_are(tmp_path, how):
    (tmp_path / 't.svm').write_text('1 1:1e308 2:1e-308\n2 1:-1e308 2:1e-308 3:-1e-320\n1 1:1e308 3:1e-320\n')
    run('train', '-q', '--scale', how, tmp_path / 't.svm', tmp_path / 'm')
    assert load(tmp_path / 'm').scale.tolist() == pytest.approx([1e308, 1e-308, 1e-320], rel=1e-3)
    assert gap(tmp_path / 't.svm', tmp_path / 'm')['status'] == 'converged'


@pytest.mark.parametrize('name', ['train.conll', 'train.conllu', 'train.fa', 'train.ptb', 'train.boxes'])
def test_files_without_values_have_nothing_to_scale(tmp_path, name):
    texts = {
        'train.conll': 'a B\n',
        'train.conllu': '1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n',
        'train.fa': '>native a\nAC\n>homolog b 0:0:SS\nAC\n',
        'train.ptb': '(S (A a))\n',
        'train.boxes': 'picture 4 4 0 0 1 1\n1 1 a\n',
    }
    (tmp_path / name).write_text(texts[name])
    said = run('train', '--scale', 'max', tmp_path / name, tmp_path / 'm', code=2).stderr
    assert 'have no values to scale (formats: svmlight, svmhmm, crfsuite, ' in said
    assert not (tmp_path / 'm').exists()
    run('train', '-q', '--scale', 'none', '--max-passes', 1, tmp_path / name, tmp_path / 'm')


class Damaged:
    """A scaled model, altered."""

    def __init__(self, folder):
        self.files = Files(folder, 'svmlight')
        self.path = self.files.train(False, 'm', '--scale', 'max')
        self.model = load(self.path)

    def said(self):
        save(self.model, self.path)
        return run('predict', self.files.folder / 'test', self.path, code=1).stderr


@pytest.mark.parametrize('number', [0.0, -1.0, np.nan, np.inf])
def test_a_scale_is_a_number_above_0(tmp_path, number):
    damaged = Damaged(tmp_path)
    damaged.model.scale[2] = number
    assert damaged.said() == f'{damaged.path}: array scale holds what no value can be divided by\n'


def test_scale_and_header_belong_together(tmp_path):
    damaged = Damaged(tmp_path)
    damaged.model.header['data']['scale'] = 'min'
    assert "header has data.scale = 'min' (expected max or std)" in damaged.said()
    del damaged.model.header['data']['scale']
    assert 'array scale, and no data.scale in the header' in damaged.said()
    damaged.model.header['data']['scale'], damaged.model.scale = 'max', damaged.model.scale[1:]
    assert 'array scale is float64 4 (expected float64 5)' in damaged.said()
    damaged.model.scale = None
    assert 'array scale is missing' in damaged.said()


@pytest.mark.parametrize(
    ('old', 'new', 'said'),
    [
        ('scale\t2\t-\t.*\n', '', r"no row `scale` of the attribute '2'"),
        ('scale\t2\t-\t.*\n', 'scale\t2\t-\t0\n', r":\d+: row scale '2' '-' '0' \(expected scale NAME - and a number"),
        ('scale\t2\t-\t', 'scale\t2\t0\t', r':\d+: row scale '),
        ('scale\t2\t', 'scale\t1\t', r":\d+: a second scale of '1'"),
        ('"scale": "max", ', '', r":\d+: label '-' is not among the labels"),
    ],
)
def test_text_of_a_scaled_model_that_is_none(tmp_path, old, new, said):
    files = Files(tmp_path, 'svmlight')
    run('convert', '-q', files.train(False, 'm', '--scale', 'max'), tmp_path / 'm.tsv')
    text = (tmp_path / 'm.tsv').read_text()
    assert re.search(old, text)
    (tmp_path / 'm.tsv').write_text(re.sub(old, new, text, count=1))
    assert re.search(said, run('convert', tmp_path / 'm.tsv', tmp_path / 'n', code=1).stderr)
    assert not (tmp_path / 'n').exists()


def test_attributes_may_be_deleted_from_the_text_with_their_scale_or_without(tmp_path):
    files = Files(tmp_path, 'svmlight')
    run('convert', '-q', files.train(False, 'm', '--scale', 'max'), tmp_path / 'm.tsv')
    text = re.sub(r'^state\t2\t.*\n', '', (tmp_path / 'm.tsv').read_text(), flags=re.MULTILINE)
    outputs = []
    for name, kept in (('with', text), ('without', re.sub(r'scale\t2\t.*\n', '', text))):
        (tmp_path / f'{name}.tsv').write_text(kept)
        run('convert', '-q', tmp_path / f'{name}.tsv', tmp_path / name)
        assert len(load(tmp_path / name).scale) == len(load(tmp_path / name).attributes) == 4
        outputs.append((tmp_path / name).read_bytes())
    assert outputs[0] == outputs[1]
