"""Predicting with a model, one block of examples at a time."""

import threading

import numpy as np

from cython_ext.structures.graph.count_layout import CountsError
from cython_ext.structures.graph.elimination import TooLargeError
from cython_ext.tasks.relaxations import INFERENCES, TREES
from data_formats.errors import DataError, UsageError
from ssvm_cli.tasks import task_named


class Decoder:
    """A model ready to predict.

    Args:
        spec: the ProblemSpec that its weights solve.
        model: the Model.
        path: its file, for messages.

    Attributes:
        task: that of the model, as ssvm_cli.tasks has it.
        spec: the same.
        probabilistic: whether exp(score) is an unnormalised probability.
    """

    def __init__(self, spec, model, path):
        self.path = path
        self.task = task_named(spec.task)
        self.spec = spec
        self.probabilistic = self.spec.probabilistic
        self._weights = model.weights
        self._how = self.task.build_options(spec, model, path)
        self._inference = self._w = None
        self._lock = threading.Lock()

    def infer_by(self, inference):
        """Predict graphs in another way than the usual one, one of INFERENCES."""
        self._inference, self._how['structure']['relaxation'] = inference, INFERENCES[inference]

    def on(self, dataset):
        """The model's Predictions of a dataset over its vocabularies."""
        from cython_ext.tasks.build import build_decoder

        try:
            decoder = build_decoder(dataset, self.task.name, **self._how)
        except TooLargeError as error:
            cause = error.__cause__  # without the advice, which is about training
            raise UsageError(f'--inference exact: {cause} (lp and dual-decomposition do without)') from error
        except CountsError as error:
            raise UsageError(f'--inference {self._inference}: {error.__cause__ or error} (lp does without)') from error
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
    """What a model says about the n examples of a dataset."""

    def __init__(self, dataset, decoder, w, probabilistic):
        self.dataset = dataset
        self.decoder = decoder
        self.w = w
        self.probabilistic = probabilistic

    def best(self):
        """(codes int32 of the best output of each example, one after the other, their scores float64[n])."""
        return self.decoder.predict(self.w)

    def means(self):
        """For each example its mean statistics, float64[m_i]."""
        if 'exp' not in self.decoder.structure.oracles:
            raise UsageError(
                f'--marginals: a graph without an exact oracle has none that are exact (--inference {TREES})'
            )
        return self.decoder.means(self.w)

    def nbest(self, k):
        """For each example a list of (code int32, score, probability or None), best first."""
        if 'topk' not in self.decoder.structure.oracles:
            raise UsageError('--nbest: a graph without an exact oracle has no list of its best outputs')
        partitions = self.decoder.log_partitions(self.w).tolist() if self.probabilistic else None
        found = []
        for i, (codes, scores) in enumerate(self.decoder.nbest(self.w, k)):
            with np.errstate(invalid='ignore'):  # where there is no output, both are -inf
                chances = np.exp(scores - partitions[i]).tolist() if partitions else [None] * len(scores)
            found.append(list(zip(codes, scores.tolist(), chances, strict=True)))
        return found
