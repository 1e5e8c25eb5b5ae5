"""Mutated files are data or an error with a place; never anything else, and never a hang or a crash."""

import gzip
import io
import re
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from data_formats.datasets.alignment import HomologDataset
from data_formats.datasets.boxes import PictureDataset
from data_formats.datasets.candidates import CandidateDataset
from data_formats.datasets.cfg import TreeDataset
from data_formats.datasets.dependency import SentenceDataset
from data_formats.datasets.graph import GraphDataset
from data_formats.datasets.matching import MatchingDataset
from data_formats.datasets.multilabel import LabelSetDataset
from data_formats.datasets.tokens import ReadOptions, TokenDataset
from data_formats.errors import DataError
from data_formats.files.source import Source
from data_formats.formats.registry import FORMATS, by_content, offers
from data_formats.parsing import reading
from tests.formats.tools import graphs

TEMPLATE = 'U0:%x[0,0]\nU1:%x[-1,1]/%x[0,0]\nU2:%s[0,0,2]\nB\nB1:%x[0,1]\n'
VALID = {
    'svmlight': b'1 1:0.5 3:2 # a\n-1 2:1e-3\n\n2 qid:1 7:1\r\nword 1:1\n3\n',
    'svmhmm': b'1 qid:1 1:0.5 3:2\n2 qid:1 2:1 # b\n1 qid:2\n3 qid:4 1:-1 99:.25\n',
    'svmrank': b'0 qid:1 1:0.5 3:2 # a\n1.5 qid:1 2:1e-3\n\n2 qid:0 7:1\r\n0 qid:0 1:1 sid:3\n3 qid:0\n0 qid:12 2:-1\n',
    'boxes': b'# x\npicture 9 12 1 2 3 4\n0 0 a\n8 11 bb\r\n\npicture 1 1 0 0 0 0\n picture 3 3 0 0 2 2\n1 2 a\n',
    'conll': b'The DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n\n-DOCSTART- -X- O\n\n. . O\nok\tUH\tO\n',
    'conllx': (
        b'1\tThe\tthe\tD\tDT\t_\t2\tdet\t_\t_\r\n2\tdog\t_\tN\tNN\t_\t0\troot\t_\t_\r\n\r\n'
        b'1\t,\t,\tP\t,\t_\t0\tp\n2\tyes\tyes\tN\t_\t_\t0\troot\n\n'
    ),
    'conllu': (
        b"# text = Don't go !\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDo\tdo\tAUX\tV\t_\t3\taux\t3:aux\t_\n"
        b"2\tn't\tnot\tPART\t_\t_\t3\tadv mod\t_\t_\n2.1\tyou\t_\t_\t_\t_\t_\t_\t3:nsubj\t_\n"
        b'3\tgo\tgo\tVERB\tV\t_\t0\troot\t_\t_\n4\t!\t!\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n'
        b'#\n1\tNew York\t_\tX\tX\t_\t0\tr\t_\t_\n\n'
    ),
    'multilabel': b'1,3 0:0.5 3:2 # a\n 2:1e-3\n\n6,2 qid:1 7:1\r\nword\n3,1\t99:1\n',
    'arff': (
        b"% x\n@RELATION 'a b: -C -2'\n@attribute a numeric\n@attribute 'b c' {no, \"y'es\"} % x\n@attribute t string\n"
        b'@attribute l1 {0,1}\r\n@attribute "l 2" { 1, 0 }\n\n@data\n1.5, no, "x y",1,0\n{1 "y\'es", 3 1}\n'
        b"{}, {1}\n-0, ?, 'it\\'s', 0, 1 % y\n"
    ),
    'graph': (
        b'{"states": ["a", "b"], "nodes": [{"label": "b", "features": {"x": 0.5, "bias": 2}}, {"label": "a"}],'
        b' "factors": [{"nodes": [1, 0], "features": [1, -0.5]}]}\n# c\n\n'
        b'{"id": 7, "nodes": [{"type": "p", "states": 3, "label": 2}, {"states": ["a", "b"], "label": "a"}],'
        b' "factors": [{"nodes": [0, 1], "type": "e"}, {"nodes": [0, 1], "type": "e", "features": {}}]}\r\n'
        b'{"states": ["a", "b"], "nodes": [{"label": "b", "per_state": {"x": [0.5, -1]}}, {"label": "a"}],'
        b' "factors": [{"nodes": [0, 1], "per_state": {"p": 2, "t": [[0, 1], [3, 0.5]]}}]}\n'
    ),
    'fasta': (
        b'# x\n>native 1\nAC\r\nDE\n>homolog a 1:0:MSID\nCCC\n>decoy b\nA\n\n'
        b'>native 2\nA\n>decoy 2\nC\n>homolog 2 0:0:\nD\n'
    ),
    'brackets': (
        b'( (S (NP-SBJ (-LRB- -LRB-) (NN a\\/b))\r\n(VP=1 (-NONE- *T*-1)) (VB go go)))(TOP (X (Y (NN \\) ))))\n\n'
        b'(S (NP (-NONE- *)))\n(NN|X one)\n'
    ),
    'links': (
        b'# x\n1 qid:1 0-0 a:0.5 b:2\nP qid:1 0-1 a:1 # c\n0 qid:1 1-0 b:: \r\n\n1 qid:2 7-3 c:d:1e-3 a:1 a:2\n'
        b'1 qid:4 0-1\n0 qid:4 0-0 a:1\n'
    ).replace(b'b:: ', b'b:::1'),
    'crfsuite': b'a\\:b\tw=\\:\tx y:0.5\tw=\\:\nB\tdir=c\\:\\\\tmp:2\n\nA\t__BOS__\tv\r\nB\n',
}
PLACE = re.compile(r'^[^:]+(:\d+)?: \S')

