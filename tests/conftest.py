"""What all tests share: hypothesis settings, a seeded generator, and the data sets that are not in the repository."""

import importlib
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get('SSVM_DATA') or REPOSITORY.parent / 'shared' / 'data')

# no deadline: the machine may be busy; derandomised: the same examples on every run
settings.register_profile(
    'ssvm', deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile('ssvm')

# What a shell starts in the background ignores Ctrl-C, and so does what that starts; the tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng():
    """A generator with a fixed seed."""
    return np.random.default_rng(0)


@pytest.fixture
def data_file():
    """path(name, ...): a file of the data sets; the test skips, by the set's name, where it is absent."""

    def path(*names):
        file = DATA.joinpath(*names)
        if not file.exists():
            pytest.skip(f'data set {names[0]} is not there (set SSVM_DATA)')
        return file

    return path


@pytest.fixture
def program(tmp_path):
    """The path of the command, for scripts that start it."""
    path = tmp_path / 'ssvm'
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{REPOSITORY}:$PYTHONPATH" exec "{sys.executable}" -m ssvm_cli.main "$@"\n')
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def script(monkeypatch, request):
    """Imports a script of the experiment in the FOLDER of a test module, which is forgotten afterwards, or one that the
    experiments share."""
    folder = request.module.FOLDER
    names = [path.stem for path in folder.glob('*.py')]
    monkeypatch.syspath_prepend(folder.parent)
    monkeypatch.syspath_prepend(folder)
    for name in names:  # scripts of other experiments have the same names
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)
