"""Who imports whom: modules stand in layers, each over those that it imports, and go in no circles."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# From the lowest on; what stands in one line does not import each other's modules.
LAYERS = [
    ('cython_ext.common', 'cython_ext.kernels'),
    ('cython_ext.structures', 'cython_ext.text'),
    ('cython_ext.features',),
    ('cython_ext.relaxations',),
    ('cython_ext.losses',),
    ('cython_ext.objectives',),
    ('cython_ext.core',),
    ('cython_ext.duals',),
    ('cython_ext.solvers',),
    ('cython_ext.tasks',),
    ('data_formats.errors',),
    ('data_formats.files',),
    ('data_formats.datasets', 'data_formats.classes'),
    ('data_formats.parsing',),
    ('data_formats.parameters',),
    ('data_formats.formats',),
    ('data_formats.models',),
    ('ssvm_cli.terminal',),
    ('ssvm_cli.options',),
    ('ssvm_cli.initial', 'ssvm_cli.scores'),
    ('ssvm_cli.tasks',),
    ('ssvm_cli.examples',),
    ('ssvm_cli.training',),
    ('ssvm_cli.commands',),
    ('ssvm_cli.cli',),
    ('ssvm_cli.main',),
]
PACKAGES = ('cython_ext', 'data_formats', 'ssvm_cli')
MOST = 17  # files in a folder, besides its __init__.py
# What runs against the order, and why; a list that only becomes shorter.
AGAINST = set()
CIRCLES = []
FOLDER_CIRCLES = []
IMPORT = re.compile(r'^[ \t]*from ([\w.]+) c?import (\([^)]*\)|.*)|^[ \t]*c?import ([\w., ]+)', re.MULTILINE)

if not (ROOT / 'cython_ext' / 'core' / 'problem.pyx').exists():
    pytest.skip('these tests need the source tree', allow_module_level=True)


def modules():
    """{name: files of it}, the .pxd file with the .pyx file."""
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob('*'):
            if path.suffix in ('.py', '.pyx', '.pxd'):
                name = '.'.join(path.relative_to(ROOT).with_suffix('').parts)
                found.setdefault(name.removesuffix('.__init__'), []).append(path)
    return found


def imports():
    """{module: modules that it imports or cimports}, those within functions too."""
    found = modules()
    graph = {name: set() for name in found}
    for name, paths in found.items():
        for source, names, plain in (match for path in paths for match in IMPORT.findall(path.read_text())):
            meant = [source, *(f'{source}.{n}' for n in re.findall(r'\w+', names)), *re.split(r'[, ]+', plain)]
            graph[name].update(other for other in meant if other in found and other != name)
    return graph


def layer(module):
    """(number of its layer, its name); None for the packages themselves, which hold a version at most."""
    for k, names in enumerate(LAYERS):
        for name in names:
            if module == name or module.startswith(name + '.'):
                return k, name
    assert module in PACKAGES, module
    return None


def folders(graph):
    """{folder: folders whose modules its modules import}."""
    found = {}
    for name, others in graph.items():
        here = name.rpartition('.')[0]
        found.setdefault(here, set()).update(other.rpartition('.')[0] for other in others)
    return {here: others - {here, ''} for here, others in found.items()}


def circles(graph):
    """The sets of modules that reach each other."""
    reached = {name: set(others) for name, others in graph.items()}
    for middle in graph:  # Warshall's closure
        for name in graph:
            if middle in reached[name]:
                reached[name] |= reached[middle]
    return {frozenset(b for b in reached[a] if a in reached[b]) for a in graph if a in reached[a]}


def test_the_reader_of_imports_finds_what_is_there():
    graph = imports()
    assert 'cython_ext.kernels.labels.chain' in graph['cython_ext.structures.labels.chain']  # cimport ... as
    assert 'cython_ext.losses.hamming_strata' in graph['cython_ext.losses.position_costs']  # within a function
    assert 'cython_ext.structures.structure' in graph['cython_ext.core.problem']  # in the .pxd file


def test_no_import_runs_against_the_order_of_layers():
    against = set()
    for name, others in imports().items():
        for other in others:
            here, there = layer(name), layer(other)
            if here and there and (there[0] > here[0] or (there[0] == here[0] and there[1] != here[1])):
                against.add((name, other))
    assert against == AGAINST


def test_modules_go_in_no_circles():
    assert circles(imports()) == {frozenset(circle) for circle in CIRCLES}


def test_folders_go_in_no_circles():
    graph = imports()
    packages = {name.rpartition('.')[0] for name in graph}
    found = circles(folders({name: others - packages for name, others in graph.items()}))
    assert found == {frozenset(circle) for circle in FOLDER_CIRCLES}


def test_no_folder_is_too_full():
    for folder in {path.parent for paths in modules().values() for path in paths}:
        files = [path for path in folder.iterdir() if path.suffix in ('.py', '.pyx', '.pxd', '.h')]
        assert len([path for path in files if path.name != '__init__.py']) <= MOST, folder


def test_a_problem_knows_no_dual_points_and_no_relaxation():
    """And a relaxation knows no problem: dual points, and what is proved of a relaxed problem, stand over both."""
    graph = imports()
    for module in ('problem', 'decoder'):
        folders = {other.rpartition('.')[0] for other in graph[f'cython_ext.core.{module}']}
        assert not folders & {'cython_ext.duals', 'cython_ext.relaxations', 'cython_ext.solvers', 'cython_ext.tasks'}
    for name, others in graph.items():
        if name.startswith('cython_ext.relaxations.'):
            assert not {other for other in others if other.startswith(('cython_ext.core.', 'cython_ext.duals.'))}, name


def test_structures_know_no_problem():
    """Nor do kernels, features, losses and objectives; of what is shared they know the workspace at most."""
    at = [name for name, *_ in LAYERS].index('cython_ext.core')
    for name, others in imports().items():
        here = layer(name)
        if here and here[0] < at:
            assert not others & {'cython_ext.core.problem', 'cython_ext.core.decoder'}, name
