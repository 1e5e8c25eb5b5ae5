"""Some labels of n."""

from data_formats.errors import DataError
from ssvm_cli.scores.multilabel import LabelSetScores
from ssvm_cli.tasks.base import Task
from ssvm_cli.terminal.progress import counted


class TripleTask(Task):
    """The task whose data are a LabelSetDataset with as many labels in each set."""

    name = 'triples'
    data_of = 'multilabel'

    def sizes(self, dataset):
        return [counted(dataset.n, 'example'), counted(len(dataset.label_names), 'label')]

    def transferred(self, model, dataset, features, path):
        if self.names(model) != self.names(dataset):
            raise DataError(path, None, 'has other names', 'expected those of the training data')
        return model.weights

    def given(self, dataset):
        return bool(len(dataset.label_ids))

    def build_options(self, spec, model, path):
        return {'structure': {**super().build_options(spec, model, path)['structure'], 'tied': False}}

    def outputs(self, codes, dataset, decoder, w):
        """For each example the ids of its labels."""
        return list(decoder.structure.table[codes])

    def candidate(self, i, code, predictions):
        return predictions.decoder.structure.table[code[0]]

    def scores(self, spec, model, o=None):
        return LabelSetScores(model.label_names.names())


TASK = TripleTask
