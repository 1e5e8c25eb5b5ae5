"""Alignments of native sequences with their homologs among decoys."""

import numpy as np

from cython_ext.structures.alignment.layout import HEAD
from data_formats.errors import DataError
from ssvm_cli.scores.alignment import HomologyScores
from ssvm_cli.tasks.base import Task
from ssvm_cli.terminal.progress import counted


class AlignmentTask(Task):
    """The task whose data are a HomologDataset."""

    name = 'alignment'
    options = ('marginals',)
    outputs_name = 'homologs'

    # ------------------------------------------------------------------------------------------- training

    def read_options(self, o, module):
        return {'whole': o.align == 'global'}

    def sizes(self, dataset):
        sequences = len(dataset.ids) - dataset.n
        return [
            counted(dataset.n, 'native'),
            counted(sequences, 'candidate'),
            counted(dataset.tokens, 'letter'),
            f'an alphabet of {len(dataset.label_names)}',
        ]

    def warning(self, dataset, o, facts):
        alone = int((np.diff(dataset.offsets) < 3).sum())
        if alone:
            return f'{alone} of {counted(dataset.n, "native")} have no decoys: nothing is learned from them'
        return None

    def memory_hint(self, dataset):
        return f'pairs of {counted(len(dataset.label_names), "letter")}', 'a smaller alphabet needs less'

    def transferred(self, model, dataset, features, path):
        """Those of pairs of letters that the model has too; gaps must cost in the same way."""
        blocks = features.blocks(features.zeros())
        if model.weights['gap'].shape != blocks['gap'].shape:
            raise DataError(path, None, 'has another --gap-model', 'expected that of this run')
        old = np.array([model.label_names.get(name.encode()) for name in dataset.label_names.names()], np.int64)
        known = np.flatnonzero(old >= 0)
        blocks['substitute'][np.ix_(known, known)] = model.weights['substitute'][np.ix_(old[known], old[known])]
        return blocks | {'gap': model.weights['gap']}

    # ----------------------------------------------------------------------------------- reading with a model

    def model_options(self, spec):
        return {'whole': spec.structure['align'] == 'global'}

    def lack(self, dataset, spec, what):
        if dataset.complete:
            return None
        letter = int((dataset.letters == len(dataset.label_names)).argmax())
        sequence = int((dataset.starts <= letter).sum()) - 1
        name, text = dataset.ids[sequence].decode('utf-8', 'backslashreplace'), chr(dataset.text[letter])
        return f'the sequence {name} has the letter {text}, which {what} does not know', 'expected known letters'

    def given(self, dataset):
        return bool((dataset.gold >= 0).any())

    # ------------------------------------------------------------------------------------------ predicting

    def build_options(self, spec, model, path):
        return {'structure': {**spec.structure, 'free': True}}

    def outputs(self, codes, dataset, decoder, w):
        """For each example (candidate, start in the native, start in it, steps)."""
        found, at = [], 0
        for length in code_lengths(dataset):
            found.append(output_of(codes[at : at + length]))
            at += length
        return found

    def marginals(self, predictions):
        """For each example a comment line with the probability of each candidate, by its number."""
        lines = []
        for i, mean in enumerate(predictions.decoder.means(predictions.w)):
            chances = mean[len(mean) - predictions.dataset.candidates(i) :].tolist()
            lines.append(' '.join(['#', *(f'{c}:{p:.6f}' for c, p in enumerate(chances, 1))]))
        return lines

    def candidate(self, i, code, predictions):
        return output_of(code)

    def scores(self, spec, model, o=None):
        return HomologyScores()


TASK = AlignmentTask


def code_lengths(dataset):
    """How long the codes of the outputs of each example are."""
    lengths = np.diff(dataset.starts)
    spans = zip(dataset.offsets[:-1].tolist(), dataset.offsets[1:].tolist(), strict=True)
    return [HEAD + int(lengths[begin] + lengths[begin + 1 : end].max(initial=0)) for begin, end in spans]


def output_of(code):
    """(candidate, start in the native, start in it, steps) of a code."""
    candidate, i, j = code[:HEAD].tolist()
    return candidate, i, j, code[HEAD:][code[HEAD:] > 0]
