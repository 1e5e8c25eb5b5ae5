/* Trees that may cross: the best one by Chu and Liu's and Edmonds' algorithm, and sums over all by elimination.
 *
 * Nodes are 0, the root, and the words 1..T; N = T + 1. arcs[(d - 1) * N + h] scores the arc from head h to dependent
 * d; -inf forbids it; what stands at h = d is not read.
 */
#ifndef SSVM_SPANNING_H
#define SSVM_SPANNING_H

#include "cython_ext/kernels/vectors/log_space.h"

/* ------------------------------------------------------------------------------------------------ the best tree
 *
 * Edmonds' algorithm with growing paths (Gabow, Galil, Spencer and Tarjan 1986), dense, in O(T^2): every node of the
 * path has its best head, and a path that runs into itself becomes one node, into which an arc is worth what it gains
 * on the arc that it replaces. A weight is a pair (level, score) in lexicographic order, which the algorithm can take
 * since it only adds, subtracts and compares: a forbidden arc takes 1 off the level, and with a single root an arc from
 * the root takes more than all other arcs together can, so that there is exactly one.
 */
typedef struct {
    double *level, *score;      /* [T, N] of the arc from a vertex into the node whose row it is */
    int32_t *to;                /* [T, N] the vertex that this arc goes to */
    double *enter_level, *enter_score;      /* [2 N] of the best arc into a node */
    int32_t *enter_from, *enter_to;         /* [2 N] */
    int32_t *parent, *state, *row;          /* [2 N] the node that it is part of; as below; its row */
    int32_t *top;                           /* [N] the node that a vertex is part of, in the end */
    int32_t *path;                          /* [2 N] */
} ssvm_forest;

enum { SSVM_NEW, SSVM_ON_PATH, SSVM_DONE };

/* Doubles of scratch for ssvm_spanning_best. */
SSVM_INLINE ptrdiff_t ssvm_forest_size(ptrdiff_t T)
{
    return 3 * T * (T + 1) + 12 * (T + 1);
}

SSVM_INLINE ssvm_forest ssvm_forest_at(ptrdiff_t T, double *memory)
{
    const ptrdiff_t N = T + 1, table = T * N;
    ssvm_forest f;
    f.level = memory, f.score = memory + table;
    f.enter_level = memory + 2 * table, f.enter_score = f.enter_level + 2 * N;
    f.to = (int32_t *)(f.enter_score + 2 * N);
    f.enter_from = f.to + table, f.enter_to = f.enter_from + 2 * N, f.parent = f.enter_to + 2 * N;
    f.state = f.parent + 2 * N, f.row = f.state + 2 * N, f.top = f.row + 2 * N, f.path = f.top + 2 * N;
    return f;
}

SSVM_INLINE int ssvm_heavier(double level, double score, double than_level, double than_score)
{
    return level > than_level || (level == than_level && score > than_score);
}

/* The best arc into node c from outside of it, the first one among equals. */
SSVM_INLINE void ssvm_enter(ptrdiff_t N, const ssvm_forest *f, int32_t c)
{
    const double *level = f->level + f->row[c] * N, *score = f->score + f->row[c] * N;
    ptrdiff_t best = -1;
    for (ptrdiff_t u = 0; u < N; u++)
        if (f->top[u] != c && (best < 0 || ssvm_heavier(level[u], score[u], level[best], score[best]))) best = u;
    f->enter_from[c] = (int32_t)best;
    f->enter_to[c] = f->to[f->row[c] * N + best];
    f->enter_level[c] = level[best], f->enter_score[c] = score[best];
}

/* The nodes path[from..length-1], a cycle, become node c, in the row of the first of them. */
SSVM_INLINE void ssvm_contract(ptrdiff_t N, const ssvm_forest *f, ptrdiff_t from, ptrdiff_t length, int32_t c)
{
    const ptrdiff_t row = f->row[f->path[from]] * N;
    for (ptrdiff_t p = from; p < length; p++) {
        const int32_t member = f->path[p];
        const ptrdiff_t other = f->row[member] * N;
        const double level = f->enter_level[member], score = f->enter_score[member];
        for (ptrdiff_t u = 0; u < N; u++) {
            const double l = f->level[other + u] - level, s = f->score[other + u] - score;
            if (p == from || ssvm_heavier(l, s, f->level[row + u], f->score[row + u]))
                f->level[row + u] = l, f->score[row + u] = s, f->to[row + u] = f->to[other + u];
        }
        f->parent[member] = c;
        for (ptrdiff_t u = 0; u < N; u++)
            if (f->top[u] == member) f->top[u] = c;
    }
    f->row[c] = (int32_t)(row / N);
    f->state[c] = SSVM_NEW;
    f->parent[c] = -1;
}

