"""The parser of factor graphs in JSON lines (data_formats.formats.graph shows one)."""

import json
import math
from collections import Counter

import numpy as np

from cython_ext.text.errors import TextError, shown
from cython_ext.text.vocabulary import Vocabulary, encoded
from data_formats.datasets.graph import GraphDataset
from data_formats.datasets.tokens import indptr_of
from data_formats.parsing.global_factors import CARDINALITY, buckets_of, features_of_pairs, oracle_of, pairs_of
from data_formats.parsing.state_features import MEMBER, StateFeatures, of_pairs

JOINT_STATES = 10_000  # of a factor, or states of a node
STATES = 'expected a list of names, or how many there are'
FEATURES = 'expected {NAME: NUMBER, ...} or [NUMBER, ...]'
BIAS = {'bias': 1.0}  # the features of what has none, nor such as have a value for each state


class GraphParser:
    """Lines of JSON to the arrays of a GraphDataset.

    require : every node needs a label
    frozen : what has attributes, node_types, factor_types, states, scopes and buckets; None while learning
    some : refuse graphs without nodes
    """

    def __init__(self, require, frozen=None, some=True):
        self.require = require
        self.some = some
        self.frozen = frozen
        self.attributes = Vocabulary() if frozen is None else frozen.attributes
        self.nodes = Types('node', frozen, 'node_types', ('states',))
        self.factors = Types('factor', frozen, 'factor_types', ('scopes', 'buckets'))
        self._start()

    def _start(self):
        self.node_counts, self.node_type, self.labels = [], [], []
        self.factor_counts, self.factor_type, self.scope_counts, self.scope, self.group = [], [], [], [], []
        self.node_rows, self.factor_rows = Rows(), Rows()
        self.node_states, self.factor_states = StateFeatures(), StateFeatures()

    def feed(self, text, line, carried=None):
        """Whole lines; line: the number of the first one."""
        for number, row in enumerate(text.split(b'\n')[:-1], line):
            if row.strip() and not row.startswith(b'#'):
                self.line = number
                self.graph(parsed(row, number))

    def take(self):
        """What was read since the last call, by the names of a GraphDataset, and `offsets`."""
        node_indptr = indptr_of(self.node_counts)
        parts = {
            'offsets': node_indptr,
            'node_indptr': node_indptr,
            'node_type': np.array(self.node_type, np.int32),
            'labels': np.array(self.labels, np.int32),
            'factor_indptr': indptr_of(self.factor_counts),
            'factor_type': np.array(self.factor_type, np.int32),
            'scope_indptr': indptr_of(self.scope_counts),
            'scope': np.array(self.scope, np.int32),
            'group': np.array(self.group, np.int32),
        }
        parts |= zip(GraphDataset.NODE_ROWS, self.node_rows.take(), strict=True)
        parts |= zip(GraphDataset.FACTOR_ROWS, self.factor_rows.take(), strict=True)
        parts |= zip(GraphDataset.NODE_STATES, self.node_states.take(), strict=True)
        parts |= zip(GraphDataset.FACTOR_STATES, self.factor_states.take(), strict=True)
        self._start()
        return parts

    def graph(self, graph):
        """One example."""
        nodes = self.member(graph, 'nodes', list, 'the example', 'expected {"nodes": [{...}, ...], ...}')
        if not nodes and self.some:
            self.fail('no nodes in the example', 'expected one at least')
        states = None if graph.get('states') is None else self.states(graph['states'], 'the example')
        types = [self.node(node, f'node {k}', states) for k, node in enumerate(nodes)]
        factors = [] if graph.get('factors') is None else graph['factors']
        if not isinstance(factors, list):
            self.fail(f'factors of the example are {told(factors)}', 'expected [{"nodes": [...], ...}, ...]')
        before = len(self.factor_type)
        for k, factor in enumerate(factors):
            self.factor(factor, f'factor {k}', k, types)
        self.node_counts.append(len(nodes))
        self.factor_counts.append(len(self.factor_type) - before)

    def node(self, node, who, states):
        """One node; states: those of the example, or None. Returns its type."""
        self.check_object(node, who, 'expected {"features": ..., "label": ...}')
        name = self.type_name(node, who, 'node')
        if node.get('states') is not None:
            states = self.states(node['states'], who)
        kind = self.nodes.of(self, name, who, None if states is None else (states,))
        (names,) = self.nodes.values[kind]
        self.node_type.append(kind)
        self.labels.append(self.label(node, who, names))
        self.features(node, who, self.node_rows)
        self.node_states.push(self, node, who, [names])
        return kind

    def label(self, node, who, names):
        """The number of a node's state, or -1."""
        if node.get('label') is None:
            if self.require:
                self.fail(f'{who} has no label', f'expected one of {listed(names)}')
            return -1
        name = self.name(node['label'], f'label of {who}')
        if name not in names:
            self.fail(f'label {shown(name)} of {who} is no state of it', f'expected one of {listed(names)}')
        return names.index(name)

    def factor(self, factor, who, k, types):
        """The k-th factor of an example; types: those of its nodes."""
        self.check_object(factor, who, 'expected {"nodes": [NUMBER, ...], ...}')
        oracle = oracle_of(self, factor, who)
        if oracle == CARDINALITY:
            self.count(factor, who, types)
        elif oracle is None:
            nodes = self.member(factor, 'nodes', list, who, 'expected numbers of nodes')
            self.check_nodes(nodes, who, types)
            self.table(factor, nodes, who, -1, types)
        else:
            pairs = pairs_of(self, factor, who, types)
            of_each = features_of_pairs(factor, len(pairs), self, who), of_pairs(factor, len(pairs), self, who)
            for pair, features, per_state in zip(pairs, *of_each, strict=True):
                self.table(factor | {'features': features, MEMBER: per_state}, pair, who, k, types)

    def check_nodes(self, nodes, who, types):
        """Fails unless nodes are different ones of the example."""
        for node in nodes:
            if type(node) is not int or not 0 <= node < len(types):
                expected = f'expected a number from 0 to {len(types) - 1}, as the example has {len(types)}'
                self.fail(f'{who} is over node {told(node)}', expected)
        if len(set(nodes)) < len(nodes):
            twice = next(node for k, node in enumerate(nodes) if node in nodes[:k])
            self.fail(f'{who} is over node {twice} twice', 'expected different nodes')

    def table(self, factor, nodes, who, group, types):
        """A factor with weights for each joint state. group: the number of its global factor, or -1."""
        if len(nodes) < 2:
            expected = 'expected two at least; what is about one node belongs to its features'
            self.fail(f'{who} is over {len(nodes)} node{"s" * (not nodes)}', expected)
        scope = tuple(types[node] for node in nodes)
        joint = 1
        for kind in scope:
            joint *= self.states_of(kind)
            if joint > JOINT_STATES:
                self.fail(f'the nodes of {who} have too many joint states', f'expected {JOINT_STATES} at most')
        name = self.type_name(factor, who, f'factor{len(nodes)}')
        self.put(factor, self.factors.of(self, name, who, (scope, None)), nodes, group, who)

    def count(self, factor, who, types):
        """A factor with weights for each bucket of counts."""
        nodes = self.member(factor, 'nodes', list, who, 'expected numbers of nodes')
        self.check_nodes(nodes, who, types)
        if len(nodes) < 2:
            expected = 'expected two at least; what is about one node belongs to its features'
            self.fail(f'{who} counts {len(nodes)} node{"s" * (not nodes)}', expected)
        for node in nodes:
            if self.states_of(types[node]) != 2:
                counted = f'node {node}, which {who} counts, has {self.states_of(types[node])} states'
                self.fail(counted.replace(' 1 states', ' 1 state'), 'expected two, of which the second counts')
        name = self.type_name(factor, who, f'cardinality{len(nodes)}')
        buckets = buckets_of(self, factor, who, nodes, (self.factors.value(name) or ((), None))[1])
        self.put(factor, self.factors.of(self, name, who, ((), buckets)), nodes, -1, who)

    def put(self, factor, kind, nodes, group, who):
        """The arrays of one factor."""
        self.factor_type.append(kind)
        self.scope_counts.append(len(nodes))
        self.scope += nodes
        self.group.append(group)
        self.features(factor, who, self.factor_rows)
        scope, buckets = self.factors.values[kind]
        names = [self.nodes.values[node][0] for node in scope] if buckets is None else [buckets]
        self.factor_states.push(self, factor, who, names)

    def states_of(self, kind):
        """How many states the nodes of a type have."""
        return len(self.nodes.values[kind][0])

    def features(self, owner, who, rows):
        """The row of a node or factor; those of value 0 are left out."""
        features = owner.get('features')
        if features is None:
            features = BIAS if owner.get(MEMBER) is None else {}
        elif isinstance(features, list):
            features = {str(k): value for k, value in enumerate(features)}
        elif not isinstance(features, dict):
            self.fail(f'features of {who} are {told(features)}', FEATURES)
        row = []
        for name, value in features.items():
            if type(value) is not float:  # those of JSON are finite
                value = self.whole(value, name, who)
            if value:
                row.append((self.attribute(name, who), value))
        rows.push(sorted(entry for entry in row if entry[0] >= 0))

    def attribute(self, name, who):
        """The number of a feature, -1 where it is not known."""
        try:
            return self.attributes.add(name) if self.frozen is None else self.attributes.get(name)
        except UnicodeEncodeError:
            return self.name(name, f'feature of {who}')

    def whole(self, value, name, who):
        """A whole number, the value of a feature, as a float."""
        try:
            if type(value) is int:
                return float(value)
        except OverflowError:
            pass
        return self.fail(f'feature {shown(name)} of {who} is {told(value)}', 'expected a finite number')

    def name(self, value, what):
        """A name, which may be written as a whole number."""
        if type(value) is int:
            return str(value)
        if not isinstance(value, str):
            self.fail(f'{what} is {told(value)}', 'expected a name or a whole number')
        try:
            encoded(value)
        except UnicodeEncodeError:
            self.fail(f'{what} is {value!a}', 'expected text, not half of a surrogate pair')
        return value

    def type_name(self, owner, who, usual):
        return usual if owner.get('type') is None else self.name(owner['type'], f'type of {who}')

    def states(self, states, who):
        """The names of states, a tuple of str."""
        if type(states) is int and 1 <= states <= JOINT_STATES:
            return tuple(map(str, range(states)))
        if not isinstance(states, list) or not 1 <= len(states) <= JOINT_STATES:
            self.fail(f'states of {who} are {told(states)}', f'{STATES}, 1 to {JOINT_STATES}')
        names = tuple(self.name(state, f'a state of {who}') for state in states)
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            self.fail(f'state {shown(twice)} of {who} twice', 'expected different names')
        return names

    def member(self, owner, name, kind, who, expected):
        """What an object must have under a name."""
        self.check_object(owner, who, expected)
        if name not in owner:
            self.fail(f'{who} has no {name}', expected)
        if not isinstance(owner[name], kind):
            self.fail(f'{name} of {who} are {told(owner[name])}', expected)
        return owner[name]

    def check_object(self, value, who, expected):
        if not isinstance(value, dict):
            self.fail(f'{who} is {told(value)}', expected)

    def told(self, value):
        return told(value)

    def fail(self, what, expected):
        raise TextError(self.line, what, expected)


