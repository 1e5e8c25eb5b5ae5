/* The best assignment of rows to columns, where a row may stay without one: shortest augmenting paths with potentials
 * (Edmonds and Karp 1972; Tomizawa 1971), a row at a time, each path by Dijkstra's algorithm without a heap.
 *
 * The links of row r are begin[r], ..., begin[r + 1] - 1: link l goes to column[l] and scores theta[part[l]]; none[r]
 * scores the row without a link. -inf forbids either. Time is O(n (links + m^2)), less where few columns are in the
 * way.
 */
#ifndef SSVM_ASSIGNMENT_H
#define SSVM_ASSIGNMENT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Doubles of scratch for n rows and m columns. */
static inline ptrdiff_t ssvm_assignment_size(ptrdiff_t n, ptrdiff_t m)
{
    return n + 2 * m + (5 * m + 1) / 2;
}

typedef struct {
    double *u, *v;              /* [n], [m] potentials: score <= -(u + v) of every link, with equality where it is
                                 * taken */
    double *distance;           /* [m] of a column from the row that is being added, INFINITY where none is known */
    int32_t *owner;             /* [m] the row that has the column, -1: none */
    int32_t *from, *choice;     /* [m] the row before it on its shortest path, and the number of that row's link */
    int32_t *reached;           /* [m] columns with a distance, those whose rows have been looked at first */
    int32_t *settled;           /* [m] whether its row has been: rounding must not change a path that others go on
                                 * from */
} ssvm_assignment;

/* Exchanges two entries. */
static inline void ssvm_swap(int32_t *list, ptrdiff_t a, ptrdiff_t b)
{
    const int32_t kept = list[a];
    list[a] = list[b];
    list[b] = kept;
}

