/* Best labelings of binary nodes with factors of one or two nodes, by maximum flows.
 *
 * With a spin x of -1 or 1 for each node, scores are a constant + sum_v h_v x_v + sum_{uv} J_uv x_u x_v. Where no J is
 * negative (the scores are supermodular) a minimum cut is the maximum. Otherwise there is a cut of the doubled graph,
 * with vertices 2 v for "v has state 1" and 2 v + 1 for "v has state 0": an upper bound, the roof dual, and the states
 * of some nodes in a best labeling (persistency; Hammer, Hansen and Simeone 1984; Boros and Hammer 2002). What is left
 * falls apart into components, and each is solved by branching on a node, with the roof dual for a bound.
 *
 * Flows are Dinic's (1970): a search from the sinks for distances, then paths along them until none is left. The number
 * of searches is bounded by that of the vertices whatever the capacities are, and a saturated arc has exactly 0 left,
 * so that rounding cannot keep it from ending. Branching could take exponential time, and has a budget, which is used
 * up at once when the flag `stop` is set.
 */
#ifndef SSVM_CUT_H
#define SSVM_CUT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SSVM_CUT_KEPT = 32 };            /* room for the labels of branches, in labelings */
enum { SSVM_CUT_DEPTH = 1000 };         /* branches within each other */
enum { SSVM_CUT_SEARCH = 200 };        /* budget: so many times the nodes of the graph, and a hundred thousand */

typedef struct {                        /* a factor: its scores, and its nodes; v < 0: of one node */
    int64_t at;
    int32_t u, v, pair;
} ssvm_cut_term;

typedef struct {
    int32_t nodes, pairs, terms;
    const ssvm_cut_term *term;
    const int32_t *begin;               /* [nodes + 1] where the arcs of a node begin */
    const int32_t *other, *pair, *back; /* [2 pairs] node at their other ends, pair of nodes, the arc back */
} ssvm_cut_graph;

typedef struct {
    const ssvm_cut_graph *g;
    double *h, *J;                      /* [nodes], [pairs] */
    double *excess;                     /* [2 nodes] what the source can send, or the sink take where negative */
    double *residual;                   /* [4 pairs] of arc e from copy s of its node: 2 e + s */
    int32_t *order, *place;             /* [nodes] those with a state first, and where each is */
    int32_t *state;                     /* [nodes] */
    int32_t *level, *current, *queue;   /* [2 nodes] distance from a sink; the next arc to try; vertices */
    int32_t *kept;                      /* [SSVM_CUT_KEPT nodes] a stack of node and state of branches */
    ptrdiff_t used, depth;
    int64_t budget;                     /* nodes that cuts may still look at; below 0: not found */
    const int32_t *stop;
    int32_t copies;                     /* 1 where the nodes in question have no negative J among them */
} ssvm_cut;

/* Doubles of scratch. */
static inline ptrdiff_t ssvm_cut_size(ptrdiff_t nodes, ptrdiff_t pairs)
{
    return 3 * nodes + 5 * pairs + ((9 + SSVM_CUT_KEPT) * nodes + 1) / 2 + 1;
}

static void ssvm_cut_lay_out(ssvm_cut *c, const ssvm_cut_graph *g, double *scratch)
{
    const ptrdiff_t n = g->nodes, m = g->pairs;
    c->g = g;
    c->h = scratch;
    c->excess = c->h + n;
    c->J = c->excess + 2 * n;
    c->residual = c->J + m;
    c->order = (int32_t *)(c->residual + 4 * m);
    c->place = c->order + n;
    c->state = c->place + n;
    c->level = c->state + n;
    c->current = c->level + 2 * n;
    c->queue = c->current + 2 * n;
    c->kept = c->queue + 2 * n;
    c->used = c->depth = 0;
    c->budget = (int64_t)SSVM_CUT_SEARCH * n + 100000;
}

