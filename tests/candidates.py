"""Tiny examples that list their candidates, as plain Python: a list of pairs (loss, {attribute: value}) each."""

from collections import Counter

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.candidates import CandidateDataset
from data_formats.datasets.tokens import indptr_of
from tests.enumeration import Enumerated, Enumeration, Output, matrix


class CandidateEnumeration(Enumeration):
    """All candidates of all examples. The loss 'given' counts from the smallest of an example, 'zero-one' is 1 above
    it; the first candidate that has the smallest is right."""

    def __init__(self, examples, loss='given'):
        listed = [list(map(self._output, range(len(example)), example)) for example in examples]
        self.keys = sorted(set().union(*(output.features for some in listed for output in some)))
        self.column, self.loss = {key: k for k, key in enumerate(self.keys)}, loss
        self.examples = [self._all(*pair) for pair in zip(examples, listed, strict=True)]

    @staticmethod
    def _output(c, candidate):
        features = Counter({('feature', a): value for a, value in candidate[1].items()})
        return Output((c,), Counter({('label', 0, c): 1}), features)

    def _all(self, example, some):
        given = [loss for loss, _ in example]
        losses = np.array([loss - min(given) for loss in given], float)
        if self.loss == 'zero-one':
            losses = np.array([float(loss > 0) for loss in losses])
        keys = [('label', 0, c) for c in range(len(some))]
        parts = matrix([output.parts for output in some], {key: k for k, key in enumerate(keys)})
        features = matrix([output.features for output in some], self.column)
        return Enumerated([output.code for output in some], given.index(min(given)), keys, parts, features, losses)


def random_examples(counts, attributes=4, binary=False, seed=0):
    """Examples with so many candidates. Losses are whole numbers, so that some are the same and some smallest ones are
    not 0; some candidates have no attribute, and every attribute occurs."""
    rng = np.random.default_rng(seed)
    examples = []
    for count in counts:
        rows = [
            {a: 1.0 if binary else round(rng.normal(), 3) for a in range(attributes) if rng.random() < 0.5}
            for _ in range(count)
        ]
        examples.append([(float(rng.integers(4)), row) for row in rows])
    examples[0][0][1].update(dict.fromkeys(range(attributes), 1.0))
    return examples


def dataset_of(examples, graded=False):
    """The CandidateDataset of some examples; attributes are named by their numbers from 1."""
    rows = [sorted(row.items()) for example in examples for _, row in example]
    values = np.array([value for row in rows for _, value in row], np.float64)
    count = 1 + max((a for row in rows for a, _ in row), default=-1)
    return CandidateDataset(
        offsets=indptr_of([len(example) for example in examples]),
        indptr=indptr_of([len(row) for row in rows]),
        indices=np.array([a for row in rows for a, _ in row], np.int32),
        values=None if (values == 1).all() else values,
        targets=np.array([loss for example in examples for loss, _ in example], np.float64),
        qids=np.arange(1, len(examples) + 1),
        attributes=Vocabulary(b'%d' % (a + 1) for a in range(count)),
        graded=graded,
    )
