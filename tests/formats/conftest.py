"""A folder that lives as long as the tests, for examples that hypothesis draws."""

import pytest


@pytest.fixture(scope='session')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('formats')
