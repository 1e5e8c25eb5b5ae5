"""What tests/fuzz.py alters: a few whole files of every kind that the program reads, and how each kind is read."""

import bz2
import gzip
import io
import json
import lzma
import zipfile
from functools import partial

import numpy as np

from data_formats.classes.class_features import read_class_features
from data_formats.classes.label_matrix import read_class_similarity, read_cost_matrix
from data_formats.classes.taxonomy import read_taxonomy
from data_formats.datasets.tokens import ReadOptions
from data_formats.files import checkpoint
from data_formats.files.container import write_container
from data_formats.files.log import is_log, read_log
from data_formats.files.source import Source
from data_formats.formats.registry import FORMATS, by_content
from data_formats.models.model import load
from data_formats.models.tsv import read_model_tsv
from data_formats.parsing import label_xml, reading, templates
from ssvm_cli.commands import gap, predict, train
from ssvm_cli.examples.reading import read_template
from ssvm_cli.options.config import read_config
from tests.cli.commands import conll_text, conllu_text, hmm_text, multiclass_text
from tests.formats.test_fuzz import TEMPLATE, VALID, attempt, check
from tests.fuzz import Reader, altered

SAVED = ('multiclass', 'order', 'hashed', 'graph')  # trainings that leave a checkpoint
LABELS = ['1', '2', '3']
COLUMNS = ReadOptions(template=TEMPLATE)
HEADERS = (
    None,
    True,
    -1,
    0,
    1,
    3,
    10**30,
    1e308,
    -0.5,
    '',
    'x',
    'hinge',
    'A\x1b[2J',
    [],
    [[]],
    {},
    {'a': None},
    [1, 'b'],
)
NUMBERS = (0, 1, -1, 2, 7, 100, 2**31 - 1, -(2**31), 2**62, np.nan, np.inf, 1e300, -1e-300)
GRAMMAR = '(TOP (S (NP (D the) (N dog)) (VP (V runs))))\n(TOP (S (NP (N cats)) (VP (V see) (NP (D a) (N dog)))))\n'
SEQUENCES = (
    '>native 1\nACDE\n>homolog a 0:0:MMM\nACD\n>decoy b\nEEE\n>native 2\nCDA\n>decoy c\nA\n>homolog d 0:0:MM\nCD\n'
)
GRAPHS = (
    '{"nodes": [{"states": ["a", "b"], "label": "a"}, {"states": ["a", "b"], "label": "b", "features": {"x": 1}},'
    ' {"states": ["a", "b"], "label": "b"}], "factors": [{"nodes": [0, 1]}, {"nodes": [1, 2]}, {"nodes": [0, 2]}]}\n'
)
TIED = GRAPHS.replace('"features": {"x": 1}', '"per_state": {"x": [1, 2]}').replace(
    '{"nodes": [0, 1]}', '{"nodes": [0, 1], "per_state": {"same": 1}}'
)
SETS = '1,2 1:1\n2 2:1\n1,3 1:1 3:0.5\n 3:1\n'
LINKS = '1 qid:1 0-0 a:1\n0 qid:1 0-1 b:1\n1 qid:1 1-1 a:1\n1 qid:2 0-0 a:0.5 b:1\n'
RANKING = '0 qid:1 1:1\n1 qid:1 2:1\n0 qid:2 1:2\n0.5 qid:2 3:1\n'
PICTURES = 'picture 6 5 1 1 3 3\n1 1 a\n2 2 b\n5 4 c\n\npicture 4 4 0 0 1 1\n0 0 a\n3 3 c\n'
# name -> (ending, text, options) of what models are trained on
TRAININGS = {
    'multiclass': ('svm', multiclass_text(9), ()),
    'kernel': ('svm', multiclass_text(6), ('--kernel', 'rbf')),
    'chain': ('conll', conll_text(4), ()),
    'observed': ('conll', conll_text(4), ('--objective', 'log', '--feature-set', 'observed')),
    'order': ('hmm', hmm_text(4), ('--order', 2)),
    'trees': ('conllu', conllu_text(4), ()),
    'hashed': ('conllu', conllu_text(4), ('--hash-bits', 8)),
    'grammar': ('ptb', GRAMMAR, ()),
    'alignment': ('fa', SEQUENCES, ()),
    'sets': ('ml', SETS, ()),
    'graph': ('jsonl', GRAPHS, ()),
    'tied': ('jsonl', TIED, ()),
    'reweighted': ('jsonl', TIED, ('--objective', 'log', '--relaxation', 'lp')),
    'soft': ('jsonl', GRAPHS, ('--relaxation', 'soft', '--augmented-lagrangian')),
    'smoothed': ('jsonl', GRAPHS, ('--relaxation', 'soft', '--smooth-max', 0.1)),
    'matching': ('links', LINKS, ()),
    'candidates': ('rank', RANKING, ()),
    'boxes': ('boxes', PICTURES, ()),
}


