"""Scores of predicted states of nodes: accuracy, and of each state precision, recall, F1 and intersection over
union."""

import numpy as np

from data_formats.datasets.tokens import indptr_of
from ssvm_cli.scores.labels import f_score, score_line


class NodeScores:
    """Counts of a stream of predictions. Nodes without a right state are not counted, nor graphs of nothing else.

    Args:
        node_types: names of the types of nodes, by id.
        states: for each of them the names of its states.
    """

    columns = ('dev_accuracy',)

    def __init__(self, node_types, states):
        several = len(node_types) > 1
        self.names = [
            f'{kind}:{state}' if several else state
            for kind, own in zip(node_types, states, strict=True)
            for state in own
        ]
        self._first = indptr_of([len(own) for own in states])  # where the states of each type begin among all of them
        self.graphs = self.right_graphs = 0
        self._gold, self._found, self._right = np.zeros((3, len(self.names)), np.int64)

    def compare(self, dataset, outputs):
        """Count the graphs of a GraphDataset; outputs: int32 [V], the state of each node."""
        known = dataset.labels >= 0
        first = self._first[dataset.node_type[known]]
        gold, found = first + dataset.labels[known], first + np.asarray(outputs)[known]
        size = len(self.names)
        self._gold += np.bincount(gold, minlength=size)
        self._found += np.bincount(found, minlength=size)
        self._right += np.bincount(gold[gold == found], minlength=size)
        graph = np.repeat(np.arange(dataset.n), np.diff(dataset.node_indptr))[known]
        labelled, wrong = (
            np.bincount(graph, minlength=dataset.n),
            np.bincount(graph[gold != found], minlength=dataset.n),
        )
        self.graphs += int((labelled > 0).sum())
        self.right_graphs += int(((labelled > 0) & (wrong == 0)).sum())

    @property
    def count(self):
        """Number of nodes with a right state."""
        return int(self._gold.sum())

    def accuracy(self):
        """The share of nodes that are right."""
        return int(self._right.sum()) / max(1, self.count)

    def row(self):
        """The scores by column."""
        return {'dev_accuracy': self.accuracy()}

    def summary(self):
        """All figures, as fractions and counts, JSON-able. Means are over states that occur (accuracy: recall), or that
        occur or are found (intersection over union)."""
        counts = zip(self._gold.tolist(), self._found.tolist(), self._right.tolist(), strict=True)
        states = dict(zip(self.names, (state_score(*three) for three in counts), strict=True))
        occurring = [score for score in states.values() if score['gold']]
        return {
            'nodes': self.count,
            'graphs': self.graphs,
            'accuracy': self.accuracy(),
            'graph_accuracy': self.right_graphs / max(1, self.graphs),
            'mean_accuracy': mean(score['recall'] for score in occurring),
            'mean_iou': mean(score['iou'] for score in states.values() if score['gold'] or score['found']),
            'macro_f1': mean(score['f1'] for score in states.values()),
            'states': states,
        }

    def table(self):
        """The same for people."""
        s = self.summary()
        width = max(10, *map(len, self.names))
        return '\n'.join(
            [
                f'accuracy {100 * s["accuracy"]:.2f} % ({int(self._right.sum())} of {s["nodes"]} nodes), '
                f'whole graphs {100 * s["graph_accuracy"]:.2f} % of {s["graphs"]}',
                f'mean over states: accuracy {100 * s["mean_accuracy"]:.2f} %, '
                f'intersection over union {100 * s["mean_iou"]:.2f} %',
                f'{"state":<{width}} precision  recall      F1    gold   found   right     IoU',
                *(f'{score_line(name, score, width)} {100 * score["iou"]:7.2f}' for name, score in s['states'].items()),
            ]
        )


def state_score(gold, found, right):
    """f_score and intersection over union of one state, by its numbers of nodes."""
    union = gold + found - right
    return f_score(gold, found, right) | {'iou': right / union if union else 0.0}


def mean(values):
    """The mean of some numbers, 0 of none."""
    values = list(values)
    return sum(values) / max(1, len(values))
