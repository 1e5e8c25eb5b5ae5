"""Every file in the folder `malformed` gives what `malformed/cases.yaml` says."""

from itertools import chain
from pathlib import Path

import pytest
import yaml

from data_formats.datasets.alignment import HomologDataset
from data_formats.datasets.boxes import PictureDataset
from data_formats.datasets.candidates import CandidateDataset
from data_formats.datasets.cfg import TreeDataset
from data_formats.datasets.dependency import SentenceDataset
from data_formats.datasets.graph import GraphDataset
from data_formats.datasets.matching import MatchingDataset
from data_formats.datasets.multilabel import LabelSetDataset
from data_formats.datasets.tokens import ReadOptions
from data_formats.errors import DataError
from data_formats.files.source import Source
from data_formats.formats.registry import by_extension, format_named
from data_formats.parsing import reading
from tests.formats.tools import (
    graphs,
    groups,
    homologs,
    label_sets,
    links,
    phrases,
    pictures,
    sentences,
    sequences,
)

FOLDER = Path(__file__).parent / 'malformed'
CASES = yaml.safe_load((FOLDER / 'cases.yaml').read_text(encoding='utf-8'))


def told(dataset):
    """A dataset in the notation of the table."""
    if isinstance(dataset, SentenceDataset):
        return [list(map(told_word, sentence)) for sentence in sentences(dataset)]
    if isinstance(dataset, CandidateDataset):
        return [
            [qid, *(f'{y:g}{"".join(f" {k}:{v:g}" for k, v in row.items())}' for y, row in rows)]
            for qid, rows in groups(dataset)
        ]
    if isinstance(dataset, PictureDataset):
        return [
            [width, height, list(box or ()), *(f'{x} {y} {word or "?"}' for x, y, word in points)]
            for width, height, box, points in pictures(dataset)
        ]
    if isinstance(dataset, HomologDataset):
        return homologs(dataset)
    if isinstance(dataset, TreeDataset):
        return phrases(dataset)
    if isinstance(dataset, GraphDataset):
        return [list(map(told_node, nodes)) + list(map(told_factor, factors)) for nodes, factors in graphs(dataset)]
    if isinstance(dataset, LabelSetDataset):
        return [[','.join(labels), *attributes(row)] for labels, row in label_sets(dataset)]
    if isinstance(dataset, MatchingDataset):
        return [[' '.join([place, *attributes(row)]) for place, row in example] for example in links(dataset)]
    return [
        [[label, *attributes(row), *(f'edge {name}' for name in attributes(edges))] for label, row, edges in example]
        for example in sequences(dataset)
    ]


def attributes(row):
    """A row of attributes in the notation of the table."""
    return [name if value == 1 else f'{name} = {value:g}' for name, value in row.items()]


def told_node(node):
    kind, states, inputs, label = node
    return ' '.join([f'{kind} {label or "?"} of {"/".join(states)}:', *attributes(inputs)])


def told_factor(factor):
    kind, nodes, inputs = factor
    return ' '.join([f'{kind} {nodes}:', *attributes(inputs)])


def told_word(word):
    tree = 'none' if word.head is None else f'{word.head} {word.relation or "?"}'
    return '/'.join(text or '?' for text in (word.form, *word.tags)) + f' {tree}' + ' !' * word.punctuation


def opened(case):
    """(format module, options, what is known) of a case."""
    names = ('template', 'columns', 'single_root', 'labelled', 'require_labels', 'whole', 'terminals', 'top', 'grades')
    options = {key: case[key] for key in names if key in case}
    module, known = format_named(by_extension(case['file'])), None
    if 'known' in case:
        training = {key: value for key, value in options.items() if key not in ('columns', 'require_labels')}
        known = reading.read(module, FOLDER / case['known'], ReadOptions(**training))
        options['tag_column'] = getattr(known, 'tag_column', None)
    return module, ReadOptions(template_name='TEMPLATE', **options), known


@pytest.mark.parametrize('case', CASES, ids=lambda case: case['file'])
def test_file(case):
    path = FOLDER / case['file']
    module, options, known = opened(case)
    if 'error' in case:
        with pytest.raises(DataError) as error:
            reading.read(module, path, options, known)
        assert str(error.value).replace(str(path), 'FILE') == case['error']
        return
    assert told(reading.read(module, path, options, known)) == case['data']


@pytest.mark.parametrize('case', [case for case in CASES if 'known' in case], ids=lambda case: case['file'])
def test_file_as_a_stream(case):
    module, options, known = opened(case)
    source = Source(FOLDER / case['file'], block=3)
    if 'error' in case:
        with pytest.raises(DataError):
            list(reading.stream(module, source, options, known))
        return
    blocks = reading.stream(module, source, options, known)
    assert list(chain.from_iterable(told(block.dataset) for block in blocks)) == case['data']


def test_the_table_is_complete():
    files = [case['file'] for case in CASES]
    assert sorted(files) == sorted(
        path.name for path in FOLDER.iterdir() if path.name not in ('cases.yaml', '.gitattributes')
    )
    assert len(files) >= 60
    for case in CASES:
        assert ('error' in case) != ('data' in case)


def test_a_name_of_any_length_is_not_said_whole(tmp_path):
    """The place and what was expected are."""
    path = tmp_path / 'long'
    error = DataError(path, 7, f'a name of {"b" * 9000}', 'expected a short one')
    assert str(error).startswith(f'{path}:7: a name of bbb') and str(error).endswith('bbb (expected a short one)')
    assert ' ... ' in str(error) and len(str(error)) < len(str(path)) + 1010
