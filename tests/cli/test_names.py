"""Names in data and in the files about them: what `#`, byte-order marks, Latin-1 and odd white space are in them."""

import json

import pytest

from data_formats.models.model import load
from tests.cli.commands import run

MARK = b'\xef\xbb\xbf'
ODD = ['C#', 'é#à', 'a\u2028b', 'c\x85d', 'e\xa0f', 'g\x0bh']  # names, however they are encoded


def labels(model):
    return load(model).label_names.names()


def test_a_label_with_a_hash(tmp_path):
    (tmp_path / 'h.svm').write_text('C# 1:1\nJava 2:1\nC# 1:2\n')
    run('train', '-q', tmp_path / 'h.svm', tmp_path / 'm')
    model = load(tmp_path / 'm')
    assert model.label_names.names() == ['C#', 'Java'] and model.attributes.names() == ['1', '2']
    run('convert', '-q', tmp_path / 'h.svm', tmp_path / 'h.crf')
    run('convert', '-q', tmp_path / 'h.crf', tmp_path / 'again.svm')
    assert (tmp_path / 'again.svm').read_text() == 'C# 1:1\nJava 2:1\nC# 1:2\n'
    run('convert', tmp_path / 'm', tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'again')
    for path in ('m', 'again'):
        assert run('predict', tmp_path / 'h.svm', tmp_path / path).stdout == 'C#\nJava\nC#\n'
    run('train', '-q', '--format', 'svmhmm', tmp_path / 'h.svm', tmp_path / 'n', code=1)
    (tmp_path / 'plain').write_text('C# 1:1\nJava 2:1\nC# 1:2\n')
    said = run('train', tmp_path / 'plain', tmp_path / 'm').stderr
    assert '3 examples, 2 labels, 2 attributes (svmlight, multiclass)' in said


@pytest.mark.parametrize('encoding', ['utf-8', 'latin-1'])
@pytest.mark.parametrize('kind', ['taxonomy', 'class-features', 'class-similarity', 'task-loss'])
def test_files_about_labels_have_the_names_of_the_data(tmp_path, kind, encoding):
    names = [name for name in ODD if encoding == 'utf-8' or '\u2028' not in name]

    def write(path, text):
        (tmp_path / path).write_bytes(text.encode(encoding))

    write('a.svm', ''.join(f'{name} {k}:1\n' for k, name in enumerate(names, 1)))
    matrix = [[int(row != column) for column in names] for row in names]
    if kind == 'class-similarity':
        matrix = [[1 - cell for cell in row] for row in matrix]
    write('matrix', ''.join('\t'.join(map(str, row)) + '\n' for row in [names, *matrix]))
    write('taxonomy', ''.join(f'{name} top#1 # a comment\n' for name in names))
    write('class-features', '# a comment\n' + ''.join(f'{name} w#{name} long:2\t#x\n' for name in names))
    path = tmp_path / (kind if (tmp_path / kind).exists() else 'matrix')
    how = ['--objective', 'softmax-margin'] if kind == 'task-loss' else []
    run('train', '-q', *how, f'--{kind}', path, tmp_path / 'a.svm', tmp_path / 'm')
    assert sorted(labels(tmp_path / 'm')) == sorted(
        name.encode(encoding).decode('utf-8', 'surrogateescape') for name in names
    )
    again = run('predict', tmp_path / 'a.svm', tmp_path / 'm').stdout_bytes
    assert again == ''.join(f'{name}\n' for name in names).encode(encoding)


def test_pairs_of_labels_in_latin_1(tmp_path):
    (tmp_path / 'a.ml').write_bytes(b'\xe9,C# 1:1\nx 2:1\n')
    (tmp_path / 'pairs').write_bytes(MARK + b'# pairs\n' + MARK + b'C#\t\xe9\n')
    run('train', '-q', '--pairs', tmp_path / 'pairs', tmp_path / 'a.ml', tmp_path / 'm')
    assert labels(tmp_path / 'm') == ['C#', 'x', '\udce9']


CHAIN = b'a A\nb B\n\n'
TREE = b'1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n'
GRAPH = b'{"nodes": [{"states": ["a", "b"], "label": "a"}]}\n{"nodes": [{"states": ["a", "b"], "label": "b"}]}\n'
FASTA = b'>native n\nAC\n>homolog h 0:0:MM\nAC\n>decoy d\nCA\n\n'
JOINED = {
    'svmlight': b'a 1:1\nb 2:1\n',
    'svmhmm': b'1 qid:1 1:1\n2 qid:1 2:1\n',
    'crfsuite': b'a\tx\nb\ty\n\n',
    'conll': CHAIN,
    'conllu': TREE,
    'conllx': TREE,
    'fasta': FASTA,
    'brackets': b'(TOP (S (A a) (B b)))\n',
    'multilabel': b'a,b 1:1\n 2:1\n',
    'graph': GRAPH,
    'links': b'1 0-0 x:1\n0 0-1 y:1\n\n',
    'svmrank': b'0 qid:1 1:1\n1 qid:1 2:1\n',
    'boxes': b'picture 4 4 0 0 1 1\n1 1 a\n3 3 b\n',
}