/* Whether nobody waits for the labeling any more: it will be any one then. */
static inline int ssvm_cut_stopped(ssvm_cut *c)
{
    if (__atomic_load_n(c->stop, __ATOMIC_RELAXED)) c->budget = -1;
    return c->budget < 0;
}

/* Moves the node at place `from` to place `to`, and the one there to `from`. */
static inline void ssvm_cut_move(ssvm_cut *c, ptrdiff_t from, ptrdiff_t to)
{
    const int32_t v = c->order[from], u = c->order[to];
    c->order[from] = u;
    c->order[to] = v;
    c->place[u] = (int32_t)from;
    c->place[v] = (int32_t)to;
}

static inline int ssvm_cut_inside(const ssvm_cut *c, int32_t v, ptrdiff_t begin, ptrdiff_t end)
{
    return begin <= c->place[v] && c->place[v] < end;
}

static inline double ssvm_cut_spin(const ssvm_cut *c, int32_t v)
{
    return c->state[v] ? 1.0 : -1.0;
}

/* The vertex that an arc from copy s goes to: a negative J joins a state with the other one. */
static inline int32_t ssvm_cut_head(const ssvm_cut *c, int32_t e, int32_t s)
{
    return 2 * c->g->other[e] + (s ^ (c->J[c->g->pair[e]] < 0.0));
}

/* The arc back from there. */
static inline ptrdiff_t ssvm_cut_back(const ssvm_cut *c, int32_t e, int32_t head)
{
    return 2 * (ptrdiff_t)c->g->back[e] + (head & 1);
}

/* h of a node, where those outside of order[begin:end] have the states they have. */
static double ssvm_cut_field(const ssvm_cut *c, int32_t v, ptrdiff_t begin, ptrdiff_t end)
{
    double h = c->h[v];
    for (int32_t e = c->g->begin[v]; e < c->g->begin[v + 1]; e++)
        if (!ssvm_cut_inside(c, c->g->other[e], begin, end))
            h += c->J[c->g->pair[e]] * ssvm_cut_spin(c, c->g->other[e]);
    return h;
}

/* The score of order[begin:end], all of which have states, with what joins them to the others. */
static double ssvm_cut_score(const ssvm_cut *c, ptrdiff_t begin, ptrdiff_t end)
{
    double total = 0.0;
    for (ptrdiff_t k = begin; k < end; k++) {
        const int32_t v = c->order[k];
        double field = c->h[v];
        for (int32_t e = c->g->begin[v]; e < c->g->begin[v + 1]; e++) {
            const int32_t u = c->g->other[e];
            field += (ssvm_cut_inside(c, u, begin, end) ? 0.5 : 1.0) * c->J[c->g->pair[e]] * ssvm_cut_spin(c, u);
        }
        total += field * ssvm_cut_spin(c, v);
    }
    return total;
}

/* Capacities of the nodes order[begin:end]; returns the sum of |h| and |J|, which no labeling can exceed. */
static double ssvm_cut_set_up(ssvm_cut *c, ptrdiff_t begin, ptrdiff_t end)
{
    double total = 0.0;
    c->copies = 1;
    for (ptrdiff_t k = begin; k < end; k++) {
        const int32_t v = c->order[k];
        double h = c->h[v];
        for (int32_t e = c->g->begin[v]; e < c->g->begin[v + 1]; e++) {
            const int32_t u = c->g->other[e];
            const double J = c->J[c->g->pair[e]];
            const int inside = ssvm_cut_inside(c, u, begin, end);
            if (inside) {
                total += 0.5 * fabs(J);
                if (J < 0.0) c->copies = 2;
            } else {
                h += J * ssvm_cut_spin(c, u);
            }
            c->residual[2 * e] = c->residual[2 * e + 1] = inside ? fabs(J) : 0.0;
        }
        c->excess[2 * v] = h;
        c->excess[2 * v + 1] = -h;
        total += fabs(h);
    }
    return total;
}

