"""Global factors of graphs in JSON lines, which have a max oracle of their own (Meshi, Srebro and Hazan 2015, section
5):

{"oracle": "chain", "nodes": [0, 1, 2], "features": ...}                    its pairs are factors of two nodes,
{"oracle": "tree", "edges": [[0, 1], [0, 2]], "features": [..., ...]}       with the same features or each its own
{"oracle": "cardinality", "nodes": [0, 1, 2], "buckets": [1, 3]}            how many are in their second state
"""

from itertools import pairwise

from data_formats.parsing.state_features import MEMBER

CHAIN, TREE, CARDINALITY = 'chain', 'tree', 'cardinality'
ORACLES = (CHAIN, TREE, CARDINALITY)
EDGES = 'expected [[NUMBER, NUMBER], ...]'
MOST = 10**9  # nodes that a bucket may begin at
BUCKETS = f'expected ascending whole numbers from 1 to {MOST}, the first counts of buckets'


def oracle_of(parser, factor, who):
    """The name of the oracle of a factor, None where it has none of its own."""
    name = factor.get('oracle')
    if name is not None and name not in ORACLES:
        parser.fail(f'oracle of {who} is {parser.told(name)}', f'expected one of {", ".join(ORACLES)}')
    return name


def pairs_of(parser, factor, who, types):
    """The pairs of nodes of a chain or tree, in order; types: those of the nodes of the example."""
    if factor['oracle'] == CHAIN:
        nodes = parser.member(factor, 'nodes', list, who, 'expected numbers of nodes')
        parser.check_nodes(nodes, who, types)
        if len(nodes) < 2:
            parser.fail(f'{who} is a chain of {len(nodes)} node{"s" * (not nodes)}', 'expected two at least')
        return list(pairwise(nodes))
    edges = parser.member(factor, 'edges', list, who, EDGES)
    if not edges:
        parser.fail(f'{who} is a tree without edges', EDGES)
    for edge in edges:
        if not isinstance(edge, list) or len(edge) != 2:
            parser.fail(f'an edge of {who} is {parser.told(edge)}', EDGES)
        parser.check_nodes(edge, who, types)
    check_tree(parser, edges, who)
    return edges


def check_tree(parser, edges, who):
    """Fails unless edges join all of their nodes, and no two in more than one way."""
    top = {node: node for edge in edges for node in edge}

    def root(node):
        while top[node] != node:
            top[node] = top[top[node]]
            node = top[node]
        return node

    for a, b in edges:
        if root(a) == root(b):
            parser.fail(f'the edges of {who} close a circle at [{a}, {b}]', 'expected a tree')
        top[root(a)] = root(b)
    if len(edges) < len(top) - 1:
        parser.fail(f'the edges of {who} do not join all of their nodes', 'expected a tree')


def features_of_pairs(factor, count, parser, who):
    """The features of each of so many pairs, as `features` of factors."""
    features = factor.get('features')
    if not isinstance(features, list) or not features or not isinstance(features[0], list | dict):
        return [features] * count
    if len(features) != count:
        parser.fail(f'{who} has {len(features)} features for {count} pairs', 'expected one for each, or one for all')
    return features


def buckets_of(parser, factor, who, nodes, known):
    """The first count of each bucket, from 0 on. known: those of the type of the factor, or None."""
    given = factor.get('buckets')
    if given is None:
        return tuple(range(len(nodes) + 1)) if known is None else known
    if not isinstance(given, list):
        parser.fail(f'buckets of {who} are {parser.told(given)}', BUCKETS)
    for first in given:
        if type(first) is not int or not 1 <= first <= MOST:
            parser.fail(f'a bucket of {who} begins at {parser.told(first)}', BUCKETS)
    if any(a >= b for a, b in pairwise(given)):
        parser.fail(f'buckets of {who} do not ascend', BUCKETS)
    return 0, *given


def as_one(factors):
    """The JSON value of the global factor that some pairs are, which are JSON values themselves."""
    edges = [factor['nodes'] for factor in factors]
    follow = all(a[1] == b[0] for a, b in pairwise(edges))
    if follow:
        value = {'oracle': CHAIN, 'nodes': [edges[0][0], *(edge[1] for edge in edges)]}
    else:
        value = {'oracle': TREE, 'edges': edges}
    if 'type' in factors[0]:
        value['type'] = factors[0]['type']
    tables = [factor.get(MEMBER, {}) for factor in factors]
    usual = {} if any(tables) else {'bias': 1.0}
    features = [factor.get('features', {} if MEMBER in factor else {'bias': 1.0}) for factor in factors]
    for name, several, absent in (('features', features, usual), (MEMBER, tables, {})):
        if any(each != several[0] for each in several):
            value[name] = several
        elif several[0] != absent:
            value[name] = several[0]
    return value
