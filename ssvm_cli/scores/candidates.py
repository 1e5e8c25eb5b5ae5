"""Scores of chosen candidates: how often the best one is chosen, what the chosen ones lose, and, where candidates have
grades of relevance, how good the order of all of them is."""

from itertools import pairwise

import numpy as np

DEPTHS = (1, 5, 10)


class RerankingScores:
    """Counts of a stream of predictions. graded: whether the data have grades of relevance.

    A group is right if the loss of its chosen candidate is the smallest of the group. With grades the candidates are
    ranked by score, equal scores in the order of the file, and groups without a grade above 0 are left out of NDCG and
    MAP. Attribute count: groups whose candidates differ in loss.
    """

    def __init__(self, graded):
        self.graded = graded
        self.columns = ('dev_accuracy', 'dev_map', 'dev_ndcg10') if graded else ('dev_loss', 'dev_accuracy')
        self.groups = self.count = self.right = self.ranked = 0
        self.loss = self.best_loss = self.average_precision = 0.0
        self.ndcg = np.zeros(len(DEPTHS))

    def compare(self, dataset, outputs):
        """Count the examples of a CandidateDataset; outputs: (numbers of the chosen candidates int [n], scores of all
        candidates float64 [N], or None where there are no grades)."""
        chosen, scores = outputs
        if not dataset.n:
            return
        places = dataset.offsets[:-1] + chosen
        costs, losses = dataset.costs, dataset.costs if self.graded else dataset.losses
        self.groups += dataset.n
        self.count += int(dataset.decided.sum())
        self.right += int((costs[places] == 0).sum())
        self.loss += float(losses[places].sum())
        self.best_loss += float((losses - costs)[places].sum())
        if self.graded:
            for begin, end in pairwise(dataset.offsets.tolist()):
                self._rank(dataset.targets[begin:end], scores[begin:end])

    def _rank(self, grades, scores):
        if grades.max() <= 0:
            return
        self.ranked += 1
        ordered = grades[np.argsort(-scores, kind='stable')]
        self.ndcg += ndcg(ordered)
        self.average_precision += average_precision(ordered > 0)

    def accuracy(self):
        """The share of groups that are right."""
        return self.right / max(1, self.groups)

    def row(self):
        """The scores by column."""
        figures = self.summary()
        keys = ('accuracy', 'map', 'ndcg@10') if self.graded else ('loss', 'accuracy')
        return dict(zip(self.columns, (figures[key] for key in keys), strict=True))

    def summary(self):
        """All figures, as fractions and counts, JSON-able."""
        groups, ranked = max(1, self.groups), max(1, self.ranked)
        figures = {
            'groups': self.groups,
            'tied': self.groups - self.count,
            'accuracy': self.accuracy(),
            'error_rate': 1 - self.accuracy() if self.groups else 0.0,
            'loss': self.loss / groups,
            'best_loss': self.best_loss / groups,
        }
        if self.graded:
            ndcg = {f'ndcg@{k}': float(total) / ranked for k, total in zip(DEPTHS, self.ndcg, strict=True)}
            figures |= {'ranked': self.ranked, **ndcg, 'map': self.average_precision / ranked}
        return figures

    def table(self):
        """The same for people."""
        figures, wrong = self.summary(), self.groups - self.right
        text = f'error rate {100 * figures["error_rate"]:.2f} % ({wrong} of {self.groups} groups); '
        if not self.graded:
            return text + f'mean loss {figures["loss"]:.6g}, of the best candidates {figures["best_loss"]:.6g}'
        ranks = ', '.join(f'NDCG@{k} {100 * figures[f"ndcg@{k}"]:.2f} %' for k in DEPTHS)
        text += f'mean loss {figures["loss"]:.6g}; {ranks}, MAP {100 * figures["map"]:.2f} %'
        return text + f' ({self.ranked} groups with a grade above 0)'


def ndcg(grades):
    """NDCG at DEPTHS, float64 [3], of grades in the order of their ranks, of which one at least is above 0.

    DCG@k is the sum over the ranks r <= k of (2^grade - 1) / log2(r + 1), grades below 0 as 0; it is divided by that
    of the best order. The powers are divided by the largest, so that no grade is too large for them.
    """
    grades = np.maximum(grades, 0.0)
    top = grades.max()
    gains = np.exp2(grades - top) - np.exp2(-top)
    discounts = 1 / np.log2(np.arange(2, len(gains) + 2))
    best = np.sort(gains)[::-1]
    return np.array([(gains[:k] @ discounts[:k]) / (best[:k] @ discounts[:k]) for k in DEPTHS])


def average_precision(relevant):
    """The mean over the relevant ranks r of the share of the first r that is relevant. relevant: bool, by rank."""
    ranks = np.flatnonzero(relevant) + 1
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks))