/* Distances from the sinks along arcs that are not saturated, -1 where there is no way; whether a source has one. */
static int ssvm_cut_distances(ssvm_cut *c, ptrdiff_t begin, ptrdiff_t end)
{
    int found = 0;
    ptrdiff_t known = 0;
    for (ptrdiff_t k = begin; k < end; k++)
        for (int32_t s = 0; s < c->copies; s++) {
            const int32_t x = 2 * c->order[k] + s;
            c->level[x] = c->excess[x] < 0.0 ? 0 : -1;
            if (c->level[x] == 0) c->queue[known++] = x;
        }
    for (ptrdiff_t k = 0; k < known; k++) {
        const int32_t x = c->queue[k], v = x >> 1;
        for (int32_t e = c->g->begin[v]; e < c->g->begin[v + 1]; e++) {
            if (!ssvm_cut_inside(c, c->g->other[e], begin, end)) continue;
            const int32_t y = ssvm_cut_head(c, e, x & 1);
            if (c->level[y] < 0 && c->residual[ssvm_cut_back(c, e, y)] > 0.0) {
                c->level[y] = c->level[x] + 1;
                if (c->excess[y] > 0.0) found = 1;
                c->queue[known++] = y;
            }
        }
    }
    return found;
}

/* Sends what a source has along shortest ways until it has nothing left, or none of them is; returns how much. */
static double ssvm_cut_send(ssvm_cut *c, int32_t source, ptrdiff_t begin, ptrdiff_t end)
{
    double sent = 0.0;
    ptrdiff_t depth = 0;
    c->queue[0] = source;               /* the way so far; current[x] is its arc from x */
    while (c->excess[source] > 0.0) {
        const int32_t x = c->queue[depth], last = c->g->begin[(x >> 1) + 1];
        int32_t e = c->current[x], y = -1;
        if (c->excess[x] < 0.0) {
            double least = fmin(c->excess[source], -c->excess[x]);
            ptrdiff_t first = 0;
            for (ptrdiff_t d = 0; d < depth; d++)
                least = fmin(least, c->residual[2 * (ptrdiff_t)c->current[c->queue[d]] + (c->queue[d] & 1)]);
            for (ptrdiff_t d = depth - 1; d >= 0; d--) {
                const int32_t from = c->queue[d], arc = c->current[from];
                double *left = c->residual + 2 * (ptrdiff_t)arc + (from & 1);
                *left -= least;
                c->residual[ssvm_cut_back(c, arc, c->queue[d + 1])] += least;
                if (!(*left > 0.0)) first = d;
            }
            c->excess[source] -= least;
            c->excess[x] += least;
            sent += least;
            depth = first;
            continue;
        }
        for (; e < last; e++) {
            y = ssvm_cut_head(c, e, x & 1);
            if (c->residual[2 * (ptrdiff_t)e + (x & 1)] > 0.0 && ssvm_cut_inside(c, y >> 1, begin, end)
                && c->level[y] >= 0 && c->level[y] == c->level[x] - 1)
                break;
        }
        c->current[x] = e;
        if (e < last) {
            c->queue[++depth] = y;
        } else if (depth) {
            c->current[c->queue[--depth]]++;
        } else {
            break;
        }
    }
    return sent;
}

/* A maximum flow between the nodes order[begin:end]; returns the upper bound of what they can score. */
static double ssvm_cut_flow(ssvm_cut *c, ptrdiff_t begin, ptrdiff_t end, double *rounding)
{
    const double total = ssvm_cut_set_up(c, begin, end);
    double sent = 0.0;
    while (!ssvm_cut_stopped(c) && ssvm_cut_distances(c, begin, end)) {
        for (ptrdiff_t k = begin; k < end; k++)
            for (int32_t s = 0; s < c->copies; s++) c->current[2 * c->order[k] + s] = c->g->begin[c->order[k]];
        for (ptrdiff_t k = begin; k < end; k++)
            for (int32_t s = 0; s < c->copies; s++) {
                const int32_t x = 2 * c->order[k] + s;
                if (c->excess[x] > 0.0 && c->level[x] > 0) sent += ssvm_cut_send(c, x, begin, end);
            }
    }
    *rounding = 1e-13 * total;
    return total - sent * (3 - c->copies);
}

