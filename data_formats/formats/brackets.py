"""Penn brackets: `(LABEL (TAG WORD) ...)`, white space free. cython_ext.text.formats.brackets says what is left out.

Where the outermost labels of a training file are not all the same, TOP is put above those that are others than TOP,
ROOT or none, and in place of these. Files for prediction may hold plain sentences: a line of words for each, `WORD_TAG`
for grammars over tags.
"""

import re
from functools import partial

import numpy as np

from cython_ext.structures.cfg.grammar import TAGS, TOPS
from cython_ext.text.boundaries import after_tree, lines_of
from cython_ext.text.formats.brackets import PLAIN, TOP, TREE, BracketParser, put_trees
from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.cfg import TreeDataset
from data_formats.errors import DataError
from data_formats.files.source import Source
from data_formats.parsing.reading import Part, Reader, feed
from data_formats.parsing.writing import candidate_header

NAME = 'brackets'
DESCRIPTION = 'Penn brackets: (LABEL (TAG WORD) ...), white space free; to predict also a line of words a sentence'
EXTENSIONS = ('.mrg', '.ptb', '.penn', '.brackets')
TASKS = ('cfg',)

FIRST = re.compile(rb'[ \t\r\n]*([^ \t\r\n])')
NO_TREES = ('no trees in this file', 'expected one with words at least')


def reader(source, options, vocabularies):
    """How such a file is read."""
    known = () if vocabularies is None else (vocabularies.word_names, vocabularies.label_names)
    parser = partial(BracketParser, options.require_labels, options.terminals == TAGS, *known)
    return Reader(after_tree, parser, carry, learn, finish)


def carry(text, line, carried):
    """Whether the file holds trees or sentences is known by the first word; before it, lines are counted."""
    if carried is not None and carried >= 0:
        return carried
    word = FIRST.match(text)
    if word is None:
        return (-1 if carried is None else carried) - lines_of(text)
    return TREE if word[1] in b'()' else PLAIN


def learn(source, parts, options, parser):
    """Turn what was read into a training set: labels sorted, one label on top of all trees."""
    if not len(parts['words']):
        raise DataError(source.name, None, *NO_TREES)
    parser.learned(parts)
    with_top(parts, top_of_all(parts))
    sort_names(parts)
    parts['spelling'] = None
    if options.terminals == TAGS:
        parts['words'], parts['word_names'] = np.full_like(parts['words'], -1), Vocabulary()


def sort_names(parts):
    """Number the labels that are in use in the order of their names."""
    names, phrases = parts['label_names'], len(parts['node_labels'])
    labels = np.concatenate([parts['node_labels'], parts['tags']])
    used = sorted(np.unique(labels).tolist(), key=names.name_bytes)
    new = np.full(len(names), -1, np.int32)
    new[used] = np.arange(len(used))
    parts['node_labels'], parts['tags'] = np.split(new[labels], [phrases])
    parts['label_names'] = names.select(used)


def finish(parts, options, frozen):
    """The dataset, with the label on top that the model has there."""
    if frozen is not None:
        parts.update(word_names=frozen.word_names, label_names=frozen.label_names)
        if options.top in TOPS:
            with_top(parts, frozen.label_names.get(options.top))
        elif options.top is not None:
            without_top(parts)
    return TreeDataset(**parts)


def top_of_all(parts):
    """The label that all trees have on top; TOP, or ROOT where this is the one in use, if there is no such label."""
    tops, names = set(outermost(parts).tolist()), parts['label_names']
    if len(tops) == 1 and -1 not in tops:
        return tops.pop()
    used = [name for name in TOPS if name in names and names.get(name) in tops]
    return names.add((used or TOPS)[0])


def outermost(parts):
    """int32 [n]: the outermost label of each tree, a tag where there is no phrase, -1 where it has none."""
    begins, phrases = parts['node_offsets'][:-1], np.diff(parts['node_offsets']) > 0
    tops = parts['tags'][parts['offsets'][:-1]]
    tops[phrases] = parts['node_labels'][begins[phrases]]
    return tops


def with_top(parts, top):
    """Give every tree the label `top` as its outermost one, in place of none, TOP or ROOT, or else above it."""
    begins, forms = parts['node_offsets'][:-1], parts['forms']
    topped = (forms >= TOP) & (np.diff(parts['node_offsets']) > 0)
    parts['node_labels'][begins[topped]] = top
    missing = (outermost(parts) != top) & (forms != PLAIN)
    lengths = np.diff(parts['offsets'])[missing]
    for name, values in (('node_labels', top), ('node_begins', 0), ('node_ends', lengths)):
        parts[name] = np.insert(parts[name], begins[missing], values)
    parts['node_offsets'][1:] += np.cumsum(missing)


def without_top(parts):
    """Take the outermost node off where it has no label, TOP or ROOT, and a single child."""
    begins, counts = parts['node_offsets'][:-1], np.diff(parts['node_offsets'])
    lengths, topped = np.diff(parts['offsets']), parts['forms'] >= TOP
    single = (counts == 1) & (lengths == 1)
    several = np.flatnonzero(counts > 1)
    single[several] = parts['node_ends'][begins[several] + 1] == lengths[several]
    single &= topped
    for name in ('node_labels', 'node_begins', 'node_ends'):
        parts[name] = np.delete(parts[name], begins[single])
    parts['node_offsets'][1:] -= np.cumsum(single)
    parts['forms'][topped] = TREE


def write_predictions(block, trees, stream, extra_columns=None, headers=None):
    """A line for each tree, with the words of the block.

    trees : for each sentence with words (tags, labels, begins, ends), ids in the block's label_names, -1 for TOP
    headers : None, or for each sentence, those without words among them, a line (str) that goes before it
    """
    lines = None if headers is None else [line.encode() + b'\n' for line in headers]
    put_trees(block.rows, block.dataset.with_trees(trees), lines, b'', block.dataset.empties, stream)


def write_nbest(block, candidates, stream):
    """For each sentence its trees, best first: `# RANK SCORE [PROBABILITY]`, the tree, a blank line.

    candidates : for each sentence a list of (tree, score, probability or None), tree None where it has no words
    """
    lines = [candidate_header(k, *rest) + b'\n' for several in candidates for k, (_, *rest) in enumerate(several, 1)]
    flat = [tree for several in candidates for tree, _, _ in several]
    trees = [tree for tree in flat if tree is not None]
    empties = np.flatnonzero([tree is None for tree in flat])
    worded = [several for several in candidates if several[0][0] is not None]
    numbers = np.repeat(np.arange(block.dataset.n), [len(several) for several in worded])
    data = block.dataset.subset(numbers).with_trees(trees)
    put_trees(block.rows, data, lines, b'\n', empties - np.arange(len(empties)), stream)


def transcribe(source, target, stream):
    """Write a file with one tree a line, labels without functions, without traces and empty nodes.

    Returns:
        (trees, words, {what was left out: how many}).
    """
    parser = BracketParser(True)
    trees = words = 0
    with Source.of(source) as source:
        for text, line in source.blocks(after_tree):
            feed(source, parser, Part(text, line, None))
            data = TreeDataset(**parser.take(), word_names=parser.words, label_names=parser.labels)
            trees, words = trees + data.n + len(data.empties), words + data.tokens
            put_trees(text, data, None, b'', data.empties, stream)
    if not trees:
        raise DataError(source.name, None, *NO_TREES)
    lost = {'trace': parser.traces, 'lemma': parser.lemmas}
    return trees, words, {what: count for what, count in lost.items() if count}