bytes_of_interest = st.sampled_from(
    [b'\n', b'\r', b'\t', b' ', b':', b'(', b')', b'\\', b'#', b'@', b'\0', b'\xff', b'0', b'9', b'-', b'.', b'e']
)
change = st.tuples(
    st.sampled_from(['replace', 'insert', 'delete', 'cut', 'double']),
    st.floats(0, 1),
    bytes_of_interest | st.binary(min_size=1, max_size=3),
)


def mutated(text, changes):
    """A text after some changes, each at a place given as a share of its length."""
    for kind, share, piece in changes:
        at = int(share * len(text))
        if kind == 'replace':
            text = text[:at] + piece + text[at + len(piece) :]
        elif kind == 'insert':
            text = text[:at] + piece + text[at:]
        elif kind == 'delete':
            text = text[:at] + text[at + 1 :]
        elif kind == 'cut':
            text = text[:at]
        else:
            text = text[:at] + text[max(0, at - 20) :]
    return text


def check_trees(dataset):
    """That a dataset of sentences is one; training files hold trees."""
    assert dataset.offsets[0] == 0 and dataset.offsets[-1] == dataset.tokens
    lengths = np.diff(dataset.offsets)
    assert (lengths > 0).all()
    columns = [dataset.tags, dataset.relations, dataset.punctuation]
    assert {len(column) for column in (dataset.words, *columns)} == {dataset.tokens}
    for ids, names in (
        (dataset.words, dataset.word_names),
        (dataset.tags, dataset.tag_names),
        (dataset.relations, dataset.label_names),
    ):
        assert -1 <= ids.min(initial=-1) <= ids.max(initial=-1) < len(names)
    for start, length in zip(dataset.offsets[:-1], lengths, strict=True):
        heads = dataset.heads[start : start + length].tolist()
        for word in range(1, length + 1):
            for _ in range(length):
                word = heads[word - 1] if word else 0
            assert word == 0


def check_homologs(dataset):
    """That alignment data are some; training files have the right alignment of each native."""
    assert dataset.offsets[0] == dataset.starts[0] == 0
    assert dataset.offsets[-1] == len(dataset.ids) == len(dataset.starts) - 1 and dataset.starts[-1] == dataset.tokens
    assert (np.diff(dataset.offsets) > 1).all() and (np.diff(dataset.starts) > 0).all() and dataset.aligned.all()
    for i, right in enumerate(dataset.gold.tolist()):
        start, other, steps = dataset.alignment(i)
        native = int(dataset.offsets[i])
        assert 0 <= right < dataset.candidates(i) and start >= 0 and other >= 0
        assert start + (steps != 2).sum() <= len(dataset.sequence(native))
        assert other + (steps != 3).sum() <= len(dataset.sequence(native + 1 + right))


