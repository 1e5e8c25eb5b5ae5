"""Links of matchings: `TARGET qid:N ROW-COLUMN name:value ...`, a line for each link that there may be.

TARGET is 1 for a right (sure) link, 0 for one that is not, and P for one that is possible: not in the right matching,
but no error either. Rows and columns are numbered from 0. A blank line or a new qid ends an example; without blank
lines every line needs a qid."""

from functools import partial

import numpy as np

from cython_ext.text.boundaries import after_blank_line, before_last_qid, last_qid
from cython_ext.text.formats.links import LinkParser
from data_formats.datasets.matching import MatchingDataset
from data_formats.parsing.reading import Reader, learn_attributes
from data_formats.parsing.writing import candidate_header

NAME = 'links'
DESCRIPTION = 'links of matchings: TARGET qid:N ROW-COLUMN name:value ..., TARGET 1 (right), 0 or P (possible)'
EXTENSIONS = ('.links',)
TASKS = ('matching',)
VALUES = True

SPELLED = (b'0', b'1', b'P')  # targets


def between_examples(buffer):
    """Where the last example begins that may go on behind the buffer."""
    return max(after_blank_line(buffer), before_last_qid(buffer))


def finish(parts, options, frozen):
    if frozen is not None:
        parts['attributes'] = frozen.attributes
    dataset = MatchingDataset(**parts)
    return dataset.with_bias() if options.bias else dataset


def reader(source, options, vocabularies):
    """How the file is read."""
    attributes = None if vocabularies is None else vocabularies.attributes
    return Reader(
        between_examples,
        partial(LinkParser, attributes, options.require_labels),
        last_qid,
        learn=learn_attributes,
        finish=finish,
    )


def write(dataset, stream, names=None):
    """A dataset as such a file, with a qid and a blank line for each example."""
    for i in range(dataset.n):
        for link in range(dataset.offsets[i], dataset.offsets[i + 1]):
            stream.write(line_of(dataset, i, link) + b'\n')
        stream.write(b'\n')


def line_of(dataset, i, link):
    """The line (bytes) of a link of example i; link: its number in the whole dataset."""
    span = slice(dataset.indptr[link], dataset.indptr[link + 1])
    ids = dataset.indices[span].tolist()
    values = [1.0] * len(ids) if dataset.values is None else dataset.values[span].tolist()
    place = spelled(dataset, i, np.array([link - dataset.offsets[i]]))
    words = [SPELLED[dataset.targets[link]], b'qid:%d' % (i + 1), place]
    for k, value in zip(ids, values, strict=True):
        words.append(b'%s:%s' % (dataset.attributes.name_bytes(k), repr(value).removesuffix('.0').encode()))
    return b' '.join(words)


def spelled(dataset, i, links):
    """`ROW-COLUMN ROW-COLUMN ...` (bytes) of some links of example i, given by their numbers within it."""
    links = dataset.offsets[i] + links
    pairs = zip(dataset.link_rows[links].tolist(), dataset.link_columns[links].tolist(), strict=True)
    return ' '.join(f'{row}-{column}' for row, column in pairs).encode()


def write_predictions(block, outputs, stream, extra_columns=None, headers=None):
    """A line for each example, empty where nothing is linked.

    outputs : for each example the numbers of its links, int [k]
    headers : None, or for each example a line (str) that goes before it
    """
    for i, links in enumerate(outputs):
        if headers is not None:
            stream.write(headers[i].encode() + b'\n')
        stream.write(spelled(block.dataset, i, links) + b'\n')


def write_nbest(block, candidates, stream):
    """For each example its best matchings: `# RANK SCORE`, the links, a blank line."""
    for i, example in enumerate(candidates):
        for rank, (links, score, probability) in enumerate(example, 1):
            header = candidate_header(rank, score, probability)
            stream.write(header + b'\n' + spelled(block.dataset, i, links) + b'\n\n')
