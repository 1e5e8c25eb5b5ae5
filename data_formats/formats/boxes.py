"""Pictures that are bags of words:

    picture WIDTH HEIGHT [LEFT TOP RIGHT BOTTOM]
    X Y WORD

A picture begins with its size and its box, where that is known, and has a line for each of its points."""

from functools import partial

from cython_ext.text.formats.boxes import PictureParser, before_last_picture
from data_formats.datasets.boxes import PictureDataset
from data_formats.errors import DataError
from data_formats.parsing.reading import Reader
from data_formats.parsing.writing import candidate_header

NAME = 'boxes'
DESCRIPTION = 'pictures of words: picture WIDTH HEIGHT [LEFT TOP RIGHT BOTTOM], then X Y WORD for each point'
EXTENSIONS = ('.boxes',)
TASKS = ('boxes',)


def learn(source, parts, options, parser):
    if not len(parts['sizes']):
        raise DataError(source.name, None, 'no examples in this file', 'expected one at least')
    parser.learned(parts)


def finish(parts, options, frozen):
    if frozen is not None:
        parts['attributes'] = frozen.attributes
    return PictureDataset(**parts)


def reader(source, options, vocabularies):
    """How the file is read."""
    words = None if vocabularies is None else vocabularies.attributes
    parser = partial(PictureParser, words, options.require_labels)
    return Reader(before_last_picture, parser, learn=learn, finish=finish)


def write(dataset, stream, names=None):
    """A dataset as such a file, all of whose words are known."""
    words = [dataset.attributes.name_bytes(k) for k in range(len(dataset.attributes))]
    for i in range(dataset.n):
        size, box = dataset.sizes[i].tolist(), dataset.gold[i].tolist()
        lines = [b'picture ' + spelled(size + (box if box[0] >= 0 else []))]
        for k in range(dataset.offsets[i], dataset.offsets[i + 1]):
            lines.append(spelled(dataset.points[k].tolist()) + b' ' + words[dataset.words[k]])
        stream.write(b'\n'.join(lines) + b'\n')


def spelled(numbers):
    return ' '.join(map(str, numbers)).encode()


def write_predictions(block, boxes, stream, extra_columns=None, headers=None):
    """For each picture a line `LEFT TOP RIGHT BOTTOM`, and its extra columns.

    boxes : int32 [n, 4]
    extra_columns : None, or for each picture a list of str
    """
    for i, box in enumerate(boxes.tolist()):
        stream.write(spelled([*box, *(() if extra_columns is None else extra_columns[i])]) + b'\n')


def write_nbest(block, candidates, stream):
    """For each picture its best boxes: `# RANK SCORE [PROBABILITY]`, the box, a blank line."""
    for example in candidates:
        for rank, (box, score, probability) in enumerate(example, 1):
            stream.write(candidate_header(rank, score, probability) + b'\n' + spelled(box.tolist()) + b'\n\n')
