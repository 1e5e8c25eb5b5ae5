"""Markdown for the results: tables, command lines as a reader would type them, and the machine."""

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import data


def table(header, rows):
    """A Markdown table; cells are words or numbers already formatted."""
    lines = [header, ['---'] * len(header), *rows]
    return '\n'.join('| ' + ' | '.join(map(str, line)) + ' |' for line in lines) + '\n'


def shown(argv):
    """A command line with programs by their names and files as the work folder has them."""
    words = [str(word) for word in argv]
    scripts = {
        'read_with_ssvm.py',
        'evaluate_with_ssvm.py',
        *(path.name for path in (data.REPOSITORY / 'benchmarks').glob('*/*.py')),
    }
    words[0] = Path(words[0]).name if Path(words[0]).name != Path(sys.executable).name else 'python'
    text = ' '.join(Path(word).name if Path(word).name in scripts else word for word in words)
    return re.sub(r'^(ssvm \w+) --quiet', r'\1', text.replace(f'{data.work()}{os.sep}', ''))


def commands(*argvs):
    """The commands of a section as a code block."""
    return '```\n' + '\n'.join(shown(argv) for argv in argvs if argv) + '\n```\n'


def section(title, *parts):
    """Print a section at once, so that a run that is stopped leaves whole sections."""
    print(f'## {title}\n\n' + '\n'.join(filter(None, parts)), flush=True)


def skipped(names):
    """A line about the peers that are not there."""
    return f'Not there, skipped: {", ".join(names)}.\n' if names else ''


def ratio(ours_, theirs):
    return f'{ours_ / theirs:.2f}'


def verdict(value, target, holds):
    """A target and whether it holds."""
    return f'{target}: {"yes" if holds else "NO"} ({value})'


def conditions():
    """A line that says when, where and with what."""
    commit = _output(['git', '-C', str(data.REPOSITORY), 'rev-parse', '--short', 'HEAD']) or 'unknown'
    facts = [
        datetime.date.today().isoformat(),
        f'commit {commit}',
        f'{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}',
        f'Python {platform.python_version()}',
        f'load average at the start {os.getloadavg()[0]:.1f}',
    ]
    return f'*{", ".join(facts)}*\n'


def _processor():
    try:
        text = Path('/proc/cpuinfo').read_text(encoding='utf-8')
        return re.search(r'^model name\s*:\s*(.*)$', text, re.MULTILINE)[1]
    except (OSError, TypeError):
        return platform.processor() or 'unknown'


def _output(argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ''
