/* Best labelings, and sums over labelings, of graphs whose factors of several nodes are counts that share no node: each
 * scores how many of its binary nodes have state 1, by buckets of counts.
 *
 * For every count the best labeling takes the nodes that gain most by state 1: sorting finds them all. Sums go over the
 * nodes one after the other with the count so far, as far as it matters: to the first one of the last bucket.
 */
#ifndef SSVM_COUNTS_H
#define SSVM_COUNTS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cython_ext/kernels/vectors/log_space.h"

typedef struct {
    int64_t at;                         /* where its buckets begin in theta */
    int64_t first, last;                /* its nodes among `node` */
    int64_t start;                      /* its buckets among `starts` */
    int32_t buckets;
} ssvm_count_term;

typedef struct {
    int32_t nodes, terms, apart;
    const int64_t *place;               /* [nodes] where the states of each node begin in theta */
    const int32_t *states;              /* [nodes] */
    const int32_t *node;                /* of the terms, then the `apart` ones of none */
    const int32_t *starts;              /* the first count of each bucket */
    const ssvm_count_term *term;
} ssvm_counts;

typedef struct {
    double gain;
    int64_t node;
} ssvm_gain;

/* The count from which on all are in the last bucket, or the largest one. */
static inline int64_t ssvm_last_count(const ssvm_counts *c, const ssvm_count_term *t)
{
    const int64_t start = c->starts[t->start + t->buckets - 1], nodes = t->last - t->first;
    return start < nodes ? start : nodes;
}

/* Doubles of work space for a maximum, and for sums. */
static inline int64_t ssvm_counts_work(const ssvm_counts *c)
{
    int64_t most = 0, j;
    for (j = 0; j < c->terms; j++) {
        const int64_t nodes = c->term[j].last - c->term[j].first;
        most = nodes > most ? nodes : most;
    }
    return 2 * most;
}

static inline int64_t ssvm_count_sums_work(const ssvm_counts *c)
{
    int64_t most = 0, j;
    for (j = 0; j < c->terms; j++) {
        const int64_t nodes = c->term[j].last - c->term[j].first;
        const int64_t work = (nodes + 2) * (ssvm_last_count(c, c->term + j) + 1);
        most = work > most ? work : most;
    }
    return most;
}

