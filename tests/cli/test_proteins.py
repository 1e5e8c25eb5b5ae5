"""BAliBASE families through the commands: pairs of a reference alignment as homologs, other families as decoys."""

import json
import re
import tarfile

from tests.cli.commands import run


def families(archive):
    """[{name: aligned sequence, '-' for gaps}, ...] of the reference alignments whose sequences are short."""
    found = []
    with tarfile.open(archive) as files:
        for name in sorted(name for name in files.getnames() if re.search(r'RV12/BB12\d+\.msf$', name)):
            rows = {}
            for line in files.extractfile(name).read().decode().split('//')[1].splitlines():
                name, *columns = line.split() or ['']
                rows[name] = rows.get(name, '') + ''.join(columns).replace('.', '-').replace('~', '-').upper()
            rows.pop('', None)
            if max(len(row.replace('-', '')) for row in rows.values()) <= 300:
                found.append(rows)
    return found


def record_pair(native, other):
    """(letters, letters, NATIVE_START:HOMOLOG_START:OPS) of two aligned rows, without the gaps at the ends."""
    columns = [(a, b) for a, b in zip(native, other, strict=True) if (a, b) != ('-', '-')]
    both = [k for k, (a, b) in enumerate(columns) if '-' not in (a, b)]
    before, inside = columns[: both[0]], columns[both[0] : both[-1] + 1]
    start, begin = (sum(column[k] != '-' for column in before) for k in (0, 1))
    ops = ''.join('I' if a == '-' else 'D' if b == '-' else 'M' if a == b else 'S' for a, b in inside)
    return native.replace('-', ''), other.replace('-', ''), f'{start}:{begin}:{ops}'


def fasta(some, all_of_them):
    """Each family's first two sequences as native and homolog, the first of four other families as decoys."""
    text = ''
    for k, rows in enumerate(some):
        (name, native), (other, homolog), *_ = rows.items()
        native, homolog, how = record_pair(native, homolog)
        text += f'>native {name}\n{native}\n>homolog {other} {how}\n{homolog}\n'
        others = [family for family in all_of_them if family is not rows]
        for step in range(4):
            decoy, letters = next(iter(others[(k * 5 + step) % len(others)].items()))
            text += f'>decoy {decoy}\n{letters.replace("-", "")}\n'
    return text


def test_proteins_of_a_family_are_told_from_others(data_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = families(data_file('protein_alignment_balibase3', 'rv11_rv12.tar.xz'))
    assert len(found) >= 10
    half = len(found) // 2
    for name, some in (('train.fa', found[:half]), ('test.fa', found[half:])):
        (tmp_path / name).write_text(fasta(some, found))
    how = ('--gap-model', 'affine', '--lambda', 10, '--rel-gap', 0.01, '--max-passes', 200)
    run('train', '-q', *how, 'train.fa', 'proteins.model')
    run('predict', '-q', '--metrics', 'scores.json', 'test.fa', 'proteins.model', 'out.fa')
    scores = json.loads((tmp_path / 'scores.json').read_text())
    assert scores['natives'] == len(found) - half
    assert scores['error_rate'] <= 0.15 and min(scores['pairs'].values()) > 0.6
    gap = json.loads(run('gap', '--json', 'train.fa', 'proteins.model').stdout_bytes)
    assert gap['relative_gap'] <= 0.01
