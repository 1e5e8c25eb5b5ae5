"""Features of arcs as text: what they say, and the way back."""

import numpy as np
import pytest

from cython_ext.features.arcs.names import is_arc_feature, parsed, spelled
from cython_ext.features.arcs.templates import ARC, RELATION
from cython_ext.features.calls import adjoint, scores_of
from cython_ext.tasks.registry import task_info
from cython_ext.text.vocabulary import Vocabulary
from data_formats.datasets.dependency import SentenceDataset

WORDS, TAGS, RELATIONS = ['a b', '\\s', '<root>', 'casa', '>3', '\\<s>'], ['N', '</s>', 'V'], ['r', '-']


def dataset(words, tags, heads, relations):
    columns = (np.array(column, np.int32) for column in (words, tags, heads, relations))
    words, tags, heads, relations = columns
    names = map(Vocabulary, (WORDS, TAGS, RELATIONS))
    return SentenceDataset(np.array([0, len(words)]), words, tags, None, heads, relations, *names)


def features_of(data):
    return task_info('dependency').build(data, single_root=False)[1]


@pytest.fixture
def features():
    return features_of(dataset([0, 1, 2, 3, 4, 5], [0, 1, 2, 0, 1, 0], [2, 0, 2, 5, 3, 5], [0, 1, 0, 1, 0, 1]))


def test_the_way_back(features, rng):
    blocks = features.blocks(rng.normal(size=features.dim))
    rows = list(spelled(blocks, WORDS, TAGS))
    again = parsed(rows, WORDS, TAGS, 2)
    np.testing.assert_array_equal(features.weights(again), features.weights(blocks))
    assert list(spelled(again, WORDS, TAGS)) == rows
    assert len({row[:2] for row in rows}) == len(rows) > 500
    seen = {feature.split(' ')[0] for feature, _, _ in rows}
    assert seen == {template for template in (*ARC, *RELATION) if 'c' not in template}
    assert all(is_arc_feature(feature) == (relation < 0) for feature, relation, _ in rows)


def test_what_they_say():
    """One word, an arc from the root: its features, by hand."""
    features = features_of(dataset([3], [0], [0], [1]))
    w = adjoint(features, 0, np.eye(scores_of(features, 0, features.zeros()).size)[1])  # head 0, relation 1
    rows = {(feature, relation): weight for feature, relation, weight in spelled(features.blocks(w), WORDS, TAGS)}
    alone = {
        *('hw,hp \\<root> \\<root>', 'hw <root>', 'hp <root>', 'dw,dp casa N', 'dw casa', 'dp N', 'hw,dw <root> casa'),
        *('hp,dp <root> N', 'hp,hp+1,dp-1,dp <root> N <root> N', 'hp-1,hp,dp,dp+1 <s> <root> N </s>'),
    }
    alone = {text.replace('\\<root> \\<root>', '<root> <root>') for text in alone}
    found = {feature for feature, relation in rows if relation < 0}
    assert alone <= found and {text + ' >1' for text in alone} <= found
    assert {feature for feature, relation in rows if relation == 1} >= {'hp,dp,dir <root> N >', 'dw,dir casa >'}
    assert set(rows.values()) == {1.0} and {relation for _, relation in rows} == {-1, 1}


def test_names_that_look_special(features):
    w = np.ones(features.dim)
    texts = {feature for feature, _, _ in spelled(features.blocks(w), WORDS, TAGS)}
    assert {'dw a\\sb', 'dw \\\\s', 'dw \\<root>', 'dw >3', 'dw >3 >1', 'dw \\\\<s>', 'dp \\</s>'} <= texts


def test_unknown_names_are_skipped_where_that_is_asked_for():
    rows = [('hw,dw casa mesa', -1, 1.0), ('hw,dw casa casa <11+', -1, 2.0), ('dw,dir mesa >', 0, 3.0)]
    assert list(spelled(parsed(rows, ['casa'], [], 2, skip_unknown=True), ['casa'], [])) == [rows[1]]


REFUSED = {
    'unknown word': ('hw mesa', -1, 'a word or a tag that the model does not have'),
    'no word before the sentence': ('hw <s>', -1, 'a word or a tag that the model does not have'),
    'unknown template': ('hx casa', -1, 'is no feature of an arc'),
    'empty': ('', -1, 'is no feature of an arc'),
    'too few values': ('hw,dw casa', -1, 'does not have 2 values'),
    'too many values': ('hw casa >1 >1', -1, 'does not have 1 values'),
    'no distance': ('hw casa >12', -1, 'does not have 1 values'),
    'a distance with a relation': ('hw,dir casa > >1', 0, 'does not have 2 values'),
    'no relation': ('hw,dir casa >', -1, 'needs a relation'),
    'a relation too many': ('hw casa', 1, 'has no relation'),
    'twice': ('hw \\<root>', -1, 'a second weight'),
}


@pytest.mark.parametrize(('feature', 'relation', 'message'), REFUSED.values(), ids=REFUSED)
def test_refused(feature, relation, message):
    rows = iter([('hw \\<root>', -1, 1.0), (feature, relation, 1.0), ('never read', 0, 0.0)])
    with pytest.raises(ValueError, match=message):
        parsed(rows, WORDS, TAGS, 2)
    assert next(rows)[0] == 'never read'
