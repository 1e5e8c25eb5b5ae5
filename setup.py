"""Build the Cython core. Everything else about the package stands in pyproject.toml."""

import functools
import os
import re
import sys
from pathlib import Path

from Cython.Build import cythonize
from Cython.Compiler import Options
from Cython.Compiler.Errors import CompileError
from setuptools import Extension, setup

# SSVM_DEBUG=1 turns on bounds checks and C assertions, SSVM_SANITIZE=1 adds AddressSanitizer
# (CONTRIBUTING.md shows both).
DEBUG = os.environ.get('SSVM_DEBUG', '0') != '0'
SANITIZE = os.environ.get('SSVM_SANITIZE', '0') != '0'
# SSVM_COMPILED=0 is for an editable install whose extensions `build_ext --inplace` compiles (Makefile).
COMPILED = os.environ.get('SSVM_COMPILED', '1') != '0'

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
    # kernels once, and not for each processor (kernels/vectors/vector.h)
    COMPILE += ['-O1', '-g', '-UNDEBUG', '-DSSVM_ONE_ISA']
if SANITIZE:
    COMPILE += ['-O1', '-g', '-fsanitize=address', '-fno-omit-frame-pointer']
    LINK += ['-fsanitize=address']


# Cython's code for memoryviews and the like, compiled once instead of in most extensions: half the time to build.
SHARED = 'cython_ext._cyutility'


NEEDED = re.compile(
    r'^from (?P<package>[\w.]+) cimport (?P<names>\([^)]*\)|.*)|^cdef extern from "(?P<extern>.+)"'
    r'|^#include "(?P<include>.+)"',
    re.MULTILINE,
)


@functools.cache
def needed_by(path):
    """The .pxd files and headers that a file names, and its own .pxd file."""
    found = [path.with_suffix('.pxd')]
    for match in NEEDED.finditer(path.read_text()):
        found += [Path(name) for name in (match['extern'], match['include']) if name]
        if match['package']:
            folder = Path(*match['package'].split('.'))
            names = re.findall(r'\w+', match['names'])
            found += [folder.with_suffix('.pxd'), *(folder / f'{name}.pxd' for name in names)]
    return [other for other in found if other.is_file() and other != path]


def dependencies(source):
    """All that a source is made of besides itself, as paths. Cython's own list ends where something is cimported under
    another name and where a header includes another one."""
    found, waiting = set(), [source]
    while waiting:
        more = set(needed_by(waiting.pop())) - found
        found |= more
        waiting += more
    return found


def forget_outdated(source, depends):
    """Remove the C file of a source that is older than a .pxd file it was made of: Cython makes it anew then."""
    made = source.with_suffix('.c')
    if made.is_file():
        newest = max((path.stat().st_mtime for path in depends if path.suffix == '.pxd'), default=0)
        if made.stat().st_mtime < newest:
            made.unlink()


def forget_orphans():
    """Remove what was compiled of sources that are gone: Python would import it rather than a .py file of that name."""
    for path in list(Path('cython_ext').rglob('*')):
        module = path.with_name(path.name.partition('.')[0])
        made = path.suffix in ('.so', '.c', '.lis') and module != Path(*SHARED.split('.'))
        if made and not module.with_suffix('.pyx').is_file():
            path.unlink()


def extensions():
    """One extension per .pyx, whose name is the path, and that of what Cython would otherwise put into each of them."""
    forget_orphans()
    found = [extension(SHARED, SHARED.replace('.', '/') + '.c')]
    for source in sorted(Path('cython_ext').rglob('*.pyx')):
        depends = dependencies(source)
        forget_outdated(source, depends)
        found.append(extension('.'.join(source.with_suffix('').parts), str(source), sorted(map(str, depends))))
    return found


def extension(name, source, depends=()):
    flags = {'extra_compile_args': COMPILE, 'extra_link_args': LINK}
    return Extension(name, [source], include_dirs=['.'], depends=list(depends), **flags)


def compiled():
    """The extensions with their C files, the largest first: so all cores are busy until the end. Beside each C file a
    listing has what Cython said about it (tests/test_build.py reads them)."""
    sources = extensions()
    try:
        made = cythonize(
            sources,
            compiler_directives=DIRECTIVES,
            nthreads=JOBS,
            shared_utility_qualified_name=SHARED,
            use_listing_file=1,
        )
    except CompileError:
        for path in Path('cython_ext').rglob('*.lis'):  # where Cython says it, and nowhere else
            if 'Error compiling' in (text := path.read_text()):
                print(text, file=sys.stderr)
        raise
    return sorted(made, key=lambda extension: -Path(extension.sources[0]).stat().st_size)


Options.warning_errors = True
JOBS = os.cpu_count() or 1
setup(ext_modules=compiled() if COMPILED else [], options={'build_ext': {'parallel': JOBS}})
