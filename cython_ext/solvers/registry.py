"""All solvers, one line each: name -> module with an INFO."""

from importlib import import_module

MODULES = {
    'bcfw': 'cython_ext.solvers.methods.dual.bcfw',
    'eg': 'cython_ext.solvers.methods.dual.eg',
    'eg-batch': 'cython_ext.solvers.methods.dual.eg_batch',
    'sgd': 'cython_ext.solvers.methods.primal.sgd',
    'svrg': 'cython_ext.solvers.methods.primal.svrg',
    'sc-svrg': 'cython_ext.solvers.methods.primal.sc_svrg',
    'lbfgs': 'cython_ext.solvers.methods.primal.lbfgs',
    'n-slack': 'cython_ext.solvers.methods.planes.n_slack',
    'one-slack': 'cython_ext.solvers.methods.planes.one_slack',
    'bmrm': 'cython_ext.solvers.methods.planes.bmrm',
    'cg': 'cython_ext.solvers.methods.primal.cg',
    'smo': 'cython_ext.solvers.methods.dual.smo',
    'extragradient': 'cython_ext.solvers.methods.dual.extragradient',
    'fw': 'cython_ext.solvers.methods.dual.fw',
    'dlpw': 'cython_ext.solvers.methods.dual.dlpw',
    'excessive-gap': 'cython_ext.solvers.methods.dual.excessive_gap',
    'perceptron': 'cython_ext.solvers.methods.primal.perceptron',
    'counts': 'cython_ext.solvers.methods.primal.counts',
}


def solver_info(name):
    """The SolverInfo of a name; KeyError when there is none. Modules are imported when first asked for."""
    return import_module(MODULES[name]).INFO


def all_solvers():
    return [solver_info(name) for name in MODULES]
