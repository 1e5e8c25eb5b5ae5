"""The examples that `ssvm train` learns from, and what is said of them."""

from dataclasses import dataclass, replace

import numpy as np

from data_formats.datasets.empties import numbers_of
from data_formats.errors import DataError
from data_formats.formats.registry import format_named
from ssvm_cli.examples.reading import read_training_data
from ssvm_cli.options.classes import Classes, read_classes
from ssvm_cli.tasks import task_named


@dataclass(frozen=True)
class Examples:
    """What was read from TRAIN, and from the files that go with it.

    Attributes:
        task: the object of the task, as ssvm_cli.tasks has it.
        dataset: of the examples that can be learned from.
        facts: how they were read, what a model keeps under 'data'.
        structure: what the structure is built with, plain values.
        classes: Classes.
        largest: the largest absolute value of a feature.
        scale: float64[attributes], what their values were divided by, or None.
    """

    task: object
    dataset: object
    facts: dict
    structure: dict
    classes: Classes
    largest: float
    scale: np.ndarray | None

    def without_inputs(self):
        """The same, without what a problem has in a form of its own."""
        return replace(self, dataset=self.dataset.without_inputs())

    @property
    def figures(self):
        """Their numbers, as models and checkpoints have them."""
        return {'examples': self.dataset.n, 'tokens': self.dataset.tokens}

    def descriptions(self, o):
        """Texts about the file, for people, the last of which is of itself; o: the options of `train`."""
        scaled = '' if self.scale is None else f', values scaled by {o.scale}'
        sizes = ', '.join(self.task.sizes(self.dataset))
        yield f'{sizes} ({self.facts["format"]}, {self.task.name}{scaled})'
        warning = self.task.warning(self.dataset, o, self.facts)
        if warning is not None:
            yield warning


def read_examples(o, say):
    """The Examples that the options of `train` ask for; say: a function of texts about TRAIN, for people.

    Raises:
        UsageError: options that do not go with the data. DataError: FILE:LINE of what is malformed, or nothing to learn
            from.
    """
    dataset, facts = read_training_data(o.train, o.format_name, o.template, o.task, o.min_freq, o.bias, o, say)
    task = task_named(facts['task'])
    structure = task.structure(o, format_named(facts['format']), dataset)
    dataset, _ = trainable(task, dataset, structure, o.train, say, 'nothing to learn from')
    classes = read_classes(o, task.name, dataset.label_names.names())
    scale = getattr(dataset, 'scale', None)  # datasets without values have none
    return Examples(task, dataset, facts, structure, classes, dataset.largest_value, scale)


def trainable(task, dataset, structure, path, say, nothing):
    """(the examples that can be learned from, their numbers in the file).

    Args:
        task, dataset, structure: as those of Examples.
        path: the file, for messages.
        say: a function of texts about it.
        nothing: what is said where there are none.

    Raises:
        DataError: there are none.
    """
    kept, about_others = task.trainable(dataset, structure)
    if kept is None:
        return dataset, numbers_of(dataset)
    if not len(kept):
        raise DataError(path, None, f'{nothing}: {about_others}')
    say(about_others)
    return dataset.subset(kept), numbers_of(dataset)[kept]
