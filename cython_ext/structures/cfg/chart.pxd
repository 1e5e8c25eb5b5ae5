"""All parses of a sentence under a grammar; see chart.pyx."""

from libc.stdint cimport int32_t, int64_t, uint64_t


cdef struct Pending:            # an edge before it is put with those of its item
    int32_t to, left, right, by


cdef struct Chart:
    Py_ssize_t n, item_room, edge_room, items, edges, beginnings
    int32_t *top                # [(n + 1)^2, labels] the item of a label over a span
    uint64_t *present           # [(n + 1)^2, words of bits] labels that have one
    int32_t *span_first         # [(n + 1)^2] the beginnings of a span:
    int32_t *span_last
    int32_t *beginning          # [item room, 2] items that some rule goes on behind, with their symbols
    int32_t *first              # raw items and edges, as a Forest has them
    int32_t *symbol
    int32_t *span
    int32_t *left
    int32_t *right
    int32_t *event
    int32_t *count              # [sequences or labels] edges into each, 0 between uses
    int32_t *chains             # [labels] the same from chains
    int32_t *place              # [sequences or labels] where the next edge goes
    int32_t *base               # [labels] the item of a label below its chains
    int32_t *seen               # [sequences or labels, and one] those with edges, in order
    int32_t *seen_chains        # [labels]
    Pending *pending            # [edge room] of a span
    int32_t *number             # [item room] of an item in the forest, 0 for none
    int32_t *rule_number        # [rules] of a rule in the forest
    int32_t *chain_number       # [chains + 1]


cdef struct GrammarTables:
    Py_ssize_t labels, words, sequences, rules, phrasal, chains, start, bit_words, open_count
    Py_ssize_t most             # of sequences and labels
    bint tags                   # whether these are the terminals
    const uint64_t *bits        # [labels + sequences, bit_words] labels that continue a label or sequence,
    const int32_t *child_at     # [labels + sequences, bit_words] where those of a word of bits begin in
    const int32_t *child        # the symbols that they make of it, by label
    const int32_t *goes_on      # [labels + sequences] whether there are any
    const int32_t *complete_at  # [sequences + 1]
    const int32_t *complete     # rules whose right-hand side a sequence is
    const int32_t *lhs          # [phrasal]
    const int64_t *rhs_at       # [phrasal + 1]
    const int32_t *rhs
    const int32_t *chain_at     # [chains + 2] chains from 1; 0 has no rules
    const int32_t *chain_rule
    const int32_t *chain_top    # [chains + 1] labels
    const int32_t *chain_bottom
    const int32_t *chain_of_rule        # [phrasal] the chain of nothing but a unary rule
    const int32_t *chains_from_at       # [labels + 1]
    const int32_t *chains_from          # chains by their lowest label
    const int32_t *lexical_at   # [words + 1]
    const int32_t *lexical_tag  # of lexical rules, by word
    const uint64_t *open        # [bit_words] tags of unknown words
    const int32_t *open_tag     # [open_count]


cdef class ChartGrammar:
    cdef readonly object grammar
    cdef GrammarTables g
    cdef object arrays

    cdef const int32_t *_kept(self, values)
    cdef const uint64_t *_bits(self, flags)


cdef Py_ssize_t room(const GrammarTables *g, Py_ssize_t n, Py_ssize_t items, Py_ssize_t edges) noexcept nogil
cdef void lay(const GrammarTables *g, Chart *c, char *memory, Py_ssize_t n, Py_ssize_t items,
              Py_ssize_t edges) noexcept nogil
cdef bint fits(const GrammarTables *g, int32_t tag, int32_t word, int32_t given) noexcept nogil
cdef bint fill(const GrammarTables *g, Chart *c, const int32_t *words, const int32_t *tags,
               const int32_t *stop) noexcept nogil
cdef Py_ssize_t mark(const GrammarTables *g, Chart *c, Py_ssize_t *edges) noexcept nogil
cdef void mark_rules(const GrammarTables *g, Chart *c) noexcept nogil
cdef void pack(Chart *c, Py_ssize_t items, Py_ssize_t edges, Py_ssize_t parts, int32_t *memory) noexcept nogil


cdef enum:
    FREE = -1                   # event of an edge that adds no score; of rule r it is r,
    CHAIN = -2                  # of a chain c of several rules CHAIN - c