@pytest.mark.parametrize('name', JOINED)
def test_joined_files_with_byte_order_marks(tmp_path, name):
    """The second has the qid of the first, so where qids part examples there is one."""
    (tmp_path / 'plain').write_bytes(2 * JOINED[name])
    (tmp_path / 'marked').write_bytes(2 * (MARK + JOINED[name]))
    outputs = []
    for path in ('plain', 'marked'):
        how = ['--max-passes', 2, '--lambda', 1, '--format', name]
        run('train', '-q', *how, tmp_path / path, tmp_path / 'm')
        run('convert', tmp_path / 'm', tmp_path / f'{path}.tsv')
        outputs.append(
            [run('predict', tmp_path / data, tmp_path / 'm').stdout_bytes for data in ('plain', 'marked')]
            + [(tmp_path / f'{path}.tsv').read_bytes()]
        )
    assert outputs[0] == outputs[1] and outputs[0][0] == outputs[0][1] and MARK not in outputs[0][2]


def test_small_files_with_byte_order_marks(tmp_path):
    (tmp_path / 'a.svm').write_text('a 1:1\nb 2:1\n')
    (tmp_path / 'a.conll').write_bytes(CHAIN)
    (tmp_path / 'costs').write_bytes(MARK + b'a\tb\n' + MARK + b'0\t1\n1\t0\n')
    (tmp_path / 'tree').write_bytes(MARK + b'a top\n' + MARK + b'b top\n')
    (tmp_path / 'tpl').write_bytes(MARK + b'U0:%x[0,0]\n' + MARK + b'B\n')
    (tmp_path / 'conf').write_bytes(MARK + b'quiet: true\n' + MARK + b'max-passes: 2\n')
    run('train', '--config', tmp_path / 'conf', '--task-loss', tmp_path / 'costs', tmp_path / 'a.svm', tmp_path / 'm')
    run('train', '-q', '--taxonomy', tmp_path / 'tree', tmp_path / 'a.svm', tmp_path / 'm')
    run('train', '-q', '--template', tmp_path / 'tpl', tmp_path / 'a.conll', tmp_path / 'm')
    assert load(tmp_path / 'm').attributes.names() == ['U0:a', 'U0:b']


@pytest.mark.parametrize(
    ('label', 'target', 'text'),
    [
        ('#x', 'svmlight', '1 1:1\n'),
        ('a b', 'svmlight', '1 1:1\n'),
        ('a b', 'conll', 'x y\n'),
        ('a b', 'svmhmm', '1 qid:1 1:1\n'),
    ],
)
def test_predictions_that_could_not_be_read_are_refused(tmp_path, label, target, text):
    (tmp_path / 'a.crf').write_text(f'{label}\t1\nother\t2\n')
    (tmp_path / 'test').write_text(text)
    run('train', '-q', '--task', 'multiclass', tmp_path / 'a.crf', tmp_path / 'm')
    run('predict', tmp_path / 'a.crf', tmp_path / 'm')
    error = run('predict', '--format', target, tmp_path / 'test', tmp_path / 'm', tmp_path / 'out', code=2).stderr
    assert f'label {label!r} cannot be written in {target} files' in error and not (tmp_path / 'out').exists()


def test_labels_that_convert_cannot_write(tmp_path):
    (tmp_path / 'a.crf').write_text('#x\t1\nb\t2\n')
    error = run('convert', tmp_path / 'a.crf', tmp_path / 'a.svm', code=2).stderr
    assert "label '#x' cannot be written in SVMlight files" in error and not (tmp_path / 'a.svm').exists()
    run('convert', '-q', '--names', tmp_path / 'names', tmp_path / 'a.crf', tmp_path / 'a.svm')
    assert (tmp_path / 'a.svm').read_text() == '1 1:1\n2 2:1\n'


# ------------------------------------------------------------------------------------------- qid: and numbers from 0

QIDS = '1 qid:1 1:1\n2 qid:1 2:1\n1 qid:2 1:1\n2 qid:2 2:2\n'