def check_phrases(dataset):
    """That a dataset holds trees with one node over all words of each, and labels that are known."""
    assert dataset.offsets[0] == dataset.node_offsets[0] == 0
    assert len(dataset.words) == len(dataset.tags) == dataset.tokens
    assert dataset.spelling is None or dataset.spelling.shape == (dataset.tokens, 4)
    assert len(dataset.offsets) == len(dataset.node_offsets) == len(dataset.forms) + 1
    assert len(dataset.node_labels) == len(dataset.node_begins) == len(dataset.node_ends) == dataset.node_offsets[-1]
    for ids, names in ((dataset.words, dataset.word_names), (dataset.tags, dataset.label_names)):
        assert -1 <= ids.min(initial=-1) <= ids.max(initial=-1) < len(names)
    for i, length in enumerate(np.diff(dataset.offsets).tolist()):
        nodes = [(begin, end) for _, begin, end in dataset.tree(i).nodes]
        assert length > 0 and nodes == sorted(nodes, key=lambda node: (node[0], -node[1]))
        assert nodes[0] == (0, length) if nodes else length == 1
        open_nodes = []
        for begin, end in nodes:
            while open_nodes and open_nodes[-1] <= begin:
                open_nodes.pop()
            assert begin < end <= (open_nodes or [length])[-1]
            open_nodes.append(end)


def check_sets(dataset):
    """That a dataset of sets of labels is one."""
    for indptr, ids, names in (
        (dataset.indptr, dataset.indices, dataset.attributes),
        (dataset.label_indptr, dataset.label_ids, dataset.label_names),
    ):
        assert len(indptr) == dataset.n + 1 and indptr[0] == 0 and indptr[-1] == len(ids)
        assert len(ids) == 0 or 0 <= ids.min() <= ids.max() < len(names)
        for begin, end in pairwise(indptr.tolist()):
            assert begin <= end and (np.diff(ids[begin:end]) > 0).all()
    assert dataset.values is None or (len(dataset.values) == dataset.nnz and np.isfinite(dataset.values).all())
    assert all(0 <= i < dataset.n and names for i, names in dataset.unknown_labels.items())


def check_graphs(dataset):
    """That a dataset of graphs is one."""
    assert dataset.node_indptr[0] == 0 and dataset.node_indptr[-1] == dataset.tokens == len(dataset.node_type)
    assert (np.diff(dataset.node_indptr) > 0).all() and len(dataset.factor_indptr) == dataset.n + 1
    assert dataset.factor_indptr[-1] == len(dataset.factor_type) == len(dataset.scope_indptr) - 1
    for (indptr, indices, values), rows in (
        (dataset.node_rows(), dataset.tokens),
        (dataset.factor_rows(), len(dataset.factor_type)),
    ):
        assert len(indptr) == rows + 1 and indptr[-1] == len(indices)
        assert indices.min(initial=0) >= 0 and indices.max(initial=-1) < len(dataset.attributes)
        assert all((np.diff(indices[begin:end]) > 0).all() for begin, end in pairwise(indptr.tolist()))
        assert values is None or np.isfinite(values).all()
    for indptr, indices, states, values in (dataset.node_states(), dataset.factor_states()):
        assert len(indices) == len(states) == len(values) == indptr[-1] and np.isfinite(values).all() and values.all()
        assert indices.min(initial=0) >= 0 and indices.max(initial=-1) < len(dataset.attributes)
        places = list(zip(states.tolist(), indices.tolist(), strict=True))
        assert all(places[a:b] == sorted(set(places[a:b])) for a, b in pairwise(indptr.tolist()))
    for v, kind in enumerate(dataset.node_type.tolist()):
        assert -1 <= dataset.labels[v] < len(dataset.states[kind])
    graphs(dataset)


