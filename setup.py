"""Build the Cython core. Everything else about the package stands in pyproject.toml."""

import os
import re
from pathlib import Path

from Cython.Build import cythonize
from Cython.Compiler import Options
from setuptools import Extension, setup

# SSVM_DEBUG=1 turns on bounds checks and C assertions, SSVM_SANITIZE=1 adds AddressSanitizer
# (CONTRIBUTING.md shows both).
DEBUG = os.environ.get('SSVM_DEBUG', '0') != '0'
SANITIZE = os.environ.get('SSVM_SANITIZE', '0') != '0'

DIRECTIVES = {
    'language_level': 3,
    'boundscheck': DEBUG,
    'wraparound': DEBUG,
    'initializedcheck': DEBUG,
    'cdivision': not DEBUG,
    'freethreading_compatible': True,
}
# No -ffast-math: forbidden parts are real infinities. The two flags only tell the compiler that nobody reads errno
# or floating-point exceptions, which is what lets it vectorise comparisons.

# No debugging information, which Python's own flags ask for: half the time to build, files an eighth as large.
COMPILE = ['-O3', '-g0', '-fno-math-errno', '-fno-trapping-math', '-Wno-unused-function']
LINK = []
if DEBUG:
    COMPILE += ['-O1', '-g', '-UNDEBUG']
if SANITIZE:
    COMPILE += ['-O1', '-g', '-fsanitize=address', '-fno-omit-frame-pointer']
    LINK += ['-fsanitize=address']


def extensions():
    """One extension per .pyx; the module name is the path."""
    return [
        Extension(
            '.'.join(path.with_suffix('').parts),
            [str(path)],
            include_dirs=['.'],
            extra_compile_args=COMPILE,
            extra_link_args=LINK,
        )
        for path in sorted(Path('cython_ext').rglob('*.pyx'))
    ]


def with_nested_headers(extension):
    """Let an extension depend on the headers that its headers include: Cython notes only those that it names itself."""
    found = set()
    wanted = [name for name in extension.depends if Path(name).is_file()]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += re.findall(r'^#include "(.+)"', Path(name).read_text(), re.MULTILINE)
    extension.depends = sorted(found)
    return extension


Options.warning_errors = True
JOBS = os.cpu_count() or 1
setup(
    ext_modules=[
        with_nested_headers(extension)
        for extension in cythonize(extensions(), compiler_directives=DIRECTIVES, nthreads=JOBS)
    ],
    options={'build_ext': {'parallel': JOBS}},
)
