"""The structures under test, each beside all of its outputs. A further structure is one more row of CASES."""

import functools
from dataclasses import dataclass

import numpy as np

from cython_ext.relaxations.factor_blocks import FactorBlocks
from cython_ext.structures.candidates import Candidates
from cython_ext.structures.cfg.bracketed import BracketedCfg
from cython_ext.structures.cfg.cfg import Cfg
from cython_ext.structures.cfg.grammar import Grammar
from cython_ext.structures.dependency.dependency import ProjectiveTrees, SpanningTrees
from cython_ext.structures.graph.factor_graphs import FactorGraphs
from cython_ext.structures.graph.graph import Graph
from cython_ext.structures.graph.graph_cuts import GraphCuts
from cython_ext.structures.graph.labels_apart import LabelsApart
from cython_ext.structures.labels.chain import Chain
from cython_ext.structures.labels.chain2 import SecondOrderChain
from cython_ext.structures.labels.multiclass import Multiclass
from cython_ext.structures.structure import Structure
from cython_ext.tasks.alignment import build as build_alignment
from cython_ext.tasks.boxes import build as build_boxes
from cython_ext.tasks.matching import build as build_matching
from tests import alignments, boxes, graphs, matchings, sentences, trees
from tests import candidates as listed
from tests.enumeration import Enumerated, Enumeration, matrix
from tests.solvers import tiny


@dataclass
class Case:
    """Example `i` of `structure`, all its outputs, and where each part stands in theta. counts: how many parts, the
    last ones, no features score, so that nothing forbids them."""

    structure: Structure
    i: int
    truth: Enumerated
    columns: np.ndarray
    closed_form_count: int
    task: str = 'chain'
    counts: int = 0

    def allowed(self, scores):
        """The scores with those of counts 0 where they were forbidden."""
        first = len(scores) - self.counts
        return np.where(np.isneginf(scores) & (np.arange(len(scores)) >= first), 0.0, scores)

    def theta(self, scores, padding=np.nan):
        """theta with a score for each of truth.part_keys; what no part uses is padding, which nobody may read."""
        theta = np.full(self.structure.size(self.i), padding)
        theta[self.columns] = self.allowed(scores)
        return theta

    def totals(self, scores):
        """The score of every output; a forbidden part that an output does not use does not count."""
        with np.errstate(invalid='ignore'):
            return np.where(self.truth.parts > 0, self.truth.parts * self.allowed(scores), 0).sum(axis=1)

    def rounding(self, scores):
        """How far sums of these scores may be off, with the order of summation left open."""
        largest = np.abs(scores[np.isfinite(scores)]).max(initial=1.0)
        return 1e-15 * largest * (self.truth.parts.sum(axis=1).max() + 1) ** 2

    def row(self, code):
        """The number of an output in the enumeration; KeyError when `code` is none."""
        return self._rows[tuple(int(y) for y in code)]

    @functools.cached_property
    def _rows(self):
        return {code: row for row, code in enumerate(self.truth.codes)}


def multiclass(n_labels):
    """The middle one of three examples."""
    data = tiny.arrays('multiclass', (1, 1, 1), n_labels)
    truth = Enumeration('multiclass', data, n_labels).examples[1]
    columns = np.array([y for _, _, y in truth.part_keys])
    return Case(Multiclass(data.labels, n_labels), 1, truth, columns, n_labels)


def label_apart(k, i):
    """Label k of example i of three."""
    structure, right = LabelsApart(np.array([[1, 0], [0, 0], [0, 1]])), [[1, 0], [0, 0], [0, 1]][i][k]
    keys, losses = [('label', 0, 0), ('label', 0, 1)], 2.0 * (np.arange(2) != right)
    truth = Enumerated([(0,), (1,)], right, keys, np.eye(2), np.zeros((2, 1)), losses)
    return Case(structure, 3 * k + i, truth, np.arange(2), 2, 'multilabel')


def candidates(count):
    """The middle one of three examples that list their candidates."""
    examples = listed.random_examples((2, count, count + 3), seed=count)
    data = listed.dataset_of(examples)
    truth = listed.CandidateEnumeration(examples).examples[1]
    return Case(Candidates(data.offsets, data.costs), 1, truth, np.arange(count), count, 'candidates')


