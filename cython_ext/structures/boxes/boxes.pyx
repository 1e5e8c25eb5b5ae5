"""A box in a picture that is a bag of words: the score of a box is the sum of the scores of the words at the points
inside.

An output is (left, top, right, bottom), places from 0 that all belong to it, and a part is a word of the picture. The
best boxes are found by branch and bound over sets of boxes, after the efficient subwindow search of Lampert, Blaschko
and Hofmann (2008), with the bounds of box_sets.pxd; sets are looked through depth first, the more promising half first,
so that memory does not grow with the number of boxes. Sums over all boxes visit each of them, which takes minutes in a
large picture.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, log
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from cython_ext.structures.boxes.box_sets cimport (
    BOTTOM, LEFT, RIGHT, TOP, Set, Sums, area, bound_of, common, inside, is_empty, over, widest,
)
from cython_ext.structures.structure cimport SummedStructure

cdef enum:
    DEEPEST = 256           # sets that wait: one for each halving of an interval, of which there are 4 times 31


cdef class Boxes(SummedStructure):
    """n pictures with P points in all.

    sizes: int32[n, 2], width and height; offsets: int64[n + 1], where the points of each begin; points: int32[P, 2], x
    and y; words: int32[P], what is there, -1 for nothing that counts; gold: int32[n, 4], the gold boxes (anything
    where they are unknown)."""

    def __init__(self, sizes, offsets, points, words, gold):
        pictures = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        known = np.asarray(words) >= 0
        pictures, points, words = pictures[known], np.asarray(points)[known], np.asarray(words)[known]
        order = np.lexsort((words, pictures))
        pictures, points, words = pictures[order], points[order], words[order]
        first = np.ones(len(words), bool)
        first[1:] = (pictures[1:] != pictures[:len(pictures) - 1]) | (words[1:] != words[:len(words) - 1])
        self.n = len(offsets) - 1
        self.sizes, self.gold_boxes = np.ascontiguousarray(sizes, np.int32), np.ascontiguousarray(gold, np.int32)
        self.part_at = np.searchsorted(pictures[first], np.arange(self.n + 1)).astype(np.int64)
        self.part_words = np.ascontiguousarray(words[first], np.int32)
        part = np.cumsum(first) - 1
        self.part_counts = np.bincount(part, minlength=1)
        table = np.column_stack([points, part - self.part_at[pictures]]).astype(np.int32)
        self._point_to(np.searchsorted(pictures, np.arange(self.n + 1)).astype(np.int64),
                       np.vstack([table, [[0, 0, 0]]]))
        self.max_size = self.max_parts = int(np.diff(self.part_at).max(initial=0))
        self.max_code = 4
        self.most_cells = int(((self.sizes[:, 0] + 1) * (self.sizes[:, 1] + 1).astype(np.int64)).max(initial=0))

    def _point_to(self, const int64_t[::1] point_at, table):
        cdef const int32_t[:, ::1] points = np.ascontiguousarray(table, np.int32)
        cdef const int32_t[::1] sizes = np.append(self.sizes, np.int32(0))
        cdef const int32_t[::1] gold = np.append(self.gold_boxes, np.int32(0))
        cdef const int64_t[::1] part_at = self.part_at
        self.arrays = point_at, points, sizes, gold, part_at
        self.point_at, self.point_data, self.part_data = &point_at[0], &points[0, 0], &part_at[0]
        self.size_data, self.gold_data = &sizes[0], &gold[0]

    cdef Py_ssize_t num_parts(self, Py_ssize_t i) noexcept nogil:
        return <Py_ssize_t> (self.part_data[i + 1] - self.part_data[i])

    cdef Py_ssize_t _code_length(self, Py_ssize_t i) noexcept nogil:
        return 4

    cdef const int32_t *gold(self, Py_ssize_t i) noexcept nogil:
        return self.gold_data + 4 * i

    cdef Py_ssize_t _parts(self, Py_ssize_t i, const int32_t *code, int32_t *ids, double *counts) noexcept nogil:
        cdef Py_ssize_t count = 0
        cdef int64_t p
        cdef const int32_t *point
        for p in range(self.point_at[i], self.point_at[i + 1]):
            point = self.point_data + 3 * p
            if not inside(point, code):
                continue
            if count == 0 or ids[count - 1] != point[2]:
                ids[count], counts[count] = point[2], 0.0
                count += 1
            counts[count - 1] += 1.0
        return count

    cdef Py_ssize_t scratch_size(self, Py_ssize_t k) noexcept nogil:
        return 4 * self.most_cells

    cdef bint valid(self, Py_ssize_t i, const int32_t *code) noexcept nogil:
        return (0 <= code[LEFT] <= code[RIGHT] < self.size_data[2 * i]
                and 0 <= code[TOP] <= code[BOTTOM] < self.size_data[2 * i + 1])

    cdef double max(self, Py_ssize_t i, const double *theta, double *scratch, int32_t *code) noexcept nogil:
        cdef double value
        self.search(i, theta, False, 1, scratch, &value, code)
        return value

    cdef Py_ssize_t topk(self, Py_ssize_t i, const double *theta, Py_ssize_t k, double *scratch, double *values,
                         int32_t *codes) noexcept nogil:
        return self.search(i, theta, False, k, scratch, values, codes)

    cdef double log_partition(self, Py_ssize_t i, const double *theta, double *scratch, double *mean) noexcept nogil:
        return self.total(i, theta, False, scratch, mean)

    cdef Sums sums(self, Py_ssize_t i, const double *theta, double *scratch) noexcept nogil:
        """The Sums of a picture, in the first three quarters of the scratch memory."""
        cdef Py_ssize_t width = self.size_data[2 * i] + 1, cells = width * (self.size_data[2 * i + 1] + 1), k, t
        cdef double *tables[3]
        cdef double size = 0.0, value
        cdef Sums s
        cdef int64_t p
        cdef const int32_t *point
        for t in range(3):
            tables[t] = scratch + t * self.most_cells
            memset(tables[t], 0, cells * sizeof(double))
        s.gains, s.costs, s.bans = tables[0], tables[1], tables[2]
        for p in range(self.point_at[i], self.point_at[i + 1]):
            point = self.point_data + 3 * p
            k, value = (point[1] + 1) * width + point[0] + 1, theta[point[2]]
            if value == -INFINITY:
                s.bans[k] += 1.0
                continue
            (s.gains if value > 0 else s.costs)[k] += value
            size += fabs(value)
        for t in range(3):
            for k in range(width, cells):
                if k % width:
                    tables[t][k] += tables[t][k - 1]
            for k in range(width, cells):
                tables[t][k] += tables[t][k - width]
        s.rounding = 1e-15 * size
        return s

    cdef double score(self, Py_ssize_t i, const double *theta, const int32_t *box) noexcept nogil:
        """Of a box, point by point: boxes with the same words in them have the same score to the last digit."""
        cdef double total = 0.0
        cdef int64_t p
        for p in range(self.point_at[i], self.point_at[i + 1]):
            if inside(self.point_data + 3 * p, box):
                total += theta[self.point_data[3 * p + 2]]
        return total

    cdef double loss(self, Py_ssize_t i, const int32_t *box) noexcept nogil:
        """1 - intersection over union with the gold box."""
        cdef double shared = common(box, self.gold_data + 4 * i)
        return 1.0 - shared / (area(box) + area(self.gold_data + 4 * i) - shared)

    cdef Py_ssize_t search(self, Py_ssize_t i, const double *theta, bint with_loss, Py_ssize_t k, double *scratch,
                           double *values, int32_t *codes) noexcept nogil:
        """The k best boxes by score, or by score and loss, as of topk."""
        cdef Set[DEEPEST] waiting
        cdef Set here
        cdef Set *first
        cdef Set *second
        cdef Sums s = self.sums(i, theta, scratch)
        cdef const int32_t *gold = self.gold_data + 4 * i if with_loss else NULL
        cdef Py_ssize_t count = 1, found = 0, side
        cdef int32_t middle, stride = self.size_data[2 * i] + 1
        for side in range(4):
            waiting[0].low[side], waiting[0].high[side] = 0, self.size_data[2 * i + side % 2] - 1
        waiting[0].bound = INFINITY
        if with_loss:
            s.rounding += 1e-15
        while count and not self.stopped():
            count -= 1
            here = waiting[count]
            # bounds are sums in another order than scores
            if found == k and here.bound <= values[k - 1] + s.rounding or here.bound == -INFINITY and found > 0:
                continue
            side = widest(&here)
            if here.low[side] == here.high[side]:
                found = self.take(i, theta, with_loss, here.low, k, found, values, codes)
                continue
            first, second = waiting + count, waiting + count + 1
            middle = here.low[side] + (here.high[side] - here.low[side]) // 2
            first[0] = second[0] = here
            first.high[side], second.low[side] = middle, middle + 1
            first.bound, second.bound = bound_of(first, &s, stride, gold), bound_of(second, &s, stride, gold)
            if is_empty(first):                     # then the other one is not
                first[0] = second[0]
                count += 1
            elif is_empty(second):
                count += 1
            else:
                if first.bound >= second.bound:     # the last one is the next to be looked at
                    here = first[0]
                    first[0], second[0] = second[0], here
                count += 2
        if found == 0:                                  # stopped: the corner of the picture is a box, too
            found, values[0] = 1, -INFINITY
            memset(codes, 0, 4 * sizeof(int32_t))
        return found

    cdef Py_ssize_t take(self, Py_ssize_t i, const double *theta, bint with_loss, const int32_t *box, Py_ssize_t k,
                         Py_ssize_t found, double *values, int32_t *codes) noexcept nogil:
        """Put a box into its place among those that were found, behind its equals; how many there are then."""
        cdef double value = self.score(i, theta, box)
        cdef Py_ssize_t r
        if with_loss:
            value += self.loss(i, box)
        if found and values[0] == -INFINITY and value > -INFINITY:      # it stood there only for want of a better one
            found = 0
        if found and (value == -INFINITY or found == k and value <= values[k - 1]):
            return found
        r = min(found, k - 1)
        while r > 0 and values[r - 1] < value:
            values[r] = values[r - 1]
            memcpy(codes + 4 * r, codes + 4 * (r - 1), 4 * sizeof(int32_t))
            r -= 1
        values[r] = value
        memcpy(codes + 4 * r, box, 4 * sizeof(int32_t))
        return min(found + 1, k)

    cdef double total(self, Py_ssize_t i, const double *theta, bint with_loss, double *scratch,
                      double *mean) noexcept nogil:
        """As of exp, of the scores or of scores and losses. Every box adds its probability to all places in it, as
        differences at its corners, and a point's word has the probability of its place."""
        cdef Py_ssize_t width = self.size_data[2 * i], height = self.size_data[2 * i + 1], stride = width + 1, k
        cdef double *cover = scratch + 3 * self.most_cells
        cdef double top, value, share, partition = 0.0
        cdef int32_t[4] box
        cdef Sums s
        cdef int64_t p
        cdef const int32_t *point
        for k in range(self.num_parts(i)):
            mean[k] = 0.0
        self.search(i, theta, with_loss, 1, scratch, &top, box)
        if top == -INFINITY:
            return top
        s = self.sums(i, theta, scratch)
        memset(cover, 0, stride * (height + 1) * sizeof(double))
        for box[TOP] in range(height):
            for box[BOTTOM] in range(box[TOP], height):
                if self.stopped():
                    return top
                for box[LEFT] in range(width):
                    for box[RIGHT] in range(box[LEFT], width):
                        if over(s.bans, stride, box, box) > 0:
                            continue
                        value = over(s.gains, stride, box, box) + over(s.costs, stride, box, box)
                        share = exp(value + (self.loss(i, box) if with_loss else 0.0) - top)
                        partition += share
                        cover[box[TOP] * stride + box[LEFT]] += share
                        cover[box[TOP] * stride + box[RIGHT] + 1] -= share
                        cover[(box[BOTTOM] + 1) * stride + box[LEFT]] -= share
                        cover[(box[BOTTOM] + 1) * stride + box[RIGHT] + 1] += share
        for k in range(stride * (height + 1)):
            cover[k] += cover[k - 1] if k % stride else 0.0
        for k in range(stride, stride * (height + 1)):
            cover[k] += cover[k - stride]
        for p in range(self.point_at[i], self.point_at[i + 1]):
            point = self.point_data + 3 * p
            if theta[point[2]] > -INFINITY:
                mean[point[2]] += max(cover[point[1] * stride + point[0]], 0.0) / partition
        return top + log(partition)
