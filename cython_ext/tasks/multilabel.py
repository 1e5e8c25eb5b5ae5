"""Sets of labels: a binary node for each label, which the input speaks to, and a weight for each pair of labels that
are in the set together (Meshi, Srebro and Hazan 2015, section 6):

    <w, phi(x, y)> = sum_k y_k <w_k, x> + sum_{j < k} w_jk y_j y_k

or for some pairs only: where these make a tree, or none at all, many labels have exact oracles too.
"""

import numpy as np

from cython_ext.structures.graph.label_pairs import all_pairs
from cython_ext.structures.graph.layout import FactorType, GraphLayout, Shape
from cython_ext.tasks.common import node_costs, zero_one
from cython_ext.tasks.registry import LINEAR, TaskInfo
from cython_ext.tasks.relaxations import arguments_of_relaxation, build_relaxed, log_values

STATE, PAIR = 'state', 'pair'


def layout_of(dataset, pairs=None):
    """The GraphLayout of a LabelSetDataset. pairs: [(j, k), ...] with j < k, ascending, of those with weights (None: of
    all)."""
    labels = len(dataset.label_names)
    scopes = [(int(j), int(k)) for j, k in (all_pairs(labels) if pairs is None else pairs)]
    node = FactorType((2,), np.array([-1, 0], np.int32), len(dataset.attributes))
    pair = FactorType((2, 2), np.array([-1, -1, -1, 0], np.int32), constant=True)
    shape = Shape(
        labels,
        np.arange(labels + len(scopes), dtype=np.int32),
        [*((k,) for k in range(labels)), *scopes],
        np.zeros(labels + len(scopes), np.int64),
    )
    gold = np.zeros((dataset.n, labels), np.int32)
    gold[np.repeat(np.arange(dataset.n), np.diff(dataset.label_indptr)), dataset.label_ids] = 1
    return GraphLayout(
        [node] * labels + [pair] * len(scopes),
        [shape],
        np.zeros(dataset.n, np.int32),
        np.arange(dataset.n, dtype=np.int64),
        labels * np.arange(dataset.n + 1, dtype=np.int64),
        gold.ravel(),
        dataset.indptr,
        dataset.indices,
        dataset.values,
        untied=pairs is not None,  # with all pairs too, but last digits of models would not be what they were
    )


def set_f1():
    """1 - F1 of a set, where there are no weights for pairs."""
    from cython_ext.losses.set_f1 import SetF1

    return SetF1


class LabelNames:
    """What models call the weights: 'state' float64[attributes, K], 'pair' float64[P] of the pairs with weights. pairs:
    as of layout_of."""

    def __init__(self, attributes, labels, pairs=None):
        self.attributes, self.labels, self.pairs = attributes, labels, pairs

    def join(self, arrays, _):
        states = [array.ravel() for array in arrays[: self.labels]]
        pairs = [array.ravel() for array in arrays[self.labels :]]
        return {
            STATE: np.stack(states, axis=1) if states else np.zeros((self.attributes, 0)),
            PAIR: np.concatenate([np.zeros(0), *pairs]),
        }

    def split(self, blocks):
        pairs = self.labels * (self.labels - 1) // 2 if self.pairs is None else len(self.pairs)
        if np.shape(blocks[STATE]) != (self.attributes, self.labels) or np.shape(blocks[PAIR]) != (pairs,):
            raise ValueError(f'weights of other attributes or labels (expected {self.attributes} and {self.labels})')
        arrays = [*np.asarray(blocks[STATE]).T, *np.asarray(blocks[PAIR])]
        return arrays, [np.zeros(0)] * len(arrays)


def build(dataset, pairs=None, apart=False, **how):
    """(Structure, FeatureMap) of a LabelSetDataset. pairs: as of layout_of; apart: whether each label may be a problem
    by itself where there are no pairs; how: as of build_relaxed."""
    labels = len(dataset.label_names)
    layout, naming = layout_of(dataset, pairs), LabelNames(len(dataset.attributes), labels, pairs)
    if apart and how.get('relaxation', 'none') == 'none' and labels and len(layout.types) == labels:
        return build_apart(layout, naming, labels)
    return build_relaxed(layout, naming, **how)


def build_apart(layout, naming, labels):
    """(LabelsApart, LabelColumns) of sets without pairs."""
    from cython_ext.features.graph.factors import FactorWeights
    from cython_ext.features.graph.multilabel import LabelColumns
    from cython_ext.structures.graph.factor_graphs import FactorGraphs
    from cython_ext.structures.graph.labels_apart import LabelsApart

    outputs = LabelsApart(layout.labels.reshape(layout.n, labels))
    return outputs, LabelColumns(outputs, FactorWeights(FactorGraphs(layout), naming))


def problem_arguments(how, lam, objective, loss, variant):
    """Of build(): maxima of a plain hinge loss over sets are sums over labels, but for their pairs."""
    arguments = arguments_of_relaxation(how, lam, objective)
    if 'pairs' in how:
        plain = variant is None or variant.plain
        arguments['apart'] = objective == 'hinge' and plain and loss in (None, INFO.default_loss)
    return arguments


INFO = TaskInfo(
    name='multilabel',
    summary='a set of labels for each example, with weights for pairs of labels',
    build=build,
    losses={'hamming': node_costs, 'zero-one': zero_one, 'f1': set_f1},
    default_loss='hamming',
    refused={
        **dict.fromkeys(LINEAR, 'sets of labels have linear features: use the linear kernel'),
        'feature_set': 'every attribute has a weight for every label: use --feature-set all',
    },
    problem_arguments=problem_arguments,
    log_values=log_values,
)
