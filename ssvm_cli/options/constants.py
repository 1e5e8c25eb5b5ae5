"""Other programs' regularisation constants. svm_struct minimises 1/2 |w|^2 + C/n sum of slacks (-p 2: of their squares,
where ssvm has half of them), liblinear and CRF++ have no n under their C."""

import math

from data_formats.errors import UsageError
from ssvm_cli.terminal.progress import counted


def lambda_of(c, slack_norm, n=1):
    """lambda for svm_struct's C; with the number n of examples for liblinear's and CRF++'s."""
    return 1 / (c * n * slack_norm)


def settle(o, n):
    """(lambda, the first of a path, and where it comes from, as a text) for n examples.

    Raises:
        UsageError: -c with a log loss, for which programs mean different things by C, or so extreme that lambda is no
            number.
    """
    if o.hard_margin:
        return 1.0, ' (a hard margin has no other)'
    if o.lambda_path is not None:
        return o.lambda_path[0], ''
    if o.c is None:
        return (1 / n, ' (1/n, the default)') if o.lam is None else (o.lam, '')
    norm = int(o.slack_norm)
    ours, undivided = lambda_of(o.c, norm), lambda_of(o.c, norm, n)
    if o.objective != 'hinge':
        raise UsageError(
            f'-c {o.c:g} with --objective {o.objective} means one thing in CRF++ and liblinear and another in '
            f'svm_struct: for {counted(n, "example")} say --lambda {undivided:.6g}, which is 1/(n C), as crf_learn and '
            f'liblinear have it, or --lambda {ours:.6g}, which is 1/C, as svm_struct has it'
        )
    if not 0 < ours < math.inf:
        raise UsageError(f'-c {o.c:g}: lambda would be {ours:g} (expected a number above 0)')
    return ours, f" (-c {o.c:g} as svm_struct; liblinear's -c {o.c:g} is --lambda {undivided:.6g})"