class Types:
    """The types of nodes or factors: what the first one of each has, all of them have.

    what : 'node', whose types have states, or 'factor', whose types have the types of the nodes and no buckets, or no
        types of nodes and the first counts of buckets
    frozen, names, values : what has their names and lists of what they have as these attributes; None: they are learned

    `values` has a tuple for each type.
    """

    def __init__(self, what, frozen, names, values):
        self.what = what
        self.known = frozen is not None
        self.names = getattr(frozen, names) if self.known else Vocabulary()
        lists = [getattr(frozen, name) if self.known else [] for name in values]
        of_types = [[each if each is None else tuple(each) for each in several] for several in lists]
        self.values = list(zip(*of_types, strict=True))
        self.lines = []  # where each was first seen, while learning

    def value(self, name):
        """What the type of this name has, None where there is none."""
        k = self.names.get(name)
        return None if k < 0 else self.values[k]

    def of(self, parser, name, who, value):
        """The id of the type of this name, which `who` is of. value: what it has; None: what its type has."""
        k = self.names.get(name)
        if k < 0:
            if self.known:
                known = listed(self.names.names())
                parser.fail(f'{self.what} type {shown(name)} of {who} is not known', f'expected one of {known}')
            if value is None:
                parser.fail(f'{who} has no states', f'{STATES}, here or for all nodes of the example')
            self.lines.append(parser.line)
            self.values.append(value)
            return self.names.add(name)
        if value is not None and value != self.values[k]:
            place = 'in the training data' if self.known else f'in line {self.lines[k]}'
            mine, first = self.told(parser, value), self.told(parser, self.values[k])
            parser.fail(f'{self.what} type {shown(name)} has {mine}', f'expected {first}, as {place}')
        return k

    def told(self, parser, value):
        """What a type has, for a message."""
        if self.what == 'node':
            return f'the states {listed(value[0])}'
        scope, buckets = value
        if buckets is not None:
            return f'the buckets {listed(list(map(str, buckets)))}'
        return f'nodes of the types {listed([parser.nodes.names.name(k) for k in scope])}'


