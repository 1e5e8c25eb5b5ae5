/* Sums and maxima over all labelings of a factor graph, by eliminating one node after the other.
 *
 * A bucket eliminates one node v: its table holds, for each state of v (slowest) and each joint state of v's separator
 * (the nodes that are still there and share a factor or a message with v), the sum of its sources: the factors that
 * contain v, and the messages of buckets before it. Its own message is the maximum, or the log of the sum of
 * exponentials, over v. structures/graph/elimination.py plans the order and lays everything out.
 *
 * A table is built from its fastest node to its slowest: what a source adds that does not depend on a slower node is
 * added once and copied, so that a table costs about twice its size and not its size times the number of sources.
 */
#ifndef SSVM_ELIMINATION_H
#define SSVM_ELIMINATION_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cython_ext/kernels/vectors/vector.h"

typedef struct {
    int64_t at;              /* where it begins: in theta, or in the work space */
    int32_t message;         /* 0 for a factor, otherwise 1 + the bucket whose message it is */
    int32_t level;           /* its slowest node in the separator; the number of nodes there if it has none */
    int64_t node_stride;     /* from one state of v to the next */
    int64_t stride;          /* of the node at its level */
    int64_t strides;         /* where the strides of the nodes after that one stand, as many as `outer` */
    int32_t outer;           /* how many of them are walked through one by one */
    int32_t step;            /* from one entry of a run to the next */
    int64_t run;             /* entries of the table that are then one after the other */
} ssvm_source;

typedef struct {
    int32_t node, states;
    int64_t table, message;  /* where they are in the work space */
    int64_t size;            /* joint states of the separator */
    int64_t dims;            /* where the nodes of the separator and their numbers of states stand */
    int32_t separator;       /* how many nodes it has */
    int64_t first, last;     /* its sources */
} ssvm_bucket;

typedef struct {
    int64_t buckets, work;   /* work: doubles of work space */
    const ssvm_bucket *bucket;
    const ssvm_source *source;
    const int64_t *strides;
    const int32_t *nodes, *dims;
} ssvm_elimination;

/* Adds a source to consecutive entries of a table; returns the entry after the last. */
static double *ssvm_add_source(double *to, const double *from, const int32_t *dims, const int64_t *strides, int outer,
                               int64_t run, int64_t step)
{
    if (outer) {
        for (int32_t x = 0; x < dims[0]; x++)
            to = ssvm_add_source(to, from + x * strides[0], dims + 1, strides + 1, outer - 1, run, step);
        return to;
    }
    for (int64_t r = 0; r < run; r++) to[r] += from[r * step];
    return to + run;
}

/* The adjoint: adds consecutive entries of a table to the entries of the source that they came from. */
static const double *ssvm_collect_source(const double *from, double *to, const int32_t *dims, const int64_t *strides,
                                         int outer, int64_t run, int64_t step)
{
    if (outer) {
        for (int32_t x = 0; x < dims[0]; x++)
            from = ssvm_collect_source(from, to + x * strides[0], dims + 1, strides + 1, outer - 1, run, step);
        return from;
    }
    if (step == 0) {
        double total = 0.0;
        for (int64_t r = 0; r < run; r++) total += from[r];
        *to += total;
    } else {
        for (int64_t r = 0; r < run; r++) to[r * step] += from[r];
    }
    return from + run;
}

SSVM_INLINE const double *ssvm_source_data(const ssvm_source *s, const double *theta, const double *work)
{
    return (s->message ? work : theta) + s->at;
}

/* The table of a bucket. Its sources are sorted by level, those of the fastest nodes first. */
static void ssvm_fill_table(const ssvm_elimination *e, const ssvm_bucket *b, const double *theta, double *work)
{
    const int32_t *dims = e->dims + b->dims;
    for (int32_t v = 0; v < b->states; v++) {
        double *t = work + b->table + v * b->size;
        const ssvm_source *s = e->source + b->first, *end = e->source + b->last;
        int64_t size = 1;
        t[0] = 0.0;
        for (int32_t level = b->separator; level >= 0; level--) {
            int32_t states = level < b->separator ? dims[level] : 1;
            for (int32_t x = 1; x < states; x++) memcpy(t + x * size, t, size * sizeof(double));
            for (; s < end && s->level == level; s++) {
                const double *from = ssvm_source_data(s, theta, work) + v * s->node_stride;
                for (int32_t x = 0; x < states; x++)
                    ssvm_add_source(t + x * size, from + x * s->stride, dims + level + 1, e->strides + s->strides,
                                    s->outer, s->run, s->step);
            }
            size *= states;
        }
    }
}

