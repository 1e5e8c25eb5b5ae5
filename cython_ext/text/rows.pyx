"""Growing arrays that are handed to NumPy without a copy, and sparse rows made of them."""

import numpy as np

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES
from libc.math cimport isinf
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from cython_ext.text.errors import TextError

cdef enum:
    SHORT = 64      # entries of a row that is sorted on the stack


cdef class Buffer:
    """Memory of items of one dtype that grows by half; through the buffer protocol it becomes an array."""

    def __cinit__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.format = self.dtype.char.encode()
        self.itemsize = self.dtype.itemsize

    def __dealloc__(self):
        free(self.data)

    cdef int grow(self, int64_t items) except -1 nogil:
        """Room for so many items at least."""
        cdef int64_t room = items * self.itemsize
        cdef void* p
        if room > self.room:
            room = max(room, self.room + (self.room >> 1), 512)
            p = realloc(self.data, room)
            if p == NULL:
                with gil:
                    raise MemoryError()
            self.data = <char*>p
            self.room = room
        return 0

    def __getbuffer__(self, Py_buffer* view, int flags):
        self.shape[0] = self.size // self.itemsize
        self.strides[0] = self.itemsize
        view.buf = self.data
        view.obj = self
        view.len = self.size
        view.itemsize = self.itemsize
        view.readonly = 0
        view.ndim = 1
        view.format = <char*>self.format if flags & PyBUF_FORMAT else NULL
        view.shape = self.shape if flags & PyBUF_ND else NULL
        view.strides = self.strides if (flags & PyBUF_STRIDES) == PyBUF_STRIDES else NULL
        view.suboffsets = NULL
        view.internal = NULL

    def __releasebuffer__(self, Py_buffer* view):
        pass


cdef object array_of(Buffer buffer, int64_t count):
    """The first `count` items as an array that owns the memory; what was allocated beyond goes back."""
    cdef int64_t size = count * buffer.itemsize
    cdef void* p
    if count == 0:
        return np.empty(0, dtype=buffer.dtype)
    p = realloc(buffer.data, size)
    if p != NULL:
        buffer.data = <char*>p
        buffer.room = size
    buffer.size = size
    return np.frombuffer(buffer, dtype=buffer.dtype)


cdef class Items:
    """A growing array. A subclass has its items as `data`, with which `_move` keeps up, and pushes them."""

    cdef void _move(self) noexcept nogil:
        """The memory is elsewhere now."""

    cdef int reserve(self, int64_t items) except -1 nogil:
        """Room for so many items at least."""
        self.buffer.grow(items)
        self.room = self.buffer.room // self.buffer.itemsize
        self._move()
        return 0

    def take(self):
        """The values as an array; the object starts anew."""
        out = array_of(self.buffer, self.count)
        self.buffer = Buffer(self.buffer.dtype)
        self.count = self.room = 0
        self._move()
        return out


cdef class Ints(Items):
    """A growing int32 array."""

    def __cinit__(self):
        self.buffer = Buffer(np.int32)

    cdef void _move(self) noexcept nogil:
        self.data = <int32_t*>self.buffer.data


cdef class Longs(Items):
    """A growing int64 array."""

    def __cinit__(self):
        self.buffer = Buffer(np.int64)

    cdef void _move(self) noexcept nogil:
        self.data = <int64_t*>self.buffer.data


cdef class Doubles(Items):
    """A growing float64 array."""

    def __cinit__(self):
        self.buffer = Buffer(np.float64)

    cdef void _move(self) noexcept nogil:
        self.data = <double*>self.buffer.data


