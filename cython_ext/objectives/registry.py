"""All objectives, one line each: name -> (module, class, whether it takes a task loss)."""

from importlib import import_module

OBJECTIVES = {
    'hinge': ('cython_ext.objectives.hinge', 'Hinge', True),
    'log': ('cython_ext.objectives.log', 'Log', False),
    'softmax-margin': ('cython_ext.objectives.softmax_margin', 'SoftmaxMargin', True),
}


def objective_info(name):
    """(class, whether it takes a task loss); ValueError when there is no such objective."""
    if name not in OBJECTIVES:
        raise ValueError(f'unknown objective {name} (choose from {", ".join(OBJECTIVES)})')
    module, cls, with_loss = OBJECTIVES[name]
    return getattr(import_module(module), cls), with_loss
