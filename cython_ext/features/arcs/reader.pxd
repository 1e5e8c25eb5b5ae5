from libc.stdint cimport int32_t, int64_t, uint64_t

cdef enum:
    ATOMS = 17              # of templates.py, in their order
    WIDEST = 4
    SHARE = 64              # keys that next_keys gives at most


cdef inline Py_ssize_t bin_of(Py_ssize_t h, Py_ssize_t d) noexcept nogil:
    """Direction and distance of an arc, a number of BINS of templates.py."""
    cdef Py_ssize_t distance = d - h if d > h else h - d
    return (distance if distance < 6 else 6 if distance <= 10 else 7) + (0 if d > h else 7)


cdef struct Template:
    int number, count
    int[WIDEST] atoms
    uint64_t[WIDEST] radices


cdef struct Column:
    const int32_t *value    # of positions -1..T + 1, one sentence after the other; NULL: there is none
    const int32_t *before   # the last position before one that has the same value, 0 where there is none


cdef class ArcReader:
    cdef readonly Py_ssize_t n, longest
    cdef readonly object offsets
    cdef const int64_t *offset_data
    cdef object arrays
    cdef Column words, tags, coarse
    cdef Template[32] arcs, relations
    cdef Py_ssize_t arc_templates, relation_templates       # that can be used
    cdef Py_ssize_t arc_total, relation_total               # of all

    cdef _put(self, Column *column, values, ends, Py_ssize_t size)
    cdef Py_ssize_t _templates(self, Template *out, templates, shape, bint coarse)
    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t next_keys(self, Py_ssize_t i, Py_ssize_t h, Py_ssize_t d, bint relation, Py_ssize_t *at,
                              uint64_t *keys) noexcept nogil
