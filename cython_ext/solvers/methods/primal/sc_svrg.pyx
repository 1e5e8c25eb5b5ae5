"""Catalyst with smoothing (Pillutla et al. 2018, Algorithm 1), with svrg or another incremental method inside.

An outer step minimises F_mu(w) + kappa/2 ||w - z||^2 from z, roughly, and extrapolates: z <- w + beta (w - w before).
It is one pass of svrg, as in section 4 of the paper, or as many as the accuracy delta_k of Algorithm 1 takes
(epochs=0): until F_mu,kappa(w; z) less its minimum is at most delta_k kappa/2 ||w - z||^2. Minimum and decrease are
known well enough from the pass itself, see Svrg.progress. Where an outer step goes against the momentum that led to it,
the next has none.

The others begin a pass with the whole gradient too, as their tables hold the statistics of every example at the
anchor, and visit each example once; with G the mean of the table, d its change at the visit, rho = lambda + kappa,

    saga         w as in svrg, then G <- G + Phi_i d / n                    (Defazio, Bach and Lacoste-Julien 2014)
    miso, sdca   w = (kappa z - G) / rho always, G <- G + delta Phi_i d / n       (Mairal 2015; Shalev-Shwartz 2016)

where L = 1 / step, and delta is min(1, n rho / (2 (L - rho))) for miso and n rho / (L + n rho) for sdca.

schemes.py has kappa_k, mu_k, delta_k and alpha_k of Table 2. Beyond the table, schemes 1 and 3 lower mu (--set shrink)
when the problem is solved as well as the smoothing allows, so that nothing needs to be fixed in advance, and schemes 2
and 4 wait for that before they lower it (--set patient): one pass a step can be too little for mu as it falls.
"""

import numpy as np

from cython_ext.core.problem cimport Problem
from cython_ext.solvers.solver cimport DONE, STOPPED, Visit
from cython_ext.solvers.methods.primal import svrg
from cython_ext.solvers.options import Option, SolverInfo
from cython_ext.solvers.parts.schemes import Scheme
from cython_ext.solvers.methods.primal.svrg cimport Svrg


cdef double LONGEST_STEP = 0.999        # as svrg


cdef enum Inner:
    SVRG, SAGA, MISO, SDCA


