"""Penn brackets: trees of nodes `(LABEL ...)`, white space free; or plain sentences, a line of words for each."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memchr, memcmp

from cython_ext.text.output cimport Text
from cython_ext.text.parser cimport Parser, is_line_end, skip_blanks, word_end
from cython_ext.text.rows cimport Buffer, Ints, Longs
from cython_ext.text.vocabulary cimport Vocabulary

# What a file holds, and what the tree of a sentence is.
PLAIN, TREE, TOP, BARE = 0, 1, 2, 3

cdef enum:
    NO_TREE = 0         # PLAIN
    SOME_TREE = 1       # TREE
    NAMED_TOP = 2       # TOP: its outermost label is TOP or ROOT
    BARE_TOP = 3        # BARE: the outermost node has no label
    UNKNOWN = -1
    NOTHING = -2


cdef struct Node:
    const char* label
    const char* label_end
    const char* word
    const char* word_end
    int64_t line        # of its bracket
    int64_t phrase      # its place among the phrases that were read; UNKNOWN: no nodes in it yet; NOTHING: () is in it
    int64_t begin       # first word, from 0 in the sentence
    int64_t tokens      # words right in it


cdef class BracketParser(Parser):
    """Parser of trees, and of plain sentences where no `trees` are wanted.

    Labels are cut at the first `-`, `=` or `|` behind their first character, but not where they begin with `-`. Tags
    -NONE- go with their words, then phrases without words. `tagged`: words of plain sentences are `WORD_TAG`. Trees
    without words, and in files of plain sentences empty lines, are `empties` (data_formats.datasets.empties).
    words, labels : vocabularies that are kept to; None: they are learned
    """

    cdef bint trees, tagged, frozen
    cdef readonly Vocabulary words, labels
    cdef Ints word_ids, tag_ids, node_labels, node_begins, node_ends, forms
    cdef Longs spelling, node_offsets, empties
    cdef Buffer stack, plain_word
    cdef Node* open             # [depth] from the outermost node on
    cdef int64_t depth, first   # first word of the open sentence
    cdef int64_t phrases        # in the sentences before it
    cdef int kind               # of the file: -1 unknown yet, PLAIN, TREE
    cdef int64_t blank          # lines before its first word
    cdef bint within            # a line of words
    cdef const char* start      # of the block
    cdef readonly int64_t traces, lemmas

    def __cinit__(self, bint trees, bint tagged=False, Vocabulary words=None, Vocabulary labels=None):
        self.trees, self.tagged, self.frozen = trees, tagged, words is not None
        if self.frozen and labels is None:
            raise ValueError('both vocabularies or none')
        self.words, self.labels = (words, labels) if self.frozen else (Vocabulary(), Vocabulary())
        for names in (self.words, self.labels):
            (<Vocabulary>names)._index(2 * (<Vocabulary>names).count + 2)
        self.word_ids, self.tag_ids, self.forms = Ints(), Ints(), Ints()
        self.node_labels, self.node_begins, self.node_ends = Ints(), Ints(), Ints()
        self.spelling, self.node_offsets, self.empties = Longs(), Longs(), Longs()
        self.node_offsets.push(0)
        self.stack, self.plain_word = Buffer('b'), Buffer('b')

    def begin(self, carried):
        """carried: what the file holds; where there was no word yet, -1 - the number of its lines."""
        unknown = carried is None or carried < 0
        self.kind = SOME_TREE if self.trees else -1 if unknown else carried
        self.blank = -1 - carried if unknown and carried is not None else 0
        self.within = False

    def take(self):
        offsets, node_offsets = self.offsets.take(), self.node_offsets.take()
        self.offsets.push(0)
        self.node_offsets.push(0)
        self.first = self.phrases = 0
        return {'offsets': offsets, 'words': self.word_ids.take(), 'tags': self.tag_ids.take(),
                'node_offsets': node_offsets, 'node_labels': self.node_labels.take(),
                'node_begins': self.node_begins.take(), 'node_ends': self.node_ends.take(),
                'forms': self.forms.take(), 'spelling': self.spelling.take().reshape(-1, 4),
                'empties': self.empties.take()}

    def learned(self, parts):
        """Names in order of first appearance (training)."""
        parts.update(word_names=self.words, label_names=self.labels)

    cdef int parse(self, const char* p, const char* end) except -1 nogil:
        self.start, self.depth = p, 0
        while p < end:
            if p[0] == b'\n':
                self.line += 1
                if self.kind < 0:
                    self.blank += 1
                elif self.kind == NO_TREE:
                    self._blank_line()
            elif not is_white(p[0]):
                if self.kind < 0:
                    self._decide(p[0])
                if self.kind == NO_TREE:
                    p = self._sentence(p)
                    continue
                if p[0] == b'(':
                    p = self._open(p + 1)
                elif p[0] == b')':
                    p = self._close(p)
                else:
                    p = self._token(p)
                continue
            p += 1
        if self.depth:
            with gil:
                self._never_closed()
        return 0

    cdef int _decide(self, char c) except -1 nogil:
        """The first character that is no white space says what the file holds."""
        self.kind = SOME_TREE if self.trees or is_bracket(c) else NO_TREE
        while self.kind == NO_TREE and self.blank:
            self._end(NO_TREE)
            self.blank -= 1
        return 0

    cdef int _blank_line(self) except -1 nogil:
        """A line ends in a file of plain sentences: a sentence of no words, if it holds none."""
        if not self.within:
            self._end(NO_TREE)
        self.within = False
        return 0

    cdef int _never_closed(self) except -1:
        cdef const char* nothing = b''
        cdef Node* outer = &self.open[0]
        self.line = outer.line
        missing = f'{self.depth} closing bracket{"s" * (self.depth > 1)} missing'
        return self.fail('the tree that begins here has no end', nothing, nothing,
                         f'expected ) before the end of the file; {missing}')

    # ----------------------------------------------------------------------------------------------- trees

    cdef const char* _open(self, const char* p) except NULL nogil:
        """A node begins, up to its label."""
        cdef Node* node
        cdef Node* above
        self.stack.grow((self.depth + 1) * sizeof(Node))
        self.open = <Node*>self.stack.data
        node = &self.open[self.depth]
        node.line, node.phrase, node.tokens, node.begin = self.line, UNKNOWN, 0, self.word_ids.count - self.first
        p = self._white(p)
        node.label = p
        p = node.label_end = token_end(p)
        if self.depth:
            above = &self.open[self.depth - 1]
            if above.tokens:
                with gil:
                    self.fail('a node beside the word {}', above.word, above.word_end,
                              'expected words under a tag of their own')
            if node.label == node.label_end:
                if p[0] == b')' and self.depth == 1 and is_unnamed(above) and above.phrase == UNKNOWN:
                    above.phrase = NOTHING
                    return p + 1
                with gil:
                    self.fail('a node without label inside a tree', node.label, node.label,
                              'expected (LABEL ...); only the outermost node may have none')
            if above.phrase == NOTHING:
                with gil:
                    self.fail('a node beside ()', node.label, node.label, 'expected (()) where a tree has no words')
            if above.phrase == UNKNOWN:
                self._phrase(above)
        if node.label[0] == b'\\':
            with gil:
                self.fail('label {}', node.label, node.label_end, 'expected one that does not begin with a backslash')
        self.depth += 1
        return p

    cdef int _phrase(self, Node* node) except -1 nogil:
        """What a node with nodes in it is."""
        node.phrase = self.node_labels.count
        self.node_labels.push(self._label(node.label, node.label_end))
        self.node_begins.push(<int32_t>node.begin)
        self.node_ends.push(0)
        return 0

    cdef const char* _close(self, const char* p) except NULL nogil:
        """A node ends."""
        cdef Node* node
        if self.depth == 0:
            with gil:
                self.fail('a closing bracket too many', p, p, 'expected ( or the end of the file')
        self.depth -= 1
        node = &self.open[self.depth]
        if node.tokens:
            self._leaf(node)
        elif node.phrase == UNKNOWN:
            with gil:
                self.line = node.line
                self.fail('node {} is empty', node.label, node.label_end, 'expected a word or nodes in it')
        elif node.phrase >= 0 and self.word_ids.count - self.first == node.begin:
            self.node_labels.count = self.node_begins.count = self.node_ends.count = node.phrase
        elif node.phrase >= 0:
            self.node_ends.data[node.phrase] = <int32_t>(self.word_ids.count - self.first)
        if self.depth == 0:
            self._end(SOME_TREE if not is_top(node) else BARE_TOP if is_unnamed(node) else NAMED_TOP)
        return p + 1

    cdef int _leaf(self, Node* node) except -1 nogil:
        """A word with its tag, unless it stands for nothing."""
        if node.label_end - node.label == 6 and memcmp(node.label, b'-NONE-', 6) == 0:
            self.traces += 1
            return 0
        self.lemmas += node.tokens == 2
        self._word(node.word, node.word_end)
        self.tag_ids.push(self._label(node.label, node.label_end))
        self.spelling.push(node.label - self.start)
        self.spelling.push(cut(node.label, node.label_end) - self.start)
        return 0

    cdef const char* _token(self, const char* p) except NULL nogil:
        """A word in a node, or what has no place there."""
        cdef const char* end = token_end(p)
        cdef Node* node
        if self.depth == 0:
            with gil:
                self.fail('{} outside of any tree', p, end, 'expected ( or the end of the file')
        node = &self.open[self.depth - 1]
        if node.phrase != UNKNOWN:
            with gil:
                self.fail('{} beside nodes', p, end, 'expected words under a tag of their own: (TAG WORD)')
        node.tokens += 1
        if node.tokens == 1:
            node.word, node.word_end = p, end
        elif node.tokens > 2:
            with gil:
                self.fail('{} is the third word under one tag', p, end, 'expected (TAG WORD) or (TAG WORD LEMMA)')
        return end

    cdef int _end(self, int32_t form) except -1 nogil:
        """A sentence ends."""
        if self.word_ids.count == self.first:
            return self.empties.push(self.offsets.count - 1)
        self.forms.push(form)
        self.first, self.phrases = self.word_ids.count, self.node_labels.count
        self.offsets.push(self.first)
        self.node_offsets.push(self.phrases)
        return 0

    cdef const char* _white(self, const char* p) except NULL nogil:
        """Behind white space; every block ends in a newline, behind which there is a NUL."""
        while is_white(p[0]):
            self.line += p[0] == b'\n'
            p += 1
        return p

    # ------------------------------------------------------------------------------------------- sentences

    cdef const char* _sentence(self, const char* p) except NULL nogil:
        """A line of words; returns its end."""
        cdef const char* end
        cdef const char* tag
        self.within = True
        while True:
            p = skip_blanks(p)
            if is_line_end(p[0]):
                self._end(NO_TREE)
                return p
            end = word_end(p)
            if memchr(p, b'(', end - p) != NULL or memchr(p, b')', end - p) != NULL:
                with gil:
                    self.fail('a bracket in {}', p, end,
                              'expected -LRB- or -RRB- in sentences of words, or trees alone')
            tag = end
            if self.tagged:
                while tag > p and tag[0] != b'_':
                    tag -= 1
                if tag == p or tag + 1 == end or tag == end:
                    with gil:
                        self.fail('word {} without tag', p, end, 'expected WORD_TAG: the model looks at tags')
            self._word(p, tag)
            tag += self.tagged
            self.tag_ids.push(self._label(tag, end) if self.tagged else -1)
            self.spelling.push(tag - self.start)
            self.spelling.push(cut(tag, end) - self.start)
            p = end

    # ----------------------------------------------------------------------------------------------- names

    cdef int32_t _label(self, const char* p, const char* end) except -2 nogil:
        """The id of a label without functions; -1 for no label, or one that is not known."""
        end = cut(p, end)
        if p == end:
            return -1
        return self.labels.find(p, end - p) if self.frozen else self.labels.intern(p, end - p)

    cdef int _word(self, const char* p, const char* end) except -1 nogil:
        """One more word, and where it stands."""
        cdef int64_t size = end - p
        cdef const char* text = p
        cdef char bracket
        self.spelling.push(p - self.start)
        self.spelling.push(end - self.start)
        if memchr(p, b'\\', size) != NULL:
            self.plain_word.grow(size)
            size = unescaped(p, end, self.plain_word.data)
            text = self.plain_word.data
        elif size == 5 and p[0] == b'-':
            bracket = bracket_named(p)
            if bracket:
                text, size = &bracket, 1
        return self.word_ids.push(self.words.find(text, size) if self.frozen else self.words.intern(text, size))


cdef bint is_white(char c) noexcept nogil:
    return c == b' ' or c == b'\n' or c == b'\t' or c == b'\r'


cdef bint is_bracket(char c) noexcept nogil:
    return c == b'(' or c == b')'


cdef const char* token_end(const char* p) noexcept nogil:
    """The end of a label or word: white space or a bracket without a backslash before it, or the NUL behind the text,
    which an open bracket at its end leads to."""
    while not is_white(p[0]) and not is_bracket(p[0]) and p[0]:
        p += 2 if p[0] == b'\\' and (is_bracket(p[1]) or p[1] == b'\\') else 1
    return p


cdef const char* cut(const char* p, const char* end) noexcept nogil:
    """The end of a label without functions and indices."""
    cdef const char* at = p + 1
    if p == end or p[0] == b'-':
        return end
    while at < end and at[0] != b'-' and at[0] != b'=' and at[0] != b'|':
        at += 1
    return at


cdef bint is_top(const Node* node) noexcept nogil:
    """Whether the label of an outermost node is none, TOP or ROOT."""
    cdef Py_ssize_t size = node.label_end - node.label
    return (size == 0 or (size == 3 and memcmp(node.label, b'TOP', 3) == 0)
            or (size == 4 and memcmp(node.label, b'ROOT', 4) == 0))


cdef bint is_unnamed(const Node* node) noexcept nogil:
    return node.label == node.label_end


cdef char bracket_named(const char* p) noexcept nogil:
    """The bracket that five characters are the name of, 0 for none."""
    if memcmp(p + 2, b'RB-', 3) == 0:
        return 40 if p[1] == b'L' else 41 if p[1] == b'R' else 0
    if memcmp(p + 2, b'CB-', 3) == 0:
        return 123 if p[1] == b'L' else 125 if p[1] == b'R' else 0
    if memcmp(p + 2, b'SB-', 3) == 0:
        return 91 if p[1] == b'L' else 93 if p[1] == b'R' else 0
    return 0


cdef int64_t unescaped(const char* p, const char* end, char* out) noexcept nogil:
    """Copies a word without the backslashes before / * ( ) and backslashes; its size."""
    cdef int64_t size = 0
    while p < end:
        if p[0] == b'\\' and p + 1 < end and (p[1] == b'/' or p[1] == b'*' or p[1] == b'\\' or is_bracket(p[1])):
            p += 1
        out[size] = p[0]
        size += 1
        p += 1
    return size


# ------------------------------------------------------------------------------------------------ output


def put_trees(bytes block, data, headers, end, empties, stream):
    """The trees of a data_formats.datasets.cfg.TreeDataset, a line for each, its words spelled as in the block, and
    without the outermost label where the file has none; `(())` for those without words.

    headers : None, or for each line bytes that go before it
    end : bytes behind each
    empties : where trees without words stand (data_formats.datasets.empties)
    """
    cdef const char* text = block
    cdef const int64_t[::1] offsets = data.offsets, node_offsets = data.node_offsets
    cdef const int32_t[::1] tags = data.tags, labels = data.node_labels, ends = data.node_ends
    cdef const int32_t[::1] begins = data.node_begins, forms = data.forms
    cdef const int64_t[:, ::1] spelling = data.spelling
    cdef Vocabulary names = data.label_names
    cdef Text out = Text(stream)
    cdef Ints stack = Ints()
    cdef const int64_t[::1] empty = np.zeros(0, np.int64) if empties is None else empties
    cdef int64_t i, t, p, at, e = 0
    cdef bytes header, rest = end
    for i in range(offsets.shape[0]):
        while e < empty.shape[0] and empty[e] == i:
            if headers is not None:
                header = headers[i + e]
                out.put(header, len(header))
            out.put(b'(())\n', 5)
            out.put(rest, len(rest))
            e += 1
        if i == offsets.shape[0] - 1:
            break
        if headers is not None:
            header = headers[i + e]
            out.put(header, len(header))
        p = node_offsets[i]
        with nogil:
            for t in range(offsets[i], offsets[i + 1]):
                at = t - offsets[i]
                if at:
                    out.byte(b' ')
                while p < node_offsets[i + 1] and begins[p] == at:
                    out.byte(b'(')
                    if forms[i] != BARE_TOP or p > node_offsets[i]:
                        if labels[p] >= 0:
                            out.put_name(names, labels[p])
                        else:
                            out.put(b'TOP', 3)
                    out.byte(b' ')
                    stack.push(ends[p])
                    p += 1
                out.byte(b'(')
                if tags[t] >= 0:
                    out.put_name(names, tags[t])
                else:
                    out.put(text + spelling[t, 2], spelling[t, 3] - spelling[t, 2])
                out.byte(b' ')
                put_word(out, text + spelling[t, 0], text + spelling[t, 1], forms[i] == NO_TREE)
                out.byte(b')')
                while stack.count and stack.data[stack.count - 1] == at + 1:
                    out.byte(b')')
                    stack.count -= 1
            out.byte(b'\n')
        out.put(rest, len(rest))
    out.flush(0)


cdef int put_word(Text out, const char* p, const char* end, bint plain) except -1 nogil:
    """A word as it stands in the file; one of a plain sentence with a backslash more where its last one would hide the
    bracket behind it."""
    cdef const char* at = end
    out.put(p, end - p)
    while plain and at > p and (at - 1)[0] == b'\\':
        at -= 1
    if plain and (end - at) % 2:
        out.byte(b'\\')
    return 0
