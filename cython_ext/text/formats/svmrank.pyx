"""Lines of `target qid:n index:value ... [# comment]` in groups: each line is a candidate of the example of its qid."""

from libc.stdint cimport int64_t

from cython_ext.text.numbers cimport GOOD, INFINITE, read_number
from cython_ext.text.formats.index_value cimport PairLines
from cython_ext.text.rows cimport Doubles, Longs
from cython_ext.text.vocabulary cimport Vocabulary


cdef class CandidateParser(PairLines):
    """A run of lines with the same qid is an example. losses: whether targets must be losses, so not negative."""

    cdef Doubles targets
    cdef Longs qids         # of the examples
    cdef bint losses

    def __cinit__(self, Vocabulary attributes=None, bint losses=False):
        self.form = 'LOSS qid:N index:value ...'
        self.targets, self.qids, self.losses = Doubles(), Longs(), losses
        if attributes is not None:
            self.ids.freeze(attributes)

    def begin(self, carried):
        self.qid = -1

    def take(self):
        """The arrays of everything read since the last call, by their names in CandidateDataset."""
        self.end_example()
        indptr, indices, values = self.rows.take()
        offsets = self.offsets.take()
        self.offsets.push(0)
        return {'offsets': offsets, 'indptr': indptr, 'indices': indices, 'values': values,
                'targets': self.targets.take(), 'qids': self.qids.take()}

    cdef int end_example(self) except -1 nogil:
        if self.targets.count > self.offsets.data[self.offsets.count - 1]:
            self.offsets.push(self.targets.count)
        return 0

    cdef int end_line(self, int64_t qid, const char* target, Py_ssize_t size) except -1 nogil:
        cdef const char* p = target
        cdef double value = 0.0
        cdef int kind = read_number(&p, &value)
        if kind != GOOD or p != target + size:
            with gil:
                self.fail('target {} is too large' if kind == INFINITE else 'target {} is not a number', target,
                          target + size, f'expected {self.form}')
        if self.losses and value < 0:
            with gil:
                self.fail('target {} is a loss below 0', target, target + size,
                          'expected losses from 0; --grades reads grades of relevance, of which higher ones are better')
        if qid < 0:
            with gil:
                self.fail('no qid', target, target,
                          f'expected {self.form}; lines of the same qid are the candidates of one example')
        if qid != self.qid:
            self.end_example()
            self.qids.push(qid)
            self.qid = qid
        return self.targets.push(value)
