"""Matchings of rows and columns, such as the words of a sentence and those of its translation."""

from ssvm_cli.initial.weights import transferred_features
from ssvm_cli.scores.matching import LinkScores
from ssvm_cli.tasks.base import Task, without_attributes
from ssvm_cli.terminal.progress import counted


class MatchingTask(Task):
    """The task whose data are a MatchingDataset."""

    name = 'matching'
    options = ('min_freq', 'bias')
    outputs_name = 'right links'

    # ------------------------------------------------------------------------------------------- training

    def sizes(self, dataset):
        rows, columns = dataset.sides
        return [
            counted(dataset.n, 'example'),
            counted(rows, 'row'),
            counted(columns, 'column'),
            f'{counted(dataset.tokens, "link")}, {int(dataset.sure.sum())} of them right',
            counted(len(dataset.attributes), 'attribute'),
        ]

    def warning(self, dataset, o, facts):
        if not dataset.sure.any():
            return 'no link is right: nothing is learned but to link nothing'
        return without_attributes(dataset, o)

    def transferred(self, model, dataset, features, path):
        return transferred_features(model, dataset, path, 'expected one at least')

    # ----------------------------------------------------------------------------------- reading with a model

    def model_options(self, spec):
        return {'bias': bool(spec.data.get('bias'))}

    def given(self, dataset):
        return bool(dataset.sure.any())

    # ------------------------------------------------------------------------------------------ predicting

    def outputs(self, codes, dataset, decoder, w):
        """For each example the numbers of its links, in the order of rows."""
        layout, at = decoder.structure.layout, decoder.code_indptr
        return [layout.links(i, codes[at[i] : at[i + 1]]) for i in range(dataset.n)]

    def candidate(self, i, code, predictions):
        return predictions.decoder.structure.layout.links(i, code)

    def scores(self, spec, model, o=None):
        return LinkScores()


TASK = MatchingTask
