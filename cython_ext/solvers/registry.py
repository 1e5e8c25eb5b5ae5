"""All solvers, one line each: name -> module with an INFO."""

from importlib import import_module

MODULES = {
    'bcfw': 'cython_ext.solvers.bcfw',
    'eg': 'cython_ext.solvers.eg',
    'eg-batch': 'cython_ext.solvers.eg_batch',
    'sgd': 'cython_ext.solvers.sgd',
    'svrg': 'cython_ext.solvers.svrg',
    'sc-svrg': 'cython_ext.solvers.sc_svrg',
    'lbfgs': 'cython_ext.solvers.lbfgs',
    'n-slack': 'cython_ext.solvers.n_slack',
    'one-slack': 'cython_ext.solvers.one_slack',
    'fw': 'cython_ext.solvers.fw',
    'excessive-gap': 'cython_ext.solvers.excessive_gap',
    'perceptron': 'cython_ext.solvers.perceptron',
    'counts': 'cython_ext.solvers.counts',
}


def solver_info(name):
    """The SolverInfo of a name; KeyError when there is none. Modules are imported when first asked for."""
    return import_module(MODULES[name]).INFO


def all_solvers():
    return [solver_info(name) for name in MODULES]
