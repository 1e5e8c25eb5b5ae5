/* Projective dependency trees: Eisner's algorithm (1996) in O(T^3), for the best tree and for sums over all trees.
 *
 * Nodes are 0, the root, and the words 1..T; N = T + 1. arcs[(d - 1) * N + h] scores the arc from head h to dependent
 * d. Every tree has one derivation from these items over spans s < t:
 *
 *     right_open(s, t)    s is the head of t, and all between hangs below one of them: arc(s, t) + join(s, t)
 *     left_open(s, t)     the same with t the head of s
 *     right(s, t)         s with all that hangs below it up to t: sum_q right_open(s, q) + right(q, t), s < q <= t
 *     left(s, t)          t with all that hangs below it from s: sum_q left(s, q) + left_open(q, t), s <= q < t
 *     join(s, t)          sum_q right(s, q) + left(q + 1, t), s <= q < t
 *
 * where the sum is a maximum, or the logarithm of a sum of exponentials. right and left are kept twice, in rows of one
 * end and in rows of the other, so that both terms of every sum are contiguous in q. The root takes its dependents at
 * the end, when all spans of words are known: one of them, or any number.
 */
#ifndef SSVM_EISNER_H
#define SSVM_EISNER_H

#include "cython_ext/kernels/vectors/log_space.h"

/* Tables [N, N] of a chart. */
typedef struct {
    double *right_s, *right_t;          /* [s, t]; [t, s] */
    double *left_t, *left_s;            /* [t, s]; [s, t] */
    double *right_open, *left_open;     /* [s, t]; [t, s] */
    double *join;                       /* [t, s] */
} ssvm_chart;

enum { SSVM_CHART = 7 };                /* tables of a chart */

SSVM_INLINE ssvm_chart ssvm_chart_at(ptrdiff_t N, double *memory)
{
    const ptrdiff_t table = N * N;
    const ssvm_chart chart = {memory, memory + table, memory + 2 * table, memory + 3 * table, memory + 4 * table,
                              memory + 5 * table, memory + 6 * table};
    return chart;
}

/* The sum over q < n of a[q] and b[q]: their largest, or the logarithm of the sum of their exponentials. */
SSVM_INLINE double ssvm_splits(const int sum, ptrdiff_t n, const double *a, const double *b)
{
    enum { LANES = 8 };
    double top[LANES], total = 0.0;
    ptrdiff_t q = 0;
    for (int l = 0; l < LANES; l++) top[l] = -INFINITY;
    for (; q + LANES <= n; q += LANES)
        for (int l = 0; l < LANES; l++) {
            const double c = a[q + l] + b[q + l];
            top[l] = c > top[l] ? c : top[l];
        }
    for (int l = 1; l < LANES; l++) top[0] = top[l] > top[0] ? top[l] : top[0];
    for (; q < n; q++) top[0] = a[q] + b[q] > top[0] ? a[q] + b[q] : top[0];
    if (!sum || top[0] == -INFINITY || n == 1) return top[0];
    double part[LANES] = {0};
    for (q = 0; q + LANES <= n; q += LANES)
        for (int l = 0; l < LANES; l++) part[l] += ssvm_exp1(a[q + l] + b[q + l] - top[0]);
    for (int l = 0; l < LANES; l++) total += part[l];
    for (; q < n; q++) total += ssvm_exp1(a[q] + b[q] - top[0]);
    return top[0] + log(total);
}

/* Fills the chart. Returns the value of all trees. */
SSVM_INLINE double ssvm_eisner_fill(const int sum, ptrdiff_t T, int single_root, const double *arcs, ssvm_chart c)
{
    const ptrdiff_t N = T + 1;
    for (ptrdiff_t e = 0; e < N * N; e += N + 1) c.right_s[e] = c.right_t[e] = c.left_t[e] = c.left_s[e] = 0.0;
    for (ptrdiff_t t = 2; t < N; t++)
        for (ptrdiff_t s = t - 1; s > 0; s--) {
            const double join = ssvm_splits(sum, t - s, c.right_s + s * N + s, c.left_t + t * N + s + 1);
            c.join[t * N + s] = join;
            c.right_open[s * N + t] = join + arcs[(t - 1) * N + s];
            c.left_open[t * N + s] = join + arcs[(s - 1) * N + t];
            c.right_s[s * N + t] = c.right_t[t * N + s] =
                ssvm_splits(sum, t - s, c.right_open + s * N + s + 1, c.right_t + t * N + s + 1);
            c.left_t[t * N + s] = c.left_s[s * N + t] =
                ssvm_splits(sum, t - s, c.left_s + s * N + s, c.left_open + t * N + s);
        }
    for (ptrdiff_t t = 1; t < N; t++) {
        c.join[t * N] = ssvm_splits(sum, single_root ? 1 : t, c.right_s, c.left_t + t * N + 1);
        c.right_open[t] = c.join[t * N] + arcs[(t - 1) * N];
        if (!single_root || t == T)
            c.right_s[t] = c.right_t[t * N] = ssvm_splits(sum, t, c.right_open + 1, c.right_t + t * N + 1);
    }
    return c.right_s[T];
}

SSVM_INLINE ptrdiff_t ssvm_first_split(ptrdiff_t n, const double *a, const double *b, double value)
{
    for (ptrdiff_t q = 0; q < n; q++)
        if (a[q] + b[q] == value) return q;
    return 0;
}

