/* The best alignments of two sequences one after another, from the table of alignment.h.
 *
 * Every path is the best one but for some forks: going back from its end, a fork takes another cell's way than the
 * best, and loses the difference. Paths are found in the order of what their forks lose in all; the one that is taken
 * last from the queue offers the forks behind its own last one (Lawler 1972), so every path is offered once. Among
 * equals the first one offered comes first: ends row by row, no step before S before I before D. */
#ifndef SSVM_ALIGNMENT_PATHS_H
#define SSVM_ALIGNMENT_PATHS_H

#include "cython_ext/kernels/alignment/alignment.h"

enum { SSVM_START, SSVM_S, SSVM_I, SSVM_D };

/* A path: the first `kept` steps, from the end, of the path number `parent`, then the best way back from the cell (i,
 * j) that was entered by `step`. */
typedef struct {
    double loss;
    int32_t parent, kept, i, j, step;
} ssvm_fork;

typedef struct {
    const ssvm_align_costs *costs;
    ptrdiff_t n, m;
    const uint8_t *x, *y;
    double *table;
    ssvm_fork *forks;           /* the queue, the next one last; at most as many as paths are still wanted */
    ptrdiff_t waiting, wanted;
    uint8_t *steps;             /* [path, n + m] from the end */
    int32_t *lengths;           /* [path] */
    ptrdiff_t found;
} ssvm_align_paths;

static void ssvm_fork_offer(ssvm_align_paths *p, ssvm_fork fork)
{
    if (!(fork.loss < INFINITY) || p->wanted == 0) return;
    if (p->waiting == p->wanted) {
        if (fork.loss >= p->forks[0].loss) return;
        p->waiting--;
        memmove(p->forks, p->forks + 1, p->waiting * sizeof(ssvm_fork));
    }
    ptrdiff_t low = 0, high = p->waiting;                 /* the first one that is not worse */
    while (low < high) {
        const ptrdiff_t middle = (low + high) / 2;
        if (p->forks[middle].loss <= fork.loss)
            high = middle;
        else
            low = middle + 1;
    }
    memmove(p->forks + low + 1, p->forks + low, (p->waiting - low) * sizeof(ssvm_fork));
    p->forks[low] = fork;
    p->waiting++;
}

/* Fills the table and offers every end. Returns the best score. */
static double ssvm_align_begin(ssvm_align_paths *p, ptrdiff_t wanted)
{
    const ptrdiff_t n = p->n, m = p->m;
    const int local = p->costs->local, empty = local || n + m == 0;
    double top = empty ? 0.0 : -INFINITY;
    ssvm_align_table(p->costs, n, p->x, m, p->y, p->table);
    p->wanted = wanted;
    p->waiting = p->found = 0;
    const ptrdiff_t first = local ? 0 : n * (m + 1) + m, cells = (n + 1) * (m + 1);
    for (ptrdiff_t c = 3 * first; c < 3 * cells; c++) top = ssvm_larger(top, p->table[c]);
    if (!(top > -INFINITY)) return top;
    if (empty) ssvm_fork_offer(p, (ssvm_fork){top, -1, 0, 0, 0, SSVM_START});
    for (ptrdiff_t c = first; c < cells; c++)
        for (int k = 0; k < 3; k++)
            ssvm_fork_offer(p, (ssvm_fork){top - p->table[3 * c + k], -1, 0, (int32_t)(c / (m + 1)),
                                           (int32_t)(c % (m + 1)), SSVM_S + k});
    return top;
}

/* The next path: its number, or -1 if there is none. Writes what it loses and the cell where it starts. */
static ptrdiff_t ssvm_align_next(ssvm_align_paths *p, double *loss, int32_t *start_i, int32_t *start_j)
{
    if (p->waiting == 0) return -1;
    const ssvm_fork fork = p->forks[--p->waiting];
    const double open = p->costs->open, extend = p->costs->extend;
    const ptrdiff_t room = p->n + p->m, number = p->found++;
    uint8_t *const steps = p->steps + number * room;
    ptrdiff_t length = fork.kept, i = fork.i, j = fork.j;
    int step = fork.step;
    p->wanted--;
    if (fork.parent >= 0) memcpy(steps, p->steps + fork.parent * room, length);
    while (step != SSVM_START) {
        steps[length++] = (uint8_t)step;
        const double score = step == SSVM_S ? p->costs->s[p->x[i - 1] * p->costs->L + p->y[j - 1]] : 0.0;
        i -= step != SSVM_I;
        j -= step != SSVM_D;
        const double *cell = p->table + (i * (p->m + 1) + j) * 3;
        double from[4];
        int best = SSVM_START;
        from[SSVM_START] = p->costs->local || i + j == 0 ? 0.0 : -INFINITY;
        for (int k = SSVM_S; k <= SSVM_D; k++) from[k] = cell[k - 1];
        for (int k = SSVM_START; k <= SSVM_D; k++) {
            from[k] += step == SSVM_S ? score : k == step ? extend : open;
            if (from[k] > from[best]) best = k;
        }
        for (int k = SSVM_START; k <= SSVM_D; k++)
            if (k != best)
                ssvm_fork_offer(p, (ssvm_fork){fork.loss + (from[best] - from[k]), (int32_t)number, (int32_t)length,
                                               (int32_t)i, (int32_t)j, k});
        step = best;
    }
    p->lengths[number] = (int32_t)length;
    *loss = fork.loss;
    *start_i = (int32_t)i;
    *start_j = (int32_t)j;
    return number;
}

#endif
