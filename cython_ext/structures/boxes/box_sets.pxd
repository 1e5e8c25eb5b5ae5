"""Boxes, sets of boxes, and what the boxes of a set can reach at most.

A box is four numbers, left, top, right and bottom, places from 0 that all belong to it. A set of boxes is an interval
for each of them. With the largest box, which holds all of them, and the smallest, which is in all of them and may be
empty,

    score    <= what is above 0 in the largest + what is below 0 in the smallest
    overlap  >= I / (G + O),  I: what any of them shares at least with the gold box, of area G, O: what of the largest
                              is outside of the gold one

since intersection over union, I / (G + O) for what is shared and what is outside, grows with I and falls with O; the
loss is 1 - overlap. Both are taken as they are and not as differences of areas: the boxes of one size inside a gold
box that is the whole picture all have the same loss, and a bound that is not exact there would look at each of them.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

cdef enum:
    LEFT = 0
    TOP = 1
    RIGHT = 2
    BOTTOM = 3


cdef struct Set:
    int32_t[4] low
    int32_t[4] high
    double bound


cdef struct Sums:
    # [height + 1, width + 1] each: sums over the points above and to the left of a place
    double *gains           # of scores above 0
    double *costs           # of scores below 0
    double *bans            # of points whose score is -inf, counted
    double rounding         # how far sums of them may be off


cdef inline bint inside(const int32_t *point, const int32_t *box) noexcept nogil:
    return box[LEFT] <= point[0] <= box[RIGHT] and box[TOP] <= point[1] <= box[BOTTOM]


cdef inline double area(const int32_t *box) noexcept nogil:
    return <double> (box[RIGHT] - box[LEFT] + 1) * (box[BOTTOM] - box[TOP] + 1)


cdef inline double common(const int32_t *a, const int32_t *b) noexcept nogil:
    """How many places two boxes share."""
    cdef int32_t width = min(a[RIGHT], b[RIGHT]) - max(a[LEFT], b[LEFT]) + 1
    cdef int32_t height = min(a[BOTTOM], b[BOTTOM]) - max(a[TOP], b[TOP]) + 1
    return <double> width * height if width > 0 and height > 0 else 0.0


cdef inline double over(const double *sums, Py_ssize_t stride, const int32_t *first,
                        const int32_t *last) noexcept nogil:
    """The sum over the box from the left upper corner of one box to the right lower one of another."""
    cdef const double *above = sums + first[TOP] * stride
    cdef const double *below = sums + (last[BOTTOM] + 1) * stride
    return (below[last[RIGHT] + 1] - above[last[RIGHT] + 1]) - (below[first[LEFT]] - above[first[LEFT]])


cdef inline double least_shared(const Set *boxes, Py_ssize_t first, Py_ssize_t last,
                                const int32_t *gold) noexcept nogil:
    """How many places of a row or column any box of a set shares at least with the gold box; first, last: its two
    sides, LEFT and RIGHT or TOP and BOTTOM."""
    cdef int32_t begin = boxes.high[first], end = boxes.low[last], length
    if begin <= end:                            # all boxes hold these
        length = min(end, gold[last]) - max(begin, gold[first]) + 1
        return max(length, 0)
    # some boxes are one place wide, and these may be anywhere between
    begin, end = max(boxes.low[first], boxes.low[last]), min(boxes.high[first], boxes.high[last])
    return 1.0 if gold[first] <= begin and end <= gold[last] else 0.0


cdef inline Py_ssize_t widest(const Set *boxes) noexcept nogil:
    """The side with the widest interval."""
    cdef Py_ssize_t side, best = 0
    for side in range(1, 4):
        if boxes.high[side] - boxes.low[side] > boxes.high[best] - boxes.low[best]:
            best = side
    return best


cdef inline bint is_empty(const Set *boxes) noexcept nogil:
    return boxes.low[LEFT] > boxes.high[RIGHT] or boxes.low[TOP] > boxes.high[BOTTOM]


cdef inline double bound_of(const Set *boxes, const Sums *s, Py_ssize_t stride, const int32_t *gold) noexcept nogil:
    """What no box of a set can exceed; gold: the gold box where the loss counts, or NULL. -inf for no boxes, or for
    boxes that are all forbidden."""
    cdef int32_t[4] largest, smallest
    cdef double bound, shared, outside
    cdef bint core = boxes.high[LEFT] <= boxes.low[RIGHT] and boxes.high[TOP] <= boxes.low[BOTTOM]
    if is_empty(boxes):
        return -INFINITY
    largest[LEFT], largest[TOP], largest[RIGHT], largest[BOTTOM] = (
        boxes.low[LEFT], boxes.low[TOP], boxes.high[RIGHT], boxes.high[BOTTOM])
    smallest[LEFT], smallest[TOP], smallest[RIGHT], smallest[BOTTOM] = (
        boxes.high[LEFT], boxes.high[TOP], boxes.low[RIGHT], boxes.low[BOTTOM])
    if core and over(s.bans, stride, smallest, smallest) > 0:
        return -INFINITY
    bound = over(s.gains, stride, largest, largest)
    if core:
        bound += over(s.costs, stride, smallest, smallest)
    if gold != NULL:
        shared = least_shared(boxes, LEFT, RIGHT, gold) * least_shared(boxes, TOP, BOTTOM, gold)
        outside = area(largest) - common(largest, gold)
        bound += 1.0 - shared / (area(gold) + outside)
    return bound
