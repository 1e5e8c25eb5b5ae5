"""Labels of single inputs."""

import numpy as np

from ssvm_cli.tasks.tokens import TokenTask, label_columns


class MulticlassTask(TokenTask):
    """The task whose data are a TokenDataset of single tokens."""

    name = 'multiclass'

    def columns(self, o, predictions, scores):
        marginals = super().columns(o, predictions, scores)
        if not o.scores:
            return marginals
        names = predictions.dataset.label_names.names()
        columns = label_columns(names, label_scores(predictions, len(names)), '.10g')
        return columns if marginals is None else [a + b for a, b in zip(columns, marginals, strict=True)]

    def headers(self, o, predictions, scores):
        return None


TASK = MulticlassTask


def label_scores(predictions, labels):
    """float64[n, K]: the score of each label."""
    table = np.empty((predictions.dataset.n, labels))
    for i, (codes, scores) in enumerate(predictions.decoder.nbest(predictions.w, labels)):
        table[i, codes[:, 0]] = scores
    return table
