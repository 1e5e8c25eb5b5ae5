"""MULAN's XML files that name the labels of an ARFF file: `<labels><label name="..."/></labels>`, perhaps nested."""

import os
import re
from xml.etree import ElementTree

from data_formats.errors import DataError, shown
from data_formats.files.compression import ENDINGS
from data_formats.files.source import Source

EXPECTED = 'expected <labels> with <label name="..."> in it'
PART = re.compile(r'[-_][^-_/\\]+$')  # what a split of a data set has behind the name, as in yeast-train


def labels_beside(path):
    """The names of labels (bytes) that the XML file beside NAME.arff gives, and its path, or (None, None).

    Its name is NAME.xml, or, where there is none, that without the last part behind a hyphen; it may be compressed.
    """
    base = os.fspath(path)
    for ending in ENDINGS:
        base = base.removesuffix(ending)
    base = os.path.splitext(base)[0]
    for stem in dict.fromkeys([base, PART.sub('', base)]):
        for ending in ('', *ENDINGS):
            if os.path.isfile(f'{stem}.xml{ending}'):
                return label_names(f'{stem}.xml{ending}'), f'{stem}.xml{ending}'
    return None, None


def label_names(path):
    """The names (bytes) of all labels of such a file, in its order.

    Raises:
        DataError: it is no such file, or has a document type, which could make it grow without bounds.
    """
    with Source(path) as source:
        text = source.contents()
    try:
        text = text.decode('utf-8')
    except UnicodeDecodeError:
        raise DataError(path, None, 'not UTF-8', EXPECTED) from None
    at = text.find('<!DOCTYPE')
    if at >= 0:
        raise DataError(path, 1 + text.count('\n', 0, at), 'a document type', f'{EXPECTED}, and nothing else')
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise DataError(path, error.position[0], f'no XML: {error}', EXPECTED) from None
    elements = [element for element in root.iter() if element.tag.rpartition('}')[2] == 'label']
    if root.tag.rpartition('}')[2] != 'labels' or not elements:
        raise DataError(path, None, 'no labels in this file', EXPECTED)
    names = [element.get('name', '') for element in elements]
    if '' in names:
        raise DataError(path, None, f'label {names.index("") + 1} has no name', EXPECTED)
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise DataError(path, None, f'label {shown(twice)} twice', 'expected different names')
    return [name.encode() for name in names]
