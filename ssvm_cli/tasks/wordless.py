"""What is said of sentences without words, which nothing is learned from."""

import numpy as np

from data_formats.datasets.empties import count_empties
from ssvm_cli.terminal.progress import counted


def without_words(dataset):
    """What `trainable` of ssvm_cli.tasks promises, where nothing else keeps an example from being learned from."""
    count = count_empties(dataset)
    if not count:
        return None, None
    verb = 'has no words and is' if count == 1 else 'have no words and are'
    return np.arange(dataset.n), f'{count} of {counted(dataset.n + count, "sentence")} {verb} left out'
