"""The packed parses of a sentence (CKY without scores), built once and read by all oracles.

Items over a span (i, j) are

    a sequence     two or more children that some rule begins with; its edges add one child at the right, so that rules
                   of any length are joined two by two, and rules that begin with the same children share the way
    a base         a label that was written by a rule for two or more children, or over a word
    a label        a base, below the chains of unary rules that may stand over it

Where no chain leads to a label its base stands for both. Every tree has exactly one derivation. What no whole tree uses
is cut away at the end. In a chart symbols are numbers: of a label its own, of a sequence behind the labels, of a base
that differs from its label -1 less the label.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from cython_ext.kernels.stop cimport is_set
from cython_ext.structures.cfg.forest cimport Forest, forest_at
from cython_ext.structures.cfg.grammar import TAGS

cdef extern from * nogil:
    """
    static inline int ssvm_lowest(uint64_t x) { return __builtin_ctzll(x); }
    static inline int ssvm_ones(uint64_t x)
    {
    #if defined(__x86_64__) && !defined(__POPCNT__)     /* the builtin would be a call */
        x -= x >> 1 & 0x5555555555555555u;
        x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
        return (int)(((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
    #else
        return __builtin_popcountll(x);
    #endif
    }
    """
    int lowest "ssvm_lowest"(uint64_t x) noexcept
    int ones "ssvm_ones"(uint64_t x) noexcept


cdef class ChartGrammar:
    """The tables of a Grammar over `labels` labels and tags for the kernels; words: how many the vocabulary has."""

    def __init__(self, grammar, Py_ssize_t labels, Py_ssize_t words):
        self.grammar, self.g.labels, self.g.words = grammar, labels, words
        self.g.rules, self.g.phrasal, self.g.start = grammar.size, grammar.phrasal, grammar.start
        self.g.chains, self.g.tags = len(grammar.chain_indptr) - 1, grammar.terminals == TAGS
        self.arrays = []
        self._sequence_tables(grammar)
        self._chain_tables(grammar)
        self._lexical_tables(grammar)
        self.g.most = max(self.g.sequences, self.g.labels)

    def _sequence_tables(self, grammar):
        """The beginnings of right-hand sides as a tree: what each is continued by, and which rules it completes."""
        cdef const int64_t[::1] indptr
        children, complete = [{} for _ in range(self.g.labels)], {}
        for rule in range(self.g.phrasal):
            right = grammar.children(rule)
            if len(right) < 2:
                continue
            at = right[0]
            for label in right[1:]:
                if label not in children[at]:
                    children[at][label] = len(children)
                    children.append({})
                at = children[at][label]
            complete.setdefault(at - self.g.labels, []).append(rule)
        self.g.sequences, self.g.bit_words = len(children) - self.g.labels, (self.g.labels + 63) // 64
        rows = [sorted(row.items()) for row in children]
        bits = np.zeros((len(children), 64 * self.g.bit_words), bool)
        for at, row in enumerate(rows):
            bits[at, [label for label, _ in row]] = True
        self.g.bits, self.g.goes_on = self._bits(bits), self._kept(bits.any(axis=1))
        parts = [[to for label, to in row if label // 64 == b] for row in rows for b in range(self.g.bit_words)]
        complete = [complete.get(s, []) for s in range(self.g.sequences)]
        self.g.child_at, self.g.child = self._kept(_starts(parts)), self._kept(_joined(parts))
        self.g.complete_at, self.g.complete = self._kept(_starts(complete)), self._kept(_joined(complete))
        self.g.lhs, self.g.rhs = self._kept(grammar.lhs), self._kept(grammar.rhs)
        indptr = grammar.rhs_indptr
        self.arrays.append(indptr)
        self.g.rhs_at = &indptr[0]

    def _chain_tables(self, grammar):
        chains = [grammar.chain(c) for c in range(self.g.chains + 1)]
        tops, bottoms = np.zeros(len(chains), np.int32), np.zeros(len(chains), np.int32)
        below, of_rule = [[] for _ in range(self.g.labels)], np.zeros(self.g.phrasal, np.int32)
        for c, rules in enumerate(chains[1:], 1):
            tops[c], bottoms[c] = grammar.lhs[rules[0]], grammar.children(rules[len(rules) - 1])[0]
            below[bottoms[c]].append(c)
            if len(rules) == 1:
                of_rule[rules[0]] = c
        self.g.chain_at, self.g.chain_rule = self._kept(_starts(chains)), self._kept(_joined(chains))
        self.g.chain_top, self.g.chain_bottom = self._kept(tops), self._kept(bottoms)
        self.g.chain_of_rule = self._kept(of_rule)
        self.g.chains_from_at, self.g.chains_from = self._kept(_starts(below)), self._kept(_joined(below))

    def _lexical_tables(self, grammar):
        counts = np.bincount(grammar.lexical_words, minlength=self.g.words)
        self.g.lexical_at = self._kept(np.concatenate([[0], np.cumsum(counts)]))
        self.g.lexical_tag = self._kept(grammar.lexical_tags)
        is_open = np.zeros(64 * self.g.bit_words, bool)
        is_open[grammar.open_tags] = True
        self.g.open = self._bits(is_open)
        self.g.open_tag, self.g.open_count = self._kept(grammar.open_tags), len(grammar.open_tags)

    cdef const int32_t *_kept(self, values):
        """Where a copy of some numbers stands, as long as this lives."""
        cdef const int32_t[::1] view = np.append(np.asarray(values, np.int32), np.int32(0))
        self.arrays.append(view)
        return &view[0]

    cdef const uint64_t *_bits(self, flags):
        """The same for flags, 64 of them a number."""
        cdef const uint64_t[::1] view = np.packbits(flags, bitorder='little').view('<u8').astype(np.uint64)
        self.arrays.append(view)
        return &view[0]


# ----------------------------------------------------------------------------------------------- memory


cdef Py_ssize_t room(const GrammarTables *g, Py_ssize_t n, Py_ssize_t items, Py_ssize_t edges) noexcept nogil:
    """Bytes that a chart of n words takes with so many items and edges before it is cut."""
    cdef Py_ssize_t spans = (n + 1) * (n + 1)
    return (8 * spans * g.bit_words + sizeof(Pending) * edges + 4 * (spans * (g.labels + 2) + 6 * items + 1 + 3 * edges
            + 3 * g.most + 1 + 3 * g.labels + g.rules + g.chains + 1))


cdef void lay(const GrammarTables *g, Chart *c, char *memory, Py_ssize_t n, Py_ssize_t items,
              Py_ssize_t edges) noexcept nogil:
    """Lays a chart into memory of room() bytes."""
    cdef Py_ssize_t spans = (n + 1) * (n + 1)
    c.n, c.item_room, c.edge_room = n, items, edges
    c.present = <uint64_t *> memory
    c.pending = <Pending *> (c.present + spans * g.bit_words)
    c.top = <int32_t *> (c.pending + edges)
    c.span_first = c.top + spans * g.labels
    c.span_last = c.span_first + spans
    c.beginning = c.span_last + spans
    c.first = c.beginning + 2 * items
    c.symbol = c.first + items + 1
    c.span = c.symbol + items
    c.number = c.span + items
    c.left = c.number + items
    c.right = c.left + edges
    c.event = c.right + edges
    c.count = c.event + edges
    c.place = c.count + g.most
    c.seen = c.place + g.most
    c.chains = c.seen + g.most + 1
    c.seen_chains = c.chains + g.labels
    c.base = c.seen_chains + g.labels
    c.rule_number = c.base + g.labels
    c.chain_number = c.rule_number + g.rules

# ----------------------------------------------------------------------------------------------- filling


cdef bint known(const GrammarTables *g, int32_t word) noexcept nogil:
    """Whether some rule writes a word."""
    return word >= 0 and g.lexical_at[word + 1] > g.lexical_at[word]


cdef bint fits(const GrammarTables *g, int32_t tag, int32_t word, int32_t given) noexcept nogil:
    """Whether a word may have a tag without a rule that writes it."""
    if g.tags:
        return tag == given
    return not known(g, word) and g.open[tag >> 6] >> (tag & 63) & 1


cdef bint fill(const GrammarTables *g, Chart *c, const int32_t *words, const int32_t *tags,
               const int32_t *stop) noexcept nogil:
    """Finds all items and edges. words, tags: [n]. False when there is not room enough, or the flag is set."""
    cdef Py_ssize_t length, i, j, first, span, pending, seen
    memset(c.count, 0, g.most * sizeof(int32_t))
    memset(c.chains, 0, g.labels * sizeof(int32_t))
    if c.item_room < 1:
        return False
    c.items, c.edges, c.beginnings = 1, 0, 0
    c.first[0] = c.first[1] = c.symbol[0] = c.span[0] = 0
    for length in range(1, c.n + 1):
        for i in range(c.n - length + 1):
            if is_set(stop):
                return False
            j, pending, seen = i + length, 0, 0
            span = i * (c.n + 1) + j
            memset(c.present + span * g.bit_words, 0, g.bit_words * sizeof(uint64_t))
            first, c.span_first[span] = c.items, <int32_t> c.beginnings
            if length == 1:
                if not _leaves(g, c, i, words[i], tags[i], &pending):
                    return False
            elif not _sequences(g, c, i, j, &seen):
                return False
            if length > 1 and not _complete(g, c, first, c.items, &pending):
                return False
            if not _labels(g, c, span, pending):
                return False
            c.span_last[span] = <int32_t> c.beginnings
    return True


cdef bint _leaves(const GrammarTables *g, Chart *c, Py_ssize_t i, int32_t word, int32_t tag,
                  Py_ssize_t *pending) noexcept nogil:
    """The tags that a word may have, as edges of bases."""
    cdef Py_ssize_t k
    if g.tags:
        return tag < 0 or _put(c, pending, tag, 0, 0, FREE)
    if known(g, word):
        for k in range(g.lexical_at[word], g.lexical_at[word + 1]):
            if not _put(c, pending, g.lexical_tag[k], 0, 0, <int32_t> (g.phrasal + k)):
                return False
        return True
    for k in range(g.open_count):
        if not _put(c, pending, g.open_tag[k], 0, 0, FREE):
            return False
    return True


cdef bint _sequences(const GrammarTables *g, Chart *c, Py_ssize_t i, Py_ssize_t j, Py_ssize_t *seen) noexcept nogil:
    """Sequences over (i, j): what begins in (i, k) and is continued by a label over (k, j)."""
    cdef Py_ssize_t k, b, W = g.bit_words, room = c.edge_room, left, right, pending = 0
    cdef Py_ssize_t found = 0, x
    cdef int32_t s, labels = <int32_t> g.labels
    cdef uint64_t met
    cdef const uint64_t *row
    cdef const uint64_t *there
    cdef const uint64_t *bits = g.bits
    cdef const int32_t *child
    cdef const int32_t *top
    cdef const int32_t *left_side
    cdef int32_t *count = c.count
    cdef int32_t *in_order = c.seen
    cdef Pending *put = c.pending
    for k in range(i + 1, j):
        left, right = i * (c.n + 1) + k, k * (c.n + 1) + j
        there, top = c.present + right * W, c.top + right * labels
        if not any_bit(there, W):
            continue
        for x in range(c.span_first[left], c.span_last[left]):
            left_side = c.beginning + 2 * x
            row = bits + left_side[1] * W
            for b in range(W):
                met = row[b] & there[b]
                if met == 0:
                    continue
                child = g.child + g.child_at[left_side[1] * W + b]
                while met:
                    if pending == room:
                        return False
                    s = child[ones(row[b] & ((met & -met) - 1))] - labels
                    put[pending].to, put[pending].left = s, left_side[0]
                    put[pending].right, put[pending].by = top[64 * b + lowest(met)], FREE
                    pending += 1
                    in_order[found] = s
                    found += count[s] == 0
                    count[s] += 1
                    met &= met - 1
    seen[0] = found
    if c.items + seen[0] > c.item_room or c.edges + pending > c.edge_room:
        return False
    for k in range(seen[0]):
        s = c.seen[k]
        c.place[s] = <int32_t> c.edges
        c.edges += c.count[s]
        c.count[s] = 0
        _item(g, c, <int32_t> g.labels + s, <int32_t> (i * (c.n + 1) + j))
    _deal(c, pending)
    return True


cdef bint _complete(const GrammarTables *g, Chart *c, Py_ssize_t item, Py_ssize_t end,
                    Py_ssize_t *pending) noexcept nogil:
    """What the sequences item..end-1 complete, as edges of bases."""
    cdef int32_t s
    cdef Py_ssize_t k
    for item in range(item, end):
        s = c.symbol[item] - <int32_t> g.labels
        for k in range(g.complete_at[s], g.complete_at[s + 1]):
            if not _put(c, pending, g.lhs[g.complete[k]], <int32_t> item, 0, g.complete[k]):
                return False
    return True


cdef bint _labels(const GrammarTables *g, Chart *c, Py_ssize_t span, Py_ssize_t pending) noexcept nogil:
    """Bases and labels of a span from the edges of its bases."""
    cdef Py_ssize_t seen = 0, tops = 0, p, q, k, edges = pending
    cdef int32_t a, t, chain
    for p in range(pending):
        a = c.pending[p].to
        if c.count[a] == 0:
            c.seen[seen] = a
            seen += 1
        c.count[a] += 1
    for q in range(seen):
        a = c.seen[q]
        for k in range(g.chains_from_at[a], g.chains_from_at[a + 1]):
            t = g.chain_top[g.chains_from[k]]
            if c.chains[t] == 0:
                c.seen_chains[tops] = t
                tops += 1
                edges += c.count[t] > 0
            c.chains[t] += 1
            edges += 1
    if c.items + seen + tops > c.item_room or c.edges + edges > c.edge_room:
        return False
    for q in range(seen):
        a = c.seen[q]
        c.place[a] = <int32_t> c.edges
        c.edges += c.count[a]
        c.base[a] = <int32_t> c.items
        if c.chains[a] == 0:
            _show(g, c, span, a)
        _item(g, c, a if c.chains[a] == 0 else -1 - a, <int32_t> span)
    _deal(c, pending)
    for q in range(tops):
        t = c.seen_chains[q]
        c.place[t] = <int32_t> c.edges
        c.edges += c.chains[t] + (c.count[t] > 0)
        _show(g, c, span, t)
        _item(g, c, t, <int32_t> span)
        if c.count[t]:
            _edge(c, t, c.base[t], 0, FREE)
        c.chains[t] = 0
    for q in range(seen):
        a = c.seen[q]
        for k in range(g.chains_from_at[a], g.chains_from_at[a + 1]):
            chain = g.chains_from[k]
            _edge(c, g.chain_top[chain], c.base[a], 0, _event(g, chain))
        c.count[a] = 0
    return True


cdef int32_t _event(const GrammarTables *g, int32_t chain) noexcept nogil:
    cdef int32_t at = g.chain_at[chain]
    return g.chain_rule[at] if g.chain_at[chain + 1] == at + 1 else CHAIN - chain


cdef void _show(const GrammarTables *g, Chart *c, Py_ssize_t span, int32_t label) noexcept nogil:
    """The next item is that of a label over a span."""
    c.top[span * g.labels + label] = <int32_t> c.items
    c.present[span * g.bit_words + (label >> 6)] |= <uint64_t> 1 << (label & 63)

# ----------------------------------------------------------------------------------------------- cutting


cdef Py_ssize_t mark(const GrammarTables *g, Chart *c, Py_ssize_t *edges) noexcept nogil:
    """Numbers the items that some whole tree uses; how many they are, nothing itself among them, and their edges. 0
    when there is no tree."""
    cdef Py_ssize_t x, items = 1
    cdef int32_t e
    edges[0] = 0
    if not c.present[c.n * g.bit_words + (g.start >> 6)] >> (g.start & 63) & 1:
        return 0
    memset(c.number, 0, c.items * sizeof(int32_t))
    x = c.top[c.n * g.labels + g.start]
    c.items = x + 1                                     # nothing that comes later is below it
    c.number[x] = 1
    while x > 0:
        if c.number[x]:
            for e in range(c.first[x], c.first[x + 1]):
                c.number[c.left[e]] = c.number[c.right[e]] = 1
        x -= 1
    c.number[0] = 0
    for x in range(1, c.items):
        if c.number[x]:
            c.number[x] = <int32_t> items
            items += 1
            edges[0] += c.first[x + 1] - c.first[x]
    return items


cdef void mark_rules(const GrammarTables *g, Chart *c) noexcept nogil:
    """Sets rule_number and chain_number of what marked items use to 1, of all else to 0."""
    cdef Py_ssize_t x
    cdef int32_t e, k, chain
    memset(c.rule_number, 0, g.rules * sizeof(int32_t))
    memset(c.chain_number, 0, (g.chains + 1) * sizeof(int32_t))
    for x in range(1, c.items):
        if c.number[x]:
            for e in range(c.first[x], c.first[x + 1]):
                if c.event[e] >= 0:
                    c.rule_number[c.event[e]] = 1
                elif c.event[e] != FREE:
                    chain = CHAIN - c.event[e]
                    c.chain_number[chain] = 1
                    for k in range(g.chain_at[chain], g.chain_at[chain + 1]):
                        c.rule_number[g.chain_rule[k]] = 1


cdef void pack(Chart *c, Py_ssize_t items, Py_ssize_t edges, Py_ssize_t parts, int32_t *memory) noexcept nogil:
    """Writes the marked items as a forest. Its events are the numbers in rule_number, then `parts` for none, then
    those in chain_number."""
    cdef Forest f = forest_at(memory, items, edges)
    cdef int32_t *first = <int32_t *> f.first
    cdef int32_t *symbol = <int32_t *> f.symbol
    cdef int32_t *span = <int32_t *> f.span
    cdef int32_t *left = <int32_t *> f.left
    cdef int32_t *right = <int32_t *> f.right
    cdef int32_t *event = <int32_t *> f.event
    cdef Py_ssize_t x, to = 0
    cdef int32_t e
    first[0] = first[1] = symbol[0] = span[0] = 0
    for x in range(1, c.items):
        if c.number[x] == 0:
            continue
        symbol[c.number[x]], span[c.number[x]] = c.symbol[x], c.span[x]
        for e in range(c.first[x], c.first[x + 1]):
            left[to], right[to] = c.number[c.left[e]], c.number[c.right[e]]
            if c.event[e] >= 0:
                event[to] = c.rule_number[c.event[e]]
            else:
                event[to] = <int32_t> parts if c.event[e] == FREE else c.chain_number[CHAIN - c.event[e]]
            to += 1
        first[c.number[x] + 1] = <int32_t> to


cdef inline bint _put(Chart *c, Py_ssize_t *pending, int32_t to, int32_t left, int32_t right,
                      int32_t by) noexcept nogil:
    """Notes an edge of a span; False when there is no room for it."""
    cdef Py_ssize_t p = pending[0]
    if p == c.edge_room:
        return False
    c.pending[p].to, c.pending[p].left, c.pending[p].right, c.pending[p].by = to, left, right, by
    pending[0] += 1
    return True


cdef inline bint any_bit(const uint64_t *bits, Py_ssize_t words) noexcept nogil:
    cdef Py_ssize_t b
    cdef uint64_t some = 0
    for b in range(words):
        some |= bits[b]
    return some != 0


cdef void _deal(Chart *c, Py_ssize_t pending) noexcept nogil:
    """Puts the edges of a span where those of their items go."""
    cdef Py_ssize_t p
    cdef int32_t at
    cdef const Pending *edge = c.pending
    cdef int32_t *place = c.place
    cdef int32_t *left = c.left
    cdef int32_t *right = c.right
    cdef int32_t *event = c.event
    for p in range(pending):
        at = place[edge[p].to]
        place[edge[p].to] = at + 1
        left[at], right[at], event[at] = edge[p].left, edge[p].right, edge[p].by


cdef void _edge(Chart *c, int32_t to, int32_t left, int32_t right, int32_t by) noexcept nogil:
    cdef int32_t at = c.place[to]
    c.left[at], c.right[at], c.event[at] = left, right, by
    c.place[to] += 1


cdef void _item(const GrammarTables *g, Chart *c, int32_t symbol, int32_t span) noexcept nogil:
    """The next item; its edges end at c.edges."""
    if symbol >= 0 and g.goes_on[symbol]:
        c.beginning[2 * c.beginnings], c.beginning[2 * c.beginnings + 1] = <int32_t> c.items, symbol
        c.beginnings += 1
    c.symbol[c.items], c.span[c.items] = symbol, span
    c.items += 1
    c.first[c.items] = <int32_t> c.edges


def _starts(rows):
    return np.cumsum([0, *map(len, rows)])


def _joined(rows):
    return np.array([value for row in rows for value in row], np.int32)