def check_links(dataset):
    """That links are some, each there once."""
    assert {len(dataset.link_rows), len(dataset.link_columns), len(dataset.targets)} == {dataset.tokens}
    assert dataset.link_rows.min(initial=0) >= 0 and dataset.link_columns.min(initial=0) >= 0
    assert set(dataset.targets.tolist()) <= {0, 1, 2}
    for begin, end in pairwise(dataset.offsets.tolist()):
        links = zip(dataset.link_rows[begin:end].tolist(), dataset.link_columns[begin:end].tolist(), strict=True)
        assert len(set(links)) == end - begin


def check_candidates(dataset):
    """That candidates are some, in groups of which none is empty."""
    assert dataset.offsets[0] == dataset.indptr[0] == 0 and len(dataset.qids) == dataset.n
    assert dataset.offsets[-1] == dataset.tokens == len(dataset.indptr) - 1
    assert (np.diff(dataset.offsets) > 0).all() and (dataset.qids >= 0).all() and np.isfinite(dataset.targets).all()
    assert (np.diff(dataset.qids) != 0).all()
    assert dataset.indptr[-1] == dataset.nnz
    assert dataset.nnz == 0 or 0 <= dataset.indices.min() <= dataset.indices.max() < len(dataset.attributes)
    for c in range(dataset.tokens):
        assert (np.diff(dataset.indices[dataset.indptr[c] : dataset.indptr[c + 1]]) > 0).all()
    assert dataset.values is None or np.isfinite(dataset.values).all()


def check_pictures(dataset):
    """That pictures are some, with all points inside, and boxes that are inside or not given."""
    assert dataset.offsets[0] == 0 and dataset.offsets[-1] == dataset.tokens == len(dataset.points)
    assert len(dataset.sizes) == len(dataset.gold) == dataset.n and (np.diff(dataset.offsets) >= 0).all()
    assert -1 <= dataset.words.min(initial=-1) <= dataset.words.max(initial=-1) < len(dataset.attributes)
    assert (dataset.points >= 0).all() and (dataset.sizes > 0).all()
    assert (dataset.points < np.repeat(dataset.sizes, np.diff(dataset.offsets), axis=0)).all()
    boxes = dataset.gold[dataset.gold[:, 0] >= 0]
    assert (boxes[:, :2] <= boxes[:, 2:]).all() and (boxes >= 0).all()
    assert (boxes[:, 2:] < dataset.sizes[dataset.gold[:, 0] >= 0]).all()


def check(dataset):
    """That a dataset is one."""
    if isinstance(dataset, GraphDataset):
        check_graphs(dataset)
        return
    if isinstance(dataset, LabelSetDataset):
        check_sets(dataset)
        return
    if isinstance(dataset, PictureDataset):
        check_pictures(dataset)
        return
    if isinstance(dataset, CandidateDataset):
        check_candidates(dataset)
        return
    if isinstance(dataset, TreeDataset):
        check_phrases(dataset)
        return
    if isinstance(dataset, SentenceDataset):
        check_trees(dataset)
        return
    if isinstance(dataset, HomologDataset):
        check_homologs(dataset)
        return
    if isinstance(dataset, MatchingDataset):
        check_links(dataset)
    else:
        assert isinstance(dataset, TokenDataset)
        assert dataset.labels.max(initial=-1) < len(dataset.label_names)
    assert dataset.offsets[0] == 0
    assert dataset.offsets[-1] == dataset.tokens == len(dataset.indptr) - 1
    assert (np.diff(dataset.offsets) > 0).all()
    assert dataset.indptr[-1] == dataset.nnz
    assert dataset.nnz == 0 or 0 <= dataset.indices.min() <= dataset.indices.max() < len(dataset.attributes)
    for t in range(dataset.tokens):
        assert (np.diff(dataset.indices[dataset.indptr[t] : dataset.indptr[t + 1]]) > 0).all()
    assert dataset.values is None or np.isfinite(dataset.values).all()


def attempt(action):
    """The result, or None if there was an error that names a place."""
    try:
        return action()
    except DataError as error:
        assert PLACE.match(str(error)), str(error)
        return None


