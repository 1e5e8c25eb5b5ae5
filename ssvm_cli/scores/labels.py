"""Scores of predicted labels: accuracy, precision, recall and F1 per label, and of chunks as conlleval has them."""

import numpy as np

from data_formats.errors import visible
from ssvm_cli.scores.chunks import BEGIN, END, OUTSIDE, SINGLE, ChunkTags, chunk_tags, near_miss


def are_chunk_tags(names):
    """Whether label names look like tags of chunks of one scheme."""
    return chunk_tags(names) is not None


class Scores:
    """Counts of a stream of predictions.

    Args:
        label_names: names of the labels of the model, by id.
        chunks: whether to score chunks; by default if the names look like chunk tags.
        cost: float64[K, K], what a predicted label costs where another one is right, or None.
    """

    def __init__(self, label_names, chunks=None, cost=None):
        self.names = list(label_names)
        tags = chunk_tags(self.names)
        self.chunks = tags is not None if chunks is None else chunks
        self.tags = tags or ChunkTags()
        self.remark = near_miss(self.names) if chunks is None and tags is None else None
        self.cost = cost
        self.loss = 0.0  # of the tokens whose right label the model knows
        self.sequences = self.right_sequences = 0
        self._ids = {name: k for k, name in enumerate(self.names)}
        self._types = {}
        self._prefix, self._type = [], []
        for name in self.names:
            self._add_tag(name)
        self._gold = np.zeros(len(self.names), np.int64)
        self._found = np.zeros(len(self.names), np.int64)
        self._right = np.zeros(len(self.names), np.int64)
        self._gold_chunks = np.zeros(0, np.int64)
        self._found_chunks = np.zeros(0, np.int64)
        self._right_chunks = np.zeros(0, np.int64)

    def add(self, offsets, gold, found, unknown=None):
        """Count some examples.

        Args:
            offsets: int64[n + 1]; the tokens of example i are offsets[i]:offsets[i + 1].
            gold: int32[N] right labels; -1 where there is none.
            found: int32[N] predicted labels.
            unknown: token -> name of right labels that the model does not know (gold is -1 there).
        """
        if self.cost is not None:
            known = gold >= 0
            self.loss += float(self.cost[gold[known], found[known]].sum())
        if unknown:
            gold = gold.copy()
            for token, name in unknown.items():
                gold[token] = self._id(name)
        known = gold >= 0
        size = len(self.names)
        self._gold = grown(self._gold, size) + np.bincount(gold[known], minlength=size)
        self._found = grown(self._found, size) + np.bincount(found[known], minlength=size)
        self._right = grown(self._right, size) + np.bincount(gold[known & (gold == found)], minlength=size)
        wrong = np.concatenate([[0], np.cumsum(gold != found)])
        lengths = np.diff(offsets)
        self.sequences += int((lengths > 0).sum())
        self.right_sequences += int(((wrong[offsets[1:]] == wrong[offsets[:-1]]) & (lengths > 0)).sum())
        if self.chunks and len(gold):
            self._add_chunks(offsets, gold, found)

    def compare(self, dataset, found):
        """Count the examples of a TokenDataset; found: as in `add`."""
        self.add(dataset.offsets, dataset.labels, found, dataset.unknown_labels)

    @property
    def tokens(self):
        """Number of tokens with a right label."""
        return int(self._gold.sum())

    @property
    def count(self):
        return self.tokens

    @property
    def columns(self):
        """Names of the scores in logs."""
        return ('dev_accuracy', 'dev_f1') if self.chunks else ('dev_accuracy',)

    def row(self):
        """The scores by column."""
        return dict(zip(self.columns, (self.accuracy(), self.chunk_f1()), strict=False))

    def accuracy(self):
        return int(self._right.sum()) / max(1, self.tokens)

    def chunk_f1(self):
        return f_score(self._gold_chunks.sum(), self._found_chunks.sum(), self._right_chunks.sum())['f1']

    def summary(self):
        """All figures, as fractions and counts, JSON-able."""
        labels = {name: f_score(self._gold[k], self._found[k], self._right[k]) for k, name in enumerate(self.names)}
        result = {
            'tokens': self.tokens,
            'sequences': self.sequences,
            'accuracy': self.accuracy(),
            'sequence_accuracy': self.right_sequences / max(1, self.sequences),
            'macro_f1': float(np.mean([score['f1'] for score in labels.values()])),
            'labels': labels,
        }
        if self.cost is not None:
            result['task_loss'] = self.loss / max(1, self.sequences)
        if self.chunks:
            counts = self._gold_chunks, self._found_chunks, self._right_chunks
            known = [(name or '_', k) for name, k in sorted(self._types.items()) if k < len(counts[0])]
            types = {name: f_score(*(c[k] for c in counts)) for name, k in known}
            types = {name: score for name, score in types.items() if score['gold'] or score['found']}
            result['chunks'] = f_score(*(c.sum() for c in counts)) | {'types': types}
        return result

    def table(self):
        """The same for people."""
        s = self.summary()
        sequences = s['sequences'] < s['tokens']
        unit = 'tokens' if sequences else 'examples'
        lines = [f'accuracy {100 * s["accuracy"]:.2f} % ({int(self._right.sum())} of {s["tokens"]} {unit})']
        if sequences:
            lines[0] += f', whole sequences {100 * s["sequence_accuracy"]:.2f} % of {s["sequences"]}'
        if self.cost is not None:
            lines.append(f'task loss {s["task_loss"]:.4f}, the mean of an example')
        groups = [('label', s['labels'], None)]
        if self.chunks:
            groups.append(('chunk', s['chunks']['types'], s['chunks']))
        width = max(10, *(len(name) for _, scores, _ in groups for name in scores))
        for title, scores, total in groups:
            lines.append(f'{title:<{width}} precision  recall      F1    gold   found   right')
            lines += [score_line(name, score, width) for name, score in scores.items()]
            if total:
                lines.append(score_line('all chunks', total, width))
        if self.remark is not None:
            lines.append(self.remark)
        return '\n'.join(lines)

    def _id(self, name):
        """Id of a label name, a new one for a name that the model does not know."""
        if name not in self._ids:
            self._ids[name] = len(self.names)
            self.names.append(name)
            self._add_tag(name)
        return self._ids[name]

    def _add_tag(self, name):
        role, kind = self.tags.role(name)
        self._prefix.append(role)
        self._type.append(self._types.setdefault(kind, len(self._types)))

    def _add_chunks(self, offsets, gold, found):
        first = np.zeros(len(gold) + 1, bool)
        first[offsets] = True
        gold_chunks = self._bounds(gold, first)
        found_chunks = self._bounds(found, first)
        end_of = np.full(len(gold), -1)
        type_of = np.full(len(gold), -1)
        starts, ends, types = gold_chunks
        end_of[starts], type_of[starts] = ends, types
        starts, ends, found_types = found_chunks
        right = (end_of[starts] == ends) & (type_of[starts] == found_types)
        size = len(self._types)
        self._gold_chunks = grown(self._gold_chunks, size) + np.bincount(types, minlength=size)
        self._found_chunks = grown(self._found_chunks, size) + np.bincount(found_types, minlength=size)
        self._right_chunks = grown(self._right_chunks, size) + np.bincount(found_types[right], minlength=size)

    def _bounds(self, labels, first):
        """(first token, last token, type) of each chunk, in order; a token without a label is outside.

        A chunk begins at B or S, after O, E, S or the sentence's start, and where the type changes; it ends before a
        token that is outside or begins one.
        """
        outside = labels < 0
        prefix = np.where(outside, OUTSIDE, np.array(self._prefix)[labels])
        kind = np.where(outside, -1, np.array(self._type)[labels])
        before = np.concatenate([[OUTSIDE], prefix[:-1]])
        before[first[:-1]] = OUTSIDE
        changes = np.concatenate([[True], kind[1:] != kind[:-1]])
        fresh = np.isin(prefix, (BEGIN, SINGLE)) | np.isin(before, (OUTSIDE, END, SINGLE)) | changes
        inside = prefix != OUTSIDE
        begins = inside & fresh
        goes_on = np.concatenate([inside[1:] & ~fresh[1:], [False]])
        starts = np.flatnonzero(begins)
        return starts, np.flatnonzero(inside & ~goes_on), kind[starts]


def grown(counts, size):
    return np.pad(counts, (0, size - len(counts)))


def f_score(gold, found, right):
    precision = right / found if found else 0.0
    recall = right / gold if gold else 0.0
    f1 = 2 * right / (gold + found) if gold + found else 0.0
    return {
        'precision': float(precision),
        'recall': float(recall),
        'f1': float(f1),
        'gold': int(gold),
        'found': int(found),
        'right': int(right),
    }


def score_line(name, s, width):
    figures = ' '.join(f'{100 * s[key]:8.2f}' for key in ('precision', 'recall', 'f1'))
    return f'{visible(name):<{width}}  {figures} {s["gold"]:7d} {s["found"]:7d} {s["right"]:7d}'
