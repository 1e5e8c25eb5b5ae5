"""Install the programs that ssvm is measured against: `python benchmarks/peers.py` does it all, once.

A virtual environment of their own ($SSVM_PEERS, by default build/benchmarks/peers) takes python-crfsuite and
scikit-learn from the package index; the command `crfsuite` is compiled from the C sources that come with
python-crfsuite's source distribution. `liblinear-train` (Debian: liblinear-tools) and `crf_learn` (CRF++) are used
where they are on PATH. A peer that is not there is skipped by its name.
"""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import data

PACKAGES = ('python-crfsuite', 'scikit-learn')
SCRIPTS = Path(__file__).resolve().with_name('peer_scripts')
# CRFsuite's own configure script asks for as much on x86.
CRFSUITE_FLAGS = ('-std=gnu99', '-Ofast', '-fomit-frame-pointer')
X86_FLAGS = ('-mfpmath=sse', '-msse2', '-DUSE_SSE', '-DHAVE_EMMINTRIN_H')


def folder():
    return Path(os.environ.get('SSVM_PEERS') or data.work() / 'peers')


def python():
    """The Python that has python-crfsuite and scikit-learn, or None."""
    path = folder() / 'bin' / 'python'
    return path if path.exists() else None


def command(name):
    """The path of a peer's program, or None; what install() compiled comes first."""
    own = folder() / 'bin' / name
    return own if own.exists() else shutil.which(name)


def script(name, *arguments):
    """The command line of one of peer_scripts/, or None without the peers' Python."""
    return [python(), SCRIPTS / name, *arguments] if python() else None


def available(commands):
    """Split a dict of name -> argv (None or an argv whose program is None: not there) into dict and missing names."""
    there = {name: argv for name, argv in commands.items() if argv and argv[0]}
    return there, [name for name in commands if name not in there]


def install():
    """Create the environment, and compile what can be compiled; says what is not there."""
    if python() is None:
        subprocess.run([sys.executable, '-m', 'venv', folder()], check=True)
    subprocess.run([python(), '-m', 'pip', 'install', '-q', *PACKAGES], check=True)
    if not command('crfsuite'):
        build_crfsuite(folder() / 'bin' / 'crfsuite')
    for name in ('crfsuite', 'liblinear-train', 'crf_learn'):
        print(f'{name}: {command(name) or "not there; its rows are skipped"}')


def build_crfsuite(target):
    with tempfile.TemporaryDirectory() as temporary:
        source = _source_distribution('python-crfsuite', temporary)
        crfsuite, lbfgs = source / 'crfsuite', source / 'liblbfgs'
        files = [
            *(crfsuite / 'lib' / 'crf' / 'src').glob('*.c'),
            *(crfsuite / 'lib' / 'cqdb' / 'src' / name for name in ('cqdb.c', 'lookup3.c')),
            *(crfsuite / 'frontend').glob('*.c'),
            *(lbfgs / 'lib').glob('*.c'),
        ]
        headers = [crfsuite / 'include', crfsuite / 'lib' / 'cqdb' / 'include', lbfgs / 'include']
        flags = CRFSUITE_FLAGS + (X86_FLAGS if platform.machine() in ('x86_64', 'AMD64') else ())
        _compile(target, files, [*flags, *(f'-I{path}' for path in headers)], ['-lm'])


def _source_distribution(package, temporary):
    """Download a package's source distribution and unpack it; returns its top folder."""
    pip = [python(), '-m', 'pip', 'download', '-q', '--no-deps', f'--no-binary={package}', '-d', temporary, package]
    subprocess.run(pip, check=True)
    (archive,) = Path(temporary).glob('*.tar.gz')
    with tarfile.open(archive) as tar:
        tar.extractall(temporary, **({'filter': 'data'} if hasattr(tarfile, 'data_filter') else {}))
    return Path(temporary) / archive.name.removesuffix('.tar.gz')


def _compile(target, files, flags, libraries):
    compiler = os.environ.get('CC', 'cc')
    done = subprocess.run(
        [compiler, '-w', *flags, '-o', target, *sorted(files), *libraries], stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise OSError(f'the compiler said {done.stderr[:300]}')


if __name__ == '__main__':
    install()