def test_qids_in_a_file_named_svm(tmp_path):
    path, model = tmp_path / 'a.svm', tmp_path / 'm'
    path.write_text(QIDS)
    said = run('train', path, model).stderr
    assert 'a.svm: has qid: numbers' in said and '--format svmhmm' in said and '--format svmrank' in said
    assert '4 examples, 2 labels' in said
    assert 'has qid' not in run('train', '--task', 'multiclass', path, model).stderr
    said = run('train', '--task', 'chain', path, model).stderr
    assert 'has qid: numbers' not in said and '2 examples, 4 tokens, 2 labels' in said
    assert '2 groups, 4 candidates' in run('train', '--task', 'candidates', path, model).stderr
    assert 'has qid: numbers' in run('convert', path, tmp_path / 'b.svm').stderr
    assert 'mean nothing in multilabel files' in run('convert', path, tmp_path / 'b.ml').stderr
    assert 'mean nothing in multilabel' in run('train', '--task', 'multilabel', path, model).stderr
    run('convert', '-q', path, tmp_path / 'b.hmm')
    assert (tmp_path / 'b.hmm').read_text() == QIDS


@pytest.mark.parametrize('name', ['svm', 'hmm', 'rank', 'ml'])
def test_numbers_from_0(tmp_path, name):
    """The model keeps it: predict, gap and --dev read in the same way; a number more everywhere is the same problem."""
    lines = {'svm': '{} {}:1 {}:2', 'hmm': '{} qid:1 {}:1 {}:2', 'rank': '{} qid:1 {}:1 {}:2', 'ml': '{} {}:1 {}:2'}
    for first in (0, 1):
        rows = [lines[name].format(k, first + k, first + 2 + k) for k in (0, 1)]
        (tmp_path / f'from{first}.{name}').write_text('\n'.join(rows) + '\n')
    zero, one = tmp_path / f'from0.{name}', tmp_path / f'from1.{name}'
    if name != 'ml':
        error = run('train', '-q', zero, tmp_path / 'm', code=1).stderr
        assert error.startswith(f'{zero}:1: feature number 0') and '--zero-based reads files that count from 0' in error
    run('train', '-q', '--zero-based', '--dev', zero, zero, tmp_path / 'm0')
    run('train', '-q', one, tmp_path / 'm1')
    models = load(tmp_path / 'm0'), load(tmp_path / 'm1')
    assert models[0].attributes.names() == ['0', '1', '2', '3'] and models[1].attributes.names() == ['1', '2', '3', '4']
    assert models[0].header['data']['zero_based'] is True and 'zero_based' not in models[1].header['data']
    outputs = [run('predict', '--scores', *pair).stdout for pair in ((zero, tmp_path / 'm0'), (one, tmp_path / 'm1'))]
    gaps = [
        json.loads(run('gap', '--json', *pair).stdout) for pair in ((zero, tmp_path / 'm0'), (one, tmp_path / 'm1'))
    ]
    assert outputs[0] == outputs[1] and gaps[0] == gaps[1]
    run('convert', '-q', '--zero-based', zero, tmp_path / f'a.{name}')
    assert (tmp_path / f'a.{name}').read_text() == one.read_text()
    run('convert', '-q', '--to-zero-based', one, tmp_path / f'a.{name}')
    assert (tmp_path / f'a.{name}').read_text() == zero.read_text()
    run('convert', '-q', '--zero-based', '--to-zero-based', zero, tmp_path / f'a.{name}')
    assert (tmp_path / f'a.{name}').read_text() == zero.read_text()
    run('convert', tmp_path / 'm0', tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'again')
    assert run('predict', '--scores', zero, tmp_path / 'again').stdout == outputs[0]


def test_numbers_from_0_make_sense_where_there_are_numbers(tmp_path):
    (tmp_path / 'a.crf').write_text('a\tx\nb\ty\n')
    error = run('train', '--zero-based', tmp_path / 'a.crf', tmp_path / 'm', code=2).stderr
    assert '--zero-based is about feature numbers, and crfsuite files have none' in error
    error = run('convert', '--to-zero-based', tmp_path / 'a.crf', tmp_path / 'b.crf', code=2).stderr
    assert '--to-zero-based is about feature numbers' in error
    run('convert', '-q', '--to-zero-based', '--names', tmp_path / 'n', tmp_path / 'a.crf', tmp_path / 'b.svm')
    assert (tmp_path / 'b.svm').read_text() == '1 0:1\n2 1:1\n'
    assert (tmp_path / 'n').read_text() == 'label\t1\ta\nlabel\t2\tb\nattribute\t0\tx\nattribute\t1\ty\n'
    (tmp_path / 'a.ml').write_text('a 0:1\n')
    error = run('convert', '--to-zero-based', tmp_path / 'a.ml', tmp_path / 'b.ml', code=1).stderr
    assert 'a.ml: feature number 0 (expected numbers from 1, or --zero-based)' in error