/* The best tree, the one with the first splits among equals: heads[d - 1] of every word, and its score; -inf (and some
 * tree) when all are forbidden. scratch: SSVM_CHART * N * N doubles; stack: 6 * N. */
SSVM_CLONES static double ssvm_eisner_best(ptrdiff_t T, int single_root, const double *arcs, double *scratch,
                                           int32_t *stack, int32_t *heads)
{
    enum { RIGHT, LEFT, JOIN };
    const ptrdiff_t N = T + 1;
    const ssvm_chart c = ssvm_chart_at(N, scratch);
    const double value = ssvm_eisner_fill(0, T, single_root, arcs, c);
    ptrdiff_t left = 0;                                             /* items on the stack: s, t, which one */
#define PUSH(from, to, item) \
    if ((from) < (to)) stack[left] = (int32_t)(from), stack[left + 1] = (int32_t)(to), stack[left + 2] = item, left += 3
    PUSH(0, T, RIGHT);
    while (left > 0) {
        left -= 3;
        const ptrdiff_t s = stack[left], t = stack[left + 1], item = stack[left + 2];
        ptrdiff_t q;
        if (item == RIGHT) {
            q = s + 1 + ssvm_first_split(t - s, c.right_open + s * N + s + 1, c.right_t + t * N + s + 1,
                                         c.right_s[s * N + t]);
            heads[q - 1] = (int32_t)s;
            PUSH(q, t, RIGHT);
            PUSH(s, q, JOIN);
        } else if (item == LEFT) {
            q = s + ssvm_first_split(t - s, c.left_s + s * N + s, c.left_open + t * N + s, c.left_t[t * N + s]);
            heads[q - 1] = (int32_t)t;
            PUSH(s, q, LEFT);
            PUSH(q, t, JOIN);
        } else {
            const ptrdiff_t splits = s == 0 && single_root ? 1 : t - s;
            q = s + ssvm_first_split(splits, c.right_s + s * N + s, c.left_t + t * N + s + 1, c.join[t * N + s]);
            PUSH(s, q, RIGHT);
            PUSH(q + 1, t, LEFT);
        }
    }
#undef PUSH
    return value;
}

/* Shares the probability of an item out among its splits in proportion to exp(a[q] + b[q]); exp(value) is the sum. */
SSVM_INLINE void ssvm_share_splits(ptrdiff_t n, const double *a, const double *b, double value, double mass,
                                   double *to_a, double *to_b)
{
    if (!(mass > 0.0)) return;
    for (ptrdiff_t q = 0; q < n; q++) {
        const double p = mass * ssvm_exp1(a[q] + b[q] - value);
        to_a[q] += p;
        to_b[q] += p;
    }
}

/* log sum over all trees of exp(score), and the probability of every arc into mean, laid out like arcs. Probabilities
 * are handed down from the whole tree to its items, so none of them is a difference of large numbers.
 * scratch: 2 * SSVM_CHART * N * N doubles. */
SSVM_CLONES static double ssvm_eisner_sums(ptrdiff_t T, int single_root, const double *arcs, double *scratch,
                                           double *mean)
{
    const ptrdiff_t N = T + 1;
    const ssvm_chart c = ssvm_chart_at(N, scratch), m = ssvm_chart_at(N, scratch + SSVM_CHART * N * N);
    const double value = ssvm_eisner_fill(1, T, single_root, arcs, c);
    memset(mean, 0, T * N * sizeof(double));
    if (value == -INFINITY || T == 0) return value;
    memset(scratch + SSVM_CHART * N * N, 0, SSVM_CHART * N * N * sizeof(double));
    m.right_s[T] = 1.0;
    for (ptrdiff_t t = T; t > 0; t--) {
        ssvm_share_splits(t, c.right_open + 1, c.right_t + t * N + 1, c.right_s[t], m.right_s[t] + m.right_t[t * N],
                          m.right_open + 1, m.right_t + t * N + 1);
        mean[(t - 1) * N] = m.right_open[t];
        ssvm_share_splits(single_root ? 1 : t, c.right_s, c.left_t + t * N + 1, c.join[t * N], m.right_open[t],
                          m.right_s, m.left_t + t * N + 1);
    }
    for (ptrdiff_t t = T; t > 1; t--)
        for (ptrdiff_t s = 1; s < t; s++) {
            const double right = m.right_s[s * N + t] + m.right_t[t * N + s];
            const double left = m.left_t[t * N + s] + m.left_s[s * N + t];
            ssvm_share_splits(t - s, c.right_open + s * N + s + 1, c.right_t + t * N + s + 1, c.right_s[s * N + t],
                              right, m.right_open + s * N + s + 1, m.right_t + t * N + s + 1);
            ssvm_share_splits(t - s, c.left_s + s * N + s, c.left_open + t * N + s, c.left_t[t * N + s], left,
                              m.left_s + s * N + s, m.left_open + t * N + s);
            mean[(t - 1) * N + s] = m.right_open[s * N + t];
            mean[(s - 1) * N + t] = m.left_open[t * N + s];
            ssvm_share_splits(t - s, c.right_s + s * N + s, c.left_t + t * N + s + 1, c.join[t * N + s],
                              m.right_open[s * N + t] + m.left_open[t * N + s], m.right_s + s * N + s,
                              m.left_t + t * N + s + 1);
        }
    return value;
}

#endif
