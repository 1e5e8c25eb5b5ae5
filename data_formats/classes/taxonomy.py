"""Class taxonomies: `CHILD PARENT [WEIGHT]`, one step of a tree or lattice a line; classes may stand anywhere in it."""

import math

import numpy as np

from data_formats.errors import DataError, shown
from data_formats.files.lines import BLANKS, content_lines, number, words

EXPECTED = 'CHILD PARENT [WEIGHT]'
EXPECTED_LINE = f'expected {EXPECTED}'


class Taxonomy:
    """Nodes in the order in which their children are all there before them.

    Attributes:
        classes: names of the classes.
        above: for each class {node: None} of itself and all nodes above it.
        heights: node -> length of the longest way down to a node without children.
        shares: node -> what it adds to the similarity of two classes that are both below it (or are it): the weight of
            the step up from it, the largest if there are several; 1 for the nodes at the top where these are several.
    """

    def __init__(self, parents, classes):
        """parents: node -> {parent: weight}, in an order such that children come before their parents."""
        self.classes = list(classes)
        self.heights = dict.fromkeys(parents, 0.0)
        for node, steps in parents.items():
            for parent, weight in steps.items():
                self.heights[parent] = max(self.heights[parent], self.heights[node] + weight)
        tops = [node for node, steps in parents.items() if not steps]
        self.top = 1.0 + max((self.heights[node] for node in tops), default=0.0)
        several = 1.0 if len(tops) > 1 else 0.0
        self.shares = {node: max(steps.values(), default=several) for node, steps in parents.items()}
        self.above = [_ancestors(name, parents) for name in self.classes]

    def similarity(self):
        """float64[K, K]: the inner products of the classes' features, sqrt(share) at each node that is above."""
        nodes = {node: k for k, node in enumerate(self.heights)}
        features = np.zeros((len(self.classes), len(nodes)))
        for k, above in enumerate(self.above):
            for node in above:
                features[k, nodes[node]] = math.sqrt(self.shares[node])
        return features @ features.T

    def loss(self):
        """float64[K, K], the tree loss: the height of the lowest node above two classes; 0 on the diagonal. Where there
        is none, one step above the highest of all."""
        costs = np.zeros((len(self.classes),) * 2)
        for k, above in enumerate(self.above):
            for j, other in enumerate(self.above[:k]):
                common = [self.heights[node] for node in above if node in other]
                costs[k, j] = costs[j, k] = min(common, default=self.top)
        return costs


def read_taxonomy(path, label_names):
    """The Taxonomy of the labels of a data set.

    Args:
        path: the file. Fields are separated by tabs, or by blanks in lines without a tab; `#` begins a comment.
        label_names: names of the labels of the data, in order.

    Raises:
        DataError: FILE:LINE of a malformed line, of a step that is there twice or closes a circle; a label is missing.
    """
    parents, lines = {}, {}
    for line, text in content_lines(path):
        fields = [field.strip(BLANKS) for field in text.split('\t')] if '\t' in text else words(text)
        if len(fields) not in (2, 3) or '' in fields:
            what = 'an empty field' if '' in fields else '1 field' if len(fields) == 1 else f'{len(fields)} fields'
            raise DataError(path, line, what, EXPECTED_LINE)
        child, parent = fields[:2]
        if child == parent:
            raise DataError(path, line, f'{shown(child)} is its own parent', EXPECTED_LINE)
        if parent in parents.get(child, ()):
            raise DataError(path, line, f'the step from {shown(child)} to {shown(parent)} stands here a second time')
        weight = number(path, line, fields[2], 'weight', positive=True) if len(fields) == 3 else 1.0
        parents.setdefault(child, {})[parent] = weight
        parents.setdefault(parent, {})
        lines.setdefault(child, line)
    if not parents:
        raise DataError(path, None, 'no steps', f'expected lines {EXPECTED}')
    for name in label_names:
        if name not in parents:
            raise DataError(path, None, f'label {shown(name)} of the data is missing', 'expected a line of its own')
    return Taxonomy(_children_first(path, parents, lines), label_names)


def _children_first(path, parents, lines):
    """The same with every node behind all its children. Raises DataError where there is a circle."""
    waiting = dict.fromkeys(parents, 0)
    for steps in parents.values():
        for parent in steps:
            waiting[parent] += 1
    ready, ordered = [node for node, count in waiting.items() if not count], {}
    for node in ready:
        ordered[node] = parents[node]
        for parent in parents[node]:
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)
    if len(ordered) < len(parents):
        node = next(node for node, count in waiting.items() if count and node in lines)
        raise DataError(path, lines[node], f'{shown(node)} is above itself', 'expected steps that lead to a top')
    return ordered


def _ancestors(node, parents):
    """The node and all above it, as the keys of a dictionary, nearest first."""
    found = {node: None}
    waiting = [node]
    for one in waiting:
        for parent in parents[one]:
            if parent not in found:
                found[parent] = None
                waiting.append(parent)
    return found
