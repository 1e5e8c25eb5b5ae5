"""All solvers, one line each: name -> module with an INFO."""

from importlib import import_module

MODULES = {
    'bcfw': 'cython_ext.solvers.methods.bcfw',
    'eg': 'cython_ext.solvers.methods.eg',
    'eg-batch': 'cython_ext.solvers.methods.eg_batch',
    'sgd': 'cython_ext.solvers.methods.sgd',
    'svrg': 'cython_ext.solvers.methods.svrg',
    'sc-svrg': 'cython_ext.solvers.methods.sc_svrg',
    'lbfgs': 'cython_ext.solvers.methods.lbfgs',
    'n-slack': 'cython_ext.solvers.methods.n_slack',
    'one-slack': 'cython_ext.solvers.methods.one_slack',
    'fw': 'cython_ext.solvers.methods.fw',
    'dlpw': 'cython_ext.solvers.methods.dlpw',
    'excessive-gap': 'cython_ext.solvers.methods.excessive_gap',
    'perceptron': 'cython_ext.solvers.methods.perceptron',
    'counts': 'cython_ext.solvers.methods.counts',
}


def solver_info(name):
    """The SolverInfo of a name; KeyError when there is none. Modules are imported when first asked for."""
    return import_module(MODULES[name]).INFO


def all_solvers():
    return [solver_info(name) for name in MODULES]