/* The maximum over v, into the message. */
SSVM_CLONES static void ssvm_max_message(const ssvm_bucket *b, double *work)
{
    double *m = work + b->message;
    const double *t = work + b->table;
    memcpy(m, t, b->size * sizeof(double));
    for (int32_t v = 1; v < b->states; v++)
        for (int64_t u = 0; u < b->size; u++) {
            double x = t[v * b->size + u];
            m[u] = x > m[u] ? x : m[u];
        }
}

/* The log of the sum over v, into the message; the table becomes p(v | separator), 0 where all is forbidden. */
static void ssvm_sum_message(const ssvm_bucket *b, double *work)
{
    double *m = work + b->message, *t = work + b->table;
    ssvm_max_message(b, work);
    for (int32_t v = 0; v < b->states; v++) {
        double *row = t + v * b->size;
        for (int64_t u = 0; u < b->size; u++) row[u] = m[u] > -INFINITY ? row[u] - m[u] : -INFINITY;
        ssvm_exp(b->size, row, 0.0, row);
    }
    for (int64_t u = 0; u < b->size; u++) {
        double total = 0.0;
        for (int32_t v = 0; v < b->states; v++) total += t[v * b->size + u];
        double factor = total > 0.0 ? 1.0 / total : 0.0;
        for (int32_t v = 0; v < b->states; v++) t[v * b->size + u] *= factor;
        if (total > 0.0) m[u] += log(total);
    }
}

/* max_y <theta, s(y)>; code[v] becomes the state of node v in a maximiser, the first of equal states. */
static double ssvm_eliminate_max(const ssvm_elimination *e, const double *theta, double *work, int32_t *code)
{
    double value = 0.0;
    for (int64_t k = 0; k < e->buckets; k++) {
        const ssvm_bucket *b = e->bucket + k;
        ssvm_fill_table(e, b, theta, work);
        ssvm_max_message(b, work);
        if (!b->separator) value += work[b->message];
    }
    for (int64_t k = e->buckets - 1; k >= 0; k--) {
        const ssvm_bucket *b = e->bucket + k;
        int64_t u = 0;
        for (int32_t d = 0; d < b->separator; d++) u = u * e->dims[b->dims + d] + code[e->nodes[b->dims + d]];
        int32_t best = 0;
        for (int32_t v = 1; v < b->states; v++)
            if (work[b->table + v * b->size + u] > work[b->table + best * b->size + u]) best = v;
        code[b->node] = best;
    }
    return value;
}

/* The marginals of all factors into mean (zeros before): the gradient of the log-partition function, backwards through
 * the tables. A message's gradient takes the place of the message. */
static void ssvm_collect_tables(const ssvm_elimination *e, double *work, double *mean)
{
    for (int64_t k = e->buckets - 1; k >= 0; k--) {
        const ssvm_bucket *b = e->bucket + k;
        const int32_t *dims = e->dims + b->dims;
        double *above = work + b->message;
        if (!b->separator) above[0] = 1.0;
        for (const ssvm_source *s = e->source + b->first; s < e->source + b->last; s++)
            if (s->message) memset(work + s->at, 0, e->bucket[s->message - 1].size * sizeof(double));
        for (int32_t v = 0; v < b->states; v++) {
            double *t = work + b->table + v * b->size;
            for (int64_t u = 0; u < b->size; u++) t[u] *= above[u];
            int64_t size = b->size;
            const ssvm_source *s = e->source + b->last - 1, *first = e->source + b->first;
            for (int32_t level = 0; level <= b->separator; level++) {
                int32_t states = level < b->separator ? dims[level] : 1;
                size /= states;
                for (; s >= first && s->level == level; s--) {
                    double *to = (s->message ? work : mean) + s->at + v * s->node_stride;
                    for (int32_t x = 0; x < states; x++)
                        ssvm_collect_source(t + x * size, to + x * s->stride, dims + level + 1,
                                            e->strides + s->strides, s->outer, s->run, s->step);
                }
                for (int32_t x = 1; x < states; x++)
                    for (int64_t u = 0; u < size; u++) t[u] += t[x * size + u];
            }
        }
    }
}

/* log sum_y exp <theta, s(y)>; mean, zeros before, gets E[s(y)] of length `parts`. */
static double ssvm_eliminate_sum(const ssvm_elimination *e, const double *theta, double *work, double *mean,
                                 int64_t parts)
{
    double value = 0.0;
    memset(mean, 0, parts * sizeof(double));
    for (int64_t k = 0; k < e->buckets; k++) {
        const ssvm_bucket *b = e->bucket + k;
        ssvm_fill_table(e, b, theta, work);
        ssvm_sum_message(b, work);
        if (!b->separator) value += work[b->message];
    }
    if (value > -INFINITY) ssvm_collect_tables(e, work, mean);
    return value;
}

#endif
