"""--init: the weights of an earlier model on the vocabularies of new data."""

import numpy as np

from data_formats.errors import DataError
from ssvm_cli.decoder import dense


def transferred(model, dataset, blocks, path):
    """Weights for a dataset, by block: those of a model where attribute and labels have the same names, else 0.

    Args:
        model: the earlier Model.
        dataset: the new training data.
        blocks: weights of the new problem by block, for their shapes.
        path: of the model, for messages.

    Raises:
        DataError: the model has no label in common with the data.
    """
    labels = _places(dataset.label_names, model.label_names)
    if (labels < 0).all():
        raise DataError(
            path, None, 'none of its labels occurs in the training data', 'expected a model of the same task'
        )
    old = dense(model.weights, len(model.attributes), len(model.label_names))
    tables = {
        'state': (_places(dataset.attributes, model.attributes), labels),
        'transition': (labels, labels),
    }
    if 'edge' in blocks:
        tables['edge'] = (_places(dataset.edge_attributes, model.edge_attributes), labels, labels)
    new = {name: np.zeros_like(block) for name, block in blocks.items()}
    for name, block in new.items():
        if name in old:
            known = [np.flatnonzero(places >= 0) for places in tables[name]]
            source = [places[k] for places, k in zip(tables[name], known, strict=True)]
            block[np.ix_(*known)] = old[name][np.ix_(*source)]
    return new


def _places(new, old):
    """For each name of a vocabulary its id in another, or -1."""
    return np.array([old.get(new.name_bytes(k)) for k in range(len(new))], dtype=np.int64)