static inline int ssvm_gain_order(const void *a, const void *b)
{
    const ssvm_gain *x = (const ssvm_gain *) a, *y = (const ssvm_gain *) b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static inline int32_t ssvm_bucket_of(const int32_t *starts, int32_t buckets, int64_t count)
{
    int32_t low = 0, high = buckets;                            /* starts[low] <= count < starts[high] */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (starts[middle] <= count)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A node of no term: its first best state. */
static inline double ssvm_best_state(int32_t states, const double *scores, int32_t *state)
{
    int32_t a;
    *state = 0;
    for (a = 1; a < states; a++)
        if (scores[a] > scores[*state])
            *state = a;
    return scores[*state];
}

static inline double ssvm_count_max(const ssvm_counts *c, const ssvm_count_term *t, const double *theta,
                                    ssvm_gain *gains, int32_t *code)
{
    const int32_t *starts = c->starts + t->start;
    int64_t free_nodes = 0, ones = 0, chosen = 0, k;            /* ones: of the nodes that cannot have state 0 */
    int32_t bucket;
    double base = 0.0, sum = 0.0, best;
    for (k = t->first; k < t->last; k++) {
        const int32_t v = c->node[k];
        const double *scores = theta + c->place[v];
        code[v] = scores[0] == -INFINITY;
        base += scores[code[v]];
        if (code[v])
            ones++;
        else if (scores[1] > -INFINITY) {
            gains[free_nodes].gain = scores[1] - scores[0];
            gains[free_nodes++].node = v;
        }
    }
    qsort(gains, (size_t) free_nodes, sizeof(ssvm_gain), ssvm_gain_order);
    bucket = ssvm_bucket_of(starts, t->buckets, ones);
    best = theta[t->at + bucket];
    for (k = 0; k < free_nodes; k++) {
        sum += gains[k].gain;
        if (bucket + 1 < t->buckets && starts[bucket + 1] <= ones + k + 1)
            bucket++;
        if (sum + theta[t->at + bucket] > best) {
            best = sum + theta[t->at + bucket];
            chosen = k + 1;
        }
    }
    for (k = 0; k < chosen; k++)
        code[gains[k].node] = 1;
    return base + best;
}

/* max_y <theta, s(y)>, and its labeling. */
static inline double ssvm_counts_max(const ssvm_counts *c, const double *theta, double *work, int32_t *code)
{
    double total = 0.0;
    int64_t k = c->terms ? c->term[c->terms - 1].last : 0, j;
    const int64_t all = k + c->apart;
    for (; k < all; k++) {
        const int32_t v = c->node[k];
        total += ssvm_best_state(c->states[v], theta + c->place[v], code + v);
    }
    for (j = 0; j < c->terms; j++)
        total += ssvm_count_max(c, c->term + j, theta, (ssvm_gain *) work, code);
    return total;
}

static inline double ssvm_count_sum(const ssvm_counts *c, const ssvm_count_term *t, const double *theta, double *work,
                                    double *mean)
{
    const int32_t *starts = c->starts + t->start;
    const int64_t n = t->last - t->first, last = ssvm_last_count(c, t), width = last + 1;
    double *before = work, *after = work + width, z;            /* after: a row for each node, by the count before it */
    int64_t v, k;
    for (k = 0; k <= last; k++) {
        before[k] = k ? -INFINITY : 0.0;
        after[n * width + k] = theta[t->at + ssvm_bucket_of(starts, t->buckets, k)];
    }
    for (v = n - 1; v >= 0; v--) {
        const double *scores = theta + c->place[c->node[t->first + v]];
        double *row = after + v * width;
        const double *next = row + width;
        for (k = 0; k <= last; k++)
            row[k] = ssvm_log_add(scores[0] + next[k], scores[1] + next[k < last ? k + 1 : last]);
    }
    z = after[0];
    if (z == -INFINITY)
        return z;
    for (v = 0; v < n; v++) {
        const int64_t place = c->place[c->node[t->first + v]];
        const double *scores = theta + place, *next = after + (v + 1) * width;
        for (k = v < last ? v : last; k >= 0; k--) {
            const int64_t up = k < last ? k + 1 : last;
            const double one = before[k] + scores[1];
            before[k] += scores[0];
            mean[place] += exp(before[k] + next[k] - z);
            mean[place + 1] += exp(one + next[up] - z);
            before[up] = ssvm_log_add(before[up], one);
        }
    }
    for (k = 0; k <= last; k++) {
        const int64_t bucket = t->at + ssvm_bucket_of(starts, t->buckets, k);
        mean[bucket] += exp(before[k] + theta[bucket] - z);
    }
    return z;
}

/* log sum_y exp<theta, s(y)>, and E[s(y)] into mean, of so many parts; 0 where all is forbidden. */
static inline double ssvm_counts_sum(const ssvm_counts *c, const double *theta, double *work, double *mean,
                                     int64_t parts)
{
    double total = 0.0;
    int64_t k = c->terms ? c->term[c->terms - 1].last : 0, j;
    const int64_t all = k + c->apart;
    memset(mean, 0, (size_t) parts * sizeof(double));
    for (; k < all; k++) {
        const int32_t v = c->node[k];
        const double *scores = theta + c->place[v];
        double *out = mean + c->place[v], sum = 0.0, top;
        int32_t a;
        top = ssvm_best_state(c->states[v], scores, &a);
        if (top > -INFINITY) {
            for (a = 0; a < c->states[v]; a++)
                sum += out[a] = exp(scores[a] - top);
            for (a = 0; a < c->states[v]; a++)
                out[a] /= sum;
        }
        total += top + log(sum);
    }
    for (j = 0; j < c->terms; j++)
        total += ssvm_count_sum(c, c->term + j, theta, work, mean);
    if (!(total > -INFINITY))
        memset(mean, 0, (size_t) parts * sizeof(double));
    return total;
}

#endif
