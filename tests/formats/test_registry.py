"""Which format a file is in, by its name or by its first lines; and what every format offers."""

import pytest

from data_formats.datasets.tokens import ReadOptions
from data_formats.errors import DataError, UsageError
from data_formats.files.source import Source
from data_formats.formats.registry import FORMATS, by_content, by_extension, detect, format_named
from data_formats.parsing import reading


@pytest.mark.parametrize('name', FORMATS)
def test_every_format_offers_the_same(name):
    module = FORMATS[name]
    assert name == module.NAME
    assert module.DESCRIPTION
    assert module.TASKS
    assert all(ending.startswith('.') for ending in module.EXTENSIONS)
    for function in ('reader', 'write_predictions', 'write_nbest'):
        assert callable(getattr(module, function))
    assert not {'read', 'stream'} & set(vars(module)), 'data_formats.parsing.reading makes them of the reader'


def test_endings_stand_for_one_format():
    endings = [ending for module in FORMATS.values() for ending in module.EXTENSIONS]
    assert len(set(endings)) == len(endings)


def test_unknown_names():
    assert 'nope' not in FORMATS
    with pytest.raises(
        UsageError,
        match=r"unknown format 'nope' \(choose from svmlight, svmhmm, conll, crfsuite, conllx, conllu, fasta, brac",
    ):
        format_named('nope')


@pytest.mark.parametrize(
    ('path', 'name'),
    [
        ('a/train.svm', 'svmlight'),
        ('train.SVM.GZ', 'svmlight'),
        ('x.hmm.bz2', 'svmhmm'),
        ('train.conll', 'conll'),
        ('b.crfsuite.xz', 'crfsuite'),
        ('en-ud-dev.conllu', 'conllu'),
        ('esp.CONLLX.gz', 'conllx'),
        ('bb11001.fa.gz', 'fasta'),
        ('train.ml.gz', 'multilabel'),
        ('yeast-train.ARFF.gz', 'arff'),
        ('grids.jsonl.xz', 'graph'),
        ('wsj_0001.mrg', 'brackets'),
        ('GUM_news.PTB.gz', 'brackets'),
        ('news.LINKS.xz', 'links'),
        ('train.txt', None),
        ('svm', None),
        ('-', None),
    ],
)
def test_by_extension(path, name):
    assert by_extension(path) == name


@pytest.mark.parametrize(
    ('text', 'name'),
    [
        (b'1 1:0.5 3:1\n-1 2:1\n', 'svmlight'),
        (b'# comment\n\nsports 7:1 # x\r\npolitics\n', 'svmlight'),
        (b'1 1:1', 'svmlight'),
        (b'1 qid:1 1:0.5\n2 qid:1 2:1\n', 'svmhmm'),
        (b'NN qid:1 1:0.5 # dog', 'svmhmm'),
        (b'1 1:0.5 3:1\n2,3 2:1\n', 'multilabel'),
        (b'# x\n4\n 3:1\n', 'multilabel'),
        (b'1 1:1\n \n 2 1:1\n', 'svmlight'),
        (b'3 10 5\r\n1 1:1\n0 3:1\n', 'multilabel'),
        (b'3 10 5\n1 2 3\n', 'conll'),
        (b'% x\n\n % y\n@Relation "x: -C 1"\n', 'arff'),
        (b'%' * 60000, None),
        (b'# x\n\n#\n {"states": 2, "nodes": [{}]}\n', 'graph'),
        (b'#' * 60000 + b'{"nodes"', None),
        (b'Confidence NN B-NP\nin IN B-PP\n\nthe DT B-NP\n', 'conll'),
        (b'Confidence\tNN\tB-NP\nin\tIN\tB-PP\n', 'conll'),
        (b'-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\n', 'conll'),
        (b'dog NN\n', 'conll'),
        (b'B-NP\tw[0]=a\tp[0]=b\nI-NP\tw[0]=a\n', 'crfsuite'),
        (b'B-NP\tw[0]=a\tp[0]=b\n', 'crfsuite'),
        (b'A\tx:0.5\ty:2\nB\tx:1\ty:1\n', 'crfsuite'),
        (b'A\tone\ttwo\nB\tone\n', 'crfsuite'),
        (b'1\tEl\tel\td\tda\tnum=s\t2\t_\t2\t_\n2\tfin\tfin\tn\tnc\t_\t0\tROOT\t0\tROOT\n', 'conllx'),
        (b'1\tEl\tel\td\tda\t_\n2\tfin\tfin\tn\tnc\t_\n\n1\tya\tya\tr\trg\t_\n', 'conllx'),
        (b'1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tis\tbe\tAUX\tVBZ\t_\t0\troot\t_\t_\n', 'conllu'),
        (b'# sent_id = 1\r\n1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\r\n1\tde\tde\tA\t_\t_\t_\t_\t_\t_\r\n', 'conllu'),
        (b'1\tEl\tel\td\tda\t_\t2\t_\t2\t_\n1.1\tya\tya\tn\tnc\t_\t_\t_\t_\t_\n', 'conllu'),
        (b'1\t2:1\tb:1\tc:1\td:1\te:1\t3\n3\t2:1\tb:1\tc:1\td:1\te:1\t3\n', 'crfsuite'),
        (b'# a comment\n>native 1\nACGT\n', 'fasta'),
        (b'1 qid:1 0-0 a:1\n0 qid:1 0-1\n', 'links'),
        (b'# x\n\n P 0-12 w=::-1 b:2 # y\r\n', 'links'),
        (b'1 0-0 a:1\n2 0-1 a:1\n', 'conll'),
        (b'# x\n picture 10 8\n', 'boxes'),
        (b'picture 10 8 0 0 3 3\r\n1 1 a\n', 'boxes'),
        (b'picture this week\n', 'conll'),
        (b'>sp|P69905\nMVL\n', None),
        (b'\n( (S\n  (NP-SBJ (DT the) (NN dog))', 'brackets'),
        (b'(NN dog dog)', 'brackets'),
        (b'(S (NP\n', 'conll'),
        (b'(' + b' ' * 60000, None),
        (b'( ( O\ndog NN B\n) ) O\n', 'conll'),
        (b'1\tEl\tel\td\tda\t_\n' + b'9' * 5000 + b'\tfin\tfin\tn\tnc\t_\n', 'conll'),
        (b'', None),
        (b'\n\n', None),
        (b'just some words\nof no format at all\n', None),
        (b'word\n', None),
    ],
)
def test_by_content(text, name):
    assert by_content(text) == name


