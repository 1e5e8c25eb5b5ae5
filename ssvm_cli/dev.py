"""Scores of held-out data while a model is trained."""

from data_formats.errors import DataError
from ssvm_cli.inputs import place_of_labels, read_data
from ssvm_cli.metrics import Scores


class DevScorer:
    """Decodes held-out data under the weights of a training problem.

    Args:
        path: the file, in the format of the training data.
        model: what has the vocabularies and the `header` of the training data.
        problem: the training problem.
        feature_set: of the training problem.

    Attributes:
        columns: names of the scores, as columns of the log.
    """

    def __init__(self, path, model, problem, feature_set):
        from cython_ext.decoding import build_decoder

        self.dataset = read_data(path, model)
        if not (self.dataset.labels >= 0).any() and not self.dataset.unknown_labels:
            raise DataError(path, None, 'no labels', f'expected labels{place_of_labels(model)}, as in TRAIN')
        self.names = model.label_names.names()
        self.chunks = Scores(self.names, None if model.task == 'chain' else False).chunks
        self.columns = ('dev_accuracy', 'dev_f1') if self.chunks else ('dev_accuracy',)
        self.features = problem.features
        basis = getattr(problem.features, 'basis', None)
        self.decoder = build_decoder(self.dataset, model.task, pool=problem.pool, basis=basis, order=model.order)
        same = type(problem.features) is type(self.decoder.features)
        self.same_layout = same and feature_set == 'all' and problem.dim == self.decoder.features.dim

    def score(self, w):
        """Column -> score, for a weight vector of the training problem."""
        data = self.dataset
        if not self.same_layout:
            w = self.decoder.features.weights(self.features.blocks(w))
        found, _ = self.decoder.predict(w)
        scores = Scores(self.names, self.chunks)
        scores.add(data.offsets, data.labels, found, data.unknown_labels)
        row = {'dev_accuracy': scores.accuracy()}
        if self.chunks:
            row['dev_f1'] = scores.chunk_f1()
        return row
