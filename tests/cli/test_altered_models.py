"""Models and checkpoints that were altered, lengthened or joined: refused by the command, by name, in one line."""

import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from data_formats.models.model import load, save
from tests.cli.commands import conllu_text, run
from tests.fuzz_readers import GRAMMAR, GRAPHS, SEQUENCES


@pytest.fixture(scope='module')
def trained(tmp_path_factory):
    """Models by name: alignment, grammar, graph, soft, trees; the data of each stand beside it."""
    folder = tmp_path_factory.mktemp('models')
    texts = {'alignment.fa': SEQUENCES, 'grammar.ptb': GRAMMAR, 'graph.jsonl': GRAPHS, 'trees.conllu': conllu_text(4)}
    for name, text in texts.items():
        (folder / name).write_text(text)
        run('train', '-q', '--max-passes', 3, folder / name, folder / name.partition('.')[0])
    run('train', '-q', '--max-passes', 3, '--relaxation', 'soft', folder / 'graph.jsonl', folder / 'soft')
    return folder


def refused(data, model, message):
    """That predict, gap and convert refuse a model."""
    for command in (['predict', data, model], ['gap', data, model], ['convert', model, f'{model}.tsv']):
        error = run(*command, code=1).stderr
        assert error.startswith(f'{model}: ') and error.count('\n') == 1 and message in error, error


def changed(trained, name, tmp_path, change):
    model = load(trained / name)
    change(model)
    save(model, tmp_path / 'm')
    return tmp_path / 'm'


@pytest.mark.parametrize('more', [b'x', b'\n', bytes(4096)])
def test_bytes_behind_a_model(files, models, tmp_path, more):
    (tmp_path / 'm').write_bytes(models['svm'].read_bytes() + more)
    refused(
        files / 'train.svm',
        tmp_path / 'm',
        f'truncated or damaged ({len(more)} byte{"s" * (len(more) > 1)} behind its end)',
    )


def test_joined_models(files, models, tmp_path):
    (tmp_path / 'm').write_bytes(models['crf'].read_bytes() + models['svm'].read_bytes())
    refused(files / 'train.svm', tmp_path / 'm', 'truncated or damaged (its list of members is not where it should be)')


def test_a_lengthened_checkpoint(files, tmp_path):
    how = ['-q', '--checkpoint', tmp_path / 'c', '--max-passes', 2, files / 'train.svm', tmp_path / 'm']
    run('train', *how)
    whole = (tmp_path / 'c').read_bytes()
    for changed in (whole + b'x', whole + whole, b'x' + whole, whole[:-1]):
        (tmp_path / 'c').write_bytes(changed)
        error = run('train', '--resume', *how, code=1).stderr
        assert error.startswith(f'{tmp_path / "c"}: ') and error.count('\n') == 1


@pytest.mark.parametrize('name', ['indptr', 'weights', 'code_indptr', 'codes'])
def test_a_dual_point_of_soft_constraints_that_lost_an_array(trained, tmp_path, name):
    def rename(model):
        arrays = {'x' * (key == name) + key: array for key, array in model.dual.arrays().items()}
        model.dual = SimpleNamespace(arrays=lambda: arrays)

    model = changed(trained, 'soft', tmp_path, rename)
    error = run('gap', trained / 'graph.jsonl', model, code=1).stderr
    assert 'of which some are missing' in error and error.count('\n') == 1


def test_an_array_under_another_name(trained, tmp_path):
    def rename(model):
        model.weights['agreemenu'] = model.weights.pop('agreement')
        model.dual = None

    model = changed(trained, 'soft', tmp_path, rename)
    error = run('gap', trained / 'graph.jsonl', model, code=1).stderr
    assert "array 'weights.agreemenu' is none of a model for graph" in error


@pytest.mark.parametrize('letter', ['AC', 'Ā', 'é', '-', '>', ' '])
def test_letters_that_are_none(trained, tmp_path, letter):
    from cython_ext.text.vocabulary import Vocabulary

    def change(model):
        model.label_names = Vocabulary([letter, *model.label_names.names()[1:]])

    model = changed(trained, 'alignment', tmp_path, change)
    refused(trained / 'alignment.fa', model, f'letter {letter!r} of an alignment')


def test_chains_that_are_no_table(trained, tmp_path):
    def change(model):
        model.weights['grammar.chain_indptr'] = np.zeros(0, np.int64)

    refused(trained / 'grammar.ptb', changed(trained, 'grammar', tmp_path, change), 'chain_indptr is no table of rows')


HEADERS = [
    ('graph', lambda header: header.pop('structure'), "header has task = 'graph' and no structure.relaxation"),
    ('graph', lambda header: header['structure'].update(relaxation=None), 'header has structure.relaxation = None'),
    ('soft', lambda header: header['structure'].update(rho=None), 'no structure.rho'),
    ('trees', lambda header: header.update(structure={}), 'no structure.nonprojective'),
    ('trees', lambda header: header['structure'].update(hash_bits=10**30), 'header has structure.hash_bits = 1000'),
    ('grammar', lambda header: header['structure'].pop('max_length'), 'no structure.max_length'),
    ('grammar', lambda header: header['data'].update(top='X'), "header has data.top = 'X', which is no label"),
    ('alignment', lambda header: header.pop('structure'), 'without gap_model and align'),
    ('trees', lambda header: header['data'].update(format='x'), "header has data.format = 'x'"),
]


