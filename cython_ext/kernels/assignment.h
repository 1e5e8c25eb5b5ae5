/* The best assignment of rows to columns, where a row may stay without one: shortest augmenting paths with potentials
 * (Edmonds and Karp 1972; Tomizawa 1971), a row at a time, each path by Dijkstra's algorithm without a heap.
 *
 * The links of row r are begin[r], ..., begin[r + 1] - 1: link l goes to column[l] and scores theta[part[l]]; none[r]
 * scores the row without a link. -inf forbids either. Time is O(n (links + m^2)), less where few columns are in the way.
 */
#ifndef SSVM_ASSIGNMENT_H
#define SSVM_ASSIGNMENT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Doubles of scratch for n rows and m columns. */
static inline ptrdiff_t ssvm_assignment_size(ptrdiff_t n, ptrdiff_t m)
{
    return n + 2 * m + (5 * m + 1) / 2;
}

typedef struct {
    double *u, *v;              /* [n], [m] potentials: score <= -(u + v) of every link, with equality where it is taken */
    double *distance;           /* [m] of a column from the row that is being added, INFINITY where none is known */
    int32_t *owner;             /* [m] the row that has the column, -1: none */
    int32_t *from, *choice;     /* [m] the row before it on its shortest path, and the number of that row's link */
    int32_t *reached;           /* [m] columns with a distance, those whose rows have been looked at first */
    int32_t *settled;           /* [m] whether its row has been: rounding must not change a path that others go on from */
} ssvm_assignment;

/* Exchanges two entries. */
static inline void ssvm_swap(int32_t *list, ptrdiff_t a, ptrdiff_t b)
{
    const int32_t kept = list[a];
    list[a] = list[b];
    list[b] = kept;
}

/* Adds row s by a shortest path to a free column, or to a row that gives its column up; 0 where there is no path. */
static inline int ssvm_assign_row(ssvm_assignment *a, ptrdiff_t s, const int64_t *begin, const int32_t *column,
                                  const int32_t *part, const double *theta, const double *none, int32_t *code)
{
    ptrdiff_t known = 0, done = 0, row = s, giver = -1, best;
    double base = 0.0, giver_distance = INFINITY, length;
    int32_t end = -1;
    for (;;) {
        const double alone = base - none[row] - a->u[row];
        if (alone < giver_distance) {
            giver_distance = alone;
            giver = row;
        }
        for (int64_t l = begin[row]; l < begin[row + 1]; l++) {
            const int32_t c = column[l];
            const double far = base - theta[part[l]] - a->u[row] - a->v[c];
            if (far < a->distance[c] && !a->settled[c]) {
                if (a->distance[c] == INFINITY) a->reached[known++] = c;
                a->distance[c] = far;
                a->from[c] = (int32_t)row;
                a->choice[c] = (int32_t)(l - begin[row]);
            }
        }
        best = done;
        for (ptrdiff_t k = done + 1; k < known; k++)
            if (a->distance[a->reached[k]] < a->distance[a->reached[best]]) best = k;
        if (done == known || giver_distance <= a->distance[a->reached[best]]) {
            length = giver_distance;
            break;
        }
        end = a->reached[best];
        length = a->distance[end];
        if (a->owner[end] < 0) {
            giver = -1;
            break;
        }
        a->settled[end] = 1;
        ssvm_swap(a->reached, best, done++);
        row = a->owner[end];
        base = length;
    }
    if (length < INFINITY) {
        a->u[s] += length;
        for (ptrdiff_t k = 0; k < done; k++) {
            const int32_t c = a->reached[k];
            a->u[a->owner[c]] += length - a->distance[c];
            a->v[c] -= length - a->distance[c];
        }
        if (giver >= 0) {                   /* the path ends at a row that has a column, unless it is s */
            end = giver == s ? -1 : column[begin[giver] + code[giver]];
            code[giver] = (int32_t)(begin[giver + 1] - begin[giver]);
        }
        while (end >= 0) {                  /* back to s: each row takes the column behind it, and leaves its own */
            const int32_t r = a->from[end], before = r == s ? -1 : column[begin[r] + code[r]];
            a->owner[end] = r;
            code[r] = a->choice[end];
            end = before;
        }
    }
    for (ptrdiff_t k = 0; k < known; k++) {
        a->distance[a->reached[k]] = INFINITY;
        a->settled[a->reached[k]] = 0;
    }
    return length < INFINITY;
}

/* The score of the best assignment; code[r] is the number of the link of row r among its own, that of its links where it
 * has none. -inf, and no links, where all are forbidden. Of equal paths the one found first is taken, and one that leaves
 * a row alone before the others. */
static double ssvm_assign(ptrdiff_t n, ptrdiff_t m, const int64_t *begin, const int32_t *column, const int32_t *part,
                          const double *theta, const double *none, double *scratch, int32_t *code)
{
    ssvm_assignment a;
    double total = 0.0;
    a.u = scratch;
    a.v = a.u + n;
    a.distance = a.v + m;
    a.owner = (int32_t *)(a.distance + m);
    a.from = a.owner + m;
    a.choice = a.from + m;
    a.reached = a.choice + m;
    a.settled = a.reached + m;
    for (ptrdiff_t r = 0; r < n; r++) {
        a.u[r] = 0.0;
        code[r] = (int32_t)(begin[r + 1] - begin[r]);
    }
    for (ptrdiff_t c = 0; c < m; c++) {
        a.v[c] = 0.0;
        a.distance[c] = INFINITY;
        a.owner[c] = -1;
        a.settled[c] = 0;
    }
    for (ptrdiff_t r = 0; r < n; r++) {
        if (!ssvm_assign_row(&a, r, begin, column, part, theta, none, code)) {
            for (ptrdiff_t k = 0; k < n; k++) code[k] = (int32_t)(begin[k + 1] - begin[k]);
            return -INFINITY;
        }
    }
    for (ptrdiff_t r = 0; r < n; r++)
        total += code[r] < begin[r + 1] - begin[r] ? theta[part[begin[r] + code[r]]] : none[r];
    return total;
}

#endif
