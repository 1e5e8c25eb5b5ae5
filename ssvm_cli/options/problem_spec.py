"""What a problem is, once for all commands: made from the options of `train`, written into the header of a model and
read from there, and built on data."""

from dataclasses import dataclass, field, fields

import numpy as np

from cython_ext.objectives.registry import OBJECTIVES, Variant
from data_formats.errors import DataError
from data_formats.models.header import BY_MATRIX

GOAL = {'goal': True}  # of a field that says what is minimised, which `facts` have at their end
ARRAY = {'array': True}  # of one that a model has as an array, not in its header
VALUES = ('bias', 'scale')  # how values are read, which `facts` have behind the features
UNSAID = ('task', 'zero_based')  # by the facts: the one is there already, the other is seen in the names of attributes
NO_LOSS = 'none'


@dataclass(frozen=True, kw_only=True)
class ProblemSpec:
    """All that decides a training problem but its examples. A schedule goes from one to the next with
    dataclasses.replace.

    The fields without ARRAY are, in this order and by these names or that in their metadata, those of a header;
    a default is what a header means that lacks one.

    Attributes:
        task, objective: names.
        loss: name of the task loss, that of BY_MATRIX where `cost` has it; None where the objective takes none.
        rescale, slack_norm, hard_margin: the Variant of the hinge.
        lam: lambda.
        feature_set: 'all' or 'observed'.
        kernel: kind and parameters, as Kernel.of takes them; None for linear features.
        classes: what describes the classes, one of CLASSES, or None.
        data: how files are read: `facts` of read_training_data.
        structure: plain values that the structure is built with; {} where the task has none.
        min_freq: attributes on fewer tokens were dropped.
        cost: float64[K, K] (right label, predicted label), or None.
        similarity: float64[K, K], inner products of the features of the classes, or None.
    """

    task: str
    objective: str = field(metadata=GOAL)
    loss: str | None = field(metadata=GOAL)
    rescale: str = field(default='margin', metadata=GOAL)
    slack_norm: int = field(default=1, metadata=GOAL)
    hard_margin: bool = field(default=False, metadata=GOAL)
    lam: float = field(metadata=GOAL | {'key': 'lambda'})
    feature_set: str
    kernel: dict | None = None
    classes: str | None = None
    data: dict
    structure: dict = field(default_factory=dict)
    min_freq: int | None = None
    cost: np.ndarray | None = field(default=None, metadata=ARRAY)
    similarity: np.ndarray | None = field(default=None, metadata=ARRAY)

    @classmethod
    def from_options(cls, o, examples, lam):
        """Of the options of `train`, checked by check_request, and the Examples that they are about.

        Raises:
            UsageError, DataError: of the cost matrix of the task loss.
        """
        from ssvm_cli.options.kernel import requested_kernel
        from ssvm_cli.options.task_losses import settled_loss

        loss, cost = settled_loss(o, examples)
        return cls(
            task=examples.task.name,
            objective=o.objective,
            loss=loss,
            rescale=o.rescale,
            slack_norm=int(o.slack_norm),
            hard_margin=o.hard_margin,
            lam=lam,
            feature_set=o.feature_set,
            kernel=requested_kernel(o),
            classes=examples.classes.kind,
            data=examples.facts,
            structure=examples.structure,
            min_freq=o.min_freq,
            cost=cost,
            similarity=examples.classes.similarity,
        )

    @classmethod
    def from_header(cls, header, cost=None, similarity=None):
        """Of the header of a model, and its matrices over the labels."""
        given = {name: header[key] for name, key in KEYS.items() if key in header}
        given['structure'] = given.get('structure') or {}
        if not OBJECTIVES[given['objective']][2]:
            given['loss'] = None
        return cls(**given, cost=cost, similarity=similarity)

    def to_header(self):
        """What a model's header says of it, from which from_header makes it again."""
        header = {key: getattr(self, name) for name, key in KEYS.items()}
        if not self.structure:
            del header['structure']
        return header | {'loss': self.loss or NO_LOSS}

    def facts(self):
        """The same on one level, as checkpoints and logs have it."""
        header = self.to_header() | {'loss': self.loss}
        structure, data = header.pop('structure', {}), header.pop('data')
        goal = {'task_loss' if key == 'loss' else key: header.pop(key) for key in GOAL_KEYS}
        reading = {key: value for key, value in data.items() if key not in (*VALUES, *UNSAID)}
        values = {key: data[key] for key in VALUES if key in data}
        first = {'task': header.pop('task'), **reading, **structure, 'min_freq': header.pop('min_freq')}
        return first | header | values | goal

    def build(self, dataset, threads=1, **how):
        """The Problem on a dataset that was read as `data` says.

        how: further arguments of build_problem, which do not change what is solved; `structure` where the weights of a
        model have a part in it (`problem_structure` of a task).

        Raises:
            UnfitDataError: the values in the data are the reason. ValueError: the parts do not fit.
        """
        from cython_ext.tasks.build import build_problem

        loss = self.cost if self.loss in BY_MATRIX else self.loss
        goal = self.objective, loss, self.lam, self.feature_set
        parts = {'variant': self.variant, 'kernel': self.kernel, 'similarity': self.similarity}
        return build_problem(dataset, self.task, *goal, threads, **parts, **{'structure': self.structure, **how})

    @property
    def variant(self):
        """The Variant of the hinge."""
        return Variant(self.rescale, self.slack_norm, self.hard_margin)

    @property
    def probabilistic(self):
        """Whether exp(score) is an unnormalised probability."""
        return self.objective in ('log', 'softmax-margin')

    @property
    def order(self):
        """How many labels before a position those of a chain depend on; 1 elsewhere."""
        return self.structure.get('order', 1)

    def sentence(self, origin=''):
        """For people; origin: where lambda comes from, as a text."""
        from cython_ext.features.kernel.function import Kernel
        from ssvm_cli.options.relaxation import said_of

        parts = [self.objective, *self.variant.names]
        parts += [] if self.loss is None else [f'task loss {self.loss}']
        parts += ['order 2'] if self.order == 2 else []
        parts += [] if self.kernel is None or self.classes is not None else [str(Kernel.of(self.kernel))]
        parts += [] if self.classes is None else [f'classes by {self.classes.replace("_", " ")}']
        return f'{", ".join(parts)}{said_of(self.structure)}, lambda {self.lam:.6g}{origin}'


KEYS = {f.name: f.metadata.get('key', f.name) for f in fields(ProblemSpec) if 'array' not in f.metadata}
GOAL_KEYS = [KEYS[f.name] for f in fields(ProblemSpec) if 'goal' in f.metadata]


def spec_of(model, path):
    """The ProblemSpec of a model; path: its file, for messages.

    Raises:
        DataError: the matrix is missing that its loss is.
    """
    spec = ProblemSpec.from_header(model.header, model.cost, model.similarity)
    if spec.loss in BY_MATRIX and spec.cost is None:
        raise DataError(path, None, 'the cost matrix of the loss is missing')
    return spec