def readers(folder):
    """{name: Reader}; folder: for what is made on the way."""
    made = {f'data-{name}': Reader((text,), partial(read_data, name)) for name, text in VALID.items()}
    text = VALID['svmlight'] * 20
    packed = tuple(pack(text) + pack(text) for pack in (gzip.compress, bz2.compress, lzma.compress))
    made['compressed'] = Reader(packed, read_compressed)
    made |= small_readers()
    models, texts, states, logs = [], [], [], []
    for name, (ending, text, options) in TRAININGS.items():
        data = folder / f'{name}.{ending}'
        data.write_text(text)
        model, state, log, tsv = (folder / f'{name}.{kind}' for kind in ('model', 'state', 'log', 'tsv'))
        how = [*('-q', '--threads', 1, '--max-passes', 3, '--log', log), *options, data, model]
        if name in SAVED:
            how = ['--checkpoint', state, '--checkpoint-every', 1e-9, *how]
        call(train, how)
        call_convert(model, tsv)
        models.append(model.read_bytes())
        texts.append(tsv.read_bytes())
        states += [state.read_bytes()] if name in SAVED else []
        logs.append(log.read_bytes())
        made[f'model-{name}'] = Reader((models[-1],), partial(use_model, data, folder), altered_container)
    made['model-text'] = Reader(tuple(texts), read_model_tsv)
    made['checkpoint'] = Reader(tuple(states), checkpoint.load, altered_container)
    made['log'] = Reader(tuple(logs), lambda path: is_log(path) and read_log(path))
    return made


def small_readers():
    """Of what is no data and no model."""
    xml = b'<labels xmlns="http://mulan.net/labels">\n<label name="a">\n<label name="b"></label></label></labels>'
    options = b'lambda: 0.1\nmax-passes: 3\nset: {K: 3}\nquiet: on\nc: 2\n# x\nobjective: "log"\nsolver: bcfw\n'
    return {
        'template': Reader((TEMPLATE.encode(), templates.builtin(3).encode()), read_with_template),
        'config': Reader((options,), lambda path: read_config(str(path), train.command)),
        'taxonomy': Reader((b'# x\n1 top\n2\tlow\t2\nlow top # y\n3 low 0.5\n',), use_taxonomy),
        'class-features': Reader((b'1 a b:2\n2\tb:1e3 c\n3 a:-1\n',), partial(read_of_labels, read_class_features)),
        'costs': Reader((b'1\t2\t3\n0\t1\t2\n1\t0\t1\n0.5\t1\t0\n',), partial(read_of_labels, read_cost_matrix)),
        'similarity': Reader(
            (b'\t1\t2\t3\n1\t1\t0\t0\n2\t0\t1\t0\n3\t0\t0\t1\n',), partial(read_of_labels, read_class_similarity)
        ),
        'label-xml': Reader((xml,), label_xml.label_names),
    }


