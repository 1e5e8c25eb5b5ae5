"""Dependency trees over sentences."""

import numpy as np

from data_formats.datasets.empties import numbers_of
from data_formats.errors import DataError
from ssvm_cli.scores.dependency import AttachmentScores
from ssvm_cli.tasks.base import Task
from ssvm_cli.tasks.wordless import without_words
from ssvm_cli.terminal.progress import counted


class DependencyTask(Task):
    """The task whose data are a SentenceDataset."""

    name = 'dependency'
    options = ('marginals',)
    outputs_name = 'heads'
    empty = np.zeros((2, 0), np.int32)

    # ------------------------------------------------------------------------------------------- training

    def read_options(self, o, module):
        return {'single_root': _single_root(o, module), 'labelled': not o.unlabelled}

    def facts(self, dataset, o):
        return {'tag_column': dataset.tag_column, 'unlabelled': o.unlabelled}

    def structure(self, o, module, dataset):
        return {
            'nonprojective': o.nonprojective,
            'single_root': _single_root(o, module),
            'hash_bits': o.hash_bits,
        }

    def trainable(self, dataset, structure):
        if structure['nonprojective']:
            return without_words(dataset)
        from cython_ext.structures.dependency.trees import projective_sentences

        projective = projective_sentences(dataset.heads, dataset.offsets)
        if projective.all():
            return without_words(dataset)
        kept = np.flatnonzero(projective)
        skipped = f'{dataset.n - len(kept)} of {counted(dataset.n, "sentence")} are not projective and are skipped'
        texts = without_words(dataset)[1], f'{skipped} (--nonprojective takes them too)'
        return kept, '; '.join(filter(None, texts))

    def sizes(self, dataset):
        return [
            counted(dataset.n, 'sentence'),
            counted(dataset.tokens, 'word'),
            counted(len(dataset.label_names), 'relation'),
            counted(len(dataset.word_names), 'form'),
            counted(len(dataset.tag_names), 'tag'),
        ]

    def warning(self, dataset, o, facts):
        if len(dataset.tag_names) == 1:
            return f'only one tag, {dataset.tag_names.name(0)}: heads are learned from forms alone'
        return None

    def memory_hint(self, dataset):
        words = counted(dataset.tokens, 'word')
        return f'features of the arcs over {words}', '--hash-bits N and --feature-set observed need less'

    def transferred(self, model, dataset, features, path):
        from ssvm_cli.initial.arcs import transferred_arcs

        return transferred_arcs(model, dataset, features, path)

    # ----------------------------------------------------------------------------------- reading with a model

    def model_options(self, spec):
        return {
            'single_root': bool(spec.structure.get('single_root')),
            'labelled': not spec.data.get('unlabelled'),
            'tag_column': spec.data.get('tag_column'),
        }

    def place(self, spec):
        return ' in column 7'

    def lack(self, dataset, spec, what):
        if dataset.complete:
            return None
        word = int((dataset.relations < 0).argmax())
        sentence = int((dataset.offsets <= word).sum()) - 1
        number = word - int(dataset.offsets[sentence]) + 1
        place = f'word {number} of sentence {numbers_of(dataset)[sentence]}'
        return f'{place} has a relation that {what} does not know', 'expected known ones'

    def given(self, dataset):
        return bool((dataset.heads >= 0).any())

    # ------------------------------------------------------------------------------------------ predicting

    def build_options(self, spec, model, path):
        from cython_ext.features.arcs.table import table_of_blocks

        try:
            table = table_of_blocks(model.weights, hash_bits=spec.structure.get('hash_bits'))
        except ValueError as error:
            raise DataError(path, None, str(error)) from error
        return {'structure': {**spec.structure, 'table': table}}

    def problem_options(self, spec, problem):
        return {'structure': {**spec.structure, 'table': problem.features.table}}

    def outputs(self, codes, dataset, decoder, w):
        return trees_of(codes, dataset.offsets)

    def marginals(self, predictions):
        return head_columns(predictions)

    def candidate(self, i, code, predictions):
        return np.split(code, 2)

    def scores(self, spec, model, o=None):
        labels = None if spec.data.get('unlabelled') else model.label_names.names()
        return AttachmentScores(labels, punctuation=o is None or not o.no_punctuation)


TASK = DependencyTask


def _single_root(o, module):
    return module.SINGLE_ROOT if o.single_root is None else o.single_root


def trees_of(codes, offsets):
    """(heads, relations), int32[N] each, of the codes of all sentences: the heads of a sentence, then its relations."""
    lengths = np.diff(offsets)
    heads = np.arange(offsets[-1]) + np.repeat(offsets[:-1], lengths)
    return codes[heads], codes[heads + np.repeat(lengths, lengths)]


def head_columns(predictions):
    """For each word `HEAD:P|HEAD:P|...`, the likeliest first; heads that would be written as 0 are left out."""
    columns = []
    lengths = np.diff(predictions.dataset.offsets).tolist()
    for means, length in zip(predictions.decoder.means(predictions.w), lengths, strict=True):
        table = means.reshape(length, length + 1, -1).sum(axis=2)
        for row, order in zip(table.tolist(), np.argsort(-table, axis=1, kind='stable').tolist(), strict=True):
            columns.append('|'.join(f'{head}:{row[head]:.6f}' for head in order if row[head] >= 5e-7))
    return columns
