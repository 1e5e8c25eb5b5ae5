"""What the compiler is given and what it says: no warnings, no hints, no machine-specific flags, nothing left out."""

import contextlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip('Cython')

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path.relative_to(ROOT) for path in ROOT.glob('cython_ext/**/*.pyx'))

if not SOURCES:
    pytest.skip('these tests need the source tree', allow_module_level=True)

# Flags that change what arithmetic means, or that tie the result to the machine that compiled it.
UNWANTED = re.compile(
    r'-(Ofast|ffast-math|funsafe-math-optimizations|ffinite-math-only|fassociative-math|freciprocal-math'
    r'|fno-signed-zeros|march|mcpu|mtune|mavx|msse|mfma|mfpu)'
)


@pytest.fixture
def build(monkeypatch):
    """The globals of setup.py, run without building anything; `extensions` and `directives` as it passed them on."""
    seen = {}

    def cythonize(extensions, compiler_directives, shared_utility_qualified_name, use_listing_file, **_):
        seen.update(extensions=extensions, directives=compiler_directives, shared=shared_utility_qualified_name)
        assert use_listing_file
        return []

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr('Cython.Build.cythonize', cythonize)
    monkeypatch.setattr('setuptools.setup', lambda **_: None)
    return lambda: runpy.run_path('setup.py') | seen


@pytest.mark.parametrize('switch', [None, 'SSVM_DEBUG', 'SSVM_SANITIZE'])
def test_flags_are_portable_and_exact(build, monkeypatch, switch):
    for name in ('SSVM_DEBUG', 'SSVM_SANITIZE'):
        monkeypatch.delenv(name, raising=False)
    if switch:
        monkeypatch.setenv(switch, '1')
    seen = build()
    assert len(seen['extensions']) == len(SOURCES) + 1
    for extension in seen['extensions']:
        flags = [*extension.extra_compile_args, *extension.extra_link_args]
        assert not [flag for flag in flags if UNWANTED.match(flag)]
    assert seen['directives']['boundscheck'] is (switch == 'SSVM_DEBUG')
    assert ('-fsanitize=address' in flags) is (switch == 'SSVM_SANITIZE')


def test_no_source_changes_the_flags():
    """Neither a pragma nor an attribute turns on what setup.py must not."""
    for path in ROOT.glob('cython_ext/**/*'):
        if path.suffix in ('.h', '.pyx', '.pxd'):
            text = path.read_text()
            assert not re.search(r'fast-math|GCC optimize|march=|# *distutils|extra_compile_args', text), path


def test_functions_without_the_gil_say_how_they_fail():
    """noexcept, or an error value of their own: the default costs a check of every result, or takes the GIL."""
    for path in ROOT.glob('cython_ext/**/*.p[yx][xd]'):
        text = path.read_text()
        declared = re.findall(r'^ *cp?def [^=\n]*\((?:[^()]|\([^()]*\))*\)[^:\n]*\bnogil\b', text, re.MULTILINE)
        assert not [line for line in declared if not re.search(r'\b(noexcept|except (-\d+|NULL))\b', line)], path


def test_every_source_is_an_extension_named_by_its_path(build):
    seen = build()
    names = {extension.name: extension.sources for extension in seen['extensions']}
    assert names.pop(seen['shared']) == [seen['shared'].replace('.', '/') + '.c']
    assert names == {'.'.join(path.with_suffix('').parts): [str(path)] for path in SOURCES}


# Prints the extensions that are older than something they are made of.
STALE = """
from pathlib import Path
from setuptools import Distribution
from setuptools.modified import newer_group
import setuptools

def setup(ext_modules, **_):
    for extension in ext_modules:
        path = Path(*extension.name.split('.'))
        (built,) = path.parent.glob(path.name + '.*.so')
        if newer_group([*extension.sources, *extension.depends], str(built), 'newer'):
            print('stale', extension.name)

setuptools.setup = setup
exec(compile(Path('setup.py').read_text(), 'setup.py', 'exec'))
"""


@pytest.fixture(scope='module')
def compiled_copy(tmp_path_factory):
    """The core with all that was compiled of it, to touch files in."""
    copy = tmp_path_factory.mktemp('copy')
    if len(list(ROOT.glob('cython_ext/**/*.so'))) <= len(SOURCES) or not (ROOT / 'cython_ext/core/problem.c').exists():
        pytest.skip('these tests need a core that was compiled in place')
    shutil.copytree(ROOT / 'cython_ext', copy / 'cython_ext')
    now = time.time()
    for age, suffix in ((1, 'c'), (0, 'so')):  # as right after compiling, whatever was made here since
        for path in copy.glob(f'cython_ext/**/*.{suffix}'):
            os.utime(path, (now - age, now - age))
    for name in ('setup.py', 'pyproject.toml', 'README.md', 'LICENSE'):
        shutil.copy2(ROOT / name, copy)
    return copy


