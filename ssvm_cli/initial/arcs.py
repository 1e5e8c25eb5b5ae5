"""--init for dependency trees: the weights of an earlier model, for the features that the arcs of new data have."""

import numpy as np

from data_formats.errors import DataError
from data_formats.parameters.dependency import hash_bits_of

BINS = np.arange(16, dtype=np.uint16)


def transferred_arcs(model, dataset, features, path):
    """Weights for a dataset, by block: those of a model where words, tags and relations have the same names, else 0.

    Args:
        model: the earlier Model.
        dataset: the new training data.
        features: the feature map of the new problem.
        path: of the model, for messages.

    Raises:
        DataError: hashed weights of other names or of another number, or a model without a relation of the data.
    """
    same = all(getattr(model, name) == getattr(dataset, name) for name in ('word_names', 'tag_names', 'label_names'))
    bits = hash_bits_of(model.header)
    if bits != (features.table.hash_bits or None) or (bits and not same):
        raise DataError(
            path,
            None,
            'its features do not have the same weights as those of the training data',
            'expected a model without --hash-bits for data without, or one of the same data and --hash-bits',
        )
    if bits:
        return model.weights
    return present(model.weights if same else by_names(model, dataset, path), features.table)


def by_names(model, dataset, path):
    """The weights of a model as blocks over the vocabularies of a dataset."""
    from cython_ext.features.arcs.names import parsed, spelled

    old, new = model.label_names.names(), dataset.label_names.names()
    place = {k: new.index(name) for k, name in enumerate(old) if name in new}
    if not place:
        raise DataError(
            path, None, 'none of its relations occurs in the training data', 'expected a model of the same task'
        )
    place = {-1: -1} | (place if len(old) > 1 and len(new) > 1 else {})
    rows = spelled(model.weights, model.word_names.names(), model.tag_names.names())
    kept = ((feature, place[relation], weight) for feature, relation, weight in rows if relation in place)
    return parsed(kept, dataset.word_names.names(), dataset.tag_names.names(), len(new), skip_unknown=True)


def present(blocks, table):
    """The blocks without the features, and without the directions and distances, that a table does not have."""
    places, bits = table.arcs.look_up(blocks['arc.keys'])
    given = (blocks['arc.bins'][:, None] >> BINS & 1).astype(bool)
    here = (bits[:, None] >> BINS & 1).astype(bool) & given & (places >= 0)[:, None]
    kept = here.any(axis=1)
    out = {
        'arc.shape': blocks['arc.shape'],
        'arc.keys': blocks['arc.keys'][kept],
        'arc.bins': (here << BINS).sum(axis=1).astype(np.uint16)[kept],
        'arc.weights': blocks['arc.weights'][here[given]],
    }
    if table.n_labels > 1:
        kept = table.relations.look_up(blocks['relation.keys'])[0] >= 0
        out |= {name: blocks[name][kept] for name in ('relation.keys', 'relation.weights')}
    return out
