"""The keys of the features of an arc, computed from the words and the tags of its sentence."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t

from cython_ext.features.arcs import templates as names

cdef enum:                                      # atoms as templates.py has them
    HW, HP, HC, DW, DP, DC
    HP_BEFORE, HP_AFTER, DP_BEFORE, DP_AFTER, HC_BEFORE, HC_AFTER, DC_BEFORE, DC_AFTER
    BP, BC, DIR


cdef class ArcReader:
    """words, tags, coarse: int32[N], -1 where unknown, coarse None where there is one column of tags; offsets:
    int64[n + 1] first word of each sentence; shape: (words, tags), the numbers of their values."""

    def __init__(self, words, tags, coarse, offsets, shape):
        cdef const int64_t[::1] view = offsets
        self.offsets, self.offset_data, self.n = offsets, &view[0], len(view) - 1
        self.longest = int(np.diff(offsets).max(initial=0))
        self.arrays = []
        n_words, n_tags = shape
        self._put(&self.words, words, (n_words, -1, -1), 0)
        self._put(&self.tags, tags, (n_tags, n_tags + 1, n_tags + 2), n_tags)
        if coarse is not None:
            self._put(&self.coarse, coarse, (n_tags, n_tags + 1, n_tags + 2), n_tags)
        self.arc_total, self.relation_total = len(names.ARC), len(names.RELATION)
        self.arc_templates = self._templates(self.arcs, names.ARC, shape, coarse is not None)
        self.relation_templates = self._templates(self.relations, names.RELATION, shape, coarse is not None)

    cdef _put(self, Column *column, values, ends, Py_ssize_t size):
        """A column of words or tags with the values of the root, before and after every sentence; size: values that a
        word between may have, 0 where nobody asks."""
        lengths = np.diff(self.offsets)
        wide = np.empty(len(values) + 3 * self.n + 1, np.int32)
        starts = self.offsets[:self.n] + 3 * np.arange(self.n)
        wide[starts + 1], wide[starts], wide[starts + lengths + 2] = ends
        wide[np.repeat(starts + 2 - self.offsets[:self.n], lengths) + np.arange(len(values))] = values
        cdef const int32_t[::1] wide_view = wide
        cdef int32_t[::1] before = np.zeros(len(wide) if size else 1, np.int32)
        cdef int32_t[::1] last = np.zeros(size + 1, np.int32)
        cdef Py_ssize_t i, k, at
        if size:
            for i in range(self.n):
                at = self.offset_data[i] + 3 * i + 1
                for k in range(1, self.length(i) + 1):
                    if wide_view[at + k] >= 0:
                        before[at + k], last[wide_view[at + k]] = last[wide_view[at + k]], <int32_t> k
                for k in range(1, self.length(i) + 1):
                    if wide_view[at + k] >= 0:
                        last[wide_view[at + k]] = 0
        self.arrays.append((wide_view, before))
        column.value, column.before = &wide_view[0], &before[0]

    cdef Py_ssize_t _templates(self, Template *out, templates, shape, bint coarse):
        """Templates of which all atoms are there, those with a word between last; how many."""
        cdef Py_ssize_t count = 0, j
        order = sorted(range(len(templates)), key=lambda k: ',b' in templates[k])
        for number in order:
            atoms = templates[number].split(',')
            if not coarse and any(atom[1] == 'c' for atom in atoms):
                continue
            out[count].number, out[count].count = number, len(atoms)
            for j in range(len(atoms)):
                out[count].atoms[j] = names.ATOMS.index(atoms[j])
                out[count].radices[j] = names.radix(atoms[j], shape)
            count += 1
        return count

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.offset_data[i + 1] - self.offset_data[i])

    cdef Py_ssize_t next_keys(self, Py_ssize_t i, Py_ssize_t h, Py_ssize_t d, bint relation, Py_ssize_t *at,
                              uint64_t *keys) noexcept nogil:
        """Some features of the arc from h to d of sentence i, SHARE at most. Returns how many. at: 0 at first; the
        others come when it is called again, until at is -1."""
        cdef Py_ssize_t start = self.offset_data[i] + 3 * i + 1, count = 0, j, k, low, high
        cdef Py_ssize_t usable = self.relation_templates if relation else self.arc_templates
        cdef const Template *all = &self.relations[0] if relation else &self.arcs[0]
        cdef Py_ssize_t total = self.relation_total if relation else self.arc_total
        cdef const int32_t *tag = self.tags.value + start
        cdef const int32_t *coarse = self.coarse.value + start if self.coarse.value != NULL else tag
        cdef int64_t[ATOMS] atoms
        atoms[HW], atoms[DW] = self.words.value[start + h], self.words.value[start + d]
        atoms[HP], atoms[HP_BEFORE], atoms[HP_AFTER] = tag[h], tag[h - 1], tag[h + 1]
        atoms[DP], atoms[DP_BEFORE], atoms[DP_AFTER] = tag[d], tag[d - 1], tag[d + 1]
        atoms[HC], atoms[HC_BEFORE], atoms[HC_AFTER] = coarse[h], coarse[h - 1], coarse[h + 1]
        atoms[DC], atoms[DC_BEFORE], atoms[DC_AFTER] = coarse[d], coarse[d - 1], coarse[d + 1]
        atoms[DIR], atoms[BP], atoms[BC] = h > d, -1, -1
        low, high = (h, d) if h < d else (d, h)
        if at[0] == 0:
            for j in range(usable):
                count += key_of(&all[j], total, atoms, keys + count)
            at[0] = low + 1
        for k in range(at[0], high if not relation else 0):
            if count + 2 > SHARE:
                at[0] = k
                return count
            atoms[BP] = tag[k] if self.tags.before[start + k] <= low else -1
            atoms[BC] = coarse[k] if self.coarse.value != NULL and self.coarse.before[start + k] <= low else -1
            for j in range(usable - 1, -1, -1):
                if all[j].atoms[1] != BP and all[j].atoms[1] != BC:
                    break
                count += key_of(&all[j], total, atoms, keys + count)
        at[0] = -1
        return count


cdef inline Py_ssize_t key_of(const Template *template, Py_ssize_t total, const int64_t *atoms,
                              uint64_t *key) noexcept nogil:
    """Writes the key of a feature; 0 where an atom is unknown, else 1."""
    cdef Py_ssize_t j
    cdef uint64_t out = 0
    for j in range(template.count - 1, -1, -1):
        if atoms[template.atoms[j]] < 0:
            return 0
        out = out * template.radices[j] + <uint64_t> atoms[template.atoms[j]]
    key[0] = out * total + template.number + 1
    return 1