/* The best tree: heads[d - 1] of every word, and its score; -inf (and some tree) when all are forbidden. Always the
 * same one among equals. scratch: ssvm_forest_size(T) doubles. */
static double ssvm_spanning_best(ptrdiff_t T, int single_root, const double *arcs, double *scratch, int32_t *heads)
{
    const ptrdiff_t N = T + 1;
    const ssvm_forest forest = ssvm_forest_at(T, scratch), *f = &forest;
    int32_t nodes = (int32_t)N;
    for (ptrdiff_t d = 0; d < T; d++)
        for (ptrdiff_t h = 0; h < N; h++) {
            const double score = arcs[d * N + h];
            const int forbidden = score == -INFINITY;
            f->level[d * N + h] = -(double)forbidden - (h == 0 && single_root ? (double)N : 0.0);
            f->score[d * N + h] = forbidden ? 0.0 : score;
            f->to[d * N + h] = (int32_t)(d + 1);
        }
    for (int32_t v = 0; v < N; v++)
        f->top[v] = v, f->parent[v] = -1, f->row[v] = v - 1, f->state[v] = v ? SSVM_NEW : SSVM_DONE;
    for (ptrdiff_t v = 1; v < N; v++) {
        ptrdiff_t length = 0;
        int32_t c = f->top[v];
        while (f->state[c] != SSVM_DONE) {
            if (f->state[c] == SSVM_ON_PATH) {
                ptrdiff_t from = length - 1;
                while (f->path[from] != c) from--;
                c = nodes++;
                ssvm_contract(N, f, from, length, c);
                length = from;
            }
            ssvm_enter(N, f, c);
            f->state[c] = SSVM_ON_PATH;
            f->path[length++] = c;
            c = f->top[f->enter_from[c]];
        }
        for (ptrdiff_t p = 0; p < length; p++) f->state[f->path[p]] = SSVM_DONE;
    }
    /* An arc into a node of several enters one of them, which loses its own; the last made come first. */
    for (int32_t c = nodes - 1; c >= N; c--) {
        int32_t member = f->enter_to[c];
        while (f->parent[member] != c) member = f->parent[member];
        f->enter_from[member] = f->enter_from[c], f->enter_to[member] = f->enter_to[c];
    }
    double value = 0.0;
    for (ptrdiff_t d = 0; d < T; d++) {
        heads[d] = f->enter_from[d + 1];
        value += arcs[d * N + heads[d]];
    }
    return value;
}

/* --------------------------------------------------------------------------------------- sums over all trees
 *
 * The matrix-tree theorem (Tutte): with weights exp(arc) the sum is the determinant of the Laplacian without the root.
 * Its Gaussian elimination needs no subtraction (Grassmann, Taksar and Heyman 1985): a pivot is the sum of the weights
 * into node k from the nodes that are left, and an arc from h to d takes in the way by k,
 *
 *     pivot_k = sum_h weight(h, k)        weight(h, d) += weight(h, k) weight(k, d) / pivot_k
 *
 * so nothing cancels, and logarithms hold any scores. A single root is the limit in which arcs from the root weigh
 * nothing against others: pivots leave them out, but for the last one. A node without other heads is left for the last.
 */

/* Exchanges nodes i and j, in all rows and columns. */
static void ssvm_exchange(ptrdiff_t N, double *a, ptrdiff_t i, ptrdiff_t j)
{
    double *row = a + (i - 1) * N, *other = a + (j - 1) * N, swap;
    for (ptrdiff_t h = 0; h < N; h++) swap = row[h], row[h] = other[h], other[h] = swap;
    for (ptrdiff_t d = 0; d < N - 1; d++) swap = a[d * N + i], a[d * N + i] = a[d * N + j], a[d * N + j] = swap;
}

