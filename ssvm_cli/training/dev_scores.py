"""Scores of held-out data while a model is trained."""

from data_formats.errors import DataError
from data_formats.models.model import Model
from ssvm_cli.examples.reading import read_data


class DevScorer:
    """Decodes held-out data under the weights of a training problem.

    Args:
        path: the file, in the format of the training data.
        spec: the ProblemSpec of the training problem.
        problem: that problem.
        examples: the Examples that it is about.

    Attributes:
        columns: names of the scores, as columns of the log.
    """

    def __init__(self, path, spec, problem, examples):
        from cython_ext.tasks.build import build_decoder

        self.task = examples.task
        self.spec = spec
        self.model = Model(spec.to_header(), **self.task.names(examples.dataset), scale=examples.scale)
        self.dataset = read_data(path, spec, self.model)
        if not self.task.given(self.dataset):
            outputs = self.task.outputs_name
            expected = f'expected {outputs}{self.task.place(spec)}, as in TRAIN'
            raise DataError(path, None, f'no {outputs}', expected)
        self.columns = self.task.scores(spec, self.model).columns
        self.features = problem.features
        self.decoder = build_decoder(
            self.dataset, spec.task, pool=problem.pool, **self.task.problem_options(spec, problem)
        )
        same = type(problem.features) is type(self.decoder.features)
        self.same_layout = same and spec.feature_set == 'all' and problem.dim == self.decoder.features.dim

    def score(self, w):
        """Column -> score, for weights of the training problem. Interrupted: the stop flag of its pool was set."""
        if not self.same_layout:
            w = self.decoder.features.weights(self.features.blocks(w))
        codes, _ = self.decoder.predict(w)
        scores = self.task.scores(self.spec, self.model)
        outputs = self.task.outputs(codes, self.dataset, self.decoder, w)
        self.decoder.pool.check()
        scores.compare(self.dataset, outputs)
        return scores.row()
