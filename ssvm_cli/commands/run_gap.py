"""What `ssvm gap` does: both sides of the certificate from the data and the model's arrays alone."""

import json
import math
import sys

import click
import numpy as np

from cython_ext.common.errors import UnfitDataError
from cython_ext.duals.dual_point import WrittenPoint
from cython_ext.duals.scores import TemperedPoint
from data_formats.datasets.divisors import SCALES
from data_formats.errors import DataError
from data_formats.files.atomic import atomic_output
from data_formats.models.model import load
from data_formats.parameters.multilabel import MULTIPLIERS
from ssvm_cli.examples.reading import read_data
from ssvm_cli.examples.training_set import trainable
from ssvm_cli.options.files import check_paths
from ssvm_cli.options.kernel import support_tokens
from ssvm_cli.options.problem_spec import spec_of
from ssvm_cli.options.relaxation import said_of_relaxation
from ssvm_cli.tasks import task_named
from ssvm_cli.terminal.complaints import beside_the_result
from ssvm_cli.terminal.launchers import refuse_copies
from ssvm_cli.terminal.progress import Progress, counted
from ssvm_cli.terminal.resources import available_cpus
from ssvm_cli.training.certificate import Tolerance, absolute_gap, relative_gap

LABELS = {
    'primal': 'primal',
    'dual': 'dual',
    'gap': 'gap',
    'relative_gap': 'relative gap',
    'dual_source': 'dual from',
    'relaxed_primal': 'relaxed primal',
    'relaxed_dual': 'relaxed dual',
    'relaxation': 'relaxation',
    'scale': 'values scaled by',
    'status': 'status',
}


def certify(o):
    """Run `ssvm gap`; o: the options, by parameter name."""
    if o.per_example is not None:  # otherwise nothing is written that copies could spoil
        refuse_copies()
    check_paths({'TRAIN': o.train, 'MODEL': o.model}, {'--per-example': o.per_example})
    if sys.stdout is None:
        raise DataError('<stdout>', None, 'is closed', 'expected an open standard output')
    progress = Progress(o.verbose)
    model = load(o.model)
    threads = o.threads or available_cpus()
    spec = spec_of(model, o.model)
    task = task_named(spec.task)
    dataset = read_data(o.train, spec, model, o.format_name, require_labels=True, what=o.model, threads=threads)

    def say(text):
        progress.say(f'{o.train}: {text}')

    dataset, numbers = trainable(task, dataset, spec.structure, o.train, say, 'nothing to certify')
    problem = problem_of(spec, model, dataset, threads, o)
    w = weights_of(model, problem, o)
    temperature = temperature_of(model, problem)
    with np.errstate(all='ignore'):  # what is not finite is found below
        evaluation = problem.evaluate(w, temperature is not None, temperature=temperature or 1.0)
    if not math.isfinite(evaluation.primal):
        raise DataError(
            o.model,
            None,
            f'the objective of its weights is {evaluation.primal}',
            'expected a finite number',
        )
    own = own_dual(problem, model.dual, o, progress)
    if problem.sums:
        dual, source = (own, 'model') if own is not None and own > evaluation.dual else (evaluation.dual, 'softmax')
    elif temperature is not None and evaluation.dual > 0:
        dual, source = evaluation.dual, 'softmax'
    else:
        dual, source = hinge_dual(problem, own, o, progress)
    if dual <= 0:
        dual, source = 0.0, 'right outputs'
    relaxed = relaxed_bounds(problem, w, evaluation.primal, None if own is None else model.dual)
    solved = (evaluation.primal, dual)
    if MULTIPLIERS in model.weights:  # which training has changed until the relaxed problem was solved
        solved = relaxed['relaxed_primal'], relaxed.get('relaxed_dual', 0.0)
    figures = report(model, problem, dataset.n, evaluation.primal, dual, source, solved)
    figures |= relaxed | relaxation_of(spec) | scale_of(spec)
    if o.per_example is not None:
        write_losses(o.per_example, dataset, numbers, problem.structure.by_example(evaluation.loss_values))
    if o.as_json:
        click.echo(json.dumps(figures, indent=1))
    else:
        labels = {key: label for key, label in LABELS.items() if key in figures}
        width = 2 + max(map(len, labels.values()))
        for key, label in labels.items():
            value = f'{figures[key]} ({SCALES[figures[key]]})' if key == 'scale' else figures[key]
            click.echo(f'{label:<{width}}{value if isinstance(value, str) else format(value, ".10g")}')


