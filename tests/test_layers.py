"""Who imports whom: modules stand in layers, each over those that it imports, and go in no circles."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# From the lowest on; what stands in one line does not import each other's modules.
LAYERS = [
    ('cython_ext.kernels',),
    ('cython_ext.structures', 'cython_ext.text'),
    ('cython_ext.features', 'cython_ext.losses'),
    ('cython_ext.objectives',),
    ('cython_ext.solvers',),
    ('cython_ext.tasks',),
    ('data_formats',),
    ('ssvm_cli',),
]
# Modules at the top of cython_ext that are no layer: a problem and what it is made of, which solvers and tasks share.
SHARED = 'cython_ext'
# What runs against the order, and why; a list that only becomes shorter.
AGAINST = set()
CIRCLES = [
    {'cython_ext.core.problem', 'cython_ext.duals.natural', 'cython_ext.duals.tempered'},
    {'cython_ext.relaxations.soft', 'cython_ext.core.relaxed_primal'},
]
IMPORT = re.compile(r'^[ \t]*from ([\w.]+) c?import (\([^)]*\)|.*)|^[ \t]*c?import ([\w., ]+)', re.MULTILINE)

if not (ROOT / 'cython_ext' / 'problem.pyx').exists():
    pytest.skip('these tests need the source tree', allow_module_level=True)


def modules():
    """{name: files of it}, the .pxd file with the .pyx file."""
    found = {}
    for package in ('cython_ext', 'data_formats', 'ssvm_cli'):
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
    """(number of its layer, its name); None for what no layer has."""
    for k, names in enumerate(LAYERS):
        for name in names:
            if module == name or module.startswith(name + '.'):
                return k, name
    assert module.split('.')[0] == SHARED, module
    return None


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
    assert 'cython_ext.losses.strata2' in graph['cython_ext.tasks.chain']  # within a function
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


def test_structures_know_no_problem():
    """Nor do kernels, features, losses and objectives; of what is shared they know the workspace at most."""
    for name, others in imports().items():
        here = layer(name)
        if here and here[0] < 4:
            assert not others & {'cython_ext.core.problem', 'cython_ext.core.decoder'}, name
