"""Oracles over packed parses: the best derivation, the K best ones, and sums over all.

A forest is an acyclic hypergraph. Its *items* are numbered so that an edge joins two items (or one, or none) to a later
one; item 0 is nothing at all and stands where an edge has less than two. The last item is the goal. An edge's *place*
says which score it adds: that of its *event*, but for structures that know more of an edge. A derivation chooses an
edge for the goal and for every item that its choices use; its value is the sum of the scores of its edges.

Of edges or derivations with the same value the one listed first is the better one, in all three oracles.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t


cdef Py_ssize_t forest_size(Py_ssize_t items, Py_ssize_t edges) noexcept nogil:
    """int32 numbers of a forest in memory."""
    return 3 * items + 1 + 3 * edges


cdef Forest forest_at(const int32_t *memory, Py_ssize_t items, Py_ssize_t edges) noexcept nogil:
    cdef Forest f
    f.items, f.edges = items, edges
    f.first = memory
    f.symbol = f.first + items + 1
    f.span = f.symbol + items
    f.left = f.span + items
    f.right = f.left + edges
    f.event = f.place = f.right + edges
    return f


cdef double best(const Forest *f, const double *score, double *value, int32_t *edge) noexcept nogil:
    """The value of the best derivation of the goal. value: [items]; edge: [items], the best last edge of each."""
    cdef Py_ssize_t x
    cdef int32_t e, chosen
    cdef double top, here
    value[0] = 0.0
    for x in range(1, f.items):
        chosen, top = f.first[x], -INFINITY
        for e in range(f.first[x], f.first[x + 1]):
            here = value[f.left[e]] + value[f.right[e]] + score[f.place[e]]
            if here > top:
                chosen, top = e, here
        value[x], edge[x] = top, chosen
    return value[f.items - 1]


cdef double sums(const Forest *f, const double *score, double *value, double *mass, double *share,
                 double *events) noexcept nogil:
    """log sum exp of the values of all derivations of the goal, in log space throughout; adds to `events` how often
    each occurs in the mean. value, mass: [items]; share: [edges], of the sum over the item that an edge leads to."""
    cdef Py_ssize_t x
    cdef int32_t e, begin, end
    cdef double top, total, here
    value[0] = 0.0
    for x in range(1, f.items):
        begin, end, top, total = f.first[x], f.first[x + 1], -INFINITY, 0.0
        for e in range(begin, end):
            share[e] = value[f.left[e]] + value[f.right[e]] + score[f.place[e]]
            top = max(top, share[e])
        value[x], mass[x] = top, 0.0
        if top == -INFINITY:
            for e in range(begin, end):
                share[e] = 0.0
        elif end - begin == 1:
            share[begin] = 1.0
        else:
            for e in range(begin, end):
                share[e] = exp(share[e] - top)
                total += share[e]
            value[x] = top + log(total)
            for e in range(begin, end):
                share[e] /= total
    x = f.items - 1
    if value[x] == -INFINITY:
        return -INFINITY
    mass[0], mass[x] = 0.0, 1.0
    while x > 0:
        if mass[x] > 0.0:
            for e in range(f.first[x], f.first[x + 1]):
                here = mass[x] * share[e]
                events[f.place[e]] += here
                mass[f.left[e]] += here
                mass[f.right[e]] += here
        x -= 1
    return value[f.items - 1]


cdef void bid(const Forest *f, const double *score, Ranking *r, Py_ssize_t *bids, int32_t e, int32_t a,
              int32_t b) noexcept nogil:
    """Lets the derivation of edge e with the a-th one of its left item and the b-th one of its right item compete."""
    cdef Py_ssize_t left = f.left[e], right = f.right[e]
    if a < r.count[left] and b < r.count[right]:
        r.bid[bids[0]] = r.value[left * r.k + a] + r.value[right * r.k + b] + score[f.place[e]]
        r.bidder[3 * bids[0]], r.bidder[3 * bids[0] + 1], r.bidder[3 * bids[0] + 2] = e, a, b
        bids[0] += r.bid[bids[0]] > -INFINITY


cdef Py_ssize_t first_bids(const Forest *f, const double *score, Ranking *r, Py_ssize_t x) noexcept nogil:
    """The k edges into x that are best with the best derivations before them, best first: no others come into
    question."""
    cdef Py_ssize_t bids = 0, at
    cdef int32_t e
    cdef double here
    for e in range(f.first[x], f.first[x + 1]):
        if not (r.count[f.left[e]] and r.count[f.right[e]]):
            continue
        here = r.value[f.left[e] * r.k] + r.value[f.right[e] * r.k] + score[f.place[e]]
        if here == -INFINITY or (bids == r.k and here <= r.bid[bids - 1]):
            continue
        at = bids if bids < r.k else bids - 1
        bids = at + 1
        while at > 0 and here > r.bid[at - 1]:
            r.bid[at], r.bidder[3 * at] = r.bid[at - 1], r.bidder[3 * at - 3]
            at -= 1
        r.bid[at], r.bidder[3 * at] = here, e
    for at in range(bids):
        r.bidder[3 * at + 1] = r.bidder[3 * at + 2] = 0
    return bids


cdef Py_ssize_t rank(const Forest *f, const double *score, Ranking *r) noexcept nogil:
    """The k best derivations of every item, of those with a value above -inf; how many the goal has.

    After a derivation with ranks (a, b) come (a, b + 1) and, where b is 0, (a + 1, b): each has one that it comes
    after, which is at least as good (Huang and Chiang 2005, algorithm 2).
    """
    cdef Py_ssize_t x, c, top, bids, at
    cdef int32_t e, a, b
    r.value[0], r.count[0] = 0.0, 1
    for x in range(1, f.items):
        at = x * r.k
        r.count[x] = 0
        bids = first_bids(f, score, r, x)
        while bids > 0 and r.count[x] < r.k:
            top = 0
            for c in range(1, bids):
                if r.bid[c] > r.bid[top]:
                    top = c
            e, a, b = r.bidder[3 * top], r.bidder[3 * top + 1], r.bidder[3 * top + 2]
            r.value[at], r.edge[at], r.left_rank[at], r.right_rank[at] = r.bid[top], e, a, b
            at += 1
            r.count[x] += 1
            bids -= 1
            for c in range(top, bids):                      # the order of those left decides between equals
                r.bid[c] = r.bid[c + 1]
                r.bidder[3 * c], r.bidder[3 * c + 1], r.bidder[3 * c + 2] = (
                    r.bidder[3 * c + 3], r.bidder[3 * c + 4], r.bidder[3 * c + 5])
            bid(f, score, r, &bids, e, a, b + 1)
            if b == 0:
                bid(f, score, r, &bids, e, a + 1, b)
    return r.count[f.items - 1]
