"""Bracket scores: worked by hand from the documentation of EVALB, and against a plain reading of it on random trees."""

import json
import random

import pytest

from data_formats.datasets.cfg import Tree
from ssvm_cli.scores.cfg import BracketScores
from tests.trees import dataset_of, is_leaf, leaves, tree


def names(node):
    """The Tree of a tuple."""
    return dataset_of([node]).tree(0)


def scored(*pairs, tagged=True):
    """Scores of (gold, guess) in Penn brackets, guess None without a parse."""
    scores = BracketScores(tagged)
    for gold, guess in pairs:
        scores.add(names(tree(gold)), None if guess is None else names(tree(guess)))
    return scores


DOG = '(TOP (S (NP (DT the) (NN dog)) (, ,) (VP (VBD ran) (PRT (RP off)) (NP (NN home))) (. .)))'


def test_a_sentence_by_hand():
    """Right brackets of the dog ran off home are S 0-5, NP 0-2, VP 2-5, PRT 3-4 and NP 4-5; found are S 0-5, VP 2-5,
    ADVP 3-5 and NP 0-2, for the comma is deleted."""
    guess = '(TOP (S (NP (DT the) (NN dog) (, ,)) (VP (VBD ran) (ADVP (RB off) (NN home))) (. .)))'
    got = scored((DOG, guess)).summary()
    assert (got['gold'], got['found'], got['right']) == (5, 4, 3)
    assert (got['precision'], got['recall'], got['f1']) == (3 / 4, 3 / 5, 6 / 9)
    assert (got['words'], got['tagging_accuracy']) == (5, 4 / 5)
    assert (got['complete_match'], got['average_crossing'], got['sentences'], got['no_parse']) == (0, 0, 1, 0)
    assert got['labels']['NP'] == {'precision': 1, 'recall': 1 / 2, 'f1': 2 / 3, 'gold': 2, 'found': 1, 'right': 1}
    assert sorted(got['labels']) == ['ADVP', 'NP', 'S', 'VP']


@pytest.mark.parametrize(
    'gold, guess, counts',
    [
        # ADVP and PRT are the same
        (DOG, DOG.replace('PRT', 'ADVP'), (5, 5, 5)),
        # of n brackets of a label over the same words and m found, the smaller number is right
        ('(TOP (NP (NP (NP (DT the) (NN man)))))', '(TOP (NP (DT the) (NN man)))', (3, 1, 1)),
        ('(TOP (NP (DT the) (NN man)))', '(TOP (NP (NP (DT the) (NN man))))', (1, 2, 1)),
        # the node on top is none, by whatever name, and neither is a tag
        ('(S1 (NP (NN man)))', '(ROOT (NP (NN man)))', (1, 1, 1)),
        ('(TOP (UH No))', '(TOP (UH No))', (0, 0, 0)),
        # phrases of punctuation alone are none; a dash has the tag :
        ('(TOP (NP (NN man) (PRN (: --) (. !))))', '(TOP (NP (NN man) (: --) (. !)))', (1, 1, 1)),
        # what is punctuation is said by the right tags: the words are a and b, the brackets found X 0-1 and NP 0-2
        ('(TOP (NP (NN a) (, c) (NN b)))', '(TOP (NP (X (NN a) (NN c)) (. b)))', (1, 2, 1)),
        # traces are deleted, and what holds nothing else
        ('(TOP (VP (VBD said) (SBAR (-NONE- 0) (S (-NONE- T)))))', '(TOP (VP (VBD said) (X x) (X y)))', (1, 1, 1)),
        (DOG, None, (5, 0, 0)),
    ],
)
def test_brackets_by_hand(gold, guess, counts):
    got = scored((gold, guess)).summary()
    assert (got['gold'], got['found'], got['right']) == counts
    assert got['complete_match'] == (counts[0] == counts[1] == counts[2])
    assert got['no_parse'] == (guess is None)


def test_crossing_by_hand():
    """X 1-3 crosses both NP 0-2 and VP 2-4, which counts once; it is in the second sentence where nothing crosses."""
    gold = '(TOP (S (NP (N a) (N b)) (VP (V c) (NP (N d)))))'
    got = scored((gold, '(TOP (S (N a) (X (N b) (V c)) (NP (N d))))'), (gold, gold), (gold, None)).summary()
    assert got['average_crossing'] == 1 / 3 and got['no_crossing'] == 2 / 3 and got['two_or_less_crossing'] == 1
    assert (got['gold'], got['found'], got['right']) == (12, 7, 6)
    assert got['complete_match'] == 1 / 3 and got['tagging_accuracy'] == 8 / 12


def test_unlabelled():
    got = scored(('(TOP (S (NP (N a) (N b)) (V c)))', '(TOP (X (S (N a) (N b)) (V c)))')).summary()
    assert got['right'] == 0 and got['unlabelled']['right'] == 2 and got['unlabelled']['f1'] == 1


