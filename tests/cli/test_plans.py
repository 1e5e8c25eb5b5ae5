"""Plans of `ssvm train` are told apart by nothing but what they promise to a session."""

import inspect
import re
from types import SimpleNamespace

import pytest

from ssvm_cli.commands.run_train import plan_of
from ssvm_cli.training import single_problem
from ssvm_cli.training.lambda_path import LambdaPath
from ssvm_cli.training.rho_stages import RhoStages
from ssvm_cli.training.single_problem import Single
from tests.cli.commands import multiclass_text, run

NOTHING = dict.fromkeys(('lambda_path', 'path_models', 'rho', 'smooth_max', 'lam', 'c', 'checkpoint'))
NOTHING |= dict.fromkeys(('augmented_lagrangian', 'hard_margin', 'resume', 'resume_if_saved', 'no_certificate'), False)
ABLE = SimpleNamespace(name='able', minimises=True, starts=('dual-point',))


@pytest.mark.parametrize('plan', [Single, LambdaPath, RhoStages])
def test_plans_offer_what_the_contract_lists(plan):
    assert plan.__bases__ == (object,)
    attributes = re.findall(r'^    (\w+)  ', single_problem.__doc__, re.MULTILINE)
    methods = re.findall(r'^    (\w+)\(([^)]*)\)', single_problem.__doc__, re.MULTILINE)
    assert set(attributes) == {'columns', 'resumable'} and len(methods) == 2
    assert all(hasattr(plan, name) for name in attributes)
    for method, parameters in methods:
        assert list(inspect.signature(getattr(plan, method)).parameters) == ['self', *parameters.split(', ')]


@pytest.mark.parametrize(
    ('given', 'kind'),
    [
        ({}, Single),
        ({'rho': (1.0,)}, Single),
        ({'lambda_path': (1.0, 0.5)}, LambdaPath),
        ({'rho': (1.0, 0.5)}, RhoStages),
        ({'augmented_lagrangian': True}, RhoStages),
    ],
)
def test_options_lead_to_a_plan(given, kind):
    assert type(plan_of(SimpleNamespace(**NOTHING | given), ABLE)) is kind


def test_steps_of_a_path_leave_files_of_the_state_alone(tmp_path):
    """A plan that cannot go on has no state to keep: what another run has left stays."""
    (tmp_path / 't.svm').write_text(multiclass_text())
    left = tmp_path / 'm.checkpoint'
    run('train', '--max-passes', 2, '--checkpoint', left, tmp_path / 't.svm', tmp_path / 'm')
    before = left.read_bytes()
    run('train', '--max-passes', 2, '--lambda-path', '1:0.5:0.5', tmp_path / 't.svm', tmp_path / 'm')
    assert left.read_bytes() == before
