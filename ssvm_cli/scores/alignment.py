"""Scores of predicted homologs: how often the gold candidate wins, and how many pairs of letters are aligned
rightly."""

from data_formats.datasets.alignment import DELETION, INSERTION, SUBSTITUTION


class HomologyScores:
    """Counts of a stream of predictions. Natives without a homolog are not counted; pairs of letters are where the
    homolog wins and its gold alignment is given."""

    columns = ('dev_accuracy',)

    def __init__(self):
        self.count = self.found = self.aligned = 0
        self.right_pairs = self.given_pairs = self.found_pairs = 0

    def compare(self, dataset, outputs):
        """Count the examples of a HomologDataset; outputs: for each (candidate, starts, steps)."""
        for i, (candidate, *alignment) in enumerate(outputs):
            gold = int(dataset.gold[i])
            if gold < 0:
                continue
            self.count += 1
            self.found += candidate == gold
            if candidate == gold and dataset.aligned[i]:
                given, found = pairs(*dataset.alignment(i)), pairs(*alignment)
                self.aligned += 1
                self.given_pairs, self.found_pairs = self.given_pairs + len(given), self.found_pairs + len(found)
                self.right_pairs += len(given & found)

    def accuracy(self):
        """The share of natives whose homolog wins."""
        return self.found / max(1, self.count)

    def row(self):
        """The scores by column."""
        return {'dev_accuracy': self.accuracy()}

    def summary(self):
        """All figures, as fractions and counts, JSON-able."""
        return {
            'natives': self.count,
            'accuracy': self.accuracy(),
            'error_rate': 1 - self.accuracy() if self.count else 0.0,
            'aligned': self.aligned,
            'pairs': {
                'precision': self.right_pairs / max(1, self.found_pairs),
                'recall': self.right_pairs / max(1, self.given_pairs),
            },
        }

    def table(self):
        """The same for people."""
        pairs = self.summary()['pairs']
        wrong = self.count - self.found
        return (
            f'error rate {100 * wrong / max(1, self.count):.2f} % ({wrong} of {self.count} natives); aligned pairs of '
            f'{self.aligned} homologs: precision {100 * pairs["precision"]:.2f} %, recall {100 * pairs["recall"]:.2f} %'
        )


def pairs(i, j, steps):
    """The set of pairs of places that an alignment substitutes."""
    found = set()
    for step in steps.tolist():
        if step == SUBSTITUTION:
            found.add((i, j))
        i, j = i + (step != INSERTION), j + (step != DELETION)
    return found
