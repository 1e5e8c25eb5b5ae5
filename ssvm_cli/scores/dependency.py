"""Attachment scores of predicted dependency trees: how many words have the right head, and the right relation too."""

import numpy as np

from ssvm_cli.scores.labels import f_score, score_line


class AttachmentScores:
    """Counts of a stream of predictions. Words without a right head are not counted.

    Args:
        relations: names of the relations of the model, by id; None for a model of heads alone.
        punctuation: whether words of nothing but punctuation characters count.
    """

    def __init__(self, relations, punctuation=True):
        self.relations = relations
        self.punctuation = punctuation
        self.words = self.sentences = 0
        self.right_heads = self.right_words = self.right_sentences = 0
        size = 0 if relations is None else len(relations)
        self._gold, self._found, self._right = (np.zeros(size, np.int64) for _ in range(3))

    def compare(self, dataset, trees):
        """Count the sentences of a SentenceDataset; trees: (heads, relations), int32[N] each."""
        heads, relations = trees
        counted = dataset.heads >= 0
        if not self.punctuation:
            counted &= ~dataset.punctuation
        right = counted & (heads == dataset.heads)
        self.right_heads += int(right.sum())
        if self.relations is not None:
            right &= relations == dataset.relations
            for counts, ids in (
                (self._gold, dataset.relations[counted]),
                (self._found, relations[counted]),
                (self._right, relations[right]),
            ):
                counts += np.bincount(ids[ids >= 0], minlength=len(counts))
        self.words += int(counted.sum())
        self.right_words += int(right.sum())
        words, rights = (np.concatenate([[0], np.cumsum(which)])[dataset.offsets] for which in (counted, right))
        words, rights = np.diff(words), np.diff(rights)
        self.sentences += int((words > 0).sum())
        self.right_sentences += int(((words > 0) & (words == rights)).sum())

    @property
    def count(self):
        return self.words

    @property
    def columns(self):
        """Names of the scores in logs."""
        return ('dev_uas',) if self.relations is None else ('dev_uas', 'dev_las')

    def row(self):
        """The scores by column."""
        return dict(zip(self.columns, (self.uas(), self.las()), strict=False))

    def uas(self):
        return self.right_heads / max(1, self.words)

    def las(self):
        return self.right_words / max(1, self.words)

    def summary(self):
        """All figures, as fractions and counts, JSON-able."""
        result = {
            'words': self.words,
            'sentences': self.sentences,
            'punctuation': self.punctuation,
            'uas': self.uas(),
            'sentence_accuracy': self.right_sentences / max(1, self.sentences),
        }
        if self.relations is not None:
            result['las'] = self.las()
            result['relations'] = self._by_relation()
        return result

    def table(self):
        """The same for people."""
        line = f'UAS {100 * self.uas():.2f} %'
        if self.relations is not None:
            line += f', LAS {100 * self.las():.2f} %'
        without = '' if self.punctuation else ' without punctuation'
        whole = f'{100 * self.right_sentences / max(1, self.sentences):.2f} % of {self.sentences}'
        line += f' ({self.words} words{without}), whole sentences {whole}'
        if self.relations is None:
            return line
        scores = self._by_relation()
        width = max(10, *map(len, scores), 0)
        head = f'{"relation":<{width}} precision  recall      F1    gold   found   right'
        return '\n'.join([line, head, *(score_line(name, score, width) for name, score in scores.items())])

    def _by_relation(self):
        """Of words with the relation, those whose head and relation are right."""
        counts = zip(self.relations, self._gold, self._found, self._right, strict=True)
        return {name: f_score(gold, found, right) for name, gold, found, right in counts if gold or found}