@pytest.mark.parametrize(('name', 'change', 'message'), HEADERS)
def test_headers(trained, tmp_path, name, change, message):
    data = {'graph': 'graph.jsonl', 'soft': 'graph.jsonl', 'trees': 'trees.conllu', 'grammar': 'grammar.ptb'}
    model = changed(trained, name, tmp_path, lambda model: change(model.header))
    refused(trained / data.get(name, 'alignment.fa'), model, message)


def test_a_chain_of_order_null(files, models, tmp_path):
    model = load(models['hmm'])
    model.header['structure']['order'] = None
    save(model, tmp_path / 'm')
    refused(files / 'train.hmm', tmp_path / 'm', 'header has structure.order = None (expected 1 or 2)')


ESCAPE = 'A\x1b[2J\x1b]0;x\x07\x9b31m\u202e\nB'
SEEN = 'A\\x1b[2J\\x1b]0;x\\x07\\x9b31m\\u202e\\nB'


def test_names_reach_no_terminal_raw(files, models, tmp_path):
    """Labels, versions and keys of a model, and names in data, with what would move a cursor or turn the writing."""
    from cython_ext.text.vocabulary import Vocabulary

    model = load(models['svm'])
    model.label_names = Vocabulary([ESCAPE, *model.label_names.names()[1:]])
    save(model, tmp_path / 'labels')
    result = run('predict', '--evaluate', files / 'train.svm', tmp_path / 'labels')
    assert SEEN in result.stderr and not any(c < ' ' for c in result.stderr.replace('\n', ''))
    assert ESCAPE in result.stdout, 'results stay as they are'
    for header, shown in (
        ({'format_version': 9, 'package_version': ESCAPE}, f'written by ssvm {SEEN}, is newer'),
        ({'structure': {ESCAPE: 1}}, f'header has structure.{SEEN} and task'),
    ):
        model = load(models['svm'])
        model.header |= header
        save(model, tmp_path / 'm')
        error = run('predict', files / 'train.svm', tmp_path / 'm', code=1).stderr
        assert shown in error and error.count('\n') == 1


def test_names_of_data_and_options_reach_no_terminal_raw(files, models, tmp_path):
    name = 'C\x1b[31m\x9b'
    (tmp_path / 'one.svm').write_text(f'{name} 1:1\n')
    (tmp_path / 'test.svm').write_bytes(b'L\x9b\x1b[5m 1:1\n1 2:1\n')
    for command in (
        ['train', '--max-passes', 1, tmp_path / 'one.svm', tmp_path / 'm'],
        ['predict', '--evaluate', tmp_path / 'test.svm', models['svm']],
    ):
        said = run(*command).stderr
        assert '\x1b' not in said and '\x9b' not in said and '\\x1b[' in said
    (tmp_path / 'o.yaml').write_text('"a\\e[31m": 1\n')
    assert '\x1b' not in run('train', '--config', tmp_path / 'o.yaml', 'x', 'y', code=2).stderr
    assert '\x1b' not in run('train', tmp_path / 'no\x1b[31m', tmp_path / 'm', code=1).stderr


def test_predict_looks_at_the_dual_point_too(tmp_path, files, models):
    """Its lengths and checksums, though it needs none of it."""
    damaged = bytearray(models['svm'].read_bytes())
    with zipfile.ZipFile(models['svm']) as archive:
        member = archive.getinfo('dual.weights.npy')
    damaged[member.header_offset + 30 + len(member.filename) + member.compress_size // 2] ^= 1
    (tmp_path / 'm').write_bytes(damaged)
    said = run('predict', files / 'train.svm', tmp_path / 'm', code=1).stderr
    assert f'{tmp_path / "m"}: an ssvm model that is truncated or' in said


def test_soft_constraints_without_their_agreement_variables_are_no_model(tmp_path):
    """But as a text, which has no dual point either."""
    (tmp_path / 'a.jsonl').write_text(
        '{"states": ["p", "q"], "nodes": [{"label": "p"}, {"label": "q"}], "factors": [{"nodes": [0, 1]}]}\n'
    )
    run('train', '--relaxation', 'soft', '--max-passes', 3, tmp_path / 'a.jsonl', tmp_path / 'm')
    run('gap', tmp_path / 'a.jsonl', tmp_path / 'm')
    with zipfile.ZipFile(tmp_path / 'm') as archive, zipfile.ZipFile(tmp_path / 'lost', 'w') as lost:
        for member in archive.infolist():
            if member.filename != 'weights.agreement.npy':
                lost.writestr(member, archive.read(member))
    for command in ('gap', 'predict'):
        assert 'agreement' in run(command, tmp_path / 'a.jsonl', tmp_path / 'lost', code=1).stderr
    run('convert', tmp_path / 'm', tmp_path / 'm.tsv')
    run('convert', tmp_path / 'm.tsv', tmp_path / 'again')
    run('gap', tmp_path / 'a.jsonl', tmp_path / 'again')
