"""1 - F1 of labelled brackets, and the best tree for each number of right and of all brackets (Tsochantaridis et al.
2005, section 4.5.2).

With h brackets of the b in a tree among the G gold ones (structures/cfg/bracket_counts.pyx says what they are), F1 is
2 h / (G + b), so Delta depends on (h, b) only, of which there are few: the dynamic programs below have a cell for each
of them.
"""

import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport INT32_MAX, int32_t, int64_t
from libc.string cimport memcpy, memset

from cython_ext.common.errors import UnfitDataError
from cython_ext.kernels.cfg.grids cimport join, row_add, row_dot
from cython_ext.losses.loss cimport TaskLoss
from cython_ext.structures.cfg cimport forest as packed
from cython_ext.structures.cfg.bracket_counts cimport BracketCounts
from cython_ext.structures.cfg.cfg cimport Cfg, Derivation
from cython_ext.structures.cfg.forest cimport Forest

TABLE_LIMIT = 1 << 31           # bytes of a thread's table


cdef class BracketF1(TaskLoss):
    """structure: a Cfg that knows the gold trees."""

    unstratified = None

    def __init__(self, Cfg structure not None):
        self.structure, self.tree = structure, structure
        self.counts = BracketCounts(structure)
        self.strata = BracketStrata(structure, self)

    def room(self):
        return self.strata.room()

    def make_strata(self):
        return self.strata

    cdef double delta(self, Py_ssize_t i, Py_ssize_t hits, Py_ssize_t brackets) noexcept nogil:
        cdef Py_ssize_t total = brackets + self.counts.gold_count(i)
        return 1.0 - 2.0 * hits / total if total else 0.0

    cdef double value(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        cdef Py_ssize_t hits, brackets
        self.counts.of_code(i, code, &hits, &brackets)
        return self.delta(i, hits, brackets)

    # ------------------------------------------------------------------------------------------- all trees

    cdef Py_ssize_t lay(self, Py_ssize_t i, const Forest *f, double *table, Grid *grid) noexcept nogil:
        """Lays out a table with a cell for every (h, b) that derivations of an item may have; the number of cells. The
        table has 3 numbers for each item and one for each edge, then the cells."""
        cdef Py_ssize_t x, h, b
        cdef int32_t e, most_h, most_b, least_b
        cdef int64_t cells = 0
        grid[0] = grid_at(f, table)
        for x in range(f.items):
            most_h = most_b = 0
            least_b = 0 if x == 0 else INT32_MAX
            for e in range(f.first[x], f.first[x + 1]):
                self.counts.of_edge(i, f, x, e, &h, &b)
                b += grid.least[f.left[e]] + grid.least[f.right[e]]
                grid.more_hits[e], grid.shift[e] = <int32_t> h, <int32_t> b
                most_h = max(most_h, <int32_t> h + grid.hits[f.left[e]] + grid.hits[f.right[e]])
                least_b = min(least_b, <int32_t> b)
                most_b = max(most_b, <int32_t> b + grid.width[f.left[e]] + grid.width[f.right[e]] - 2)
            for e in range(f.first[x], f.first[x + 1]):
                grid.shift[e] -= least_b
            grid.at[x], grid.hits[x], grid.least[x], grid.width[x] = cells, most_h, least_b, most_b - least_b + 1
            cells += (most_h + 1) * grid.width[x]
        return <Py_ssize_t> cells

    cdef double max(self, Py_ssize_t i, double *theta, Workspace work, int32_t *code, double *delta) noexcept nogil:
        cdef Py_ssize_t r, best = 0, count = self.strata.find(i, theta, work)
        for r in range(1, count):
            if work.deltas[r] + work.values[r] > work.deltas[best] + work.values[best]:
                best = r
        self.strata.decode(i, best, theta, work, code)
        delta[0] = work.deltas[best]
        return delta[0] + work.values[best]

    cdef double log_partition(self, Py_ssize_t i, double *theta, Workspace work, double *mean) noexcept nogil:
        """The cells of an item hold the distribution of (h, b) over its derivations, so that nothing overflows; the
        weights exp(Delta) come in at the top."""
        cdef Forest f
        cdef Grid grid
        cdef double *score
        cdef double *rest = self.tree.forest(i, theta, work.scratch, &f, &score)
        cdef double *share = rest + 2 * f.items
        cdef double *events = share + f.edges
        cdef double *outside
        cdef double z, total = 0.0
        cdef Py_ssize_t p, cells, width, root = f.items - 1
        memset(mean, 0, self.tree.num_parts(i) * sizeof(double))
        if f.items == 0:
            return -INFINITY
        z = packed.sums(&f, score, rest, rest + f.items, share, events)
        if z == -INFINITY:
            return z
        cells = self.lay(i, &f, work.table, &grid)
        self._shares(&f, share, &grid)
        if self.tree.stopped():
            return -INFINITY
        outside = grid.cells + cells
        memset(outside, 0, cells * sizeof(double))
        memset(events, 0, self.tree.events(i) * sizeof(double))
        width = grid.width[root]
        for p in range((grid.hits[root] + 1) * width):
            outside[grid.at[root] + p] = exp(self.delta(i, p // width, grid.least[root] + p % width))
            total += outside[grid.at[root] + p] * grid.cells[grid.at[root] + p]
        for p in range((grid.hits[root] + 1) * width):
            outside[grid.at[root] + p] /= total
        self._outside(&f, share, &grid, outside, events)
        self.tree.means(i, events, mean)
        return z + log(total)

    cdef void _shares(self, const Forest *f, const double *share, const Grid *grid) noexcept nogil:
        """Fills the cells of all items from those before them."""
        cdef Py_ssize_t x, y, z, a, b, c, width, left_width, right_width
        cdef int32_t e
        cdef double *to
        cdef double *left
        cdef double *right
        cdef double part
        grid.cells[0] = 1.0
        for x in range(1, f.items):
            if self.tree.stopped():
                return
            width = grid.width[x]
            memset(grid.cells + grid.at[x], 0, (grid.hits[x] + 1) * width * sizeof(double))
            for e in range(f.first[x], f.first[x + 1]):
                y, z = f.left[e], f.right[e]
                left, left_width, right, right_width = (
                    grid.cells + grid.at[y], grid.width[y], grid.cells + grid.at[z], grid.width[z])
                to = grid.cells + grid.at[x] + grid.more_hits[e] * width + grid.shift[e]
                for a in range(grid.hits[y] + 1):
                    for b in range(left_width):
                        part = share[e] * left[a * left_width + b]
                        if part != 0.0:
                            for c in range(grid.hits[z] + 1):
                                row_add(right_width, part, right + c * right_width, to + (a + c) * width + b)

    cdef void _outside(self, const Forest *f, const double *share, const Grid *grid, double *outside,
                       double *events) noexcept nogil:
        """Deals the weights of the cells of later items out to those before them; adds up how often events occur."""
        cdef Py_ssize_t x, y, z, a, b, c, width, left_width, right_width
        cdef int32_t e
        cdef double *above
        cdef double *left
        cdef double *right
        cdef double *right_outside
        cdef double sent
        for x in range(f.items - 1, 0, -1):
            if self.tree.stopped():
                return
            width = grid.width[x]
            for e in range(f.first[x], f.first[x + 1]):
                if share[e] == 0.0:
                    continue
                y, z = f.left[e], f.right[e]
                left, left_width, right, right_width = (
                    grid.cells + grid.at[y], grid.width[y], grid.cells + grid.at[z], grid.width[z])
                right_outside = outside + grid.at[z]
                for a in range(grid.hits[y] + 1):
                    for b in range(left_width):
                        above = outside + grid.at[x] + (grid.more_hits[e] + a) * width + grid.shift[e] + b
                        sent = 0.0
                        for c in range(grid.hits[z] + 1):
                            sent += row_dot(right_width, above + c * width, right + c * right_width)
                            row_add(right_width, share[e] * left[a * left_width + b], above + c * width,
                                    right_outside + c * right_width)
                        sent *= share[e]
                        outside[grid.at[y] + a * left_width + b] += sent
                        events[f.place[e]] += sent * left[a * left_width + b]


cdef Grid grid_at(const Forest *f, double *table) noexcept nogil:
    """The table of a forest, whether it has been laid out or not."""
    cdef Grid grid
    grid.at = <int64_t *> table
    grid.hits = <int32_t *> (table + f.items)
    grid.least, grid.width = grid.hits + f.items, grid.hits + 2 * f.items
    grid.more_hits = <int32_t *> (table + 3 * f.items)
    grid.shift = grid.more_hits + f.edges
    grid.cells = table + 3 * f.items + f.edges
    return grid


cdef class BracketStrata(Strata):
    """A stratum for every pair of numbers (gold brackets, brackets)."""

    def __init__(self, Cfg structure not None, BracketF1 loss not None):
        cdef Py_ssize_t i, cells, strata = 1, size = 1
        cdef Forest f
        cdef Grid grid
        cdef double *score
        self.structure, self.loss = structure, loss
        cdef double[::1] theta = np.zeros(structure.max_size + 1)
        cdef double[::1] scratch = np.empty(structure.scratch_size(1) + 1)
        cdef double[::1] table = np.empty(3 * structure.most_items + structure.most_edges + 2)
        for i in range(structure.n):
            structure.forest(i, &theta[0], &scratch[0], &f, &score)
            if f.items:
                cells = loss.lay(i, &f, &table[0], &grid)
                if cells * 16 > TABLE_LIMIT:
                    raise UnfitDataError(f'sentence {i + 1}, of {structure.length(i)} words, is too long for the loss '
                                         f'f1, whose table would take {cells / 2**26:.1f} GB (use --task-loss zero-one '
                                         f'or --max-length)')
                size = max(size, 3 * f.items + f.edges + 2 * cells)
                strata = max(strata, (grid.hits[f.items - 1] + 1) * grid.width[f.items - 1])
        self.most, self.table_size = strata, size

    cdef Py_ssize_t find(self, Py_ssize_t i, const double *theta, Workspace work) noexcept nogil:
        cdef Forest f
        cdef Grid grid
        cdef double *score
        cdef Py_ssize_t x, p, b, width, cells
        self.loss.tree.forest(i, theta, work.scratch, &f, &score)
        if f.items == 0:
            work.deltas[0], work.values[0] = 0.0, -INFINITY
            return 1
        cells = self.loss.lay(i, &f, work.table, &grid)
        if not self._fill(&f, score, &grid, cells):
            work.deltas[0], work.values[0] = 0.0, -INFINITY
            return 1
        x = f.items - 1
        width = grid.width[x]
        cells = (grid.hits[x] + 1) * width
        for p in range(cells):
            # no tree has more gold brackets than brackets, but a cell without trees must not have a loss below 0
            b = grid.least[x] + p % width
            work.deltas[p] = self.loss.delta(i, min(p // width, b), b)
            work.values[p] = grid.cells[grid.at[x] + p]
        return cells

    cdef bint _fill(self, const Forest *f, const double *score, const Grid *grid, Py_ssize_t cells) noexcept nogil:
        """The value of the best derivation of each item for each (h, b). False when it was stopped."""
        cdef Py_ssize_t x, y, z, p, width
        cdef int32_t e
        for p in range(cells):
            grid.cells[p] = -INFINITY
        grid.cells[0] = 0.0
        for x in range(1, f.items):
            if self.structure.stopped():
                return False
            width = grid.width[x]
            for e in range(f.first[x], f.first[x + 1]):
                y, z = f.left[e], f.right[e]
                join(grid.hits[y] + 1, grid.width[y], grid.cells + grid.at[y], grid.hits[z] + 1, grid.width[z],
                     grid.cells + grid.at[z], score[f.place[e]], width,
                     grid.cells + grid.at[x] + grid.more_hits[e] * width + grid.shift[e])
        return True

    cdef void decode(self, Py_ssize_t i, Py_ssize_t r, const double *theta, Workspace work,
                     int32_t *code) noexcept nogil:
        cdef Forest f
        cdef Grid grid
        cdef Derivation d
        cdef double *score
        cdef double *rest
        cdef Py_ssize_t width
        if work.values[r] == -INFINITY:
            memcpy(code, self.loss.tree.gold(i), self.loss.tree.code_length(i) * sizeof(int32_t))
            return
        rest = self.loss.tree.forest(i, theta, work.scratch, &f, &score)
        grid = grid_at(&f, work.table)
        width = grid.width[f.items - 1]
        self._choose(&f, score, &grid, f.items - 1, r // width, r % width, <int32_t *> rest)
        self.loss.tree.no_tree(i, code)
        d.forest, d.i, d.k, d.code, d.length = &f, i, 1, code, 0
        d.edge, d.left_rank = <int32_t *> rest, NULL
        self.loss.tree.write(&d, f.items - 1, 0)

    cdef void _choose(self, const Forest *f, const double *score, const Grid *grid, Py_ssize_t x, Py_ssize_t h,
                      Py_ssize_t b, int32_t *edge) noexcept nogil:
        """Sets the edges of the best derivation of x in row h and column b of its cells: the first that has its
        value."""
        cdef Py_ssize_t h1, b1, h2, b2, left, right
        cdef int32_t e
        cdef double wanted = grid.cells[grid.at[x] + h * grid.width[x] + b]
        for e in range(f.first[x], f.first[x + 1]):
            left, right = f.left[e], f.right[e]
            for h1 in range(min(grid.hits[left], h - grid.more_hits[e]) + 1):
                h2 = h - grid.more_hits[e] - h1
                if h2 > grid.hits[right]:
                    continue
                for b1 in range(min(grid.width[left] - 1, b - grid.shift[e]) + 1):
                    b2 = b - grid.shift[e] - b1
                    if b2 >= grid.width[right]:
                        continue
                    if (grid.cells[grid.at[left] + h1 * grid.width[left] + b1]
                            + grid.cells[grid.at[right] + h2 * grid.width[right] + b2]
                            + score[f.place[e]] == wanted):
                        edge[x] = e
                        if left:
                            self._choose(f, score, grid, left, h1, b1, edge)
                        if right:
                            self._choose(f, score, grid, right, h2, b2, edge)
                        return
