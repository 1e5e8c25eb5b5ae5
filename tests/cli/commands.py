"""The command as users call it, and small files for it."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from ssvm_cli.cli import cli

ROOT = Path(__file__).parents[2]


def run(*args, code=0, stdin=None):
    """Run the command in this process through its group; returns click's Result (stdout_bytes, stderr, ...)."""
    separate = {'mix_stderr': False} if 'mix_stderr' in inspect.signature(CliRunner).parameters else {}
    result = CliRunner(**separate).invoke(cli, [str(arg) for arg in args], input=stdin)
    assert result.exit_code == code, f'exit {result.exit_code} (expected {code}): {result.stderr}'
    assert 'Traceback' not in result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def environment():
    return {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}


def start(*args, **how):
    """Start the command in a process of its own."""
    argv = [sys.executable, '-m', 'ssvm_cli.main', *(str(arg) for arg in args)]
    how = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'env': environment(), **how}
    return subprocess.Popen(argv, **how)


def multiclass_text(n=30, seed=0):
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=(3, 4))
    lines = []
    for i in range(n):
        x = centre[i % 3] + 0.7 * rng.normal(size=4)
        lines.append(f'{i % 3 + 1} ' + ' '.join(f'{k + 1}:{v:.3f}' for k, v in enumerate(x)))
    return '\n'.join(lines) + '\n'


def conll_text(sentences=20, seed=0, longest=6):
    """`word tag` with IOB2 tags that depend on word and neighbour."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(sentences):
        before = 'O'
        for _ in range(1 + int(rng.integers(longest))):
            word = int(rng.integers(8))
            if rng.random() < 0.2:
                word = int(rng.integers(8))
            tag = (
                'O' if word < 3 else 'B-X' if word < 5 else 'B-Y' if word == 5 else 'I-X' if before[-1] == 'X' else 'O'
            )
            lines.append(f'w{word} {tag}')
            before = tag
        lines.append('')
    return '\n'.join(lines) + '\n'


def hmm_text(sequences=15, seed=0):
    rng = np.random.default_rng(seed)
    lines = []
    for q in range(sequences):
        for _ in range(1 + int(rng.integers(5))):
            y = int(rng.integers(3))
            x = np.round(rng.normal(size=3) + 1.5 * (np.arange(3) == y), 2)
            lines.append(f'{y + 1} qid:{q + 1} ' + ' '.join(f'{k + 1}:{v}' for k, v in enumerate(x) if v))
    return '\n'.join(lines) + '\n'


def conllu_text(sentences=12, seed=0, longest=6, crossing=False):
    """Everything hangs on the first verb but determiners right before a noun; with `crossing` one more sentence that is
    not projective."""
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(sentences):
        lines.append(f'# sent_id = {number}')
        tags = rng.choice(['DET', 'NOUN', 'VERB'], 1 + int(rng.integers(longest))).tolist()
        root = tags.index('VERB') if 'VERB' in tags else len(tags) - 1
        for k, tag in enumerate(tags):
            head = -1 if k == root else k + 1 if tags[k : k + 2] == ['DET', 'NOUN'] else root
            relation = 'root' if head < 0 else {'DET': 'det', 'NOUN': 'nsubj', 'VERB': 'conj'}[tag]
            word = f'{tag[0].lower()}{int(rng.integers(4))}'
            lines.append(f'{k + 1}\t{word}\t_\t{tag}\t_\t_\t{head + 1}\t{relation}\t_\t_')
        lines.append('')
    if crossing:
        rows = [('1', '3'), ('2', '4'), ('3', '0'), ('4', '3')]
        lines += [f'{k}\tn{k}\t_\tNOUN\t_\t_\t{head}\tnsubj\t_\t_' for k, head in rows] + ['']
    return '\n'.join(lines) + '\n'
