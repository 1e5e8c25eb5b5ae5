"""What all datasets have in common: the examples of one kind of task in memory, as readers make them."""

import numpy as np

from cython_ext.text.vocabulary import Vocabulary


class Dataset:
    """Examples over vocabularies. Tasks build structures and features of them, the commands count and divide them.

    A subclass is a dataclass whose fields are arrays and Vocabularies; it has `offsets`, int64 [n + 1], where the parts
    of its examples begin, and `label_names`, a Vocabulary that is empty where there are no labels.
    """

    @property
    def n(self):
        """Number of examples."""
        return len(self.offsets) - 1

    @property
    def tokens(self):
        """Number of parts that sizes are told in, such as words."""
        raise NotImplementedError

    @property
    def nnz(self):
        """Number of attribute occurrences, where there are attributes."""
        return len(self.indices)

    @property
    def complete(self):
        """Whether every example has a right output that is known."""
        return True

    @property
    def largest_value(self):
        """The largest absolute value of a feature, 1 where none has a value of its own."""
        return 1.0

    def nbytes(self):
        """Bytes held by each part, vocabularies included."""
        parts = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray | Vocabulary)}
        order = sorted(parts, key=lambda name: isinstance(parts[name], Vocabulary))
        return {name: parts[name].nbytes for name in order}

    def subset(self, examples):
        """The given examples (ints, in the given order) as a dataset over the same vocabularies."""
        raise NotImplementedError

    def without_inputs(self):
        """The same examples, right outputs and names, without what takes most of the memory."""
        return self

    @classmethod
    def concatenate(cls, blocks):
        """One dataset of the examples of several that share their vocabularies, of which none is kept."""
        raise NotImplementedError


def largest(*values):
    """The largest absolute value of several arrays (None: all are 1), 1 where there is none."""
    stored = [each for each in values if each is not None and len(each)]
    return max((max(each.max(), -each.min()) for each in stored), default=1.0)
