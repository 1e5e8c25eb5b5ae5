"""Weights of factor graphs: for each type t, those of the nodes first, 'attributes.t' int32[A], ascending, and
'weights.t' float64[A, joint states] (the state of the last node changes fastest); and what belongs to the training
examples as of label sets. A type that data.per_state of the header gives a number other than 0, of features that have a
value for each joint state, has 'state_attributes.t' int32[S] and 'state_weights.t' float64[S].

As text, a row `node:TYPE ATTRIBUTE STATE` or `factor:TYPE ATTRIBUTE ["STATE",...]`, where the type counts with the
first count of a bucket, `factor:TYPE ATTRIBUTE COUNT`; where an attribute has a value for each joint state,
`node-per-state:TYPE ATTRIBUTE -` or `factor-per-state:TYPE ATTRIBUTE -`. Of the others, weights that are zero are left
out, except that each attribute of a type has at least one row. A comment line names all attributes.
"""

import json
from itertools import pairwise

import numpy as np

from data_formats.errors import shown
from data_formats.parameters import numbers
from data_formats.parameters.multilabel import RELAXED, of_examples
from data_formats.parsing.global_factors import MOST

VOCABULARIES = ('label_names', 'attributes', 'node_types', 'factor_types')
STRUCTURE = RELAXED
WEIGHTS, KNOWN, NODE, FACTOR = 'weights', 'attributes', 'node:', 'factor:'
STATE_WEIGHTS, STATE_KNOWN = 'state_weights', 'state_attributes'
NODE_STATES, FACTOR_STATES, NO_STATE = 'node-per-state:', 'factor-per-state:', '-'


def buckets_of(header):
    """For each type of factors the first counts of its buckets, None for those that do not count."""
    return header['data'].get('buckets') or [None] * len(header['data']['scopes'])


def per_state_of(header):
    """For each type, those of nodes first, how many features have a value for each joint state."""
    types = len(header['data']['states']) + len(header['data']['scopes'])
    return header['data'].get('per_state') or [0] * types


def scopes_of(header):
    """For each type, a list of tuples: the names of the states of its nodes; of its buckets, where it counts."""
    states = [tuple(names) for names in header['data']['states']]
    found = [(names,) for names in states]
    for scope, buckets in zip(header['data']['scopes'], buckets_of(header), strict=True):
        found.append([states[kind] for kind in scope] if buckets is None else (tuple(map(str, buckets)),))
    return found


def check_facts(header, types, error):
    """Raise error(text, expected) unless the header says what states and nodes the types have. types: how many there
    are of nodes and of factors."""
    data = header['data']
    if data.get('states') is None or data.get('scopes') is None:
        raise error('header of a graph without data.states and data.scopes', 'expected both')
    buckets = buckets_of(header)
    fits = (len(data['states']), len(data['scopes']), len(buckets)) == (*types, types[1])
    fits = fits and all(
        (scope == []) == (each is not None) for scope, each in zip(data['scopes'], buckets, strict=True)
    )
    if not fits or not all(0 <= kind < types[0] for scope in data['scopes'] for kind in scope):
        raise error('header of a graph whose data.states and data.scopes do not fit its types')
    if len(per_state_of(header)) != sum(types):
        raise error('header of a graph whose data.per_state does not fit its types')
    if any(
        each is not None and (each[0] != 0 or each[-1] > MOST or any(a >= b for a, b in pairwise(each)))
        for each in buckets
    ):
        raise error(f'header of a graph whose data.buckets do not ascend from 0 to {MOST}')


def sizes_of(header):
    """How many joint states each type has."""
    return [int(np.prod([len(names) for names in scope])) for scope in scopes_of(header)]


def read(container, header, names, as_stored):
    check_facts(header, (len(names['node_types']), len(names['factor_types'])), container.error)
    weights = {}
    for t, size in enumerate(sizes_of(header)):
        known = weights[f'{KNOWN}.{t}'] = attributes_in(container, f'{KNOWN}.{t}', None, len(names[KNOWN]))
        weights[f'{WEIGHTS}.{t}'] = numbers(container, f'{WEIGHTS}.{t}', (len(known), size))
    for t, count in enumerate(per_state_of(header)):
        if count:
            weights[f'{STATE_KNOWN}.{t}'] = attributes_in(container, f'{STATE_KNOWN}.{t}', count, len(names[KNOWN]))
            weights[f'{STATE_WEIGHTS}.{t}'] = numbers(container, f'{STATE_WEIGHTS}.{t}', (count,))
    return weights | of_examples(container, header, as_stored)


