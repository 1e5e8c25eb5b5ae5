"""The in-memory form of alignment data: native sequences, each with its candidates, of which one may be its homolog."""

from dataclasses import dataclass

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.base import Dataset
from data_formats.datasets.tokens import indptr_of

SUBSTITUTION, INSERTION, DELETION = 1, 2, 3


@dataclass
class HomologDataset(Dataset):
    """n examples with S sequences in all: of every example first the native, then its candidates."""

    offsets: np.ndarray  # int64 [n + 1]; the sequences of example i are offsets[i]:offsets[i + 1]
    starts: np.ndarray  # int64 [S + 1]; the letters of sequence s are starts[s]:starts[s + 1]
    text: np.ndarray  # uint8 [N], the letters as they are written
    ids: list  # bytes [S], names of the sequences
    gold: np.ndarray  # int32 [n], which candidate is the homolog, from 0; -1: none is
    aligned: np.ndarray  # bool [n], whether the gold alignment is given
    gold_starts: np.ndarray  # int32 [n, 2], where it begins in the native and in the homolog, from 0
    steps: np.ndarray  # uint8, the steps of all gold alignments
    step_indptr: np.ndarray  # int64 [n + 1]; those of example i are step_indptr[i]:step_indptr[i + 1]
    label_names: Vocabulary  # one character each

    @property
    def tokens(self):
        """Number of letters N."""
        return len(self.text)

    @property
    def complete(self):
        """Whether every native has a homolog with its gold alignment, of letters that are known."""
        return bool(self.aligned.all() and self.letters.max(initial=0) < max(1, len(self.label_names)))

    @property
    def letters(self):
        """uint8 [N], ids in label_names; those of unknown letters are len(label_names)."""
        table = np.full(256, len(self.label_names), np.uint8)
        for k, name in enumerate(self.label_names.names()):
            table[ord(name)] = k
        return table[self.text]

    @property
    def n_letters(self):
        """How many letters there are, all unknown ones counted as one."""
        return max(len(self.label_names), 1 + int(self.letters.max(initial=0)))

    def candidates(self, i):
        """How many candidates example i has."""
        return int(self.offsets[i + 1] - self.offsets[i]) - 1

    def alignment(self, i):
        """(start in the native, start in the homolog, steps uint8) of example i."""
        steps = self.steps[self.step_indptr[i] : self.step_indptr[i + 1]]
        return (*self.gold_starts[i].tolist(), steps)

    def sequence(self, s):
        """The letters of a sequence (bytes)."""
        return self.text[self.starts[s] : self.starts[s + 1]].tobytes()

    def subset(self, examples):
        """The given examples (ints, in the given order) as a dataset over the same letters."""
        return joined([self._piece(int(i)) for i in examples], self.label_names)

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the examples of several that share their letters."""
        blocks = list(blocks)
        return joined([block._piece(i) for block in blocks for i in range(block.n)], blocks[0].label_names)

    def _piece(self, i):
        span = range(int(self.offsets[i]), int(self.offsets[i + 1]))
        sequences = [(self.ids[s], self.sequence(s)) for s in span]
        gold = None if self.gold[i] < 0 else int(self.gold[i])
        return Piece(sequences, gold, self.alignment(i) if self.aligned[i] else None)


@dataclass
class Piece:
    """One example: (name, letters) of the native and its candidates, the number of the homolog among these or None, and
    its gold alignment (starts, steps) or None."""

    sequences: list
    gold: int | None = None
    alignment: tuple | None = None


def joined(pieces, label_names=None):
    """The HomologDataset of some Pieces; without label_names they are the letters that occur, in their order."""
    text = np.frombuffer(b''.join(letters for piece in pieces for _, letters in piece.sequences), np.uint8)
    if label_names is None:
        label_names = letters_of(text)
    alignments = [piece.alignment or (0, 0, np.zeros(0, np.uint8)) for piece in pieces]
    return HomologDataset(
        offsets=indptr_of([len(piece.sequences) for piece in pieces]),
        starts=indptr_of([len(letters) for piece in pieces for _, letters in piece.sequences]),
        text=text,
        ids=[name for piece in pieces for name, _ in piece.sequences],
        gold=np.array([-1 if piece.gold is None else piece.gold for piece in pieces], np.int32),
        aligned=np.array([piece.alignment is not None for piece in pieces], bool),
        gold_starts=np.array([a[:2] for a in alignments], np.int32).reshape(-1, 2),
        steps=np.concatenate([np.zeros(0, np.uint8), *(np.asarray(a[2], np.uint8) for a in alignments)]),
        step_indptr=indptr_of([len(a[2]) for a in alignments]),
        label_names=label_names,
    )


def letters_of(text):
    """The Vocabulary of the letters that occur in a text (uint8), in their order."""
    return Vocabulary(bytes([c]) for c in np.flatnonzero(np.bincount(text, minlength=256)).tolist())
