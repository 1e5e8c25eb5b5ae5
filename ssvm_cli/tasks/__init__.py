"""Tasks as the commands see them: all that depends on what the examples of a task are, in a module with its name.

A module has `task(name)`, an object that offers

    name                    of the task, in --task and in models
    options                 those of TASK_OPTIONS that have a meaning for it, by parameter name
    outputs_name            what files have of right outputs, for messages: 'labels'
  to train
    read_options(o, module) further ReadOptions, a dict; o: the options of the command, module: that of the format
    facts(dataset, o)       what else must be known to read other files in the same way, a dict
    structure(o, module, dataset)       what the structure is built with, a dict of plain values for a model's header
    trainable(dataset, structure)       (the numbers of the examples that can be learned from, a text about the others),
                            or (None, None) where all can
    sizes(dataset), warning(dataset, o, facts)     texts for people, the latter may be None
    memory_hint(dataset)    (what makes the weights many, what would make them fewer)
    names(dataset)          the vocabularies of a model, a dict
    transferred(model, dataset, features, path)     weights for --init, by block
  to read other files, with a model or what has its header and vocabularies
    model_options(model)    further ReadOptions
    place(model)            where the right outputs stand in a file, for messages: '' or ' in column 4'
    lack(dataset, model, what)          (what is missing, what was expected) if an example has no right output, or None
    given(dataset)          whether any right output is given
    problem_structure(model, path)      what the structure of the problem that a model solves is built with
  to predict
    build_options(model, path)          arguments of cython_ext.decoding.build_decoder
    problem_options(model, problem)     the same for the weights of a training problem
    outputs(codes, dataset, decoder, w) what `compare` takes, of the codes of all examples under weights w
    decode(o, module, predictions, block)   (outputs, text to write) of a data_formats.dataset.Block
    scores(model, o=None)   an object with `compare(dataset, outputs)`, `count` of what was compared, `summary()`,
                            `table()`, and for logs `columns` and `row()`, the last of which judges
"""

from importlib import import_module

from data_formats.errors import UsageError

# Options that not every task has: parameter name -> (spelling, the value that asks for nothing).
TASK_OPTIONS = {
    'template': ('--template', None),
    'min_freq': ('--min-freq', 1),
    'bias': ('--bias', False),
    'kernel': ('--kernel', 'linear'),
    'taxonomy': ('--taxonomy', None),
    'class_features': ('--class-features', None),
    'class_similarity': ('--class-similarity', None),
    'window': ('--window', 0),
    'order': ('--order', '1'),
    'edge_features': ('--edge-features', False),
    'nonprojective': ('--nonprojective', False),
    'single_root': ('--single-root and --multi-root', None),
    'unlabelled': ('--unlabelled', False),
    'hash_bits': ('--hash-bits', None),
    'no_punctuation': ('--no-punctuation', False),
    'gap_model': ('--gap-model', 'linear'),
    'align': ('--align', 'local'),
    'terminals': ('--terminals', 'word'),
    'max_length': ('--max-length', None),
    'relaxation': ('--relaxation', None),
    'rho': ('--rho', None),
    'augmented_lagrangian': ('--augmented-lagrangian', False),
    'smooth_max': ('--smooth-max', None),
    'grades': ('--grades', False),
    'marginals': ('--marginals', False),
    'inference': ('--inference', None),
    'pairs': ('--pairs', 'all'),
}


def task_named(name):
    """The object of a task."""
    return import_module(f'ssvm_cli.tasks.{name}').task(name)


def check_options(task, o):
    """Refuse options that have no meaning for a task.

    Raises:
        UsageError: one of them is given.
    """
    spelled = getattr(o, 'spelled', {})
    for parameter, (spelling, nothing) in TASK_OPTIONS.items():
        if parameter not in task.options and getattr(o, parameter, nothing) != nothing:
            raise UsageError(
                f'{spelled.get(parameter, spelling)} has no meaning for the task {task.name}: leave it out'
            )
