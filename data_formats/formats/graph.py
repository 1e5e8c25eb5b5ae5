"""Factor graphs as JSON lines, one example a line:

    {"states": ["a", "b"],
     "nodes": [{"features": {"x": 0.5}, "label": "a"}, ...],
     "factors": [{"nodes": [0, 1], "features": [1, 0.5]}, ...]}

Nodes and factors may have a "type", features with a value for each state (state_features.py), nodes "states" of their
own, and factors an "oracle" (global_factors.py). Lines that are empty or begin with `#` are skipped.
"""

import json
from itertools import groupby

import numpy as np

from cython_ext.structures.graph.layout import StateRows
from cython_ext.text.boundaries import after_line
from cython_ext.text.rows import count_ids, keep_ids
from cython_ext.text.vocabulary import encoded
from data_formats.datasets.graph import GraphDataset
from data_formats.datasets.state_rows import kept_states, rows_with
from data_formats.errors import DataError
from data_formats.parsing.global_factors import CARDINALITY, as_one
from data_formats.parsing.graph_parser import BIAS, GraphParser, parsed
from data_formats.parsing.reading import Reader
from data_formats.parsing.state_features import MEMBER, written
from data_formats.parsing.writing import candidate_header

NAME = 'graph'
DESCRIPTION = 'factor graphs as JSON lines: {"states": ..., "nodes": [...], "factors": [...]}, one example a line'
EXTENSIONS = ('.jsonl', '.graph')
TASKS = ('graph',)
VALUES = True
STATES = (GraphDataset.NODE_STATES, GraphDataset.FACTOR_STATES)  # the arrays of StateRows


def reader(source, options, vocabularies):
    """How the file is read."""

    def parser():
        return GraphParser(options.require_labels and vocabularies is None, vocabularies, some=options.require_labels)

    return Reader(after_line, parser, learn=learn, finish=finish)


def learn(source, parts, options, parser):
    """Turn what was read into a training set: rare attributes dropped."""
    if len(parts['node_indptr']) == 1:
        raise DataError(source.name, None, 'no examples in this file', 'expected one at least')
    names = parser.attributes
    rows = [[parts[name] for name in which] for which in (GraphDataset.NODE_ROWS, GraphDataset.FACTOR_ROWS)]
    if options.min_freq > 1:
        counts = sum(count_ids(indices, len(names)) for _, indices, _ in rows)
        states = [StateRows(*(parts[name] for name in which)) for which in STATES]
        counts = counts + sum(rows_with(each, len(names)) for each in states)
        kept = np.flatnonzero(counts >= options.min_freq)
        new = np.full(len(names), -1, np.int32)
        new[kept] = np.arange(len(kept))
        for which, triple in zip((GraphDataset.NODE_ROWS, GraphDataset.FACTOR_ROWS), rows, strict=True):
            parts |= zip(which, keep_ids(*triple, new), strict=True)
        for which, each in zip(STATES, states, strict=True):
            parts |= zip(which, kept_states(each, new), strict=True)
        names = names.select(kept)
    parts.update(attributes=names, node_types=parser.nodes.names, factor_types=parser.factors.names)
    parts['states'] = [states for (states,) in parser.nodes.values]
    parts['scopes'], parts['buckets'] = ([value[k] for value in parser.factors.values] for k in (0, 1))


def finish(parts, options, frozen):
    """The GraphDataset in the form that the options ask for."""
    if frozen is not None:
        parts.update({name: getattr(frozen, name) for name in GraphDataset.NAMES})
        parts.update({name: list(map(tuple, getattr(frozen, name))) for name in ('states', 'scopes')})
        parts['buckets'] = [each if each is None else tuple(each) for each in frozen.buckets]
    dataset = GraphDataset(**{name: array for name, array in parts.items() if name != 'offsets'})
    return dataset.with_bias() if options.bias else dataset


def write(dataset, stream, names=None):
    """Every example as a line."""
    writer = GraphWriter(dataset)
    for i in range(dataset.n):
        stream.write(line_of(writer.graph(i)))


