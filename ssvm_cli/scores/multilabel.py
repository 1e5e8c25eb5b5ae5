"""Scores of predicted sets of labels: wrong labels, wholly right sets, and F1 of labels and of examples."""

import numpy as np

from data_formats.datasets.tokens import indptr_of
from ssvm_cli.scores.labels import f_score, grown, score_line


class LabelSetScores:
    """Counts of a stream of predictions.

    Args:
        label_names: names of the labels of the model, by id.
    """

    columns = ('dev_accuracy', 'dev_f1')

    def __init__(self, label_names):
        self.names = list(label_names)
        self._ids = {name: k for k, name in enumerate(self.names)}
        self.examples = self.wrong = self.right_sets = 0
        self.example_f1 = 0.0  # sum over examples
        self._gold, self._found, self._right = np.zeros((3, len(self.names)), np.int64)

    def compare(self, dataset, outputs):
        """Count the examples of a LabelSetDataset; outputs: for each the ids of its labels, each once."""
        gold = _Sets(dataset.label_indptr, dataset.label_ids)
        if dataset.unknown_labels:
            gold = self._with_unknown(gold, dataset.unknown_labels)
        empty = np.zeros(0, np.int32)
        found = _Sets(
            indptr_of([len(labels) for labels in outputs]), np.concatenate([empty, *outputs]).astype(np.int64)
        )
        size = len(self.names)
        both = np.intersect1d(gold.keys(size), found.keys(size), assume_unique=True)
        right = np.bincount(both // max(1, size), minlength=dataset.n)
        total = gold.counts + found.counts
        self.examples += dataset.n
        self.wrong += int((total - 2 * right).sum())
        self.right_sets += int((total == 2 * right).sum())
        self.example_f1 += float(np.where(total, 2 * right / np.maximum(total, 1), 1.0).sum())
        self._gold = grown(self._gold, size) + np.bincount(gold.ids, minlength=size)
        self._found = grown(self._found, size) + np.bincount(found.ids, minlength=size)
        self._right = grown(self._right, size) + np.bincount(both % max(1, size), minlength=size)

    @property
    def count(self):
        """How many examples were compared; 0 where none had a label, so that there was nothing to compare with."""
        return self.examples if self._gold.any() else 0

    def subset_accuracy(self):
        """The share of examples whose set is wholly right."""
        return self.right_sets / max(1, self.examples)

    def micro(self):
        """Precision, recall and F1 of all labels of all examples."""
        return f_score(self._gold.sum(), self._found.sum(), self._right.sum())

    def row(self):
        """The scores by column."""
        return {'dev_accuracy': self.subset_accuracy(), 'dev_f1': self.micro()['f1']}

    def summary(self):
        """All figures, as fractions and counts, JSON-able. An empty set that is found as such has an F1 of 1; a label
        that neither occurs nor is found one of 0."""
        examples = max(1, self.examples)
        labels = {name: f_score(self._gold[k], self._found[k], self._right[k]) for k, name in enumerate(self.names)}
        micro = self.micro()
        return {
            'examples': self.examples,
            'hamming': self.wrong / examples,
            'hamming_loss': self.wrong / examples / max(1, len(self.names)),
            'subset_accuracy': self.subset_accuracy(),
            'micro_f1': micro['f1'],
            'macro_f1': sum(score['f1'] for score in labels.values()) / max(1, len(labels)),
            'example_f1': self.example_f1 / examples,
            'micro': micro,
            'labels': labels,
        }

    def table(self):
        """The same for people."""
        s = self.summary()
        width = max(10, *map(len, self.names))
        return '\n'.join(
            [
                f'subset accuracy {100 * s["subset_accuracy"]:.2f} % ({self.right_sets} of {self.examples} examples), '
                f'wrong labels {100 * s["hamming_loss"]:.2f} %, {s["hamming"]:.4g} an example',
                f'F1 micro {100 * s["micro_f1"]:.2f} %, macro {100 * s["macro_f1"]:.2f} %, '
                f'mean of the examples {100 * s["example_f1"]:.2f} %',
                f'{"label":<{width}} precision  recall      F1    gold   found   right',
                *(score_line(name, score, width) for name, score in s['labels'].items()),
                score_line('all labels', s['micro'], width),
            ]
        )

    def _with_unknown(self, gold, unknown):
        """The right sets together with labels that the model does not know, which get ids of their own."""
        pairs = [(i, self._id(name)) for i, names in unknown.items() for name in names]
        examples, ids = np.array(pairs, np.int64).T
        owner = np.concatenate([gold.owners(), examples])
        order = np.argsort(owner, kind='stable')
        counts = np.bincount(owner, minlength=len(gold.counts))
        return _Sets(indptr_of(counts), np.concatenate([gold.ids, ids])[order])

    def _id(self, name):
        """Id of a label name, a new one for a name that the model does not know."""
        if name not in self._ids:
            self._ids[name] = len(self.names)
            self.names.append(name)
        return self._ids[name]


class _Sets:
    """Sets of ids in rows: those of row i are ids[indptr[i]:indptr[i + 1]]."""

    def __init__(self, indptr, ids):
        self.counts, self.ids = np.diff(indptr), ids

    def owners(self):
        """The row of each id."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def keys(self, size):
        """A number for each pair of row and id, where ids are below `size`."""
        return self.owners() * size + self.ids