def box(width, height, points):
    """The middle one of three pictures."""
    pictures = boxes.random_pictures([(2, 1), (width, height), (width + 1, height)], points, seed=width)
    structure, _ = build_boxes(boxes.dataset_of(pictures))
    truth = boxes.BoxEnumeration(pictures).examples[1]
    columns = np.arange(len(truth.part_keys))
    count = width * (width + 1) // 2 * (height * (height + 1) // 2)
    return Case(structure, 1, truth, columns, count, 'boxes')


def chain(n_labels, length, tied, order=1):
    """The middle one of three sequences, between a longer and an empty one."""
    data = tiny.arrays('chain', (length + 1, length, 0), n_labels, edges=0 if tied else 1)
    only = tiny.arrays('chain', (length,), n_labels, edges=0 if tied else 1)
    only.order = order
    structure = (SecondOrderChain if order == 2 else Chain)(data.labels, data.offsets, n_labels, tied)
    only.labels[:] = data.labels[length + 1 :]
    (truth,) = Enumeration('chain', only, n_labels).examples
    columns = np.array([theta_column(key, length, n_labels, tied) for key in truth.part_keys], dtype=np.intp)
    return Case(structure, 1, truth, columns, n_labels**length)


def theta_column(key, length, n_labels, tied=True):
    """T rows of label scores, then one stride x stride block of steps (from, to), or one for each t = 1..T-1; then
    K x K rows of triplets (second, first, third)."""
    stride = -(-n_labels // 4) * 4
    kind, *where = key
    if kind == 'label':
        t, y = where
        return t * stride + y
    if kind == 'triple':
        first, second, third = where
        blocks = 1 if tied else max(length - 1, 0)
        return (length + blocks * stride + second * n_labels + first) * stride + third
    *position, p, y = where
    block = position[0] - 1 if position else 0
    return (length + block * stride + p) * stride + y


def cfg(name, terminals, i, count, kept=True, bracketed=False):
    """Sentence i of some trees, of which there are `count`; kept: whether its parses are found once for all; bracketed:
    whether its wrong and missed brackets are parts."""
    right = trees.named(name)
    data = trees.dataset_of(right)
    grammar = Grammar.of(data, terminals)
    structure = (BracketedCfg if bracketed else Cfg)(grammar, data, grammar.codes(data), *([] if kept else [0]))
    truth = trees.TreeEnumeration(right, terminals, 'brackets' if bracketed else 'zero-one').examples[i]
    return Case(structure, i, truth, np.arange(len(truth.part_keys)), count, counts=2 if bracketed else 0)


def alignment(align, gap_model, *lengths, free=False):
    """The middle one of three natives, between a longer and an empty one; lengths: of it and of its candidates."""
    local, affine = align == 'local', gap_model == 'affine'
    sizes = [(lengths[0] + 1, *lengths), lengths, (0, 1)]
    examples = alignments.random_examples(np.random.default_rng(len(lengths)), sizes, local)
    dataset = alignments.dataset_of(examples)
    structure, _ = build_alignment(dataset, gap_model=gap_model, align=align, free=free)
    truth = alignments.AlignmentEnumeration(examples[1:2], affine, local, free).examples[0]
    columns = np.array([alignment_column(key, dataset.label_names.names()) for key in truth.part_keys], dtype=np.intp)
    columns[[key[0] == 'label' for key in truth.part_keys]] += 1 + affine
    count = sum(
        1 if c == examples[1][2] and not free else alignments.number_of_alignments(lengths[0], m, local)
        for c, m in enumerate(lengths[1:])
    )
    return Case(structure, 1, truth, columns, count)


def matching(n, m, share=1.0):
    """The middle one of three examples, between a larger and a small one; n rows with m columns, which have that share
    of all links."""
    rng = np.random.default_rng([n, m, int(10 * share)])
    examples = [matchings.random_example(rng, *size) for size in ((n + 1, m, 0.7), (n, m, share), (1, 1))]
    structure, _ = build_matching(matchings.dataset_of(examples))
    truth = matchings.MatchingEnumeration(examples[1:2]).examples[0]
    columns = matchings.part_columns(examples[1], truth.part_keys)
    return Case(structure, 1, truth, columns, matchings.number_of_matchings(examples[1]), 'matching')


def alignment_column(key, letters):
    """Pairs of letters, then gaps, then (as if there were none) candidates."""
    kind, first, second = (*key, None)[:3]
    if kind == 'pair':
        return letters.index(first) * len(letters) + letters.index(second)
    return len(letters) ** 2 + (second if kind == 'label' else first == 'extend')


def dependency(length, relations, projective, single_root):
    """The middle one of three sentences, between a longer and an empty one; without features."""
    data = sentences.tiny(
        (length + 1, length, 0), relations, projective=projective, single_root=single_root, seed=length
    )
    kind = ProjectiveTrees if projective else SpanningTrees
    structure = kind(data.heads, data.relations, data.offsets, relations, single_root)
    only = sentences.sentence_of(data, 1, projective, single_root)
    truth = featureless(only)
    stride = structure.stride
    columns = [((d - 1) * (length + 1) + h) * stride + r for _, d, h, r in truth.part_keys]
    outputs = sentences.count(length, projective, single_root) * relations**length
    return Case(structure, 1, truth, np.array(columns, dtype=np.intp), outputs, 'dependency')


def featureless(sentence):
    """The Enumerated of a sentence with the parts only. Every arc is a part, also those that no tree has."""
    keys = [
        ('arc', d, h, r)
        for d in range(1, sentence.length + 1)
        for h in range(sentence.length + 1)
        for r in range(sentence.relations)
        if h != d
    ]
    column = {key: k for k, key in enumerate(keys)}
    outputs = list(sentences.outputs(sentence))
    codes = [code for code, _, _ in outputs]
    parts = matrix([parts for _, parts, _ in outputs], column)
    return Enumerated(codes, codes.index(sentence.gold), keys, parts, np.zeros((len(codes), 0)), None)


def graph(name):
    """The middle one of three graphs."""
    layout = graphs.layout(['tree', name, 'node'], seed=len(name))
    truth = graphs.GraphEnumeration(layout).examples[1]
    count = int(np.prod(graphs.laid_out(name)[0]))
    return Case(Graph(FactorGraphs(layout)), 1, truth, np.arange(len(truth.part_keys)), count, 'graph')


def global_factor(name):
    """The first global factor of the second of three graphs with soft constraints."""
    layout = graphs.layout(['tree', name, 'node'], seed=len(name))
    blocks = [each for s in layout.shape_of for each in graphs.blocks(layout, layout.shapes[s])]
    b, nodes = next((b, nodes) for b, (_, nodes, whole) in enumerate(blocks) if whole)
    truth = graphs.soft(graphs.GraphEnumeration(layout), 1.0, 1.0)[0].examples[b]
    count = int(np.prod([graphs.laid_out(name)[0][v] for v in nodes]))
    return Case(FactorBlocks(FactorGraphs(layout)), b, truth, np.arange(len(truth.part_keys)), count, 'graph')


def cut(name):
    """The middle one of three graphs of binary nodes."""
    layout = graphs.layout(['twice', name, 'complete'], seed=len(name))
    truth = graphs.GraphEnumeration(layout).examples[1]
    count = 2 ** len(graphs.GRAPHS[name][0])
    return Case(GraphCuts(FactorGraphs(layout)), 1, truth, np.arange(len(truth.part_keys)), count, 'graph')


LENGTHS = {1: (1, 4), 2: (1, 2, 5, 12), 3: (1, 2, 3, 8), 5: (1, 2, 5), 9: (1, 2, 4)}
# of order 2: (labels, positions, tied); less than three positions have no triplets
SECOND_ORDER = [
    (1, 4, True),
    (2, 8, True),
    (3, 2, True),
    (3, 5, True),
    (5, 0, False),
    (9, 3, True),
    (2, 1, False),
    (3, 4, False),
]

BOXES = [(1, 1, 2), (5, 1, 4), (1, 3, 3), (4, 3, 8), (5, 6, 12), (8, 5, 30)]  # width, height, points

CASES = {
    **{f'multiclass-K{k}': functools.partial(multiclass, k) for k in (1, 2, 3, 5, 9, 40)},
    'label-in': functools.partial(label_apart, 1, 2),
    'label-out': functools.partial(label_apart, 0, 1),
    **{f'boxes-{w}x{h}-{p}': functools.partial(box, w, h, p) for w, h, p in BOXES},
    **{f'candidates-{count}': functools.partial(candidates, count) for count in (1, 2, 5, 8, 41)},
    **{
        f'chain-K{k}-T{length}-{"tied" if tied else "untied"}': functools.partial(chain, k, length, tied)
        for tied in (True, False)
        for k, lengths in LENGTHS.items()
        for length in (0, *lengths)
    },
    **{
        f'chain2-K{k}-T{length}-{"tied" if tied else "untied"}': functools.partial(chain, k, length, tied, 2)
        for k, length, tied in SECOND_ORDER
    },
    # binary trees over n words, of which there are as many as Catalan's numbers say
    'cfg-halves-5': functools.partial(cfg, 'halves', 'word', 0, 14),
    'cfg-halves-3': functools.partial(cfg, 'halves', 'word', 1, 2),
    'cfg-normal-form': functools.partial(cfg, 'normal form', 'word', 2, 274),
    'cfg-chains': functools.partial(cfg, 'chains', 'word', 1, 26),
    'cfg-chains-tags': functools.partial(cfg, 'chains', 'pos', 1, 10),
    'cfg-chains-anew': functools.partial(cfg, 'chains', 'word', 0, 20, kept=False),
    'cfg-chains-brackets': functools.partial(cfg, 'chains', 'word', 1, 26, bracketed=True),
    'cfg-chains-brackets-anew': functools.partial(cfg, 'chains', 'word', 0, 20, kept=False, bracketed=True),
    'cfg-normal-form-brackets': functools.partial(cfg, 'normal form', 'word', 2, 274, bracketed=True),
    'cfg-long-rules-tags': functools.partial(cfg, 'long rules', 'pos', 0, 14),
    'alignment-local-linear': functools.partial(alignment, 'local', 'linear', 3, 2, 3, 0),
    'alignment-local-affine': functools.partial(alignment, 'local', 'affine', 2, 2, 3),
    'alignment-global-affine': functools.partial(alignment, 'global', 'affine', 3, 2, 4, 0),
    'alignment-global-linear-free': functools.partial(alignment, 'global', 'linear', 3, 3, 1, free=True),
    'alignment-local-affine-free': functools.partial(alignment, 'local', 'affine', 2, 3, 1, free=True),
    **{f'graph-{name}': functools.partial(graph, name) for name in (*graphs.GRAPHS, *graphs.COUNTED)},
    **{f'global-{name}': functools.partial(global_factor, name) for name in graphs.GLOBAL},
    **{f'cut-{name}': functools.partial(cut, name) for name in ('twice', 'complete', 'grid')},
}


TREES = {1: (0, 1, 2, 4, 5), 3: (1, 3)}  # relations: lengths

CASES |= {
    f'{"projective" if projective else "spanning"}-{"single" if single else "multi"}-R{r}-T{length}': functools.partial(
        dependency, length, r, projective, single
    )
    for projective in (True, False)
    for single in (True, False)
    for r, lengths in TREES.items()
    for length in lengths
}

CASES |= {
    f'matching-{n}x{m}{"" if share == 1 else "-sparse"}': functools.partial(matching, n, m, share)
    for n, m, share in [(1, 1, 1), (1, 4, 1), (4, 1, 1), (2, 3, 1), (3, 3, 1), (4, 3, 1), (5, 5, 1), (5, 5, 0.5)]
}

# Structures that have fewer oracles than sums over all outputs need.
RANKED = [name for name in CASES if name.startswith(('matching', 'cut'))]


@functools.cache
def case(name):
    """The case of that name; enumerated once for all tests."""
    return CASES[name]()
