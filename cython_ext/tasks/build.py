"""Problems and decoders of a data set: a task's structure, features, loss and objective put together."""

from cython_ext.tasks.registry import task_info


def build_problem(
    dataset,
    task,
    objective='hinge',
    loss=None,
    lam=1.0,
    feature_set='all',
    threads=1,
    merge=False,
    variant=None,
    kernel=None,
    kernel_cache=None,
    support=None,
    similarity=None,
    structure=None,
):
    """The Problem of a data set.

    Args:
        loss: a name of the task's losses, a cost matrix float64[K, K], or None for the usual one.
        merge: let the features use a shorter weight vector that has the same optimum but cannot hold any weights.
        variant: of the hinge, an objectives.registry.Variant (a hard margin has zero-one loss and lambda 1 whatever is
            given).
        kernel: a dict as Kernel.of takes it, None for linear features.
        kernel_cache: MB for rows of its matrix (None: CACHE_MB).
        support: the CSR triple of further tokens that weight vectors may have coefficients of.
        similarity: float64[K, K], inner products of the features of the classes, None where every class is like itself
            only.
        structure: dict of further arguments that the task's build takes.

    Raises:
        ValueError: the parts do not fit, with the reason.
    """
    from cython_ext.core.problem import Problem
    from cython_ext.objectives.objective import SumObjective
    from cython_ext.objectives.registry import OBJECTIVES, build_objective
    from cython_ext.tasks.token_features import kernel_basis

    if dataset.n == 0:
        raise ValueError('no examples')
    if not dataset.complete:
        raise ValueError('some labels are missing or unknown')
    if variant is not None and variant.hard_margin:
        loss, lam = 'zero-one', 1.0
    info = task_info(task)
    info.refuse(feature_set, kernel, similarity)
    basis = None if kernel is None else kernel_basis(kernel, dataset, feature_set, kernel_cache, support)
    how = dict(structure or {})
    if info.problem_arguments is not None:
        how |= info.problem_arguments(how, lam=lam, objective=objective, loss=loss, variant=variant)
    outputs, features = info.compose(dataset, feature_set, merge=merge, basis=basis, similarity=similarity, **how)
    name, task_loss = build_loss(info, outputs, loss)
    made = build_objective(objective, outputs, task_loss, variant)
    if isinstance(made, SumObjective) and 'exp' not in outputs.oracles:
        raise ValueError(f'{objective} needs the exp oracle (sums over all outputs), which {task} lacks: use hinge')
    with_loss = objective not in OBJECTIVES or OBJECTIVES[objective][2]
    names = task, objective, name if with_loss else None
    columns = info.log_values(features) if info.log_values else None
    problem = Problem(outputs, features, made, lam, names, threads, columns)
    if basis is not None:
        features.pool = problem.pool
    return problem


def build_loss(info, structure, loss):
    """(name, TaskLoss) of a structure's task; loss as in build_problem."""
    if loss is None:
        loss = info.default_loss
    if not isinstance(loss, str):
        if info.cost_matrix is None:
            raise ValueError(f'{info.name} takes no cost matrix (choose from {", ".join(info.losses)})')
        return 'costs', info.cost_matrix()(structure, loss)
    return loss, info.loss_class(loss).on(structure)


def build_decoder(dataset, task, feature_set='all', pool=None, basis=None, structure=None):
    """The Decoder of a data set. basis: the KernelBasis that weight vectors are for, None for linear features;
    structure: dict of further arguments that the task's build takes."""
    from cython_ext.core.decoder import Decoder

    return Decoder(*task_info(task).compose(dataset, feature_set, basis=basis, **(structure or {})), pool)