enum { SSVM_CUT_FREE = 0, SSVM_CUT_TAKEN = -1, SSVM_CUT_BAD = -2 };

/* Marks what can be reached from the first `known` vertices of the queue, or, backward, what they can be reached from;
 * marks: level. Returns how many are in the queue; 0 where, forward, a vertex is among them that cannot be taken: a bad
 * one, one that the sink still takes something from, or one whose twin is taken or marked, too. */
static ptrdiff_t ssvm_cut_spread(ssvm_cut *c, ptrdiff_t known, int32_t mark, int backward, ptrdiff_t begin,
                                 ptrdiff_t end)
{
    for (ptrdiff_t k = 0; k < known; k++) {
        const int32_t x = c->queue[k], v = x >> 1;
        for (int32_t e = c->g->begin[v]; e < c->g->begin[v + 1]; e++) {
            if (!ssvm_cut_inside(c, c->g->other[e], begin, end)) continue;
            const int32_t y = ssvm_cut_head(c, e, x & 1), twin = c->level[y ^ 1];
            const ptrdiff_t arc = backward ? ssvm_cut_back(c, e, y) : 2 * (ptrdiff_t)e + (x & 1);
            if (!(c->residual[arc] > 0.0) || c->level[y] == mark || c->level[y] == SSVM_CUT_TAKEN) continue;
            if (!backward
                && (c->level[y] == SSVM_CUT_BAD || c->excess[y] < 0.0 || twin == mark || twin == SSVM_CUT_TAKEN))
                return 0;
            c->level[y] = mark;
            c->queue[known++] = y;
        }
    }
    return known;
}

/* Takes vertices to the source's side so that a minimum cut stays one, never both of a node: first those that the
 * source can still send something to, then, state 0 before state 1, what more a choice for a free node makes
 * necessary. */
static void ssvm_cut_take(ssvm_cut *c, ptrdiff_t begin, ptrdiff_t end)
{
    ptrdiff_t known = 0;
    int32_t mark = 0;
    for (ptrdiff_t k = begin; k < end; k++)
        for (int32_t s = 0; s < 2; s++) {
            const int32_t x = 2 * c->order[k] + s;
            c->level[x] = SSVM_CUT_FREE;
            if (s < c->copies && c->excess[x] > 0.0) {
                c->level[x] = SSVM_CUT_TAKEN;
                c->queue[known++] = x;
            }
        }
    for (ptrdiff_t k = 0; k < known; k++) {         /* no sink is in reach, or the flow could be larger */
        const int32_t x = c->queue[k], v = x >> 1;
        for (int32_t e = c->g->begin[v]; e < c->g->begin[v + 1]; e++) {
            if (!ssvm_cut_inside(c, c->g->other[e], begin, end)) continue;
            const int32_t y = ssvm_cut_head(c, e, x & 1);
            if (c->level[y] != SSVM_CUT_TAKEN && c->residual[2 * (ptrdiff_t)e + (x & 1)] > 0.0) {
                c->level[y] = SSVM_CUT_TAKEN;
                c->queue[known++] = y;
            }
        }
    }
    if (c->copies == 1) return;
    for (ptrdiff_t k = begin; k < end; k++)
        for (int32_t s = 1; s >= 0; s--) {
            const int32_t x = 2 * c->order[k] + s;
            if (c->level[x] == SSVM_CUT_TAKEN || c->level[x] == SSVM_CUT_BAD || c->level[x ^ 1] == SSVM_CUT_TAKEN)
                continue;
            c->queue[0] = x;
            c->level[x] = ++mark;
            known = c->excess[x] < 0.0 ? 0 : ssvm_cut_spread(c, 1, mark, 0, begin, end);
            for (ptrdiff_t r = 0; r < known; r++) c->level[c->queue[r]] = SSVM_CUT_TAKEN;
            if (known == 0) {                       /* what leads to a bad one is bad, too: each is marked once */
                c->queue[0] = x;
                c->level[x] = SSVM_CUT_BAD;
                ssvm_cut_spread(c, 1, SSVM_CUT_BAD, 1, begin, end);
            }
        }
}

