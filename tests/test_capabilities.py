"""What parts can do is declared, and what is declared is there; nobody looks for methods by name."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from cython_ext.objectives.registry import OBJECTIVES
from cython_ext.solvers.registry import MODULES, solver_info
from cython_ext.tasks import fit
from cython_ext.tasks.registry import TASKS, task_info
from data_formats.formats.registry import FORMATS, offering

ROOT = Path(__file__).resolve().parent.parent
SETTERS = {'weights': 'set_start', 'dual-point': 'set_dual_point'}


@pytest.mark.parametrize('solver', MODULES)
def test_solvers_declare_what_they_start_from(solver):
    info = solver_info(solver)
    assert set(info.starts) == {start for start, setter in SETTERS.items() if setter in dir(info.make)}
    assert info.starts_with(None) == info.starts
    assert set(info.starts_with({'kind': 'rbf'})) == set(info.starts) - {'weights'}


def everything_wanted():
    """What a solver may be asked for, whether it makes sense or not."""
    variants = ((), ('slack',), ('squared',), ('slack', 'squared'), ('hard-margin',))
    oracles = (None, ('max',), ('max', 'topk'), ('max', 'topk', 'exp'), ('max', 'messages'))
    losses = [(task, loss) for task in TASKS for loss in task_info(task).losses]
    for objective in OBJECTIVES:
        for kernel, start in product((None, {'kind': 'rbf'}), (False, True)):
            yield fit.Wanted(objective=objective, kernel=kernel, from_model=start)
        for task, loss in losses if OBJECTIVES[objective][2] else [(task, None) for task in TASKS]:
            wanted = fit.Wanted(objective=objective, task=task, loss=loss)
            yield from (replace(wanted, variants=names) for names in variants if objective == 'hinge' or not names)
            yield from (replace(wanted, oracles=names) for names in oracles)


@pytest.mark.parametrize('solver', MODULES)
def test_who_does_not_fit_is_told_who_does(solver):
    """Every solver, or loss, that a refusal names as working is free of what it is about."""
    info, refused = solver_info(solver), set()
    for wanted in everything_wanted():
        for misfit in fit.MISFITS:
            reason = misfit(info, wanted)
            if reason is None:
                continue
            refused.add(misfit)
            with pytest.raises(ValueError, match=re.escape(reason)):
                fit.check_fit(info, wanted)
            names = re.findall(r'[\w-]+', reason[reason.index('(') :])
            able = [solver_info(name) for name in names if name in MODULES]
            losses = [name for name in names if wanted.task and name in task_info(wanted.task).losses]
            assert able or losses or 'none' in names, reason
            assert all(misfit(other, wanted) is None for other in able), reason
            assert all(misfit(info, replace(wanted, loss=loss)) is None for loss in losses), reason
            break
    assert refused


def test_losses_are_known_by_their_classes_alone():
    whole = {loss for task in TASKS for loss in task_info(task).losses if not fit.sums_everywhere(loss)}
    assert whole == {'zero-one', 'f1', 'overlap'}
    with pytest.raises(ValueError, match=r'chain has no task loss f1 \(choose from hamming, zero-one\)'):
        fit.check_fit(solver_info('bcfw'), fit.Wanted(objective='hinge', task='chain', loss='f1'))


def test_formats_offer_what_their_modules_have():
    assert set(offering('write')) == {name for name, module in FORMATS.items() if 'write' in dir(module)}
    assert offering('NUMBERS') == ['svmlight', 'svmhmm', 'multilabel', 'svmrank']
    assert offering('transcribe') == ['conllx', 'conllu', 'brackets']


def test_nothing_is_asked_for_by_hasattr():
    folders = [ROOT / name for name in ('cython_ext', 'data_formats', 'ssvm_cli')]
    sources = [path for folder in folders for path in folder.rglob('*') if path.suffix in ('.py', '.pyx', '.pxd')]
    assert len(sources) > 200
    assert [path for path in sources if re.search(r'\bhasattr\(', path.read_text())] == []