/* Takes over the distances of the links of a row that is `base` away. */
static inline ptrdiff_t ssvm_look_at_row(ssvm_assignment *a, ptrdiff_t row, double base, const int64_t *begin,
                                         const int32_t *column, const int32_t *part, const double *theta,
                                         ptrdiff_t known)
{
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
    return known;
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
        known = ssvm_look_at_row(a, row, base, begin, column, part, theta, known);
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

static inline ssvm_assignment ssvm_assignment_at(ptrdiff_t n, ptrdiff_t m, double *memory)
{
    ssvm_assignment a;
    a.u = memory;
    a.v = a.u + n;
    a.distance = a.v + m;
    a.owner = (int32_t *)(a.distance + m);
    a.from = a.owner + m;
    a.choice = a.from + m;
    a.reached = a.choice + m;
    a.settled = a.reached + m;
    for (ptrdiff_t c = 0; c < m; c++) {
        a.distance[c] = INFINITY;
        a.owner[c] = -1;
        a.settled[c] = 0;
    }
    return a;
}

static inline double ssvm_assignment_score(ptrdiff_t n, const int64_t *begin, const int32_t *part, const double *theta,
                                           const double *none, const int32_t *code)
{
    double total = 0.0;
    for (ptrdiff_t r = 0; r < n; r++)
        total += code[r] < begin[r + 1] - begin[r] ? theta[part[begin[r] + code[r]]] : none[r];
    return total;
}

/* The score of the best assignment; code[r] is the number of the link of row r among its own, that of its links where
 * it has none. -inf, and no links, where all are forbidden. Of equal paths the one found first is taken, and one that
 * leaves a row alone before the others. The potentials are in scratch afterwards. */
static double ssvm_assign(ptrdiff_t n, ptrdiff_t m, const int64_t *begin, const int32_t *column, const int32_t *part,
                          const double *theta, const double *none, double *scratch, int32_t *code)
{
    ssvm_assignment a = ssvm_assignment_at(n, m, scratch);
    for (ptrdiff_t k = 0; k < n + m; k++) scratch[k] = 0.0;
    for (ptrdiff_t r = 0; r < n; r++) code[r] = (int32_t)(begin[r + 1] - begin[r]);
    for (ptrdiff_t r = 0; r < n; r++) {
        if (!ssvm_assign_row(&a, r, begin, column, part, theta, none, code)) {
            for (ptrdiff_t k = 0; k < n; k++) code[k] = (int32_t)(begin[k + 1] - begin[k]);
            return -INFINITY;
        }
    }
    return ssvm_assignment_score(n, begin, part, theta, none, code);
}

/* Where a shortest path comes from a column or a row that is given up. */
enum { SSVM_GIVEN_UP = -2 };

/* The score of the best assignment under scores of which `known` was the best one, before row s was forbidden what it
 * has there; in the time of a row or two. potentials: [n + m], as ssvm_assign has left them for the scores before.
 *
 * In terms of flows s must send what it sent through its column, the target, along another path of the residual graph:
 * from s to the target, or to what is free (a column, or a row that gives its column up), and on from there by way of a
 * column or a row that is given up for it. Potentials make all steps >= 0; giving up column c costs -v[c], and leaving
 * no link costs nothing. */
static double ssvm_assign_again(ptrdiff_t n, ptrdiff_t m, const int64_t *begin, const int32_t *column,
                                const int32_t *part, const double *theta, const double *none, ptrdiff_t s,
                                const double *potentials, const int32_t *known_code, double *scratch, int32_t *code)
{
    ssvm_assignment a = ssvm_assignment_at(n, m, scratch);
    ptrdiff_t known = 0, done = 0, row = s, giver = s;
    double base = 0.0, free_distance = INFINITY;
    int32_t target = -1, end, free_column = -1;
    int freed = 0;                          /* whether what is free has been reached */
    memcpy(scratch, potentials, (n + m) * sizeof(double));
    memcpy(code, known_code, n * sizeof(int32_t));
    for (ptrdiff_t r = 0; r < n; r++)
        if (code[r] < begin[r + 1] - begin[r]) a.owner[column[begin[r] + code[r]]] = (int32_t)r;
    if (code[s] < begin[s + 1] - begin[s]) target = column[begin[s] + code[s]];
    for (;;) {
        ptrdiff_t best;
        if (!freed && base - none[row] - a.u[row] < free_distance) {
            free_distance = base - none[row] - a.u[row];
            giver = row;
            free_column = -1;
        }
        known = ssvm_look_at_row(&a, row, base, begin, column, part, theta, known);
    next:
        best = done;
        for (ptrdiff_t k = done + 1; k < known; k++)
            if (a.distance[a.reached[k]] < a.distance[a.reached[best]]) best = k;
        if (!freed && free_distance < INFINITY
            && (done == known || free_distance <= a.distance[a.reached[best]])) {
            freed = 1;
            end = -1;
            if (target < 0) break;
            for (int32_t c = 0; c < m; c++) {
                const double far = free_distance - a.v[c];
                if (a.owner[c] >= 0 && !a.settled[c] && far < a.distance[c]) {
                    if (a.distance[c] == INFINITY) a.reached[known++] = c;
                    a.distance[c] = far;
                    a.from[c] = SSVM_GIVEN_UP;
                }
            }
            for (ptrdiff_t r = 0; r < n; r++)
                if (r != s && code[r] == begin[r + 1] - begin[r])
                    known = ssvm_look_at_row(&a, r, free_distance, begin, column, part, theta, known);
            goto next;
        }
        if (done == known) return -INFINITY;
        end = a.reached[best];
        if (end == target) break;
        a.settled[end] = 1;
        ssvm_swap(a.reached, best, done++);
        if (a.owner[end] < 0) {
            if (!freed && a.distance[end] < free_distance) {
                free_distance = a.distance[end];
                giver = -1;
                free_column = end;
            }
            goto next;
        }
        row = a.owner[end];
        base = a.distance[end];
    }
    /* Back to s: each row takes the column behind it, and leaves its own, or comes from what was free. */
    for (;;) {
        ptrdiff_t r = end >= 0 ? a.from[end] : SSVM_GIVEN_UP;
        int32_t before = -1;
        if (r >= 0) {
            const int alone = code[r] == begin[r + 1] - begin[r];
            if (!alone && r != s) before = column[begin[r] + code[r]];
            code[r] = a.choice[end];
            if (r == s) break;
            if (!alone) {
                end = before;
                continue;
            }
        }
        if (giver < 0) {
            end = free_column;
            continue;
        }
        if (giver != s) before = column[begin[giver] + code[giver]];
        code[giver] = (int32_t)(begin[giver + 1] - begin[giver]);
        if (giver == s) break;
        end = before;
    }
    return ssvm_assignment_score(n, begin, part, theta, none, code);
}

#endif
