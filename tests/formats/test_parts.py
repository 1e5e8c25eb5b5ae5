"""Parts of a file parsed by several parsers give what one parser gives."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_formats.datasets.tokens import ReadOptions
from data_formats.errors import DataError
from data_formats.files.source import Source
from data_formats.formats.registry import FORMATS
from data_formats.parsing import reading
from data_formats.parsing.reading import Part, PartParser
from tests.formats.test_fuzz import TEMPLATE, VALID, change, mutated

# What is refused before a part is parsed, so that more of it is seen in larger parts.
LOOKED_FOR_BEFORE = re.compile('a NUL byte|a carriage return')


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('parts')


def known_of(folder, name):
    path = folder / f'known.{name}'
    path.write_bytes(VALID[name])
    known = reading.read(FORMATS[name], path, ReadOptions(template=TEMPLATE))
    return known, ReadOptions(template=TEMPLATE, columns=getattr(known, 'columns', None))


def outcomes(action, items):
    """(results up to the first error, its message or None)"""
    found = []
    try:
        for item in items:
            found.append(action(item))
    except DataError as error:
        return found, str(error)
    return found, None


def told(block):
    """A Block in plain Python."""
    dataset = block.dataset
    arrays = {name: value.tolist() for name, value in vars(dataset).items() if isinstance(value, np.ndarray)}
    return block.rows, block.sequences.tolist(), arrays, getattr(dataset, 'unknown_labels', None)


@given(st.sampled_from(sorted(VALID)), st.lists(change, max_size=4), st.integers(1, 80), st.integers(1, 5))
@settings(max_examples=300)
def test_every_part_may_have_a_parser_of_its_own(folder, name, changes, block, repeats):
    known, options = known_of(folder, name)
    path = folder / 'mutated'
    path.write_bytes(mutated(VALID[name] * repeats, changes))
    stream = reading.stream(FORMATS[name], Source(path, block=block), options, known)
    expected = outcomes(told, stream)
    whole = outcomes(lambda path: reading.read(FORMATS[name], path, options, known), [path])[1]
    if not any(error and LOOKED_FOR_BEFORE.search(error) for error in (whole, expected[1])):
        assert whole == expected[1]
    with Source(path, block=block) as source:
        try:
            reader = FORMATS[name].reader(source, options, known)
        except DataError as error:
            assert expected == ([], str(error))
            return
        fresh = outcomes(lambda part: told(PartParser(source, reader, options, known)(part)), reader.parts(source))
    assert fresh == expected


def arrays_of(dataset):
    """A data set in plain Python."""
    arrays = {name: value.tolist() for name, value in vars(dataset).items() if isinstance(value, np.ndarray)}
    return arrays, [getattr(dataset, name, None) for name in ('unknown_labels', 'template', 'columns')]


@given(
    st.sampled_from(sorted(VALID)), st.lists(change, max_size=3), st.integers(1, 80), st.integers(0, 5), st.booleans()
)
@settings(max_examples=200, deadline=None)
def test_several_threads_read_what_one_reads(folder, name, changes, block, repeats, tokens):
    known, options = known_of(folder, name)
    if tokens and 'multiclass' in FORMATS[name].TASKS:
        options = replace(options, task='multiclass')
    path = folder / 'mutated'
    path.write_bytes(mutated(VALID[name] * repeats, changes))
    found = []
    for threads in (1, 3):
        asked = replace(options, threads=threads)

        def read(path, asked=asked):
            return arrays_of(reading.read(FORMATS[name], Source(path, block=block), asked, known))

        found.append(outcomes(read, [path]))
    one, three = found
    assert one == three or (one[1] and three[1] and LOOKED_FOR_BEFORE.search(one[1] + three[1]))


@pytest.mark.parametrize('name', FORMATS)
def test_threads_share_the_vocabularies(folder, name):
    known, options = known_of(folder, name)
    if name == 'svmhmm':
        text = b''.join(b'3 qid:%d 1:1 2:0.5\n5 qid:%d 3:2 99:1\n' % (q, q) for q in range(1, 3000))
    elif name == 'arff':
        text = VALID[name] + VALID[name].partition(b'@data\n')[2] * 500
    elif name == 'links':
        text = b''.join(b'1 qid:%d 0-0 a:1\n0 qid:%d 0-1 b:2\n' % (q, q) for q in range(1, 3000))
    else:
        text = VALID[name] * 500
    path = folder / f'long.{name}'
    path.write_bytes(text)
    expected = [told(block) for block in reading.stream(FORMATS[name], Source(path, block=2000), options, known)]
    with Source(path, block=2000) as source, ThreadPoolExecutor(4) as executor:
        reader = FORMATS[name].reader(source, options, known)
        parse = PartParser(source, reader, options, known)
        found = list(executor.map(lambda part: told(parse(part)), reader.parts(source)))
    assert len(found) > 10
    assert found == expected


ARFF = b'@relation "x: -C -1"\n@attribute a numeric\n@attribute l1 {0,1}\n@data\n'
# name -> (a part that is refused, one that is taken)
BAD = {
    'svmlight': (b'nan 1:1\n', b'2 1:1\n1 2:1\n'),
    'svmhmm': (b'nan qid:1 1:1\n', b'2 qid:1 1:1\n1 qid:2 2:1\n'),
    'svmrank': (b'0 qid:1 1:1\nnan qid:1 1:1\n', b'2 qid:1 1:1\n1 qid:2 2:1\n'),
    'boxes': (b'picture 2 2 0 0 1 1\n0 0 a\n0 2 a\n', b'picture 1 1 0 0 0 0\n0 0 bb\n'),
    'conll': (b'a b c\nd\n', b'a b c\n\n'),
    'crfsuite': (b'A\ta\tb:1\nB:\ta\n', b'A\ta\n\n'),
    'arff': (ARFF + b'1,0\nno,0\n', ARFF + b'{0 1}\n'),
    'graph': (
        b'{"states": 2, "nodes": [{"type": "new"}, 1]}\n',
        b'{"nodes": [{"label": "a", "features": {"x": 3}}]}\n',
    ),
    'multilabel': (b'1 1:1\n5,2,nope 1:1 x\n', b'5,2,3 0:1\n 2:1\n'),
    'fasta': (b'>native 1\nAC\n>decoy 1\nG-\n', b'>native 1\nA\n>homolog 1 0:0:M\nC\n'),
    'links': (b'1 qid:3 0-0 a:1 z:1\n1 qid:3 1-0\n', b'1 qid:1 0-0 a:1\n0 qid:2 0-0 c:d:1\n'),
    'brackets': (b'(S (NN a) (XX b)\n', b'(S (VB a))\n'),
    'conllx': (b'1\tthe\t_\tD\tD\t_\t0\tr\t_\t_\n3\n', b'1\ta\t_\tD\tD\t_\t0\tr\t_\t_\n\n'),
    'conllu': (b'1-3\tthe\t_\tD\tD\t_\t0\tr\t_\t_\n\n', b'1\ta\t_\tD\tD\t_\t0\tr\t_\t_\n\n'),
}


@pytest.mark.parametrize('name', FORMATS)
def test_a_parser_that_has_failed_is_not_used_again(folder, name):
    """Half an example, and a label that was refused, must not turn up in the next part."""
    known, options = known_of(folder, name)
    bad, good = (Part(text, 1, None) for text in BAD[name])
    source = Source(folder / 'never.opened')
    parse = PartParser(source, FORMATS[name].reader(source, options, known), options, known)
    expected = told(parse(good))
    with pytest.raises(DataError):
        parse(bad)
    assert told(parse(good)) == expected


def test_too_few_columns_are_seen_in_every_part(folder):
    """Whichever is parsed first: the width is that of the first row, which may be in a part before."""
    known, options = known_of(folder, 'conll')
    path = folder / 'narrow.conll'
    path.write_bytes(b'a\n\n' + b'b\n\n' * 3)
    with Source(path, block=3) as source:
        reader = FORMATS['conll'].reader(source, options, known)
        for part in reader.parts(source):
            with pytest.raises(DataError, match=r'narrow.conll:1: 1 column \(expected 2, or 3 with the label'):
                PartParser(source, reader, options, known)(part)
