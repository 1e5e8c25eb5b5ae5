"""Short ways to read and write text in the tests of formats."""

import io
import itertools
from typing import NamedTuple

from data_formats.datasets.tokens import ReadOptions
from data_formats.files.source import Source
from data_formats.formats.registry import FORMATS
from data_formats.parsing import reading


def read(folder, name, text, frozen=None, **options):
    """The dataset that `text` (bytes or str) in a format is."""
    path = folder / f'data.{name}'
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return reading.read(FORMATS[name], path, ReadOptions(**options), frozen)


def stream(folder, name, text, frozen, block=1 << 20, **options):
    """The Blocks of a text."""
    path = folder / f'data.{name}'
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return reading.stream(FORMATS[name], Source(path, block=block), ReadOptions(**options), frozen)


def written(name, dataset, names=None):
    """The bytes of a dataset in a format."""
    out = io.BytesIO()
    FORMATS[name].write(dataset, out, names)
    return out.getvalue()


def row(indptr, indices, values, names, t):
    """Row t of a CSR triple, {attribute: value}."""
    span = slice(indptr[t], indptr[t + 1])
    ids = indices[span].tolist()
    assert ids == sorted(set(ids)), 'rows ascend and have no duplicates'
    return dict(
        zip([names[k] for k in ids], [1.0] * len(ids) if values is None else values[span].tolist(), strict=True)
    )


def label_sets(dataset):
    """Multilabel data as plain lists: for each example (labels, those that are not known behind the others, {attribute:
    value})."""
    names, labels = dataset.attributes.names(), dataset.label_names.names()
    out = []
    for i in range(dataset.n):
        ids = dataset.labels(i).tolist()
        assert ids == sorted(set(ids)), 'sets ascend and have no duplicates'
        known = [labels[k] for k in ids]
        inputs = row(dataset.indptr, dataset.indices, dataset.values, names, i)
        out.append((known + dataset.unknown_labels.get(i, []), inputs))
    return out


def graphs(dataset):
    """Graphs as plain lists: for each its nodes (type, states, {attribute: value}, label or None) and its factors
    (type, nodes, {attribute: value})."""
    names = dataset.attributes.names()
    node_types, factor_types = dataset.node_types.names(), dataset.factor_types.names()

    def node(v):
        kind, label = dataset.node_type[v], dataset.labels[v]
        states = dataset.states[kind]
        inputs = row(*dataset.node_rows(), names, v)
        return node_types[kind], states, inputs, None if label < 0 else states[label]

    def factor(f, types):
        kind = dataset.factor_type[f]
        scope = dataset.scope[dataset.scope_indptr[f] : dataset.scope_indptr[f + 1]].tolist()
        assert dataset.buckets[kind] or dataset.scopes[kind] == tuple(types[v] for v in scope)
        return factor_types[kind], scope, row(*dataset.factor_rows(), names, f)

    out = []
    for i in range(dataset.n):
        nodes, factors = (range(*indptr[i : i + 2]) for indptr in (dataset.node_indptr, dataset.factor_indptr))
        types = dataset.node_type[nodes.start : nodes.stop].tolist()
        out.append(([node(v) for v in nodes], [factor(f, types) for f in factors]))
    return out


def state_features(dataset):
    """The features of graphs that have a value for each state, as plain lists: for each graph those of its nodes and
    those of its factors, {(attribute, joint state): value}."""
    names = dataset.attributes.names()

    def row(rows, k):
        span = slice(*rows.indptr[k : k + 2])
        columns = (rows.indices[span], rows.states[span], rows.values[span])
        return {(names[a], s): x for a, s, x in zip(*(column.tolist() for column in columns), strict=True)}

    return [
        [
            [row(rows, k) for k in range(*indptr[i : i + 2])]
            for rows, indptr in (
                (dataset.node_states(), dataset.node_indptr),
                (dataset.factor_states(), dataset.factor_indptr),
            )
        ]
        for i in range(dataset.n)
    ]


def sequences(dataset):
    """A dataset as plain lists: for each example its tokens (label, {attribute: value}, {edge attribute: value})."""
    names = dataset.attributes.names()
    edges = dataset.edge_attributes.names() if dataset.edge_indptr is not None else None

    out = []
    for start, end in zip(dataset.offsets[:-1], dataset.offsets[1:], strict=True):
        out.append(
            [
                (
                    dataset.label(t),
                    row(dataset.indptr, dataset.indices, dataset.values, names, t),
                    row(dataset.edge_indptr, dataset.edge_indices, dataset.edge_values, edges, t)
                    if edges is not None
                    else {},
                )
                for t in range(start, end)
            ]
        )
    return out


class Word(NamedTuple):
    """A word of a treebank; None for what is unknown or not given."""

    form: str
    tags: tuple  # the coarse one first, where there are two
    head: int
    relation: str
    punctuation: bool