@given(st.sampled_from(sorted(VALID)), st.lists(change, min_size=1, max_size=6), st.integers(1, 80))
@settings(max_examples=400)
def test_mutated_files(folder, name, changes, block):
    text = mutated(VALID[name], changes)
    path = folder / 'mutated'
    path.write_bytes(text)
    module, options = (
        FORMATS[name],
        ReadOptions(template=TEMPLATE, bias=len(text) % 2 == 0, min_freq=1 + len(text) % 3 // 2),
    )
    dataset = attempt(lambda: reading.read(module, path, options))
    if dataset is not None:
        check(dataset)
        assert name != 'links' or dataset.complete, 'right links of training files are matchings'
        if offers(module, 'write'):
            out = io.BytesIO()
            module.write(dataset, out)
            path.write_bytes(out.getvalue())
            again = reading.read(module, path, ReadOptions())
            assert again.tokens == dataset.tokens and getattr(again, 'nnz', 0) == getattr(dataset, 'nnz', 0)
    path.write_bytes(VALID[name])
    known = reading.read(module, path, ReadOptions(template=TEMPLATE))
    path.write_bytes(text)
    options = ReadOptions(template=TEMPLATE, columns=getattr(known, 'columns', None))
    blocks = attempt(lambda: list(reading.stream(module, Source(path, block=block), options, known)))
    whole = attempt(lambda: reading.read(module, path, options, known))
    assert (blocks is None) == (whole is None)
    if blocks is None:
        return
    assert sum(b.dataset.tokens for b in blocks) == whole.tokens
    assert sum(getattr(b.dataset, 'nnz', 0) for b in blocks) == getattr(whole, 'nnz', 0)
    for b in blocks:
        check(b.dataset)
        out = io.BytesIO()
        outputs = np.zeros(b.dataset.tokens, np.int32)
        if name == 'brackets':
            flat = [([-1] * size, [-1], [0], [size]) for size in np.diff(b.dataset.offsets).tolist()]
            module.write_predictions(b, flat, out)
            assert out.getvalue().count(b'\n') == b.dataset.n + len(b.dataset.empties)
            continue
        if name == 'graph':
            module.write_predictions(b, outputs, out)
            assert out.getvalue().count(b'\n') == out.getvalue().count(b'"prediction": [') == b.dataset.n
            continue
        if name in ('multilabel', 'arff'):
            module.write_predictions(b, [b.dataset.labels(i) for i in range(b.dataset.n)], out)
            assert out.getvalue().count(b'\n') == b.dataset.n
            continue
        if name == 'boxes':
            module.write_predictions(b, np.maximum(b.dataset.gold, 0), out)
            assert out.getvalue().count(b'\n') == b.dataset.n
            continue
        if name == 'svmrank':
            module.write_predictions(b, [0] * b.dataset.n, out)
            assert out.getvalue() == b'1\n' * b.dataset.n
            continue
        if name == 'fasta':
            module.write_predictions(b, [(0, 0, 0, outputs[:0])] * b.dataset.n, out)
            assert out.getvalue().count(b'>') == len(b.dataset.ids)
            continue
        if name == 'links':
            module.write_predictions(b, [outputs[:1]] * b.dataset.n, out)
            assert out.getvalue().count(b'\n') == out.getvalue().count(b'-') == b.dataset.n
            continue
        module.write_predictions(b, (outputs, outputs) if name in ('conllx', 'conllu') else outputs, out)
        if name.startswith('conll'):
            assert out.getvalue().count(b'\n') == b.rows.count(b'\n')
        else:
            assert len(out.getvalue().split()) == b.dataset.tokens * len(known.label_names.name(0).split())


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_any_bytes(folder, text):
    path = folder / 'bytes'
    path.write_bytes(text)
    by_content(text)
    for name, module in FORMATS.items():
        dataset = attempt(lambda module=module: reading.read(module, path, ReadOptions()))
        assert dataset is None or name in ('conll', 'boxes') or dataset.tokens
        if dataset is not None:
            check(dataset)


@given(st.lists(change, min_size=1, max_size=3))
@settings(max_examples=200)
def test_mutated_compressed_files(folder, changes):
    path = folder / 'mutated.gz'
    path.write_bytes(mutated(gzip.compress(VALID['svmhmm'] * 20, mtime=0), changes))
    attempt(lambda: reading.read(FORMATS['svmhmm'], path, ReadOptions()))
