"""Scores of held-out data while a model is trained."""

from data_formats.errors import DataError
from ssvm_cli.examples.reading import read_data
from ssvm_cli.tasks import task_named


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
        from cython_ext.tasks.build import build_decoder

        self.task, self.model = task_named(model.task), model
        self.dataset = read_data(path, model)
        if not self.task.given(self.dataset):
            outputs = self.task.outputs_name
            expected = f'expected {outputs}{self.task.place(model)}, as in TRAIN'
            raise DataError(path, None, f'no {outputs}', expected)
        self.columns = self.task.scores(model).columns
        self.features = problem.features
        self.decoder = build_decoder(
            self.dataset, model.task, pool=problem.pool, **self.task.problem_options(model, problem)
        )
        same = type(problem.features) is type(self.decoder.features)
        self.same_layout = same and feature_set == 'all' and problem.dim == self.decoder.features.dim

    def score(self, w):
        """Column -> score, for weights of the training problem. Interrupted: the stop flag of its pool was set."""
        if not self.same_layout:
            w = self.decoder.features.weights(self.features.blocks(w))
        codes, _ = self.decoder.predict(w)
        scores = self.task.scores(self.model)
        outputs = self.task.outputs(codes, self.dataset, self.decoder, w)
        self.decoder.pool.check()
        scores.compare(self.dataset, outputs)
        return scores.row()