def problem_of(spec, model, dataset, threads, o):
    """The training problem that a model solves, on some data; o: the options, of which the paths are for messages."""
    structure = task_named(spec.task).problem_structure(spec, model, o.model)
    try:
        return spec.build(dataset, threads, support=support_tokens(model), structure=structure)
    except UnfitDataError as error:
        raise DataError(o.train, None, str(error)) from error
    except ValueError as error:
        raise DataError(o.model, None, f'is of no problem that this ssvm knows: {error}') from error


def weights_of(model, problem, o):
    """The weight vector of a model for a problem; DataError where the data are of another kind."""
    try:
        return problem.features.weights(model.weights)
    except ValueError as error:
        raise DataError(o.model, None, f'does not fit {o.train}: {error}') from error


def own_dual(problem, point, o, progress):
    """The value of the model's own dual point; None where it has none, or one of other data, which is said."""
    if point is None or isinstance(point, TemperedPoint):
        return None
    try:
        return point.value(problem)
    except ValueError as error:
        progress.say(f'{o.model}: {error}')
        return None


def temperature_of(model, problem):
    """Of the softmax of the scores that is the model's dual point; None where it is another one."""
    if problem.sums:
        return 1.0
    return model.dual.temperature_for(problem) if isinstance(model.dual, TemperedPoint) else None


def hinge_dual(problem, own, o, progress):
    """(dual, where it comes from): that of the model's own dual point, or of one that is made by a few passes of bcfw
    where it has none, or one that bounds nothing. own: the former, or None."""
    if own is not None and (own > 0 or problem.hard_margin):
        return own, 'model'
    passes = counted(o.passes, 'pass', 'passes')
    progress.say(f'no dual point for these data in {o.model}: making one by {passes} of bcfw (--passes)')
    return dual_by_passes(problem, o.passes), 'bcfw'


def dual_by_passes(problem, passes):
    """The best dual value that some passes of bcfw come to."""
    from cython_ext.solvers.registry import solver_info

    info = solver_info('bcfw')
    solver = info.make(problem, info.settings({}), 0)
    stop = np.zeros(1, np.int32)
    value, best = -np.inf, None
    for _ in range(passes):
        solver.run_pass(stop)
        problem.structure.check()
        if solver.dual_value() > value:
            value, best = solver.dual_value(), solver.dual_point()
        if solver.finished:
            break
    return best.value(problem)


def report(model, problem, examples, primal, dual, source, solved):
    """The figures as --json prints them; solved: the two bounds that the tolerance was about."""
    stated = model.header.get('tolerance') or {'rel_gap': 0.001}
    tolerance = Tolerance(stated['rel_gap'], stated.get('epsilon'))
    return {
        'primal': primal,
        'dual': dual,
        'gap': absolute_gap(primal, dual),
        'relative_gap': relative_gap(primal, dual),
        'dual_source': source,
        'status': 'converged' if tolerance.reached(*solved) else 'not converged',
        'training_status': model.header.get('status'),
        'tolerance': {'rel_gap': tolerance.rel_gap, 'epsilon': tolerance.epsilon},
        'lambda': problem.lam,
        'examples': examples,
    }


def relaxed_bounds(problem, w, primal, point):
    """What is proved of the relaxed problem, where the one that was trained has soft constraints."""
    bounds = problem.log_columns(w, primal)
    if bounds and isinstance(point, WrittenPoint):
        from cython_ext.core.local_marginals import relaxed_dual

        bounds['relaxed_dual'] = relaxed_dual(problem, point)
    return bounds


def relaxation_of(spec):
    """Which problem primal and dual are of, where it is a relaxation."""
    said = said_of_relaxation(spec.structure)
    return {'relaxation': said.removeprefix(', relaxation ')} if said else {}


def scale_of(spec):
    """What the values of the data are divided by before they are the problem, where they are."""
    scale = spec.data.get('scale')
    return {} if scale is None else {'scale': scale}


def write_losses(path, dataset, numbers, losses):
    """`example TAB tokens TAB loss`, a row for each example."""
    columns = zip(numbers.tolist(), np.diff(dataset.offsets).tolist(), losses.tolist(), strict=True)
    rows = [f'{i}\t{length}\t{loss!r}\n' for i, length, loss in columns]
    with beside_the_result(path), atomic_output(path) as stream:
        stream.write(('example\ttokens\tloss\n' + ''.join(rows)).encode())