cdef class SparseRows:
    """CSR rows under construction: `push` entries, then end the row; `values` appear with the first that is not 1."""

    def __cinit__(self):
        self._anew()

    def _anew(self):
        self.indptr = Longs()
        self.indptr.push(0)
        self.index_buffer = Buffer(np.int32)
        self.value_buffer = Buffer(np.float64)
        self.indices = NULL
        self.values = NULL
        self.count = self.room = self.start = 0

    def take(self):
        """(indptr int64 [rows + 1], indices int32, values float64 or None); the object starts anew."""
        values = None if self.values == NULL else array_of(self.value_buffer, self.count)
        out = self.indptr.take(), array_of(self.index_buffer, self.count), values
        self._anew()
        return out

    def extend(self, const int64_t[::1] indptr, const int32_t[::1] indices, values):
        """Add whole rows, a CSR triple with values float64 or None; no row may be open."""
        cdef int64_t rows = indptr.shape[0] - 1, size = indices.shape[0], row
        cdef const double[::1] given = values
        cdef const double* first = NULL
        with nogil:
            self.indptr.reserve(self.indptr.count + rows)
            for row in range(rows):
                self.indptr.data[self.indptr.count + row] = self.count + indptr[row + 1]
            self.indptr.count += rows
            if size > 0:
                if given is not None:
                    first = &given[0]
                self._append(&indices[0], first, size)

    cdef int _append(self, const int32_t* indices, const double* values, int64_t size) except -1 nogil:
        """So many entries; values NULL where all are 1."""
        cdef int64_t i
        self._reserve(self.count + size)
        if values != NULL and self.values == NULL:
            self._materialise()
        memcpy(self.indices + self.count, indices, size * sizeof(int32_t))
        if values != NULL:
            memcpy(self.values + self.count, values, size * sizeof(double))
        elif self.values != NULL:
            for i in range(self.count, self.count + size):
                self.values[i] = 1.0
        self.count += size
        self.start = self.count
        return 0

    cdef int _more(self) except -1 nogil:
        return self._reserve(self.count + 1)

    cdef int _reserve(self, int64_t items) except -1 nogil:
        """Room for so many entries at least."""
        self.index_buffer.grow(items)
        self.indices = <int32_t*>self.index_buffer.data
        self.room = self.index_buffer.room // sizeof(int32_t)
        if self.values != NULL:
            self.value_buffer.grow(self.room)
            self.values = <double*>self.value_buffer.data
        return 0

    cdef int _materialise(self) except -1 nogil:
        """Write out the ones that were implied so far."""
        cdef int64_t i
        if self.room == 0:
            self._more()
        self.value_buffer.grow(self.room)
        self.values = <double*>self.value_buffer.data
        for i in range(self.count):
            self.values[i] = 1.0
        return 0

    cdef int end_ascending_row(self) except -1 nogil:
        """Close a row whose indices ascend already."""
        self.start = self.count
        return self.indptr.push(self.count)

    cdef int end_row(self) except -1 nogil:
        """Close the row: sort it, and add up repeated indices."""
        cdef int64_t n = self.count - self.start
        cdef int32_t* k = self.indices + self.start
        cdef double* v = NULL if self.values == NULL else self.values + self.start
        if n > SHORT:
            return self._end_long_row()
        if not is_ascending(k, n) and not sort_distinct(k, v, n):
            insertion_sort(k, v, n)
            self._merge()
        return self.end_ascending_row()

    cdef int _end_long_row(self) except -1 nogil:
        """The same for rows where insertion would be slow."""
        if not is_ascending(self.indices + self.start, self.count - self.start):
            with gil:
                self._sort()
            self._merge()
        return self.end_ascending_row()

    cdef int _sort(self) except -1:
        cdef int64_t size = self.count - self.start
        cdef int32_t[::1] k = <int32_t[:size]>(self.indices + self.start)
        cdef double[::1] v
        order = np.argsort(np.asarray(k), kind='stable')
        cdef int32_t[::1] sorted_k = np.asarray(k)[order]
        cdef double[::1] sorted_v
        k[:] = sorted_k
        if self.values != NULL:
            v = <double[:size]>(self.values + self.start)
            sorted_v = np.asarray(v)[order]
            v[:] = sorted_v
        return 0

    cdef int _merge(self) except -1 nogil:
        """Add up entries of the open, sorted row that have the same index."""
        cdef int64_t i, to = self.start
        if self.values == NULL:
            self._materialise()
        for i in range(self.start + 1, self.count):
            if self.indices[i] == self.indices[to]:
                self.values[to] += self.values[i]
                if isinf(self.values[to]):
                    with gil:
                        raise TextError(None, 'the values of a repeated attribute add up to infinity',
                                        'expected finite sums')
            else:
                to += 1
                self.indices[to] = self.indices[i]
                self.values[to] = self.values[i]
        self.count = to + 1
        return 0


cdef bint is_ascending(const int32_t* k, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(1, n):
        if k[i - 1] >= k[i]:
            return False
    return True


cdef bint sort_distinct(int32_t* k, double* v, int64_t n) noexcept nogil:
    """Sort n <= SHORT keys and their values (or NULL); False, and nothing done, if two keys are equal.

    Every key goes where as many are smaller. Counting them takes no branches, and whole vectors at a time.
    """
    cdef int32_t[SHORT] key
    cdef int32_t[SHORT] rank
    cdef double[SHORT] value
    cdef int64_t i, j, total = 0
    for i in range(n):
        key[i] = k[i]
        rank[i] = 0
    for j in range(n):
        for i in range(n):
            rank[i] += key[j] < key[i]
    for i in range(n):
        total += rank[i]
    if 2 * total != n * (n - 1):
        return False
    for i in range(n):
        k[rank[i]] = key[i]
    if v != NULL:
        for i in range(n):
            value[i] = v[i]
        for i in range(n):
            v[rank[i]] = value[i]
    return True


cdef void insertion_sort(int32_t* k, double* v, int64_t n) noexcept nogil:
    """Sort a few keys and their values (or NULL), equal ones in their order."""
    cdef int64_t i, j
    cdef int32_t key
    cdef double value = 1.0
    for i in range(1, n):
        key = k[i]
        if v != NULL:
            value = v[i]
        j = i
        while j > 0 and k[j - 1] > key:
            k[j] = k[j - 1]
            if v != NULL:
                v[j] = v[j - 1]
            j -= 1
        k[j] = key
        if v != NULL:
            v[j] = value


def renumber(int32_t[::1] indices, const int32_t[::1] new):
    """indices[i] = new[indices[i]], in place; negative ones stay."""
    cdef int64_t i
    with nogil:
        for i in range(indices.shape[0]):
            if indices[i] >= 0:
                indices[i] = new[indices[i]]


def count_ids(const int32_t[::1] indices, int64_t size):
    """How often each id below `size` occurs, int64 [size]."""
    out = np.zeros(size, dtype=np.int64)
    cdef int64_t[::1] count = out
    cdef int64_t i
    with nogil:
        for i in range(indices.shape[0]):
            count[indices[i]] += 1
    return out


def keep_ids(const int64_t[::1] indptr, const int32_t[::1] indices, values, const int32_t[::1] new):
    """The CSR rows with every index k renumbered to new[k], or dropped where that is -1.

    Returns (indptr, indices, values or None), rows ascending.
    """
    cdef SparseRows out = SparseRows()
    cdef const double[::1] v
    cdef const double* value = NULL
    cdef int64_t row, i
    if values is not None and len(values):
        v = values
        value = &v[0]
    with nogil:
        for row in range(indptr.shape[0] - 1):
            for i in range(indptr[row], indptr[row + 1]):
                if new[indices[i]] >= 0:
                    out.push(new[indices[i]], 1.0 if value == NULL else value[i])
            out.end_row()
    return out.take()