def sentences(dataset):
    """A treebank as plain lists of Words."""

    def named(names, ids, t):
        return names.name(ids[t]) if ids[t] >= 0 else None

    def word(t):
        columns = [dataset.tags] if dataset.coarse is None else [dataset.coarse, dataset.tags]
        return Word(
            named(dataset.word_names, dataset.words, t),
            tuple(named(dataset.tag_names, ids, t) for ids in columns),
            int(dataset.heads[t]) if dataset.heads[t] >= 0 else None,
            named(dataset.label_names, dataset.relations, t),
            bool(dataset.punctuation[t]),
        )

    bounds = zip(dataset.offsets[:-1], dataset.offsets[1:], strict=True)
    return [[word(t) for t in range(start, end)] for start, end in bounds]


def homologs(dataset):
    """Alignment data as plain lists: for each example `NAME LETTERS` of the native and of its candidates, the homolog
    with its alignment behind, or with a `?`; letters that the vocabulary does not know in brackets."""
    known = set(dataset.label_names.names())

    def sequence(s):
        letters = ''.join(c if c in known else f'[{c}]' for c in dataset.sequence(s).decode())
        return f'{dataset.ids[s].decode()} {letters}'

    out = []
    for i in range(dataset.n):
        rows = [sequence(s) for s in range(dataset.offsets[i], dataset.offsets[i + 1])]
        if dataset.gold[i] >= 0:
            start, other, steps = dataset.alignment(i)
            how = f'{start}:{other}:{"".join(" SID"[step] for step in steps)}' if dataset.aligned[i] else '?'
            rows[1 + dataset.gold[i]] += f' {how}'
        out.append(rows)
    return out


def links(dataset):
    """Links as plain lists: for each example pairs of `TARGET ROW-COLUMN` and {attribute: value}."""
    names, out = dataset.attributes.names(), []
    for begin, end in itertools.pairwise(dataset.offsets.tolist()):
        out.append([])
        for link in range(begin, end):
            span = slice(dataset.indptr[link], dataset.indptr[link + 1])
            ids = dataset.indices[span].tolist()
            values = [1.0] * len(ids) if dataset.values is None else dataset.values[span].tolist()
            place = f'{"01P"[dataset.targets[link]]} {dataset.link_rows[link]}-{dataset.link_columns[link]}'
            out[-1].append((place, dict(zip([names[k] for k in ids], values, strict=True))))
    return out


def groups(dataset):
    """Candidates as plain lists: for each example (qid, [(target, {attribute: value})])."""
    names, out = dataset.attributes.names(), []
    for i, qid in enumerate(dataset.qids.tolist()):
        rows = []
        for c in range(dataset.offsets[i], dataset.offsets[i + 1]):
            span = slice(dataset.indptr[c], dataset.indptr[c + 1])
            ids = dataset.indices[span].tolist()
            assert ids == sorted(set(ids)), 'rows ascend and have no duplicates'
            values = [1.0] * len(ids) if dataset.values is None else dataset.values[span].tolist()
            rows.append((float(dataset.targets[c]), dict(zip([names[k] for k in ids], values, strict=True))))
        out.append((qid, rows))
    return out


def pictures(dataset):
    """Pictures as plain lists: for each (width, height, box or None, [(x, y, word or None)])."""
    names, out = dataset.attributes.names(), []
    for i in range(dataset.n):
        span = slice(dataset.offsets[i], dataset.offsets[i + 1])
        words = [names[k] if k >= 0 else None for k in dataset.words[span].tolist()]
        box = tuple(dataset.gold[i].tolist())
        places = dataset.points[span].tolist()
        points = [(x, y, word) for (x, y), word in zip(places, words, strict=True)]
        out.append((*dataset.sizes[i].tolist(), None if box[0] < 0 else box, points))
    return out


def phrases(dataset):
    """A dataset of trees as brackets, with ? for what is not known; plain sentences as their words."""
    words = [*dataset.word_names.names(), '?']
    out = []
    for i in range(dataset.n):
        tags, nodes = dataset.tree(i)
        text, begin, nodes, open_nodes = '', int(dataset.offsets[i]), list(nodes), []
        for t, tag in enumerate(tags):
            while nodes and nodes[0][1] == t:
                label, _, end = nodes.pop(0)
                text += f'({label or "?"} '
                open_nodes.append(end)
            word = words[dataset.words[begin + t]]
            text += f'({tag or "?"} {word})' if dataset.forms[i] else word
            while open_nodes and open_nodes[-1] == t + 1:
                open_nodes.pop()
                text += ')'
            text += ' ' * (t + 1 < len(tags))
        assert not nodes and not open_nodes
        out.append(text)
    return out