class GraphWriter:
    """The examples of a GraphDataset as JSON values."""

    def __init__(self, dataset):
        self.dataset = dataset
        self.attributes = dataset.attributes.names()
        self.node_types, self.factor_types = dataset.node_types.names(), dataset.factor_types.names()
        self.states = [states_of(names) for names in dataset.states]

    def graph(self, i):
        """Example i; its states are given once if all nodes have the same."""
        d = self.dataset
        nodes, factors = (range(*indptr[i : i + 2]) for indptr in (d.node_indptr, d.factor_indptr))
        kinds = {d.states[d.node_type[v]] for v in nodes}
        common = {'states': states_of(*kinds)} if len(kinds) == 1 else {}
        example = common | {'nodes': [self.node(v, not common) for v in nodes]}
        if factors:
            example['factors'] = list(self.factors(factors))
        return example

    def factors(self, numbers):
        """Those with these numbers, pairs of a global factor as one."""
        group = self.dataset.group
        for k, several in groupby(numbers, lambda f: (group[f], f if group[f] < 0 else None)):
            values = [self.factor(f) for f in several]
            yield values[0] if k[0] < 0 else as_one(values)

    def node(self, v, with_states):
        d = self.dataset
        kind, label = d.node_type[v], d.labels[v]
        node = {} if self.node_types[kind] == 'node' else {'type': self.node_types[kind]}
        if with_states:
            node['states'] = self.states[kind]
        node |= self.features(d.node_rows(), d.node_states(), v, [d.states[kind]])
        return node if label < 0 else node | {'label': d.states[kind][label]}

    def factor(self, f):
        d = self.dataset
        scope = d.scope[d.scope_indptr[f] : d.scope_indptr[f + 1]].tolist()
        name, buckets = self.factor_types[d.factor_type[f]], d.buckets[d.factor_type[f]]
        kind = {} if name == f'{"factor" if buckets is None else CARDINALITY}{len(scope)}' else {'type': name}
        oracle = {} if buckets is None else {'oracle': CARDINALITY}
        how = {} if buckets in (None, tuple(range(len(scope) + 1))) else {'buckets': list(buckets[1:])}
        names = [d.states[kind] for kind in d.scopes[d.factor_type[f]]] if buckets is None else [buckets]
        inputs = self.features(d.factor_rows(), d.factor_states(), f, names)
        return oracle | {'nodes': scope} | kind | how | inputs

    def features(self, rows, of_states, row, names):
        """names: of the states of each node, or the buckets."""
        tables = self.tables(of_states, row, names)
        indptr, indices, values = rows
        span = slice(*indptr[row : row + 2])
        names = [self.attributes[k] for k in indices[span].tolist()]
        features = dict(zip(names, [1.0] * len(names) if values is None else values[span].tolist(), strict=True))
        if tables:
            return ({'features': features} if features else {}) | {MEMBER: tables}
        return {} if features == BIAS else {'features': features}

    def tables(self, rows, row, names):
        """{name: value} of features that have a value for each state."""
        found = {}
        for k in range(rows.indptr[row], rows.indptr[row + 1]):
            found.setdefault(rows.indices[k], []).append((rows.states[k], rows.values[k]))
        return {self.attributes[k]: written(entries, names) for k, entries in found.items()}


def states_of(names):
    """Names of states as they are written: their number where they are numbered."""
    return len(names) if names == tuple(map(str, range(len(names)))) else list(names)


def line_of(example):
    """A JSON value as a line (bytes)."""
    try:
        return encoded(json.dumps(example, ensure_ascii=False)) + b'\n'
    except UnicodeEncodeError:  # half of a surrogate pair, in a member that nobody reads
        return json.dumps(example).encode() + b'\n'


def write_predictions(block, outputs, stream, extra_columns=None, headers=None):
    """The lines of the input with one more member, "prediction": the names of the states of the nodes.

    outputs : int32 [V], the number of each node's state
    extra_columns : None, or for each example a dict of further members
    headers : None, or for each example a line (str) that goes before it
    """
    for i, (example, states) in enumerate(zip(examples_of(block), named(block.dataset, outputs), strict=True)):
        if headers is not None:
            stream.write(encoded(headers[i]) + b'\n')
        more = {} if extra_columns is None else extra_columns[i]
        stream.write(line_of(example | {'prediction': states} | more))


def write_nbest(block, candidates, stream):
    """For each example its best outputs: `# RANK SCORE [PROBABILITY]`, its line with the prediction, a blank line.

    candidates : for each example a list of (states int [V of the example], score, probability or None), best first
    """
    d = block.dataset
    for i, (example, several) in enumerate(zip(examples_of(block), candidates, strict=True)):
        types = d.node_type[d.node_indptr[i] : d.node_indptr[i + 1]].tolist()
        for rank, (labels, score, probability) in enumerate(several, 1):
            states = [d.states[kind][label] for kind, label in zip(types, labels, strict=True)]
            stream.write(candidate_header(rank, score, probability) + b'\n')
            stream.write(line_of(example | {'prediction': states}) + b'\n')


def examples_of(block):
    """The JSON values of the lines of a block."""
    rows = enumerate(block.rows.split(b'\n'), 1)
    return [parsed(row, line) for line, row in rows if row.strip() and not row.startswith(b'#')]


def named(dataset, outputs):
    """For each example the names of the states of its nodes. outputs: int32 [V]"""
    kinds = dataset.node_type.tolist()
    names = [dataset.states[kind][label] for kind, label in zip(kinds, outputs, strict=True)]
    return [names[begin:end] for begin, end in zip(dataset.node_indptr[:-1], dataset.node_indptr[1:], strict=True)]
