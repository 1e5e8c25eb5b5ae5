"""Scores of held-out data while a model is trained."""

from ssvm_cli.inputs import read_data
from ssvm_cli.metrics import Scores


class DevScorer:
    """Decodes held-out data under the weights of a training problem.

    Args:
        path: the file, in the format of the training data.
        model: what has the vocabularies and the `header` of the training data.
        pool: threads.

    Attributes:
        columns: names of the scores, as columns of the log.
    """

    def __init__(self, path, model, pool):
        from cython_ext.decoding import build_decoder

        self.dataset = read_data(path, model)
        self.names = model.label_names.names()
        self.chunks = Scores(self.names, None if model.task == 'chain' else False).chunks
        self.columns = ('dev_accuracy', 'dev_f1') if self.chunks else ('dev_accuracy',)
        self.decoder = build_decoder(self.dataset, model.task, pool=pool)

    def score(self, weights):
        """Column -> score, for the weights of a problem by block."""
        from ssvm_cli.decoder import dense

        data = self.dataset
        w = self.decoder.features.weights(dense(weights, len(data.attributes), len(self.names)))
        found, _ = self.decoder.predict(w)
        scores = Scores(self.names, self.chunks)
        scores.add(data.offsets, data.labels, found, data.unknown_labels)
        row = {'dev_accuracy': scores.accuracy()}
        if self.chunks:
            row['dev_f1'] = scores.chunk_f1()
        return row