class Rows:
    """CSR rows under construction."""

    def __init__(self):
        self.counts, self.entries = [], []

    def push(self, row):
        """row: a list of (index, value), ascending."""
        self.counts.append(len(row))
        self.entries += row

    def take(self):
        """(indptr, indices, values or None where all are 1)."""
        indices = np.array([k for k, _ in self.entries], np.int32)
        values = np.array([value for _, value in self.entries], np.float64)
        return indptr_of(self.counts), indices, None if (values == 1).all() else values


def parsed(row, line):
    """The JSON object of a line (bytes). TextError if there is none."""

    def once(pairs):
        members = dict(pairs)
        if len(members) < len(pairs):
            twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
            raise TextError(line, f'member {shown(twice)} twice in an object', 'expected each name once')
        return members

    def refused(text):
        raise TextError(line, f'the number {text[:40]}', 'expected finite numbers')

    def finite(text):
        value = float(text)
        return value if math.isfinite(value) else refused(text)

    how = {'object_pairs_hook': once, 'parse_float': finite, 'parse_constant': refused}
    try:
        value = json.loads(row.decode('utf-8', 'surrogateescape'), **how)
    except json.JSONDecodeError as error:
        what = f'no JSON: {error.msg} at character {error.colno}'
        raise TextError(line, what, 'expected one object a line') from None
    except RecursionError:
        raise TextError(line, 'objects or lists that are nested too deeply', 'expected a graph') from None
    except TextError:
        raise
    except ValueError:  # Python's limit on the digits of whole numbers
        raise TextError(line, 'a whole number with too many digits', 'expected finite numbers') from None
    if not isinstance(value, dict):
        raise TextError(line, f'{told(value)} in place of an example', 'expected {"nodes": [...], ...}')
    return value


def told(value):
    """A JSON value for a message."""
    if isinstance(value, list | dict):
        return {list: 'a list', dict: 'an object'}[type(value)] if value else {list: '[]', dict: '{}'}[type(value)]
    return shown(value) if isinstance(value, str) else shown(json.dumps(value))[1:-1]


def listed(names, most=10):
    """Some names for a message."""
    return ', '.join([*names[:most], *(['...'] if len(names) > most else [])])
