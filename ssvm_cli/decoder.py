"""Predicting with a model, one block of examples at a time."""

import threading

import numpy as np

from data_formats.errors import DataError
from ssvm_cli.kernels import basis_of


class Decoder:
    """A model ready to predict.

    Args:
        model: the Model.
        path: its file, for messages.

    Attributes:
        task, names: task and label names of the model.
        probabilistic: whether exp(score) is an unnormalised probability.
    """

    def __init__(self, model, path):
        self.path = path
        self.task = model.task
        self.names = model.label_names.names()
        self.probabilistic = model.header['objective'] in ('log', 'softmax-margin')
        self._weights = model.weights
        self._basis = basis_of(model, path)
        self._order = model.order
        self._w = None
        self._lock = threading.Lock()

    def on(self, dataset):
        """The model's Predictions of a dataset over its vocabularies."""
        from cython_ext.decoding import build_decoder

        decoder = build_decoder(dataset, self.task, basis=self._basis, order=self._order)
        with self._lock:
            if self._w is None:
                # the same for every block: only the vocabularies decide where a weight stands
                self._w = self._vector(decoder.features)
        return Predictions(dataset, decoder, self._w, self.probabilistic)

    def _vector(self, features):
        try:
            return features.weights(self._weights)
        except ValueError as error:
            raise DataError(self.path, None, f'does not fit the data: {error}') from error
        finally:
            self._weights = None


class Predictions:
    """What a model says about the n examples, N tokens, of a dataset; K labels."""

    def __init__(self, dataset, decoder, w, probabilistic):
        self.dataset = dataset
        self.decoder = decoder
        self.w = w
        self.probabilistic = probabilistic

    def best(self):
        """(labels int32[N], scores float64[n]) of the best output of each example."""
        return self.decoder.predict(self.w)

    def nbest(self, k):
        """For each example a list of (labels int32[T], score, probability or None), best first."""
        partitions = self.decoder.log_partitions(self.w).tolist() if self.probabilistic else None
        found = []
        for i, (codes, scores) in enumerate(self.decoder.nbest(self.w, k)):
            chances = np.exp(scores - partitions[i]).tolist() if partitions else [None] * len(scores)
            found.append(list(zip(codes, scores.tolist(), chances, strict=True)))
        return found

    def marginals(self):
        """float64[N, K]: probability of each label of each token."""
        return self.decoder.marginals(self.w)[1]

    def label_scores(self):
        """float64[n, K]: score of each label; multiclass only."""
        names = len(self.dataset.label_names)
        table = np.empty((self.dataset.n, names))
        for i, (codes, scores) in enumerate(self.decoder.nbest(self.w, names)):
            table[i, codes[:, 0]] = scores
        return table
