"""--init: the weights of an earlier model on the vocabularies of new data, or its dual point on the same data."""

import contextlib
from dataclasses import replace

import numpy as np

from cython_ext.duals.dual_point import WrittenPoint
from data_formats.errors import DataError
from data_formats.models.model import load
from data_formats.parameters.multilabel import pairs_of
from data_formats.parameters.sparse_weights import dense
from ssvm_cli.options.problem_spec import ProblemSpec


def start_from(path, step, examples):
    """Let the solver of a Step start from a model: from its weights, from its dual point, or from both where it can.

    Args:
        path: of the model.
        step: the Step.
        examples: the Examples that its problem is about.

    Raises:
        DataError: the model has nothing that the solver starts from.
    """
    info, solver, features = step.method.info, step.solver, step.problem.features
    model = load(path)
    if 'weights' in info.starts_with(step.spec.kernel):
        blocks = transferred_weights(examples.task, model, examples.dataset, features, path)
        solver.set_start(features.weights(blocks))
        if 'dual-point' in info.starts and model.dual is not None:
            with contextlib.suppress(ValueError):  # of other data, or of another kind: the weights have to do
                solver.set_dual_point(model.dual)
        return
    point = same_dual_point(model, examples.dataset, step.spec, path, info.name)
    try:
        solver.set_dual_point(point)
    except ValueError as error:
        expected = f'{info.name} starts from a dual point of these data'
        raise DataError(path, None, str(error), expected) from error


def transferred_weights(task, model, dataset, features, path):
    """Weights for a dataset, by block, as the task transfers them; where values are scaled those that give the same
    scores to the values of a file.

    Args:
        task: as ssvm_cli.tasks has it.
        model: the earlier Model.
        dataset: the new training data.
        features: the feature map of the new problem.
        path: of the model, for messages.
    """
    if model.scale is not None:
        model = replace(model, weights=by_attribute(model.weights, 1 / model.scale))
    blocks = task.transferred(model, dataset, features, path)
    scale = getattr(dataset, 'scale', None)
    return blocks if scale is None else by_attribute(blocks, scale)


def by_attribute(weights, factors):
    """Weights, by block, with those of each attribute multiplied by a number; factors: float64 [attributes]"""
    changed = {}
    for name, array in weights.items():
        if name in ('state', 'feature'):
            rows = factors
        elif name == 'state.weights':
            rows = np.repeat(factors, np.diff(weights['state.indptr']))
        elif name == 'edge':  # whose attributes are those of the tokens themselves, which come first
            rows = factors[: len(array)]
        elif name.startswith('weights.'):  # of a type of graphs
            rows = factors[weights[f'attributes.{name.removeprefix("weights.")}']]
        elif name.startswith('state_weights.'):
            rows = factors[weights[f'state_attributes.{name.removeprefix("state_weights.")}']]
        else:
            continue
        changed[name] = array * rows.reshape(-1, *[1] * (array.ndim - 1))
    return weights | changed


def transferred(model, dataset, blocks, path):
    """Weights for a dataset, by block: those of a model where attribute and labels have the same names, else 0.

    Args:
        model: the earlier Model.
        dataset: the new training data.
        blocks: weights of the new problem by block; which there are, and which pairs were observed.
        path: of the model, for messages.

    Raises:
        DataError: the model has no label in common with the data, or no weights of attributes.
    """
    if model.kernel is not None:
        raise DataError(
            path,
            None,
            f'has a {model.kernel["kind"]} kernel',
            'expected a model of linear features, or a solver that starts from a dual point',
        )
    labels = _places(dataset.label_names, model.label_names)
    if (labels < 0).all():
        raise DataError(
            path, None, 'none of its labels occurs in the training data', 'expected a model of the same task'
        )
    old = dense(model.weights, len(model.attributes), len(model.label_names))
    tables = {
        'state': (_places(dataset.attributes, model.attributes), labels),
        'transition': (labels, labels),
        'triple': (labels, labels, labels),
    }
    if 'edge' in blocks:
        tables['edge'] = (_places(dataset.edge_attributes, model.edge_attributes), labels, labels)
    new = {}
    for name, places in tables.items():
        if name != 'state' and name not in blocks:
            continue
        new[name] = np.zeros([len(p) for p in places])
        if name in old:
            known = [np.flatnonzero(p >= 0) for p in places]
            source = [p[k] for p, k in zip(places, known, strict=True)]
            new[name][np.ix_(*known)] = old[name][np.ix_(*source)]
    if 'state.indptr' in blocks:
        rows = np.repeat(np.arange(len(dataset.attributes)), np.diff(blocks['state.indptr']))
        new['state.weights'] = new['state'][rows, blocks['state.labels']]
    return {name: new.get(name, block) for name, block in blocks.items()}