def test_detection_consumes_nothing(tmp_path):
    path = tmp_path / 'data.txt'
    path.write_bytes(b'1 1:1\n2 2:1\n')
    with Source(path) as source:
        assert detect(source) == 'svmlight'
        assert list(source.blocks(len)) == [(b'1 1:1\n2 2:1\n', 1)]
    path.write_bytes(b'what is this\nthing here\n')
    with pytest.raises(DataError) as error, Source(path) as source:
        detect(source)
    known = 'svmlight|svmhmm|conll|crfsuite|conllx|conllu|fasta|brackets|multilabel|arff|graph|links|svmrank|boxes'
    assert str(error.value) == f'{path}: cannot tell the format of this file (give --format {known})'


@pytest.mark.parametrize(
    ('name', 'text', 'task', 'found'),
    [
        ('x.txt', b'0 qid:1 1:1\n', 'candidates', 'svmrank'),
        ('x.svm.gz', b'0 qid:1 1:1\n', 'candidates', 'svmrank'),
        ('x.hmm', b'0 qid:1 1:1\n', 'candidates', 'svmrank'),
        ('x.rank', b'0 qid:1 1:1\n', None, 'svmrank'),
        ('x.svmrank.xz', b'', None, 'svmrank'),
        ('x.txt', b'0 qid:1 1:1\n', None, 'svmhmm'),
        ('x.txt', b'0 qid:1 1:1\n', 'chain', 'svmhmm'),
        ('x.txt', b'0 1:1\n', 'multiclass', 'svmlight'),
        ('x.txt', b'0 1:1\n', 'candidates', 'svmrank'),
        ('x.conll', b'0 qid:1 1:1\n', 'candidates', 'conll'),
        ('x.rank', b'0 qid:1 1:1\n', 'chain', 'svmrank'),
    ],
)
def test_some_formats_are_told_apart_by_the_task(tmp_path, name, text, task, found):
    (tmp_path / name).write_bytes(text)
    with Source(tmp_path / name) as source:
        assert detect(source, task) == found


LONG = b'a' * (1 << 17)  # more than is looked at to begin with


@pytest.mark.parametrize(
    'start', [LONG + b' b X\n', b'a b X\n' + LONG + b' b X\n', b'\n' * len(LONG) + b'a b X\n'], ids=['1', '2', 'late']
)
def test_the_first_row_may_be_long_and_come_late(tmp_path, start):
    path = tmp_path / 'data'
    path.write_bytes(start + b'c d Y\n')
    dataset = reading.read(FORMATS['conll'], path, ReadOptions(template='U:%x[0,1]'))
    assert dataset.label_names.names() == ['X', 'Y'] and dataset.columns == 3
    if not start.startswith(b'\n'):
        with Source(path) as source:
            assert detect(source) == 'conll'