def read_data(name, path):
    """A file as training data, with a vocabulary, and in blocks."""
    module = FORMATS[name]
    by_content(path.read_bytes())
    dataset = attempt(lambda: reading.read(module, path, COLUMNS))
    if dataset is not None:
        check(dataset)
    valid = path.with_name(f'{name}.valid')
    valid.write_bytes(VALID[name])
    known = reading.read(module, valid, COLUMNS)
    options = ReadOptions(template=TEMPLATE, columns=getattr(known, 'columns', None))
    for block in reading.stream(module, Source(path, block=64), options, known):
        check(block.dataset)


def read_compressed(path):
    reading.read(FORMATS['svmlight'], path, ReadOptions())


def read_with_template(path):
    data = path.with_name('columns')
    data.write_bytes(VALID['conll'])
    reading.read(FORMATS['conll'], data, ReadOptions(read_template(str(path)), str(path)))


def read_of_labels(read, path):
    assert np.isfinite(read(path, LABELS)).all()


def use_taxonomy(path):
    tree = read_taxonomy(path, LABELS)
    assert np.isfinite(tree.loss()).all() and np.isfinite(tree.similarity()).all()


def use_model(data, folder, path):
    """Every command that reads a model; those behind the first that fails are tried all the same."""
    load(path)
    out = folder / 'out'
    attempt(lambda: call(predict, ['-q', '--threads', 1, '--metrics', folder / 'scores', data, path, out]))
    attempt(lambda: call_convert(path, folder / 'text.tsv'))
    call(gap, ['-q', '--threads', 1, '--passes', 1, '--per-example', out, data, path])


def call(module, words):
    """A command in this process; what it raises, it raises here."""
    import contextlib

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return module.command.main([str(word) for word in words], standalone_mode=False)


def call_convert(model, text):
    from ssvm_cli.commands import convert

    return call(convert, ['-q', model, text])


def altered_container(data, rng):
    """A container whose bytes were altered, or its contents, with all checksums right."""
    if rng.random() < 0.3:
        return altered(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        document = json.loads(archive.read(names[0]))
        arrays = {name.removesuffix('.npy'): np.load(io.BytesIO(archive.read(name))) for name in names[1:]}
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.5 or not arrays:
            alter_value(document, rng)
        else:
            alter_arrays(arrays, rng)
    stream = io.BytesIO()
    try:
        write_container(stream, names[0], document, arrays)
    except (TypeError, ValueError):
        return data
    return stream.getvalue()


def alter_value(value, rng):
    """Change something in a JSON object or list."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = rng.choice(keys)
    if isinstance(value[key], dict | list) and rng.random() < 0.7:
        alter_value(value[key], rng)
    elif rng.random() < 0.3:
        del value[key]
    elif isinstance(value, dict) and rng.random() < 0.2:
        value[str(key) + rng.choice(('x', '\x1b[31m', ' '))] = value.pop(key)
    else:
        value[key] = rng.choice(HEADERS)


def alter_arrays(arrays, rng):
    """Change, lose, rename or exchange arrays."""
    name = rng.choice(list(arrays))
    array, kind = arrays[name], rng.randrange(7)
    if rng.random() < 0.01:  # a bomb
        arrays[name] = np.zeros(1 << 22, array.dtype)
    elif kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name[:-1] + 'x'] = arrays.pop(name)
    elif kind == 2:
        arrays[name] = arrays[rng.choice(list(arrays))]
    elif kind == 3:
        arrays[name] = array.reshape(-1)[: rng.randrange(array.size + 1)]
    elif kind == 4:
        arrays[name] = np.concatenate([array.reshape(-1), array.reshape(-1)[:1]])
    elif kind == 5:
        arrays[name] = array.astype(rng.choice(('<f4', '<f8', '<i4', '<i8', '|u1', '|b1')))
    elif array.size:
        number = rng.choice(NUMBERS)
        with np.errstate(all='ignore'):
            array = arrays[name] = array.copy()
            array.reshape(-1)[rng.randrange(array.size)] = np.array(number).astype(array.dtype)