/* a: logarithms of the weights; becomes those at the time that one of the ends is eliminated, from T down to 1. Writes
 * the logarithms of the pivots [N], and the node that changed places with node 1. Returns the logarithm of the sum. */
SSVM_INLINE double ssvm_eliminate(ptrdiff_t T, int single_root, double *a, double *pivot, ptrdiff_t *last)
{
    const ptrdiff_t N = T + 1;
    double value = 0.0;
    *last = 1;
    for (ptrdiff_t d = 1; d < N; d++) a[(d - 1) * N + d] = -INFINITY;
    for (ptrdiff_t k = T; k > 0; k--) {
        const ptrdiff_t first = single_root && k > 1;
        const double *into = a + (k - 1) * N;
        pivot[k] = ssvm_log_sum(k - first, into + first);
        if (pivot[k] == -INFINITY && first && *last == 1) {
            *last = k;
            ssvm_exchange(N, a, 1, k);
            pivot[k] = ssvm_log_sum(k - first, into + first);
        }
        if (pivot[k] == -INFINITY) return -INFINITY;
        value += pivot[k];
        for (ptrdiff_t d = 1; d < k; d++) {
            double *row = a + (d - 1) * N;
            const double by_k = row[k] - pivot[k];
            if (by_k == -INFINITY) continue;
            for (ptrdiff_t h = 0; h < k; h++) row[h] = ssvm_log_add(row[h], by_k + into[h]);
            row[d] = -INFINITY;
        }
    }
    return value;
}

/* The probability of every arc of the reduced graphs, from those of the last to those of the first, into m, laid out
 * like a: g weight, where g is the derivative of the log sum by a weight. It is the same in all graphs that have the
 * arc, and of g(h, d) the way by k takes the share weight(h, k) weight(k, d) / pivot_k. */
SSVM_INLINE void ssvm_restore(ptrdiff_t T, int single_root, const double *a, const double *pivot, double *m)
{
    const ptrdiff_t N = T + 1;
    m[0] = 1.0, m[1] = 0.0;
    for (ptrdiff_t k = 2; k < N; k++) {
        const double *into = a + (k - 1) * N;
        double *to = m + (k - 1) * N, all = 0.0;
        memset(to, 0, N * sizeof(double));
        for (ptrdiff_t d = 1; d < k; d++) {
            const double *row = a + (d - 1) * N, *from = m + (d - 1) * N;
            const double by_k = row[k] - pivot[k];
            double sum = 0.0;
            m[(d - 1) * N + k] = 0.0;
            if (by_k == -INFINITY) continue;
            for (ptrdiff_t h = 0; h < k; h++) {
                const double way = ssvm_exp1(from[h] > 0.0 ? by_k + into[h] - row[h] : -INFINITY);
                to[h] += from[h] * way;
                sum += from[h] * way;
            }
            m[(d - 1) * N + k] = sum;
            all += sum;
        }
        for (ptrdiff_t h = single_root; h < k; h++) {
            const double p = to[h] + ssvm_exp1(into[h] - pivot[k]) * (1.0 - all);
            to[h] = p > 0.0 ? p : 0.0;
        }
    }
}

/* log sum over all trees of exp(score), and the probability of every arc into mean, laid out like arcs.
 * scratch: 3 * N * N doubles. */
SSVM_CLONES static double ssvm_spanning_sums(ptrdiff_t T, int single_root, const double *arcs, double *scratch,
                                             double *mean)
{
    const ptrdiff_t N = T + 1;
    double *a = scratch, *m = a + N * N, *pivot = m + N * N;
    ptrdiff_t last;
    memset(mean, 0, T * N * sizeof(double));
    if (T == 0) return 0.0;
    memcpy(a, arcs, T * N * sizeof(double));
    const double value = ssvm_eliminate(T, single_root, a, pivot, &last);
    if (value == -INFINITY) return value;
    ssvm_restore(T, single_root, a, pivot, m);
    if (last != 1) {
        ssvm_exchange(N, a, 1, last);
        ssvm_exchange(N, m, 1, last);
    }
    for (ptrdiff_t d = 1; d < N; d++)
        for (ptrdiff_t h = 0; h < N; h++) {
            const ptrdiff_t e = (d - 1) * N + h;
            if (m[e] > 0.0) mean[e] = m[e] * ssvm_exp1(arcs[e] - a[e]);
        }
    return value;
}

#endif
