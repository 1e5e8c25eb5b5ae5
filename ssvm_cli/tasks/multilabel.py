"""Sets of labels of single inputs (multilabel): graphs of binary nodes, all alike."""

import numpy as np

from cython_ext.tasks.multilabel import layout_of
from data_formats.errors import shown
from data_formats.parameters.multilabel import pairs_of
from ssvm_cli.options.label_pairs import check_size, requested_pairs
from ssvm_cli.options.relaxation import prediction, requested_relaxation
from ssvm_cli.scores.multilabel import LabelSetScores
from ssvm_cli.tasks.graph import GraphTask
from ssvm_cli.terminal.progress import counted


class LabelSetTask(GraphTask):
    """The task whose data are a LabelSetDataset."""

    name = 'multilabel'
    options = (*GraphTask.options, 'relaxation', 'rho', 'augmented_lagrangian', 'smooth_max')
    pairs = None  # those that were asked for, None for all

    def facts(self, dataset, o):
        return {}

    def structure(self, o, module, dataset):
        self.pairs = requested_pairs(o, dataset)
        if self.pairs is None:  # before the graph is made
            check_size(o.pairs, dataset, self.pairs, o.relaxation)
        asked = requested_relaxation(o, self.layout(dataset))
        check_size(o.pairs, dataset, self.pairs, asked['relaxation'])
        return asked if self.pairs is None else {**asked, 'pairs': self.pairs}

    def layout(self, dataset):
        return layout_of(dataset, self.pairs)

    def trainable(self, dataset, structure):
        if len(dataset.label_names):
            return None, None
        return np.zeros(0, np.int64), 'no example has a label'

    def sizes(self, dataset):
        kinds = [counted(len(dataset.label_names), 'label'), counted(len(dataset.attributes), 'attribute')]
        return [counted(dataset.n, 'example'), *kinds, f'{len(dataset.label_ids) / dataset.n:.3g} labels an example']

    def transferred(self, model, dataset, features, path):
        from ssvm_cli.initial.weights import label_set_weights

        pairs = pairs_of({'structure': {'pairs': features.naming.pairs}}, len(dataset.label_names), ValueError)
        return label_set_weights(model, dataset, features.blocks(features.zeros()), pairs, path)

    def lack(self, dataset, spec, what):
        if dataset.complete:
            return None
        example, names = min(dataset.unknown_labels.items())
        return f'example {example + 1} has label {shown(names[0])}, which {what} does not know', 'expected known labels'

    def given(self, dataset):
        return bool(len(dataset.label_ids) or dataset.unknown_labels)

    def known(self, spec, weights):
        pairs = spec.structure.get('pairs')
        return {} if pairs is None else {'pairs': pairs}

    def problem_options(self, spec, problem):
        return {'structure': {**prediction(spec.structure), **self.known(spec, None)}}

    def outputs(self, codes, dataset, decoder, w):
        """For each example the ids of its labels."""
        states = decoder.structure.labelings(codes, decoder.code_indptr)
        return [np.flatnonzero(row) for row in states.reshape(dataset.n, len(dataset.label_names))]

    def marginals(self, predictions):
        """For each example its `LABEL:P` columns, P the probability that the label is in the set."""
        names, means = predictions.dataset.label_names.names(), predictions.means()
        return [
            [f'{name}:{p:.6f}' for name, p in zip(names, mean[1 : 2 * len(names) : 2], strict=True)] for mean in means
        ]

    def candidate(self, i, code, predictions):
        return np.flatnonzero(code)

    def scores(self, spec, model, o=None):
        return LabelSetScores(model.label_names.names())


TASK = LabelSetTask