def stale(copy):
    run = subprocess.run([sys.executable, '-c', STALE], cwd=copy, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return {line.removeprefix('stale ') for line in run.stdout.splitlines() if line.startswith('stale ')}


def includers(copy, header):
    """Modules whose generated C includes a header, itself or through others."""
    headers, found = {header}, set()
    sources = {path: path.read_text() for path in copy.glob('cython_ext/**/*.h')}
    while found != headers:
        found = headers
        headers = found | {path for path, text in sources.items() if includes(text, found, copy)}
    modules = {source for source in copy.glob('cython_ext/**/*.c') if includes(source.read_text(), headers, copy)}
    return {'.'.join(path.relative_to(copy).with_suffix('').parts) for path in modules}


def includes(text, headers, copy):
    return any(f'#include "{path.relative_to(copy)}"' in text for path in headers)


@pytest.mark.parametrize('header', ['dependency/eisner', 'vectors/log_space', 'graph/cut', 'alignment/alignment'])
def test_a_touched_header_recompiles_what_includes_it_and_nothing_else(compiled_copy, header):
    """Directly, through another header or through a .pxd file."""
    path = compiled_copy / f'cython_ext/kernels/{header}.h'
    expected = includers(compiled_copy, path)
    assert 0 < len(expected) < len(SOURCES) / 2
    assert stale(compiled_copy) == set()
    with touched(path):
        assert stale(compiled_copy) == expected


def test_a_touched_declaration_recompiles_those_that_cimport_it_under_any_name(compiled_copy):
    """Cython itself does not follow `cimport alignment as kernel`."""
    users = {
        'cython_ext.structures.alignment.alignment',
        'cython_ext.features.parts.alignment',
        'cython_ext.losses.alignment',
    }
    with touched(compiled_copy / 'cython_ext/kernels/alignment/alignment.pxd'):
        assert stale(compiled_copy) == users
    assert stale(compiled_copy) == users  # their C was made anew


def test_what_was_compiled_of_a_source_that_is_gone_is_removed(compiled_copy):
    """A .so file would be imported instead of a .py file of its name."""
    gone = [
        compiled_copy / 'cython_ext/duals' / name for name in ('sparse.cpython-311-x86_64-linux-gnu.so', 'sparse.c')
    ]
    for path in gone:
        path.write_bytes(b'')
    stale(compiled_copy)
    assert not any(path.exists() for path in gone) and list(compiled_copy.glob('cython_ext/_cyutility.*'))


@contextlib.contextmanager
def touched(path):
    now, before = time.time() + 10, path.stat()
    os.utime(path, (now, now))
    yield
    os.utime(path, (before.st_atime, before.st_mtime))


def said_by(build, sources, folder):
    """What Cython says of sources with the directives of setup.py, in a folder of its own."""
    program = (
        'import sys; from Cython.Build import cythonize; from Cython.Compiler import Options;'
        'Options.warning_errors = True;'
        'cythonize(sys.argv[4:], build_dir=sys.argv[1], compiler_directives=eval(sys.argv[2]), force=True,'
        'shared_utility_qualified_name=sys.argv[3])'
    )
    seen = build()
    settings = [str(folder), repr(seen['directives']), seen['shared']]
    command = [sys.executable, '-c', program, *settings, *map(str, sources)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    said = re.sub(r'^(\[ *\d+/\d+\] )?Cythonizing .*\n', '', run.stdout + run.stderr, flags=re.MULTILINE)
    assert {path.relative_to(folder) for path in folder.glob('**/*.c')} == {path.with_suffix('.c') for path in sources}
    assert run.returncode == 0, said
    return said


def listing(source):
    """The listing that the build wrote beside the C file of a source; None where there is none as new as the source."""
    found = (ROOT / source).with_suffix('.lis')
    return found if found.exists() and found.stat().st_mtime >= (ROOT / source).stat().st_mtime else None


def test_cython_had_nothing_to_say(build, tmp_path):
    """When it made the core that is tested: no warning, and no 'performance hint' about a GIL that is taken or an
    exception that is checked for in a kernel. What was made without listings is asked about now."""
    listings = {source: listing(source) for source in SOURCES}
    said = {source: found.read_text() for source, found in listings.items() if found}
    assert not any(said.values()), said
    unheard = [source for source, found in listings.items() if not found]
    assert not unheard or not said_by(build, unheard, tmp_path)


def test_a_hint_would_be_heard(tmp_path):
    """A function that can fail and is called without the GIL: what the test above is about."""
    hinted = tmp_path / 'hinted.pyx'
    hinted.write_text('cdef void fail() except * nogil:\n    pass\n\n\ncdef void call() noexcept nogil:\n    fail()\n')
    program = 'import sys; from Cython.Build import cythonize; cythonize(sys.argv[1], use_listing_file=1)'
    subprocess.run([sys.executable, '-c', program, hinted.name], cwd=tmp_path, check=True, capture_output=True)
    assert 'performance hint' in hinted.with_suffix('.lis').read_text()


def test_manifest_carries_the_sources(monkeypatch):
    """setuptools' own reading of MANIFEST.in takes every source and no generated file."""
    from setuptools.command.egg_info import FileList

    monkeypatch.chdir(ROOT)
    files = FileList()
    for line in (ROOT / 'MANIFEST.in').read_text().splitlines():
        if line.strip() and not line.startswith('#'):
            files.process_template_line(line)
    packed = {Path(name) for name in files.files}
    sources = {
        path.relative_to(ROOT) for suffix in ('pyx', 'pxd', 'h') for path in ROOT.glob(f'cython_ext/**/*.{suffix}')
    }
    assert sources <= packed
    assert not [path for path in packed if path.suffix in ('.c', '.lis', '.so', '.pyc')]
