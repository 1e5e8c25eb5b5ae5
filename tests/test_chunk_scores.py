"""Chunks of tags in all schemes that are known: counted by hand, and as conlleval counts those of IOB tags."""

import json

import numpy as np
import pytest

from ssvm_cli.scores.chunks import chunk_tags
from ssvm_cli.scores.labels import Scores
from tests.cli.commands import run


def figures(gold, found):
    """(right chunks, chunks found, chunks that are right) of sentences, lists of lists of tags; None without chunks."""
    names = sorted({tag for tags in gold + found for tag in tags})
    scores = Scores(names)
    flat = [np.array([names.index(tag) for tags in several for tag in tags], np.int32) for several in (gold, found)]
    scores.add(np.cumsum([0] + [len(tags) for tags in gold]), *flat)
    chunks = scores.summary().get('chunks')
    return None if chunks is None else (chunks['gold'], chunks['found'], chunks['right'])


@pytest.mark.parametrize(
    ('gold', 'found', 'expected'),
    [
        # BILOU: a last token that is none splits, a unit is a chunk
        ('B-A I-A L-A O U-B', 'B-A I-A L-A O U-B', (2, 2, 2)),
        ('B-A L-A U-A', 'B-A I-A L-A', (2, 1, 0)),
        ('B-A L-A L-A', 'B-A L-A U-A', (2, 2, 2)),
        # BMES and BMEWO
        ('B M M E S B E', 'B M E S S B E', (3, 4, 2)),
        ('B-A M-A E-A O S-B', 'B-A M-A M-A O S-B', (2, 2, 2)),
        ('B-A M-A E-A O W-B', 'B-A E-A M-A O W-B', (2, 3, 1)),
        # underscores, and letters behind types
        ('B_A I_A O B_B', 'B_A I_B O B_B', (2, 3, 1)),
        ('A-B A-I O B-B', 'A-B B-I O B-B', (2, 3, 1)),
        ('A_B A_E O B_S', 'A_B A_I O B_S', (2, 2, 2)),
        ('B_x-y I_x-y O', 'B_x-y O O', (1, 1, 0)),
    ],
)
def test_schemes_by_hand(gold, found, expected):
    assert figures([gold.split()], [found.split()]) == expected


def test_a_chunk_tag_is_known_by_all_names():
    known = (['B_P', 'I_P', 'O'], ['P-B', 'P-I', 'O'], ['P_B', 'P_I', 'O'], ['B', 'M', 'E', 'S'], ['O', 'B', 'L', 'U'])
    for names in (*known, ['B-P', 'L-P', 'U-P', 'O'], ['B-P', 'E-P', 'W-P', 'O']):
        assert chunk_tags(names) is not None, names
    for names in (
        ['M', 'L', 'S'],
        ['I_P', 'O'],
        ['S-A', 'T-A'],
        ['NN', 'VB'],
        ['B_P', 'I-P', 'O'],
        ['B-P', 'I-P', 'L-P', 'S-P'],
    ):
        assert chunk_tags(names) is None, names


def conlleval(tags):
    """The chunks (first, last, type) of a sentence of IOB tags, by the two rules of the script: a chunk begins at B,
    at I behind O, and where the type changes; it ends before B and O, and where the type changes."""
    chunks, start, before = [], None, ('O', '')
    for t, tag in enumerate([*tags, 'O']):
        letter, _, kind = tag.partition('-')
        if before[0] in 'BI' and (letter in 'BO' or kind != before[1]):
            chunks.append((start, t - 1, before[1]))
        if letter == 'B' or (letter == 'I' and (before[0] == 'O' or kind != before[1])):
            start = t
        before = (letter, kind)
    return chunks


@pytest.mark.parametrize('spelled', ['{0}-{1}', '{0}_{1}', '{1}-{0}', '{1}_{0}'])
def test_iob_tags_are_scored_as_conlleval_does(spelled):
    rng = np.random.default_rng(3)
    tags = ['O', 'B-A', 'I-A', 'B-N', 'I-N']
    gold, found = ([[tags[k] for k in rng.integers(5, size=1 + rng.integers(6))] for _ in range(200)] for _ in range(2))
    found = [[*b, *a][: len(a)] for a, b in zip(gold, found, strict=True)]
    chunks = [[conlleval(tags) for tags in several] for several in (gold, found)]
    right = sum(len({*a} & {*b}) for a, b in zip(*chunks, strict=True))
    expected = *(sum(map(len, several)) for several in chunks), right

    def spell(tag):
        return tag if tag == 'O' else spelled.format(*tag.split('-'))

    assert figures(*([[spell(tag) for tag in tags] for tags in several] for several in (gold, found))) == expected


@pytest.mark.parametrize(
    ('names', 'remark'),
    [
        (
            'B/P I/P O',
            "labels such as 'B/P' look like tags of chunks of a scheme that is not known: not scored as chunks",
        ),
        (
            'b-P i-P O',
            "labels such as 'b-P' look like tags of chunks of a scheme that is not known: not scored as chunks",
        ),
        ('B-P I-P O X', "labels such as 'B-P' look like tags of chunks, but 'X' is none: not scored as chunks"),
        ('P_B P_I O [CLS]', "labels such as 'P_B' look like tags of chunks, but '[CLS]' is none: not scored as chunks"),
        ('DET NOUN VERB', None),
        ('B-P NN-B', None),
    ],
)
def test_one_line_says_what_is_not_scored(names, remark):
    names = names.split()
    scores = Scores(names)
    labels = np.arange(len(names), dtype=np.int32)
    scores.add(np.array([0, len(names)]), labels, labels)
    assert 'chunks' not in scores.summary()
    assert scores.remark == remark
    assert scores.table().endswith(remark or '')
    assert Scores(names, chunks=False).remark is None  # multiclass


def test_bilou_through_the_command(tmp_path):
    """Three chunks of which two are found: precision, recall and F1 of 2/3."""
    train, test, model, metrics = (tmp_path / name for name in ('train.conll', 'test.conll', 'm', 'metrics.json'))
    train.write_text('a B_P\nb L_P\nc O\nd U_Q\n\n' * 3)
    test.write_text('a B_P\nb L_P\nc O\nd U_Q\n\nc O\nd U_P\n')
    (tmp_path / 'template').write_text('U0:%x[0,0]\n')
    run('train', '-q', '--template', tmp_path / 'template', train, model)
    said = run('predict', '--evaluate', '--metrics', metrics, test, model, tmp_path / 'out').stderr
    chunks = json.loads(metrics.read_text())['chunks']
    assert (chunks['gold'], chunks['found'], chunks['right']) == (3, 3, 2)
    assert chunks['types'].keys() == {'P', 'Q'}
    assert 'all chunks' in said and 'not scored' not in said
