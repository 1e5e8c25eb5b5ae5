"""From a parser's arrays to a dataset: the steps that all formats share, and those of formats of tokens."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from cython_ext.common.parallel import in_order
from cython_ext.text.errors import TextError
from cython_ext.text.formats.index_value import PairParser
from cython_ext.text.rows import count_ids, keep_ids, renumber
from data_formats.datasets.divisors import NONE
from data_formats.datasets.scaling import divide, learned_scale
from data_formats.datasets.tokens import Block, TokenDataset
from data_formats.errors import DataError
from data_formats.files.source import Source
from data_formats.parsing.windows import with_neighbours


class Part(NamedTuple):
    """A part of a file: whole sequences, the number of the first line, what is carried over from the parts before."""

    text: bytes
    line: int
    carried: object


def learn(source, parts, options, parser):
    """Turn what was read into a training set: labels sorted, rare attributes dropped."""
    if not len(parts['labels']):
        raise DataError(source.name, None, 'no examples in this file', 'expected one at least')
    parser.learned(parts)
    parts['label_names'] = sort_labels(parts['labels'], parts['label_names'])
    for prefix in ('', 'edge_'):
        if prefix + 'attributes' in parts:
            drop_rare(parts, prefix, options.min_freq)


def learn_attributes(source, parts, options, parser):
    """The same of examples that have attributes and no labels: rare attributes dropped."""
    if len(parts['offsets']) == 1:
        raise DataError(source.name, None, 'no examples in this file', 'expected one at least')
    parser.learned(parts)
    drop_rare(parts, '', options.min_freq)


def finish(parts, options, frozen):
    """The TokenDataset in the form that the options ask for."""
    if frozen is not None:
        parts['attributes'] = frozen.attributes
        parts['label_names'] = frozen.label_names
        if 'edge_indptr' in parts:
            parts['edge_attributes'] = frozen.edge_attributes
    dataset = TokenDataset(**parts)
    if options.window or options.edge_features:
        dataset = with_neighbours(dataset, options, frozen)
    if options.task == 'multiclass':
        dataset = dataset.as_multiclass()
    if options.bias:
        dataset = dataset.with_bias()
    return dataset


@dataclass(frozen=True)
class Reader:
    """How a file in some format is read, part by part, so that parts can be parsed side by side.

    cut : where a part may end (cython_ext.text.cuts)
    parser : () -> a fresh parser, compiled (cython_ext.text.parser.Parser) or not, that offers
        feed(text, line, carried)   reads a Part. What it cannot take is a TextError, or another ValueError, which is
                                    said of the line that the parser has as `line`, or else of the first one
        take()                      what was read since the last call, a dict: `offsets`, int64[n + 1], where each of n
                                    sequences ends, and whatever else `learn` and `finish` make the dataset of. For
                                    those below, the fields of a TokenDataset: indptr, indices, values, labels,
                                    unknown_labels, and edge_* where transitions have attributes. Ids are those of the
                                    vocabularies that the parser was given or, while training, is learning
        learned(parts)              while training: adds to what `take` gave the vocabularies that were learned
                                    (`attributes`, `label_names`), and puts ids in their final order
    carry : (text, line, carried) -> what the part behind this one must know, None: nothing; the result matters only if
        the parser takes this part. It must be quick, since it is found before the part is parsed.
    learn : (source, what the parser's `take` gave, options, parser): makes a training set of it, in place
    finish : (what `take` gave, options, vocabularies or None) -> the dataset
    """

    cut: Callable
    parser: Callable
    carry: Callable = lambda text, line, carried: None
    learn: Callable = learn
    finish: Callable = finish

    def parts(self, source):
        """Yield the Parts of a source; None where a source that is `prompt` has nothing to read yet."""
        carried = None
        for text, line in source.blocks(self.cut):
            if not text:
                yield None
                continue
            yield Part(text, line, carried)
            carried = self.carry(text, line, carried)


def read(module, source, options, frozen=None):
    """The whole of a source as one dataset.

    module : that of the format
    source : a Source or a path
    frozen : what has the vocabularies (a model, a dataset), or None while training

    Raises DataError.
    """
    with Source.of(source) as source:
        reader = module.reader(source, options, frozen)
        if frozen is not None and options.threads > 1:
            return _read_side_by_side(source, reader, options, frozen)
        return _read_in_order(source, reader, options, frozen)


def _read_side_by_side(source, reader, options, frozen):
    parse = PartParser(source, reader, options, frozen)
    blocks = in_order(lambda part: parse(part).dataset, reader.parts(source), options.threads)
    first = next(blocks, None) or parse(Part(b'', 1, None)).dataset
    return type(first).concatenate(chain([first], blocks))


def _read_in_order(source, reader, options, frozen):
    parser = reader.parser()
    for part in reader.parts(source):
        feed(source, parser, part)
    parts = parser.take()
    if frozen is None:
        reader.learn(source, parts, options, parser)
        if options.scale != NONE:
            parts['scale'] = learned_scale(parts, options.scale)
            divide(parts, parts['scale'], parts['attributes'], source)
    else:
        divide_as(frozen, parts, source)
    return reader.finish(parts, options, frozen)


def stream(module, source, options, frozen):
    """Yield a Block for each part of a source, which are whole sequences; what was yielded is not kept."""
    with Source.of(source) as source:
        reader = module.reader(source, options, frozen)
        yield from map(PartParser(source, reader, options, frozen), reader.parts(source))


class PartParser:
    """Part -> Block, for any number of threads at once: each has a parser of its own."""

    def __init__(self, source, reader, options, frozen):
        self._source = source
        self._reader = reader
        self._options = options
        self._frozen = frozen
        self._local = threading.local()

    def __call__(self, part):
        # taken away while it works: a parser that has failed is not used again
        parser = self._local.__dict__.pop('parser', None) or self._reader.parser()
        feed(self._source, parser, part)
        arrays = parser.take()
        self._local.parser = parser
        divide_as(self._frozen, arrays, self._source)
        return Block(self._reader.finish(arrays, self._options, self._frozen), part.text, arrays['offsets'])


def divide_as(frozen, parts, source):
    """Divide values as those of the training data were, if they were."""
    scale = getattr(frozen, 'scale', None)
    if scale is not None:
        divide(parts, scale, frozen.attributes, source)


def feed(source, parser, part):
    """Parse a part; what the parser cannot take becomes an error that names the file."""
    try:
        parser.feed(*part)
    except TextError as error:
        raise DataError(source.name, error.line, error.what, error.expected) from None
    except ValueError as error:  # of a parser that is not compiled
        raise DataError(source.name, getattr(parser, 'line', part.line), str(error)) from error


def sort_labels(labels, names):
    """Renumber labels (in place) so that the names ascend, as numbers if all are whole; returns the new vocabulary."""
    spelled = [names.name_bytes(i) for i in range(len(names))]
    try:
        keys = [int(name) if str(int(name)).encode() == name else None for name in spelled]
    except ValueError:
        keys = [None]
    if None in keys:
        keys = spelled
    order = sorted(range(len(spelled)), key=keys.__getitem__)
    new = np.empty(len(order), dtype=np.int32)
    new[order] = np.arange(len(order))
    renumber(labels, new)
    return names.select(order)


def drop_rare(parts, prefix, least):
    """Forget attributes that occur on fewer than `least` tokens."""
    if least <= 1:
        return
    names, indices = parts[prefix + 'attributes'], parts[prefix + 'indices']
    kept = np.nonzero(count_ids(indices, len(names)) >= least)[0]
    new = np.full(len(names), -1, dtype=np.int32)
    new[kept] = np.arange(len(kept))
    rows = keep_ids(parts[prefix + 'indptr'], indices, parts[prefix + 'values'], new)
    parts.update(zip((prefix + 'indptr', prefix + 'indices', prefix + 'values'), rows, strict=True))
    parts[prefix + 'attributes'] = names.select(kept)


def known(frozen):
    """The vocabularies that a parser must keep to: none while training."""
    return () if frozen is None else (frozen.attributes, frozen.label_names)


def pair_parser(sequences, options, frozen):
    """A parser of SVMlight lines, or where `sequences` of svm_hmm lines."""
    return PairParser(sequences, *known(frozen)).count_from(0 if options.zero_based else 1)
