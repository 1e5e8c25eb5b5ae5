"""--kernel and its parameters: what a run asks for, and what a model with a kernel predicts from."""

from cython_ext.features.kernel.function import KINDS, LINEAR, Kernel
from data_formats.errors import DataError, UsageError


def requested_kernel(o):
    """The kernel that the options ask for, as models hold it; None for linear features.

    Raises:
        UsageError: a parameter that this kernel does not have, or options that do not go with kernels.
    """
    given = {name: getattr(o, name) for name in ('degree', 'gamma', 'coef0') if getattr(o, name) is not None}
    known = KINDS.get(o.kernel, ())
    for name in given:
        if name not in known:
            fit = ' or '.join(kind for kind, parameters in KINDS.items() if name in parameters)
            raise UsageError(f'--{name} has no effect on --kernel {o.kernel} (use --kernel {fit})')
    if o.kernel == LINEAR:
        return None
    if o.feature_set != 'all':
        raise UsageError(f'--feature-set {o.feature_set} is about weights of attributes, which a kernel does not have')
    try:
        return Kernel(o.kernel, **given).facts()
    except ValueError as error:
        raise UsageError(str(error)) from error


def support_tokens(model):
    """The CSR triple of the tokens that a model with a kernel has coefficients of; None without a kernel."""
    if model.kernel is None:
        return None
    return tuple(model.weights.get(f'support.{name}') for name in ('indptr', 'indices', 'values'))


def basis_of(model, path):
    """The KernelBasis to predict from; None for a model with linear features."""
    if model.kernel is None:
        return None
    from cython_ext.features.kernel.basis import KernelBasis

    try:
        return KernelBasis(Kernel.of(model.kernel), [support_tokens(model)], len(model.attributes), cache_mb=0)
    except ValueError as error:
        raise DataError(path, None, str(error)) from error