def label_set_weights(model, dataset, blocks, pairs, path):
    """The same for sets of labels, by names of attributes and labels. pairs: int32[P, 2], those that have weights."""
    labels = _places(dataset.label_names, model.label_names)
    if (labels < 0).all():
        raise DataError(
            path, None, 'none of its labels occurs in the training data', 'expected a model of the same task'
        )
    attributes = _places(dataset.attributes, model.attributes)
    new, old = np.flatnonzero(labels >= 0), labels[labels >= 0]
    rows = np.flatnonzero(attributes >= 0)
    blocks['state'][np.ix_(rows, new)] = model.weights['state'][np.ix_(attributes[rows], old)]
    before, after = (np.zeros((len(names), len(names))) for names in (model.label_names, dataset.label_names))
    theirs = pairs_of(model.header, len(before), ValueError)
    before[theirs[:, 0], theirs[:, 1]] = model.weights['pair']
    after[np.ix_(new, new)] = (before + before.T)[np.ix_(old, old)]
    return blocks | {'pair': after[pairs[:, 0], pairs[:, 1]]}


def graph_weights(model, dataset, blocks):
    """The same for graphs of the same types, by names of attributes."""
    place = {int(old): new for new, old in enumerate(_places(dataset.attributes, model.attributes))}
    types = range(len(dataset.node_types) + len(dataset.factor_types))
    for known, values in [(f'{of}attributes.{t}', f'{of}weights.{t}') for of in ('', 'state_') for t in types]:
        if known not in blocks or known not in model.weights:  # no feature has a value for each state
            continue
        row = {attribute: k for k, attribute in enumerate(blocks[known].tolist())}
        for attribute, weights in zip(model.weights[known].tolist(), model.weights[values], strict=True):
            if place.get(attribute) in row:
                blocks[values][row[place[attribute]]] = weights
    return blocks


def transferred_features(model, dataset, path, expected=None):
    """The same for models with one weight for each attribute and no labels: candidates, boxes and matchings."""
    places = _places(dataset.attributes, model.attributes)
    known = np.flatnonzero(places >= 0)
    if not len(known):
        raise DataError(path, None, 'none of its attributes occurs in the training data', expected)
    weights = np.zeros(len(places))
    weights[known] = model.weights['feature'][places[known]]
    return {'feature': weights}


def same_dual_point(model, dataset, spec, path, solver):
    """The dual point of an earlier model of the same data and structure (its lambda may differ).

    Raises:
        DataError: it has none, or was trained with other labels or another relaxation.
    """
    structures = ProblemSpec.from_header(model.header).structure, spec.structure
    theirs, ours = (structure.get('relaxation', 'none') for structure in structures)
    if theirs != ours:
        expected = f'expected {ours}, as here: a dual point is one of a single problem'
        raise DataError(path, None, f'was trained with --relaxation {theirs}', expected)
    of_labels = [structure.get('pairs') == [] for structure in structures]
    if of_labels[0] != of_labels[1]:
        expected = 'expected --pairs none for both or for neither: without pairs, labels are problems of their own'
        raise DataError(path, None, 'was trained with other pairs of labels', expected)
    if not isinstance(model.dual, WrittenPoint):
        raise DataError(path, None, 'has no dual point', f'{solver} starts from one: a model of a dual solver')
    if model.label_names.names() != dataset.label_names.names():
        raise DataError(path, None, 'has other labels than the training data', 'expected a model of the same data')
    return model.dual


def _places(new, old):
    """For each name of a vocabulary its id in another, or -1."""
    return np.array([old.get(new.name_bytes(k)) for k in range(len(new))], dtype=np.int64)