def attributes_in(container, name, count, attributes):
    """An array of so many (None: any number of) ascending numbers of attributes."""
    known = container.array(f'weights.{name}', '<i4', (count,))
    if len(known) and (known[0] < 0 or known[-1] >= attributes or (np.diff(known) <= 0).any()):
        raise container.error(f'array weights.{name} is no ascending list of attributes')
    return known


def stored(weights):
    return weights


def listed(model):
    return {name: getattr(model, name).names() for name in VOCABULARIES[1:]}


def blocks(model):
    return [WEIGHTS]


def kinds_of(tables, node=NODE, factor=FACTOR):
    """The block of each type in a model as text."""
    return [*(node + name for name in tables['node_types']), *(factor + name for name in tables['factor_types'])]


def joint_names(scope):
    """How each joint state is written in a model as text."""
    if len(scope) == 1:
        return list(scope[0])
    return [
        json.dumps([names[k] for names, k in zip(scope, joint, strict=True)], ensure_ascii=False, separators=(',', ':'))
        for joint in np.ndindex(*(len(names) for names in scope))
    ]


def write_rows(model, tables, stream, spell):
    kinds = kinds_of(tables)
    for t, (kind, scope) in enumerate(zip(kinds, scopes_of(model.header), strict=True)):
        states = [spell(name) for name in joint_names(scope)]
        for attribute, row in zip(model.weights[f'{KNOWN}.{t}'].tolist(), model.weights[f'{WEIGHTS}.{t}'], strict=True):
            for k in np.flatnonzero(row).tolist() or [0]:
                stream.write(f'{kind}\t{tables[KNOWN][attribute]}\t{states[k]}\t{row[k]:.17g}\n')
    for t, kind in enumerate(kinds_of(tables, NODE_STATES, FACTOR_STATES)):
        known, weights = (model.weights.get(f'{name}.{t}', ()) for name in (STATE_KNOWN, STATE_WEIGHTS))
        for attribute, weight in zip(known, weights, strict=True):
            stream.write(f'{kind}\t{tables[KNOWN][attribute]}\t{NO_STATE}\t{weight:.17g}\n')


def read_rows(rows, header, blocks):
    tables = {name: rows.places(header.pop(name, None), name[:-1].replace('_', ' '), name) for name in VOCABULARIES[1:]}
    check_facts(header, (len(tables['node_types']), len(tables['factor_types'])), rows.error_of_file)
    kinds = kinds_of(tables)
    numbers_of = {kind: t for t, kind in enumerate(kinds + kinds_of(tables, NODE_STATES, FACTOR_STATES))}
    states = [{name: k for k, name in enumerate(joint_names(scope))} for scope in scopes_of(header)]
    states += [{NO_STATE: 0}] * len(kinds)
    found = [{} for _ in numbers_of]
    for block, left, right, text in rows:
        t = numbers_of.get(rows.name(block))
        if t is None:
            raise rows.error(f'block {shown(block)}', f'expected {NODE}TYPE or {FACTOR}TYPE, a type of the model')
        attribute, state = tables[KNOWN].get(rows.name(left)), states[t].get(rows.name(right))
        if attribute is None:
            raise rows.error(f'attribute {shown(left)} is not among the attributes of the model')
        if state is None:
            raise rows.error(
                f'{shown(right)} is no state of {shown(block)}', f'expected one such as {next(iter(states[t]))}'
            )
        row = found[t].setdefault(attribute, {})
        if state in row:
            raise rows.error(f'a second weight for {shown(block)} {shown(left)} {shown(right)}')
        row[state] = rows.weight(text)
    weights = {}
    for t, table in enumerate(found[: len(kinds)]):
        weights[f'{KNOWN}.{t}'] = np.array(sorted(table), np.int32)
        array = weights[f'{WEIGHTS}.{t}'] = np.zeros((len(table), len(states[t])))
        for row, attribute in zip(array, sorted(table), strict=True):
            for state, weight in table[attribute].items():
                row[state] = weight
    of_states = found[len(kinds) :]
    for t, table in enumerate(of_states):
        if table:
            weights[f'{STATE_KNOWN}.{t}'] = np.array(sorted(table), np.int32)
            weights[f'{STATE_WEIGHTS}.{t}'] = np.array([table[attribute][0] for attribute in sorted(table)])
    if any(of_states):
        header['data']['per_state'] = [len(table) for table in of_states]
    else:
        header['data'].pop('per_state', None)
    return {'label_names': rows.labels} | tables, weights
