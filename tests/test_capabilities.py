"""What parts can do is declared, and what is declared is there; nobody looks for methods by name."""

import re
from pathlib import Path

import pytest

from cython_ext.solvers.registry import MODULES, solver_info
from data_formats.formats.registry import FORMATS, offering

ROOT = Path(__file__).resolve().parent.parent
SETTERS = {'weights': 'set_start', 'dual-point': 'set_dual_point'}


@pytest.mark.parametrize('solver', MODULES)
def test_solvers_declare_what_they_start_from(solver):
    info = solver_info(solver)
    assert set(info.starts) == {start for start, setter in SETTERS.items() if setter in dir(info.make)}
    assert info.starts_with(None) == info.starts
    assert set(info.starts_with({'kind': 'rbf'})) == set(info.starts) - {'weights'}


def test_formats_offer_what_their_modules_have():
    assert set(offering('write')) == {name for name, module in FORMATS.items() if 'write' in dir(module)}
    assert offering('NUMBERS') == ['svmlight', 'svmhmm', 'multilabel', 'svmrank']
    assert offering('transcribe') == ['conllx', 'conllu', 'brackets']


def test_nothing_is_asked_for_by_hasattr():
    folders = [ROOT / name for name in ('cython_ext', 'data_formats', 'ssvm_cli')]
    sources = [path for folder in folders for path in folder.rglob('*') if path.suffix in ('.py', '.pyx', '.pxd')]
    assert len(sources) > 200
    assert [path for path in sources if re.search(r'\bhasattr\(', path.read_text())] == []