cdef class ScSvrg(Svrg):
    """options: as OPTIONS below; seed: of the order of visits."""

    cdef readonly object scheme, before             # w of the outer step before
    cdef Inner inner
    cdef readonly object moving                     # saga: what w is pulled to, as G moves
    cdef double *moving_data
    cdef double share                               # delta of miso and sdca over n rho, in this pass
    cdef public object first, alpha                 # kappa_1 and alpha_k-1, None before the first outer step
    cdef public long k, epochs                      # outer step, from 1; passes done in it

    def __init__(self, Problem problem not None, options, seed=0):
        Svrg.__init__(self, problem, options, seed)
        self.scheme = Scheme(int(options['scheme']), problem.lam, problem.n, options['kappa'], options['decay'])
        cdef double[::1] center = problem.features.zeros()
        self.center, self.center_data, self.before = np.asarray(center), &center[0], problem.features.zeros()
        self.k = 1
        self.inner = {'svrg': SVRG, 'saga': SAGA, 'miso': MISO, 'sdca': SDCA}[options['inner']]
        cdef double[::1] moving
        if self.inner == SAGA:
            moving = problem.features.zeros()
            self.moving, self.moving_data = np.asarray(moving), &moving[0]

    # ------------------------------------------------------------------------------------------- other inner methods

    cdef Visit visit(self, Py_ssize_t i) noexcept nogil:
        cdef double rho = self.problem.lam + self.kappa, pull = 1.0 / (self.problem.n * rho)
        cdef double step = min(self.step, LONGEST_STEP / rho)
        if self.inner == SVRG or self.plain:
            return Svrg.visit(self, i)
        if not self.compare(i, self.moving_data if self.inner == SAGA else self.fixed_data):
            return STOPPED
        if self.inner == SAGA:
            self.scale *= 1.0 - step * rho
            self.problem.features.add(i, self.work.mean, (pull - step) / self.scale, self.change_data)
            self.problem.features.add(i, self.work.mean, -pull, self.moving_data)
            if self.scale < 1e-3:
                self.fold()
        else:
            self.problem.features.add(i, self.work.mean, -self.share, self.change_data)
        return DONE

    def _fix(self):
        Svrg._fix(self)
        if self.inner == SAGA:
            self.moving[:] = self.fixed
        elif self.inner != SVRG and not self.plain:
            self.change[:] = 0
            self._set_share()

    def _set_share(self):
        n, rho = self.problem.n, self.problem.lam + self.kappa
        curvature = 1 / min(self.step, LONGEST_STEP / rho)
        delta = n * rho / (curvature + n * rho) if self.inner == SDCA else min(1.0, n * rho / (2 * (curvature - rho)))
        self.share = delta / (n * rho)

    def _distance(self):
        if self.inner != SAGA or self.plain:
            return Svrg._distance(self)
        way = self.moving - self.fixed + self.scale * self.change
        return self.problem.features.inner(way, way)

    def _add_to_tail(self):
        Svrg._add_to_tail(self)
        if self.inner == SAGA:
            self.tail += self.moving - self.fixed

    def _average_tail(self):
        if self.inner == SAGA and not self.plain:
            self.fold()
            self.change += self.moving - self.fixed
            self.moving[:] = self.fixed
        Svrg._average_tail(self)

    def _restore_pass(self, state):
        Svrg._restore_pass(self, state)
        if self.inner == SAGA:
            self.moving[:] = state['moving']
        elif self.inner != SVRG:
            self._set_share()

    # -------------------------------------------------------------------------------------------------- outer steps

    def set_start(self, w):
        Svrg.set_start(self, w)
        self.alpha, self.epochs, self.kappa = None, 0, 0.0

    def begin_pass(self, stop):
        if self.alpha is None and not self.plain:
            self._start_outer_steps()
        return Svrg.begin_pass(self, stop)

    def _go_back(self):
        """And without the momentum."""
        Svrg._go_back(self)
        self._start_outer_steps()

    def _moved(self):
        self._start_outer_steps()

    def _start_outer_steps(self):
        self.kappa, self.epochs = self._next_kappa(self.k), 0
        self.alpha = self.scheme.first_alpha(self.kappa)
        self.center[:], self.before[:] = self.anchor, self.anchor

    def _next_kappa(self, k):
        kappa = self.scheme.kappa(k, 1 / self.step, self.first)
        if self.first is None:
            self.first = kappa
        return kappa

    def _end(self):
        if self.plain:
            Svrg._end(self)
            return
        self._adapt_step()
        self.waited += 1
        self.epochs += 1
        if self._good_enough():
            self._outer_step()
            self.epochs = 0
        else:
            self.anchor[:] = self.change

    def _good_enough(self):
        """Whether the inner problem has had its passes, or its accuracy."""
        if self.options['epochs']:
            return self.epochs >= self.options['epochs']
        move = self.change - self.center
        travelled = self.problem.features.inner(move, move)
        late, start = self.progress()[1], self.progress()[3]
        return start + late <= self.scheme.accuracy(self.k, self.kappa) * self.kappa / 2 * travelled or self.kappa == 0

    def _outer_step(self):
        """The next mu, kappa and z, which is the next anchor."""
        inner, w, kappa = self.problem.features.inner, self.change, self.kappa
        solved, scheme = self.solved(), self.scheme
        if scheme.number in (1, 3):
            self._lower_smoothing(self.options['shrink'] if solved else 1.0)
        elif self.smooths and (solved or not self.options['patient']):
            self._lower_smoothing(scheme.decrease(self.k))
        if scheme.number != 4 or solved or not self.options['patient'] or not self.smooths:
            self.k += 1
        self.kappa = self._next_kappa(self.k)
        uphill = inner(self.center - w, w - self.before) > 0
        self.alpha, beta = scheme.momentum(self.alpha, kappa, self.kappa)
        if uphill:
            self.alpha, beta = scheme.first_alpha(self.kappa), 0.0
        np.subtract(w, self.before, out=self.anchor)
        self.anchor *= beta
        self.anchor += w
        self.center[:], self.before[:] = self.anchor, w

    def iterates(self):
        anchor = self.anchor if self.alpha is None or self.epochs else self.before
        return [('current', anchor), *self._mixed_iterate()]

    def state(self):
        names = {name: getattr(self, name) for name in NAMES}
        moving = {'moving': self.moving.copy()} if self.inner == SAGA and self.position >= 0 else {}
        return {**Svrg.state(self), **names, **moving, 'center': self.center.copy(), 'before': self.before.copy()}

    def restore(self, state):
        for name in NAMES:
            setattr(self, name, state[name])
        self.center[:], self.before[:] = state['center'], state['before']
        Svrg.restore(self, state)


NAMES = ('first', 'alpha', 'k', 'epochs')

OPTIONS = {
    **svrg.OPTIONS,
    'scheme': Option(('1', '2', '3', '4'), '1', 'of Table 2: 1 and 3 constant, 2 and 4 adaptive smoothing; 3 and 4 do '
                     'not count on lambda'),
    'inner': Option(('svrg', 'saga', 'miso', 'sdca'), 'svrg', 'incremental method of the inner problems'),
    'kappa': Option(float, 0.0, 'weight of the proximal term; 0: as the scheme has it', minimum=0),
    'decay': Option(float, 0.9, 'c of scheme 2: factor of mu after an outer step', minimum=1e-3),
    'patient': Option(bool, True, 'schemes 2 and 4 lower mu only when the problem is solved as well as mu allows'),
    'epochs': Option(int, 1, 'passes of an outer step; 0: as many as its accuracy delta takes', minimum=0),
}

INFO = SolverInfo(
    name='sc-svrg',
    summary='svrg of the smoothed loss, accelerated (Catalyst with smoothing)',
    oracle=svrg.ORACLES,
    options=OPTIONS,
    certificate=svrg.CERTIFICATE,
    paper='Pillutla et al. 2018, Algorithm 1',
    make=ScSvrg,
    starts=('weights',),
)