def test_a_label_that_the_model_does_not_know_is_never_right():
    scores = BracketScores()
    scores.add(Tree([None, 'N'], [('TOP', 0, 2), (None, 0, 2)]), Tree(['N', 'N'], [('TOP', 0, 2), ('S', 0, 2)]))
    got = scores.summary()
    assert (got['gold'], got['found'], got['right'], got['tagging_accuracy']) == (1, 1, 0, 1 / 2)
    assert sorted(got['labels']) == ['?', 'S']


def test_sentences_of_up_to_forty_words():
    """Punctuation counts for the length, traces do not."""
    forty = f'(TOP (NP (. .) (-NONE- *) {"(NN a) " * 39}))'
    got = scored((forty, forty), (forty.replace('NP', 'NP (NN b)'), None)).summary()
    assert (got['sentences'], got['f1']) == (2, 2 / 3)
    assert (got['up_to_40_words']['sentences'], got['up_to_40_words']['f1']) == (1, 1)


def test_what_people_and_programs_read():
    scores = scored((DOG, DOG), (DOG, None))
    assert scores.count == 2 and scores.row() == {'dev_f1': 2 / 3} and scores.columns == ('dev_f1',)
    table = scores.table()
    assert 'F1 66.67 % (precision 100.00 %, recall 50.00 %, 10 brackets)' in table and 'no parse of 1' in table
    assert 'tags 50.00 % of 10 words' in table and 'up to 40' not in table
    assert json.loads(json.dumps(scores.summary())) == scores.summary()
    given = scored((DOG, DOG), tagged=False)
    assert 'tags' not in given.table() and 'tagging_accuracy' not in given.summary()
    assert BracketScores().summary()['f1'] == 0 and BracketScores().table()


# ---------------------------------------------------------------- a plain reading, by sets of words instead of places


def kept_words(node, punctuation, at=0):
    """(kept words, how many words, brackets [(label, kept words)]) of a tuple; punctuation: numbers of words."""
    if is_leaf(node):
        return frozenset({at}) - punctuation, 1, []
    words, size, out = frozenset(), 0, []
    for child in node[1:]:
        mine, count, below = kept_words(child, punctuation, at + size)
        words, size, out = words | mine, size + count, out + below
    label = 'ADVP' if node[0] == 'PRT' else node[0]
    return words, size, out + [(label, words)] * (bool(words) and label not in ('TOP', 'ROOT'))


def plainly(gold, guess):
    """(gold, found, right, right without labels, crossing) of two tuples."""
    marks = (',', ':', '``', "''", '.')
    punctuation = frozenset(t for t, (tag, _) in enumerate(leaves(gold)) if tag in marks)
    right, found = (kept_words(one, punctuation)[2] for one in (gold, guess))
    matches = []
    for key in (lambda bracket: bracket, lambda bracket: bracket[1]):
        left = [key(one) for one in right]
        for one in found:
            if key(one) in left:
                left.remove(key(one))
        matches.append(len(right) - len(left))
    crossing = sum(any(b & a and b - a and a - b for _, a in right) for _, b in found)
    return len(right), len(found), *matches, crossing


def random_tree(rng, tags, label):
    """A tree over words with these tags."""
    if len(tags) == 1 and rng.random() < 0.7:
        return tags[0], 'w'
    cuts = sorted(rng.sample(range(1, len(tags)), min(len(tags) - 1, rng.randrange(3))))
    parts = [tags[a:b] for a, b in zip([0, *cuts], [*cuts, len(tags)], strict=True)]
    return label, *(random_tree(rng, part, rng.choice(['NP', 'NP', 'ADVP', 'PRT', 'S'])) for part in parts)


def test_random_trees_against_a_plain_reading():
    rng, sums, every = random.Random(0), [0] * 5, BracketScores()
    for _ in range(400):
        tags = [rng.choice(['N', 'V', 'D', ',', '.', ':']) for _ in range(rng.randrange(1, 12))]
        other = [tag if rng.random() < 0.8 else rng.choice(['N', '.']) for tag in tags]
        gold, guess = (('TOP', random_tree(rng, row, 'S')) for row in (tags, other))
        wanted, one = plainly(gold, guess), BracketScores()
        for scores in (one, every):
            scores.add(names(gold), names(guess))
        sums = [a + b for a, b in zip(sums, wanted, strict=True)]
        tally = one.all
        assert (tally.gold, tally.found, tally.right, tally.right_spans, tally.crossing) == wanted
        assert tally.complete == (wanted[0] == wanted[1] == wanted[2])
    tally = every.all
    assert [tally.gold, tally.found, tally.right, tally.right_spans, tally.crossing] == sums
    assert sums[4] > 100 and sums[2] > 100 and sums[3] > sums[2] and tally.complete > 10