/* Gives order[begin:end] the states that the cut says, and puts those of them in front; returns where the others
 * begin. */
static ptrdiff_t ssvm_cut_label(ssvm_cut *c, ptrdiff_t begin, ptrdiff_t end)
{
    ptrdiff_t at = begin;
    ssvm_cut_take(c, begin, end);
    for (ptrdiff_t k = begin; k < end; k++) {
        const int32_t v = c->order[k];
        const int one = c->level[2 * v] == SSVM_CUT_TAKEN, zero = c->level[2 * v + 1] == SSVM_CUT_TAKEN;
        if (c->copies == 2 && one == zero) continue;
        c->state[v] = one;
        ssvm_cut_move(c, k, at++);
    }
    return at;
}

/* Puts the nodes that hang together with order[at], among those before `end`, behind it; returns where they end. */
static ptrdiff_t ssvm_cut_component(ssvm_cut *c, ptrdiff_t at, ptrdiff_t end)
{
    ptrdiff_t stop = at + 1;
    for (ptrdiff_t k = at; k < stop; k++) {
        const int32_t v = c->order[k];
        for (int32_t e = c->g->begin[v]; e < c->g->begin[v + 1]; e++)
            if (c->J[c->g->pair[e]] != 0.0 && ssvm_cut_inside(c, c->g->other[e], stop, end))
                ssvm_cut_move(c, c->place[c->g->other[e]], stop++);
    }
    return stop;
}

static double ssvm_cut_solve(ssvm_cut *c, ptrdiff_t begin, ptrdiff_t end, double least);

/* Finds the states of a component by trying both of the node that is bound most. */
static void ssvm_cut_branch(ssvm_cut *c, ptrdiff_t begin, ptrdiff_t end)
{
    double most = -1.0;
    ptrdiff_t best = begin;
    for (ptrdiff_t k = begin; k < end; k++) {
        double sum = 0.0;
        for (int32_t e = c->g->begin[c->order[k]]; e < c->g->begin[c->order[k] + 1]; e++)
            if (ssvm_cut_inside(c, c->g->other[e], begin, end)) sum += fabs(c->J[c->g->pair[e]]);
        if (sum > most) {
            most = sum;
            best = k;
        }
    }
    ssvm_cut_move(c, best, begin);
    const int32_t v = c->order[begin], first = ssvm_cut_field(c, v, begin, end) > 0.0;
    c->state[v] = first;
    if (++c->depth > SSVM_CUT_DEPTH) c->budget = -1;
    ssvm_cut_solve(c, begin + 1, end, -INFINITY);
    const double value = ssvm_cut_score(c, begin, end);
    if (c->used + end - begin > (ptrdiff_t)SSVM_CUT_KEPT * c->g->nodes) c->budget = -1;
    if (c->budget < 0) return;          /* the depth no longer counts */
    int32_t *kept = c->kept + c->used;
    for (ptrdiff_t k = begin; k < end; k++) kept[k - begin] = 2 * c->order[k] + c->state[c->order[k]];
    c->used += end - begin;
    c->state[v] = !first;
    const double own = ssvm_cut_field(c, v, begin, end) * ssvm_cut_spin(c, v);
    const double rest = ssvm_cut_solve(c, begin + 1, end, value - own);
    c->used -= end - begin;
    c->depth--;
    if (!(rest > value - own))
        for (ptrdiff_t k = 0; k < end - begin; k++) c->state[kept[k] >> 1] = kept[k] & 1;
}

/* The best states of order[begin:end] where all before have theirs; returns what they score, or -INFINITY, and any
 * states, where that is not more than `least`. A budget below 0 says that they need not be the best. */
