"""Scores of predicted matchings: alignment error rate with sure and possible links (Och and Ney 2003)."""


class LinkScores:
    """Counts of a stream of predictions. A are the predicted links, S the sure ones, P these and the possible ones."""

    columns = ('dev_aer', 'dev_f1')

    def __init__(self):
        self.examples = self.exact = 0
        self.found = self.sure = self.found_sure = self.found_possible = 0

    def compare(self, dataset, outputs):
        """Count the examples of a MatchingDataset; outputs: for each the numbers of its links, int [k]."""
        sure, possible = dataset.sure, dataset.possible
        for i, links in enumerate(outputs):
            begin, end = dataset.offsets[i : i + 2]
            given, right = int(sure[begin:end].sum()), int(sure[begin + links].sum())
            allowed = right + int(possible[begin + links].sum())
            self.examples += 1
            self.exact += right == given and allowed == len(links)
            self.found, self.sure = self.found + len(links), self.sure + given
            self.found_sure, self.found_possible = self.found_sure + right, self.found_possible + allowed

    @property
    def count(self):
        return self.sure

    def aer(self):
        """1 - (|A and S| + |A and P|) / (|A| + |S|)."""
        return 1 - (self.found_sure + self.found_possible) / max(1, self.found + self.sure)

    def precision(self):
        """Of the predicted links, those that are sure or possible."""
        return self.found_possible / max(1, self.found)

    def recall(self):
        """Of the sure links, those that are predicted."""
        return self.found_sure / max(1, self.sure)

    def f1(self):
        """The harmonic mean of the two."""
        both = self.precision() + self.recall()
        return 2 * self.precision() * self.recall() / both if both else 0.0

    def row(self):
        """The scores by column."""
        return {'dev_aer': self.aer(), 'dev_f1': self.f1()}

    def wrong(self):
        """Sure links that are missing, and links that are neither sure nor possible."""
        return self.sure - self.found_sure + self.found - self.found_possible

    def summary(self):
        """All figures, as fractions and counts, JSON-able."""
        return {
            'examples': self.examples,
            'exact': self.exact / max(1, self.examples),
            'wrong_links': self.wrong() / max(1, self.examples),
            'aer': self.aer(),
            'precision': self.precision(),
            'recall': self.recall(),
            'f1': self.f1(),
            'found': self.found,
            'sure': self.sure,
        }

    def table(self):
        """The same for people."""
        s = self.summary()
        return (
            f'alignment error rate {100 * s["aer"]:.2f} %, precision {100 * s["precision"]:.2f} %, recall '
            f'{100 * s["recall"]:.2f} % ({self.found} links found, {self.sure} sure); without a wrong link '
            f'{100 * s["exact"]:.2f} % of {self.examples} examples, {s["wrong_links"]:.2f} wrong links in each'
        )
