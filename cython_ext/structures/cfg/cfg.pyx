"""Trees of a weighted context-free grammar over a sentence (Tsochantaridis et al. 2005, section 4.5).

Part p of a sentence is the p-th of the rules that some tree over it uses, with the number of times that a tree uses it
as its statistic: theta has one score for each rule, wherever it is used.

The code of a tree lists its nodes as pairs (chain, rule), outer ones first and left to right (grammar.py says what
nodes are); the rule of a word that no rule writes is UNKNOWN_WORD less its tag. There are at most 2 n - 1 nodes over n
words; the rest is -1. A sentence without any tree has no parts, the score -inf and the code -1 throughout.

The parses of a sentence are found once, packed, and kept as long as memory allows (`limit`); for the others they are
found anew at every visit.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from cython_ext.common.errors import UnfitDataError
from cython_ext.kernels.vectors.search cimport first_from
from cython_ext.structures.cfg cimport forest as packed
from cython_ext.structures.cfg.chart cimport Chart, ChartGrammar, GrammarTables, fill, fits, lay, mark, mark_rules, pack
from cython_ext.structures.cfg.chart cimport room as chart_room
from cython_ext.structures.cfg.forest cimport Forest, Ranking, forest_at, forest_size
from cython_ext.structures.cfg.grammar import TOPS
from cython_ext.structures.structure cimport SummedStructure
from cython_ext.structures.structure import padded

KEPT_FOREST_BYTES = 1 << 30                  # bytes of packed parses that are kept
KEPT_TO_PREDICT = 1 << 26       # the same where each sentence is parsed once
CHART_BYTES = 1 << 31               # bytes that the parses of a sentence may take while they are found
MAX_WORDS = 1000                  # words of a sentence, whose parses take seconds

cdef enum:
    NO_RULE = -2                # grammar.UNKNOWN_WORD


cdef class Cfg(SummedStructure):
    """grammar: a Grammar; dataset: a TreeDataset over the same numbers; codes: those of its trees as Grammar.codes has
    them, or None where they are not known; limit: bytes of packed parses that are kept. A sentence with too many parses
    to hold raises UnfitDataError; where no gold trees are known it has none, and so have overlong ones."""

    def __init__(self, grammar, dataset, codes=None, Py_ssize_t limit=KEPT_FOREST_BYTES):
        cdef const int64_t[::1] offsets = dataset.offsets
        cdef const int32_t[::1] words = padded(dataset.words), tags = padded(dataset.tags)
        self.n, self.offsets, self.offset_data = dataset.n, dataset.offsets, &offsets[0]
        self.arrays = [offsets, words, tags]
        self.word_data, self.tag_data = &words[0], &tags[0]
        self.tables = ChartGrammar(grammar, len(dataset.label_names), len(dataset.word_names))
        self.g = self.tables.g
        self.counted = np.array([name not in TOPS for name in dataset.label_names.names()], bool)
        self.longest = int(np.diff(dataset.offsets).max(initial=0))
        self.max_code = max(4 * self.longest - 2, 0)
        chain = int(np.diff(grammar.chain_indptr).max(initial=0))
        self.max_parts = max(2 * self.longest - 1, 0) * (1 + chain)
        self._find(limit, codes is not None)
        self._set_gold(codes)

    def _find(self, Py_ssize_t limit, bint all_fit):
        """Finds the parses of every sentence, lists their rules and chains, and keeps as many as the limit allows."""
        forests, rules, chains, steps = [], [], [], []
        sizes, places = np.zeros((self.n + 1, 4), np.int32), np.zeros(self.n + 1, np.int64)
        room = (1 << 12, 1 << 14)
        if all_fit and self.n:          # otherwise this is said before the others take their time
            self._parses(int(np.diff(self.offsets).argmax()), room, True, 0)
        for i in range(self.n):
            room, sizes[i], mine, own, forest = self._parses(i, room, all_fit, limit)
            rules.append(mine)
            chains.append(own)
            steps += [np.searchsorted(mine, self.tables.grammar.chain(c)) for c in own.tolist()]
            if forest is not None:
                limit -= forest.nbytes
                forests.append(forest)
                places[i] = forest.ctypes.data
            else:
                self.chart_room = max(self.chart_room, chart_room(&self.g, self.length(i), sizes[i, 2], sizes[i, 3]))
        self.memory = None
        self.parts_indptr, self.part_rules = _indptr(rules), np.concatenate([*rules, np.zeros(1, np.int32)])
        self.parsed = sizes[:self.n, 0] > 0
        counts = np.array([len(row) for row in rules] or [0]), np.array([len(row) for row in chains] or [0])
        self.max_size, self.most_events = int(counts[0].max()), int((counts[0] + counts[1]).max()) + 1
        self.most_items, self.most_edges = int(sizes[:, 0].max()), int(sizes[:, 1].max())
        self.kept = forests
        self._point_to(_indptr(chains), _joined(chains), _indptr(steps), _joined(steps), sizes, places)

    def _point_to(self, const int64_t[::1] chain_at, const int32_t[::1] chain_number, const int64_t[::1] chain_part_at,
                  const int32_t[::1] chain_part, const int32_t[:, ::1] sizes, const int64_t[::1] places):
        cdef const int64_t[::1] part_at = self.parts_indptr
        cdef const int32_t[::1] part_rule = self.part_rules
        self.arrays += [part_at, part_rule, chain_at, chain_number, chain_part_at, chain_part, sizes, places]
        self.part_at, self.part_rule, self.chain_at, self.chain_number = (
            &part_at[0], &part_rule[0], &chain_at[0], &chain_number[0])
        self.chain_part_at, self.chain_part = &chain_part_at[0], &chain_part[0]
        self.sizes, self.forest_data = &sizes[0, 0], &places[0]

    def _parses(self, Py_ssize_t i, room, bint all_fit, Py_ssize_t limit):
        """(room that was enough, sizes, rules, chains, forest or None) of a sentence; limit: bytes of a forest."""
        cdef Chart chart
        cdef const GrammarTables *g = &self.g
        cdef Py_ssize_t items = room[0], edges = room[1], kept, kept_edges, n = self.length(i), bytes
        cdef const int32_t *words = self.word_data + self.offset_data[i]
        cdef const int32_t *tags = self.tag_data + self.offset_data[i]
        cdef bint enough = False
        cdef double[::1] memory
        cdef int32_t[::1] forest
        none = np.zeros(0, np.int32)
        if n > MAX_WORDS:
            if all_fit:
                raise UnfitDataError(f'sentence {i + 1} has {n} words, and the longest that are parsed have '
                                     f'{MAX_WORDS} (--max-length {MAX_WORDS} leaves longer ones out)')
            return room, (0, 0, 0, 0), none, none, None
        if n == 0:
            raise ValueError(f'sentence {i + 1} has no words')
        while not enough:
            bytes = chart_room(g, n, items, edges)
            if bytes > CHART_BYTES:
                if not all_fit:
                    return (1 << 12, 1 << 14), (0, 0, 0, 0), none, none, None
                raise UnfitDataError(f'sentence {i + 1}, of {n} words, has more parses than fit into '
                                     f'{CHART_BYTES >> 30} GB (--max-length {n - 1} leaves sentences of so '
                                     'many words out)')
            if self.memory is None or len(self.memory) < bytes // 8 + 1:
                self.memory = memory = None         # before there is more
                self.memory = np.empty(bytes // 8 + 1)
            memory = self.memory
            with nogil:
                lay(g, &chart, <char *> &memory[0], n, items, edges)
                enough = fill(g, &chart, words, tags, self.stop)
            room = items, edges
            items, edges = 2 * items, 2 * edges
        sizes = chart.items, chart.edges
        kept = mark(g, &chart, &kept_edges)
        if kept == 0:
            return room, (0, 0, *sizes), none, none, None
        mark_rules(g, &chart)
        rules = np.flatnonzero(<int32_t[:g.rules + 1]> chart.rule_number)
        rules = rules[rules < g.rules].astype(np.int32)
        chains = np.flatnonzero(<int32_t[:g.chains + 1]> chart.chain_number).astype(np.int32)
        if 4 * forest_size(kept, kept_edges) > limit:
            return room, (kept, kept_edges, *sizes), rules, chains, None
        forest = np.empty(forest_size(kept, kept_edges), np.int32)
        cdef const int32_t[::1] rule_view = padded(rules), chain_view = padded(chains)
        number_rules(&chart, &rule_view[0], len(rules), &chain_view[0], len(chains))
        pack(&chart, kept, kept_edges, len(rules), &forest[0])
        return room, (kept, kept_edges, *sizes), rules, chains, np.asarray(forest)

    def _set_gold(self, codes):
        """Lays out the codes of the gold trees; ValueError where there is none."""
        flat = np.full(4 * int(self.offsets[self.n]) - 2 * self.n + 1, -1, np.int32)
        at = 0
        for i in range(self.n):
            if codes is not None:
                if codes[i] is None:
                    raise UnfitDataError(f'the tree of sentence {i + 1} has rules that the grammar does not have')
                flat[at:at + len(codes[i])] = codes[i]
            at += self.code_length(i)
        cdef const int32_t[::1] view = flat
        self.arrays.append(view)
        self.gold_data = &view[0]

    # ------------------------------------------------------------------------------------------- contract

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offset_data[i + 1] - self.offset_data[i])

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return self.rules_of(i) + self.unweighted

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        return 4 * self.length(i) - 2

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.gold_data + 4 * self.offset_data[i] - 2 * i

    cdef Py_ssize_t rules_of(self, Py_ssize_t i) noexcept nogil:
        """Parts that are rules, which come first."""
        return <Py_ssize_t> (self.part_at[i + 1] - self.part_at[i])

    cdef Py_ssize_t events(self, Py_ssize_t i) noexcept nogil:
        return self.rules_of(i) + 1 + <Py_ssize_t> (self.chain_at[i + 1] - self.chain_at[i])

    cdef Py_ssize_t part_of(self, Py_ssize_t i, int32_t rule) noexcept nogil:
        """The part that a rule is; -1 where no tree over the sentence uses it."""
        cdef int64_t place = first_from(self.part_rule, self.part_at[i], self.part_at[i + 1], rule)
        if place == self.part_at[i + 1] or self.part_rule[place] != rule:
            return -1
        return <Py_ssize_t> (place - self.part_at[i])

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef Py_ssize_t at, k, count = 0
        cdef const GrammarTables *g = &self.g
        for at in range(0, self.code_length(i), 2):
            if code[at] < 0:
                break
            for k in range(g.chain_at[code[at]], g.chain_at[code[at] + 1]):
                ids[count] = <int32_t> self.part_of(i, g.chain_rule[k])
                count += 1
            if code[at + 1] >= 0:
                ids[count] = <int32_t> self.part_of(i, code[at + 1])
                count += 1
        for k in range(count):
            counts[k] = 1.0
        return count

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef Py_ssize_t at = 0, word = 0
        if not self._matches(i, code, &at, &word, <int32_t> self.g.start) or word < self.length(i):
            return False
        for at in range(at, self.code_length(i)):
            if code[at] != -1:
                return False
        return True

    cdef bint _matches(self, Py_ssize_t i, const int32_t *code, Py_ssize_t *at, Py_ssize_t *word,
                       int32_t label) noexcept nogil:
        """Whether a node with that label stands at a place of a code, with the words that come next; both move on."""
        cdef const GrammarTables *g = &self.g
        cdef Py_ssize_t k, t = self.offset_data[i] + word[0]
        cdef int32_t chain, rule
        if at[0] + 2 > self.code_length(i) or word[0] == self.length(i):
            return False
        chain, rule = code[at[0]], code[at[0] + 1]
        at[0] += 2
        if not (0 <= chain <= g.chains and rule < g.rules):
            return False
        if chain > 0:
            if g.chain_top[chain] != label:
                return False
            label = g.chain_bottom[chain]
        if 0 <= rule < g.phrasal:
            if g.lhs[rule] != label or g.rhs_at[rule + 1] - g.rhs_at[rule] < 2:
                return False
            for k in range(g.rhs_at[rule], g.rhs_at[rule + 1]):
                if not self._matches(i, code, at, word, g.rhs[k]):
                    return False
            return True
        word[0] += 1
        if rule < 0:
            return rule == NO_RULE - label and fits(g, label, self.word_data[t], self.tag_data[t])
        k = rule - g.phrasal
        return (g.lexical_tag[k] == label and self.word_data[t] >= 0
                and g.lexical_at[self.word_data[t]] <= k < g.lexical_at[self.word_data[t] + 1])

    # ------------------------------------------------------------------------------------------- oracles

    cdef Py_ssize_t forest_doubles(self) noexcept nogil:
        """Doubles of scratch in front of an oracle's own."""
        return self.most_events + (self.chart_room + 4 * forest_size(self.most_items, self.most_edges)) // 8 + 2

    cdef double *forest(self, Py_ssize_t i, const double *theta, double *scratch, Forest *f,
                        double **score) noexcept nogil:
        """The packed parses of a sentence and the scores of their events; what is left of scratch. f.items is 0 where
        there is none."""
        cdef const GrammarTables *g = &self.g
        cdef const int32_t *sizes = self.sizes + 4 * i
        cdef Py_ssize_t m = self.rules_of(i), edges
        cdef int64_t c, q
        cdef Chart chart
        cdef int32_t *memory
        score[0] = scratch
        memcpy(scratch, theta, m * sizeof(double))
        scratch[m] = 0.0
        scratch += m + 1
        for c in range(self.chain_at[i], self.chain_at[i + 1]):
            scratch[0] = 0.0
            for q in range(self.chain_part_at[c], self.chain_part_at[c + 1]):
                scratch[0] += theta[self.chain_part[q]]
            scratch += 1
        f.items = sizes[0]
        if sizes[0] == 0:
            return scratch
        if self.forest_data[i]:
            f[0] = forest_at(<const int32_t *> self.forest_data[i], sizes[0], sizes[1])
            return scratch
        memory = <int32_t *> scratch
        scratch += forest_size(sizes[0], sizes[1]) // 2 + 1
        lay(g, &chart, <char *> scratch, self.length(i), sizes[2], sizes[3])
        if not fill(g, &chart, self.word_data + self.offset_data[i], self.tag_data + self.offset_data[i], self.stop):
            f.items = 0                                     # stopped: there was room for all the first time
            return scratch
        mark(g, &chart, &edges)
        number_rules(&chart, self.part_rule + self.part_at[i], m, self.chain_number + self.chain_at[i],
                     <Py_ssize_t> (self.chain_at[i + 1] - self.chain_at[i]))
        pack(&chart, sizes[0], sizes[1], m, memory)
        f[0] = forest_at(memory, sizes[0], sizes[1])
        return scratch

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t items = self.most_items
        # the K best: value, edge and two ranks for each; sums: two numbers for items, one for edges and events
        return self.forest_doubles() + max(items * (5 * k + 1) // 2 + 10 * k + 8,
                                           2 * items + self.most_edges + self.most_events)

    cdef void no_tree(self, Py_ssize_t i, int32_t *code) noexcept nogil:
        memset(code, 255, self.code_length(i) * sizeof(int32_t))

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef Forest f
        cdef Derivation d
        cdef double *score
        cdef double value
        scratch = self.forest(i, theta, scratch, &f, &score)
        self.no_tree(i, code)
        if f.items == 0:
            return -INFINITY
        d.forest, d.i, d.k, d.code, d.length = &f, i, 1, code, 0
        d.edge, d.left_rank = <int32_t *> (scratch + f.items), NULL
        value = packed.best(&f, score, scratch, <int32_t *> d.edge)
        self.write(&d, f.items - 1, 0)
        return value

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        cdef Forest f
        cdef Ranking ranking
        cdef Derivation d
        cdef double *score
        cdef double *begin = scratch
        cdef Py_ssize_t r, count, length = self.code_length(i)
        scratch = self.forest(i, theta, scratch, &f, &score)
        count = 0
        if f.items > 0:
            ranking.k, ranking.value = k, scratch
            ranking.bid = ranking.value + f.items * k
            ranking.bidder = <int32_t *> (ranking.bid + 4 * k)
            ranking.count = ranking.bidder + 12 * k
            ranking.edge = ranking.count + f.items
            ranking.left_rank = ranking.edge + f.items * k
            ranking.right_rank = ranking.left_rank + f.items * k
            count = packed.rank(&f, score, &ranking)
        if count == 0:
            values[0] = self.max(i, theta, begin, codes)
            return 1
        d.forest, d.i, d.k = &f, i, k
        d.edge, d.left_rank, d.right_rank = ranking.edge, ranking.left_rank, ranking.right_rank
        for r in range(count):
            values[r] = ranking.value[(f.items - 1) * k + r]
            d.code, d.length = codes + r * length, 0
            self.no_tree(i, d.code)
            self.write(&d, f.items - 1, r)
        return count

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        cdef Forest f
        cdef double *score
        cdef double *events
        cdef double value
        cdef Py_ssize_t m = self.num_parts(i), count = self.events(i)
        scratch = self.forest(i, theta, scratch, &f, &score)
        memset(mean, 0, m * sizeof(double))
        if f.items == 0:
            return -INFINITY
        events = scratch + 2 * f.items + f.edges
        memset(events, 0, count * sizeof(double))
        value = packed.sums(&f, score, scratch, scratch + f.items, scratch + 2 * f.items, events)
        if value == -INFINITY:
            return value
        self.means(i, events, mean)
        return value

    cdef void means(self, Py_ssize_t i, const double *events, double *mean) noexcept nogil:
        """The mean statistics from how often the events occur."""
        cdef Py_ssize_t m = self.rules_of(i)
        cdef int64_t c, q
        memcpy(mean, events, m * sizeof(double))
        for c in range(self.chain_at[i], self.chain_at[i + 1]):
            for q in range(self.chain_part_at[c], self.chain_part_at[c + 1]):
                mean[self.chain_part[q]] += events[m + 1 + c - self.chain_at[i]]

    # ------------------------------------------------------------------------------------------- codes

    cdef Py_ssize_t chain_of(self, Py_ssize_t i, int32_t event) noexcept nogil:
        """The chain that an edge above a base stands for; 0 where it adds no label."""
        cdef Py_ssize_t m = self.rules_of(i)
        if event < m:
            return self.g.chain_of_rule[self.part_rule[self.part_at[i] + event]]
        return self.chain_number[self.chain_at[i] + event - m - 1] if event > m else 0

    cdef void write(self, Derivation *d, Py_ssize_t x, Py_ssize_t rank) noexcept nogil:
        """Appends the nodes of the rank-th derivation of a label to the code."""
        cdef const Forest *f = d.forest
        cdef const GrammarTables *g = &self.g
        cdef Py_ssize_t m = self.rules_of(d.i)
        cdef int32_t e = d.edge[x * d.k + rank], chain = 0, event
        if f.left[e] and f.symbol[f.left[e]] < g.labels:       # a chain above a base
            chain = <int32_t> self.chain_of(d.i, f.event[e])
            rank = d.left_rank[x * d.k + rank] if d.left_rank != NULL else 0
            x = f.left[e]
            e = d.edge[x * d.k + rank]
        event = f.event[e]
        d.code[d.length] = chain
        if event < m:
            d.code[d.length + 1] = self.part_rule[self.part_at[d.i] + event]
        else:
            d.code[d.length + 1] = NO_RULE - (f.symbol[x] if f.symbol[x] >= 0 else -1 - f.symbol[x])
        d.length += 2
        if f.left[e]:
            self._write_sequence(d, f.left[e], d.left_rank[x * d.k + rank] if d.left_rank != NULL else 0)

    cdef void _write_sequence(self, Derivation *d, Py_ssize_t x, Py_ssize_t rank) noexcept nogil:
        cdef int32_t e = d.edge[x * d.k + rank]
        cdef Py_ssize_t left = d.forest.left[e], a = 0, b = 0
        if d.left_rank != NULL:
            a, b = d.left_rank[x * d.k + rank], d.right_rank[x * d.k + rank]
        if d.forest.symbol[left] < self.g.labels:
            self.write(d, left, a)
        else:
            self._write_sequence(d, left, a)
        self.write(d, d.forest.right[e], b)


cdef void number_rules(Chart *chart, const int32_t *rules, Py_ssize_t parts, const int32_t *chains,
                       Py_ssize_t count) noexcept nogil:
    """Sets the numbers that a chart's rules and chains get as events."""
    cdef Py_ssize_t p
    for p in range(parts):
        chart.rule_number[rules[p]] = <int32_t> p
    for p in range(count):
        chart.chain_number[chains[p]] = <int32_t> (parts + 1 + p)


def _indptr(rows):
    return np.cumsum([0, *map(len, rows)], dtype=np.int64)


def _joined(rows):
    return np.concatenate([*rows, np.zeros(1)]).astype(np.int32)
