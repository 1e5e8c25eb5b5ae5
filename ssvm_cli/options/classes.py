"""--taxonomy, --class-features, --class-similarity: what the classes of a multiclass problem have in common."""

import os
from dataclasses import dataclass

import numpy as np

from data_formats.classes.class_features import read_class_features
from data_formats.classes.label_matrix import read_class_similarity
from data_formats.classes.taxonomy import read_taxonomy
from data_formats.errors import DataError, UsageError
from data_formats.models.header import CLASSES
from ssvm_cli.options.task_losses import TREE


@dataclass(frozen=True)
class Classes:
    """What is known about the classes.

    kind : one of CLASSES, as the model names it; None where classes share no weights
    similarity : float64[K, K], the inner products of their features, or None
    tree_loss : float64[K, K], or None without a taxonomy
    """

    kind: str | None = None
    similarity: np.ndarray | None = None
    tree_loss: np.ndarray | None = None


def requested_kind(o):
    """Which of the options is given, or None.

    Raises:
        UsageError: two are, they do not go with other options, or a file is not there.
    """
    given = [kind for kind in CLASSES if getattr(o, kind) is not None]
    if len(given) > 1:
        raise UsageError(' and '.join(map(_option, given)) + ' exclude each other: classes have features of one kind')
    if o.flat and given != ['taxonomy']:
        raise UsageError('--flat is for --taxonomy: the tree loss without shared weights')
    if o.task_loss == TREE and given != ['taxonomy']:
        raise UsageError('--task-loss tree needs --taxonomy FILE')
    if not given:
        return None
    kind = given[0]
    if o.task not in (None, 'multiclass'):
        raise UsageError(f'{_option(kind)} is about single labels, not about --task {o.task}')
    if not o.flat and o.kernel != 'linear':
        raise UsageError(f'{_option(kind)} goes with the linear kernel only')
    if not o.flat and o.feature_set != 'all':
        raise UsageError(f'{_option(kind)} ties the weights of all classes: leave --feature-set {o.feature_set} out')
    if not os.path.exists(getattr(o, kind)):
        raise UsageError(f'{_option(kind)} {getattr(o, kind)}: no such file')
    return kind


def read_classes(o, task, label_names):
    """The Classes that the options describe.

    Raises:
        UsageError: the data are no single labels.
        DataError: FILE:LINE of what is malformed.
    """
    kind = requested_kind(o)
    if kind is None:
        return Classes()
    if task != 'multiclass':
        raise UsageError(
            f'{_option(kind)} is about single labels, and the data are read as a {task} (--task multiclass)'
        )
    path = getattr(o, kind)
    if kind == 'taxonomy':
        taxonomy = read_taxonomy(path, label_names)
        similarity = None if o.flat else taxonomy.similarity()
        return Classes(None if o.flat else kind, similarity, taxonomy.loss())
    read = read_class_features if kind == 'class_features' else read_class_similarity
    similarity = read(path, label_names)
    from cython_ext.features.tokens.output_features import triangular_root

    try:
        triangular_root(similarity)
    except ValueError as error:
        raise DataError(path, None, str(error), 'expected inner products of features') from error
    return Classes(kind, similarity)


def _option(kind):
    return '--' + kind.replace('_', '-')
