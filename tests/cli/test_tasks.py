"""Every task is known everywhere, and offers what the commands ask for."""

import ast
import inspect
import re
import textwrap

import click
import pytest

from cython_ext.tasks.registry import TASKS, task_info
from data_formats import parameters
from data_formats.formats.registry import FORMATS
from ssvm_cli import tasks
from ssvm_cli.commands import predict, train
from ssvm_cli.options import groups
from ssvm_cli.options.click_types import OF_TASKS, SOME
from ssvm_cli.tasks.base import Task
from tests.cli.commands import run

WITHOUT_LABELS = ('matching', 'candidates', 'boxes')


def test_formats_and_options_know_all_tasks():
    assert {task for module in FORMATS.values() for task in module.TASKS} == {tasks.task_named(k).reads for k in TASKS}
    assert list(groups.TASKS) == list(TASKS)


@pytest.mark.parametrize('name', TASKS)
def test_the_core_composes_it(name):
    info = task_info(name)
    assert info.name == name and info.default_loss in info.losses
    assert all(info.loss_class(loss).unstratified is None for loss in info.losses if loss == 'zero-one')


def test_headers_may_say_what_options_may():
    """What an option lets choose is what a key of its name lets headers say."""
    options, found = {param.name: param.type for param in train.command.params}, set()
    for name in TASKS:
        for key, rule in parameters.parameters_of({'task': name}).STRUCTURE.items():
            if isinstance(options.get(key), click.Choice):
                found.add(key)
                assert rule.expected == ' or '.join(options[key].choices), (name, key)
    assert found == {'order', 'gap_model', 'align', 'terminals', 'relaxation'}


@pytest.mark.parametrize('name', TASKS)
def test_what_a_task_has_no_use_for_is_refused_before_any_work(name):
    info, asked = task_info(name), {'basis': object(), 'similarity': object(), 'feature_set': 'observed'}
    assert set(info.refused) <= set(asked)
    for argument, reason in info.refused.items():
        with pytest.raises(ValueError) as found:
            info.compose(None, **{argument: asked[argument]})
        assert str(found.value) == reason


def contract():
    """{method of Task: names of its parameters}."""
    return {
        name: list(inspect.signature(method).parameters)
        for name, method in inspect.getmembers(Task, inspect.isfunction)
        if not name.startswith('_')
    }


def test_the_contract_says_what_each_method_promises():
    assert len(contract()) > 20
    assert all(getattr(Task, name).__doc__ for name in contract())


@pytest.mark.parametrize('name', TASKS)
def test_a_task_keeps_the_contract(name):
    task = tasks.task_named(name)
    assert isinstance(task, Task) and task.name == name
    for method, promised in contract().items():
        own = getattr(type(task), method)
        assert list(inspect.signature(own).parameters) == promised, method
        abstract = 'NotImplementedError' in getattr(Task, method).__code__.co_names
        assert not (abstract and own is getattr(Task, method)), method


def test_options_of_tasks_belong_to_tasks_that_there_are():
    """Each to one task, or to some that name it; no task names its own again, or one that is every task's."""
    given = {param.name for command in (train.command, predict.command) for param in command.params}
    shared = {parameter for parameter, (_, _, of) in OF_TASKS.items() if of == SOME}
    named = {name: set(tasks.task_named(name).options) for name in TASKS}
    assert set(OF_TASKS) <= given and shared <= set().union(*named.values()) <= set(OF_TASKS)
    for parameter, (_, _, of) in OF_TASKS.items():
        assert of == SOME or (of in TASKS and parameter not in named[of]), parameter


def statements(function):
    """The code of a function without its docstring."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    return [ast.dump(part) for part in definition.body[ast.get_docstring(definition) is not None :]]


@pytest.mark.parametrize('name', TASKS)
def test_a_task_states_what_is_different_alone(name):
    """No method is word for word that of the base that it would have anyway."""
    for cls in type(tasks.task_named(name)).__mro__[:-2]:
        for method in set(vars(cls)) & set(contract()):
            inherited = getattr(super(cls, cls), method)
            assert statements(vars(cls)[method]) != statements(inherited), (cls, method)


@pytest.mark.parametrize('name', TASKS)
def test_parameters_offer_what_the_contract_lists(name):
    module = parameters.parameters_of({'task': name})
    assert ('label_names' in module.VOCABULARIES) == (name not in WITHOUT_LABELS)
    for function, arguments in re.findall(r'^    (\w+)\(([^)]*)\)', parameters.__doc__, re.MULTILINE):
        assert list(inspect.signature(getattr(module, function)).parameters) == arguments.split(', '), function


@pytest.mark.parametrize(
    ('name', 'rows', 'said'),
    [
        ('x.conll', 'a X\nb Y\n', 'all lines are one sequence: a blank line ends one (if each is an example'),
        ('x.hmm', 'X qid:1 1:1\nY qid:1 2:1\n', 'all lines are one sequence: another qid begins one (if each is an'),
    ],
)
def test_sequences_that_are_not_parted(tmp_path, name, rows, said):
    path = tmp_path / name
    how = ('train', '--max-passes', 1)
    for text, warned in ((50 * rows, True), (49 * rows, False)):
        path.write_text(text)
        assert (said in run(*how, path, tmp_path / 'm').stderr) is warned
        assert said not in run(*how, '--task', 'multiclass', path, tmp_path / 'm').stderr
