"""Scores of predicted phrase structure, counted as EVALB does with its COLLINS.prm.

A bracket is a phrase: (label, first word, word after the last). Words that are punctuation by their right tag are
deleted from both trees and the others counted anew; phrases without a word left, and the node on top, are no brackets;
ADVP and PRT are the same label. What is right is the common part of the two multisets of brackets. EVALB leaves out a
sentence whose trees differ in what is punctuation. Here every sentence counts: one without a parse has found no bracket
and no tag. A sentence without words is
skipped, as there: it is one of the sentences, and no average is over it.
"""

from collections import Counter
from itertools import accumulate

from ssvm_cli.scores.labels import f_score, score_line

TOPS = ('TOP', 'ROOT', 'S1', '')
TRACE = '-NONE-'
DELETED = frozenset({*TOPS, TRACE, ',', ':', '``', "''", '.'})
SAME = {'PRT': 'ADVP'}
SHORT_SENTENCE = 40  # words of the sentences that papers give figures of too


class BracketScores:
    """Counts of a stream of predictions. tagged: whether tags are predicted too."""

    columns = ('dev_f1',)

    def __init__(self, tagged=True):
        self.tagged = tagged
        self.all, self.short = Tally(), Tally()
        self._gold, self._found, self._right = Counter(), Counter(), Counter()

    def add(self, gold, guess):
        """Count a sentence. gold, guess: Tree, guess None where there is no parse."""
        kept = [tag not in DELETED for tag in gold.tags]
        before = [0, *accumulate(kept)]
        wanted = brackets(gold.nodes, before)
        found = brackets([] if guess is None else guess.nodes, before)
        tags = [] if guess is None else zip(gold.tags, guess.tags, strict=True)
        right_tags = sum(a == b and a is not None and a not in DELETED for a, b in tags)
        tallies = [self.all]
        if sum(tag != TRACE for tag in gold.tags) <= SHORT_SENTENCE:
            tallies.append(self.short)
        for tally in tallies:
            tally.add(wanted, found, before[-1], right_tags, guess is not None)
        for counts, which in ((self._gold, wanted), (self._found, found), (self._right, wanted & found)):
            for (label, _, _), count in which.items():
                counts[label] += count

    def skip(self, sentences):
        """Count some sentences without words."""
        for tally in (self.all, self.short):
            tally.skipped += sentences

    @property
    def count(self):
        return self.all.valid

    def row(self):
        """The scores by column."""
        return {'dev_f1': self.all.labelled()['f1']}

    def summary(self):
        """All figures, as fractions and counts, JSON-able."""
        return {
            **self.all.summary(self.tagged),
            'labels': self._by_label(),
            f'up_to_{SHORT_SENTENCE}_words': self.short.summary(self.tagged),
        }

    def table(self):
        """The same for people."""
        lines = [self.all.line(self.tagged)]
        if self.short.valid < self.all.valid:
            lines.append(f'up to {SHORT_SENTENCE} words: {self.short.line(self.tagged)}')
        scores = self._by_label()
        width = max(10, *map(len, scores), 0)
        lines.append(f'{"label":<{width}} precision  recall      F1    gold   found   right')
        return '\n'.join([*lines, *(score_line(name, score, width) for name, score in scores.items())])

    def _by_label(self):
        names = {'?' if label is None else label: label for label in {*self._gold, *self._found}}
        counts = (self._gold, self._found, self._right)
        return {name: f_score(*(count[names[name]] for count in counts)) for name in sorted(names)}


class Tally:
    """Sums over sentences."""

    def __init__(self):
        self.valid = self.skipped = self.parsed = self.complete = 0
        self.gold = self.found = self.right = self.right_spans = 0
        self.crossing = self.uncrossed = self.nearly_uncrossed = 0
        self.words = self.right_tags = 0

    def add(self, gold, found, words, right_tags, parsed):
        """gold, found: Counters of brackets."""
        right = (gold & found).total()
        crossing = crossings(gold, found)
        self.valid += 1
        self.parsed += parsed
        self.complete += right == gold.total() == found.total()
        self.gold += gold.total()
        self.found += found.total()
        self.right += right
        self.right_spans += (spans(gold) & spans(found)).total()
        self.crossing += crossing
        self.uncrossed += crossing == 0
        self.nearly_uncrossed += crossing <= 2
        self.words += words
        self.right_tags += right_tags

    def labelled(self):
        return f_score(self.gold, self.found, self.right)

    def unlabelled(self):
        return f_score(self.gold, self.found, self.right_spans)

    def summary(self, tagged):
        sentences = max(1, self.valid)
        result = {
            'sentences': self.valid + self.skipped,
            'skipped': self.skipped,
            'no_parse': self.valid - self.parsed,
            **self.labelled(),
            'unlabelled': self.unlabelled(),
            'complete_match': self.complete / sentences,
            'average_crossing': self.crossing / sentences,
            'no_crossing': self.uncrossed / sentences,
            'two_or_less_crossing': self.nearly_uncrossed / sentences,
        }
        if tagged:
            result |= {'words': self.words, 'tagging_accuracy': self.right_tags / max(1, self.words)}
        return result

    def line(self, tagged):
        """The figures for people."""
        of_all, sentences = self.labelled(), max(1, self.valid)
        parts = [
            f'F1 {100 * of_all["f1"]:.2f} % (precision {100 * of_all["precision"]:.2f} %, recall '
            f'{100 * of_all["recall"]:.2f} %, {self.gold} brackets)',
            f'unlabelled {100 * self.unlabelled()["f1"]:.2f} %',
            f'complete match {100 * self.complete / sentences:.2f} % of {self.valid} sentences',
            f'{self.crossing / sentences:.2f} crossing each',
        ]
        if tagged:
            parts.append(f'tags {100 * self.right_tags / max(1, self.words):.2f} % of {self.words} words')
        if self.parsed < self.valid:
            parts.append(f'no parse of {self.valid - self.parsed}')
        if self.skipped:
            parts.append(f'{self.skipped} without words skipped')
        return ', '.join(parts)


def brackets(nodes, before):
    """Counter of the brackets (label, begin, end) of a tree. before: how many words are kept before each, and all."""
    return Counter(
        (SAME.get(label, label), before[begin], before[end])
        for label, begin, end in nodes
        if label not in DELETED and before[begin] < before[end]
    )


def spans(brackets):
    """Counter of (begin, end)."""
    counts = Counter()
    for (_, *span), count in brackets.items():
        counts[tuple(span)] += count
    return counts


def crossings(gold, found):
    """How many brackets that were found overlap with a right one without one of the two lying in the other."""
    right = spans(gold)
    return sum(
        count
        for (begin, end), count in spans(found).items()
        if (begin, end) not in right and any(a < begin < b < end or begin < a < end < b for a, b in right)
    )