static double ssvm_cut_solve(ssvm_cut *c, ptrdiff_t begin, ptrdiff_t end, double least)
{
    double rounding;
    c->budget -= end - begin + 1;
    ptrdiff_t at = begin;
    if (!ssvm_cut_stopped(c)) {
        const double bound = ssvm_cut_flow(c, begin, end, &rounding);
        if (bound <= least + rounding) return -INFINITY;
        if (c->budget >= 0) at = ssvm_cut_label(c, begin, end);
    }
    while (at < end) {
        ptrdiff_t stop = ssvm_cut_component(c, at, end);
        if (c->budget >= 0) {
            ssvm_cut_branch(c, at, stop);
        } else {
            for (ptrdiff_t k = at; k < stop; k++)
                c->state[c->order[k]] = ssvm_cut_field(c, c->order[k], k, stop) > 0.0;
        }
        at = stop;
    }
    return ssvm_cut_score(c, begin, end);
}

/* What stands for a score of -inf: so little that no labeling is best that has it, if another has it not. */
static double ssvm_cut_forbidden(const ssvm_cut_graph *g, const double *theta)
{
    double range = 0.0, lowest = 0.0;
    for (int32_t t = 0; t < g->terms; t++) {
        const double *score = theta + g->term[t].at;
        double low = INFINITY, high = -INFINITY;
        for (int k = 0; k < (g->term[t].v < 0 ? 2 : 4); k++)
            if (score[k] > -INFINITY) {
                low = fmin(low, score[k]);
                high = fmax(high, score[k]);
            }
        if (low <= high) {
            range += high - low;
            lowest = fmin(lowest, low);
        }
    }
    return lowest - 2.0 * range - 1.0;
}

/* max_y <theta, s(y)> of a graph, and its labeling. *exact becomes 0 where the budget was not enough, and the labeling
 * need not be the best; where it is 0 before, there is no search at all, and none from when *stop is set. Of a node
 * with a state that is forbidden the other is taken. */
static double ssvm_cut_max(const ssvm_cut_graph *g, const double *theta, double *scratch, int32_t *code, int *exact,
                           const int32_t *stop)
{
    ssvm_cut c;
    double value = 0.0;
    ptrdiff_t given = 0;
    ssvm_cut_lay_out(&c, g, scratch);
    c.stop = stop;
    memset(c.h, 0, g->nodes * sizeof(double));
    memset(c.J, 0, g->pairs * sizeof(double));
    const double forbidden = ssvm_cut_forbidden(g, theta);
    for (int32_t v = 0; v < g->nodes; v++) {
        c.order[v] = c.place[v] = v;
        c.state[v] = 0;
    }
    for (int32_t t = 0; t < g->terms; t++) {
        const ssvm_cut_term *term = g->term + t;
        const double *score = theta + term->at;
        if (term->v < 0) {
            if (score[0] == -INFINITY || score[1] == -INFINITY) {
                c.state[term->u] = score[1] > score[0];
                if (c.place[term->u] >= given) ssvm_cut_move(&c, c.place[term->u], given++);
            } else {
                c.h[term->u] += 0.5 * (score[1] - score[0]);
            }
            continue;
        }
        double s[4];
        for (int k = 0; k < 4; k++) s[k] = score[k] == -INFINITY ? forbidden : score[k];
        c.h[term->u] += 0.25 * ((s[2] - s[0]) + (s[3] - s[1]));
        c.h[term->v] += 0.25 * ((s[1] - s[0]) + (s[3] - s[2]));
        c.J[term->pair] += 0.25 * ((s[0] - s[1]) + (s[3] - s[2]));
    }
    if (!*exact) c.budget = -1;
    ssvm_cut_solve(&c, given, g->nodes, -INFINITY);
    *exact = c.budget >= 0;
    for (int32_t v = 0; v < g->nodes; v++) code[v] = c.state[v];
    for (int32_t t = 0; t < g->terms; t++) {
        const ssvm_cut_term *term = g->term + t;
        value += theta[term->at + (term->v < 0 ? code[term->u] : 2 * code[term->u] + code[term->v])];
    }
    return value;
}

#endif
