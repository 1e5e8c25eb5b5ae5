"""Taxonomies, features of classes and matrices over labels: what they mean, and what is said about malformed ones."""

import numpy as np
import pytest

from data_formats.classes.class_features import read_class_features
from data_formats.classes.label_matrix import read_class_similarity
from data_formats.classes.taxonomy import read_taxonomy
from data_formats.errors import DataError


def of(read, folder, text, labels):
    path = folder / 'file'
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, labels)


TREE = """\
# cars and others
sedan car
van\tcar
car vehicle   # a comment
big bicycle\tvehicle\t2
"""


def test_a_tree(tmp_path):
    """Heights: car 1, vehicle 2, both by way of a car and of a bicycle, whose step is twice as long."""
    tree = of(read_taxonomy, tmp_path, TREE, ['van', 'big bicycle', 'sedan', 'car'])
    np.testing.assert_array_equal(tree.loss(), [[0, 2, 1, 1], [2, 0, 2, 2], [1, 2, 0, 1], [1, 2, 1, 0]])
    # own node, car; own node of weight 2; own node, car; car. All are below vehicle, the only top, which tells nothing
    np.testing.assert_allclose(tree.similarity(), [[2, 0, 1, 1], [0, 2, 0, 0], [1, 0, 2, 1], [1, 0, 1, 1]])


def test_a_lattice_with_several_tops(tmp_path):
    text = 'bat mammal\nbat flyer 3\ncat mammal\nkite flyer\nstone thing\n'
    lattice = of(read_taxonomy, tmp_path, text, ['bat', 'cat', 'kite', 'stone'])
    # a flyer is 3 above a bat; a stone has nothing in common with the others: one above the highest top
    np.testing.assert_array_equal(lattice.loss(), [[0, 1, 3, 4], [1, 0, 4, 4], [3, 4, 0, 4], [4, 4, 4, 0]])
    np.testing.assert_allclose(
        lattice.similarity(), [[3 + 2, 1, 1, 0], [1, 2, 0, 0], [1, 0, 2, 0], [0, 0, 0, 2]], rtol=1e-12
    )


def test_the_lowest_of_several_common_nodes_counts(tmp_path):
    text = 'a low\nb low\na high\nb high\nlow x\nx high\n'
    assert of(read_taxonomy, tmp_path, text, ['a', 'b']).loss()[0, 1] == 1


def test_features_of_classes(tmp_path):
    text = 'b x:2 y\n# none\na x z:-0.5 x note: http://x:y\nother q\n'
    similarity = of(read_class_features, tmp_path, text, ['a', 'b'])
    # a: x twice, z -0.5, two words with colons; b: x 2, y
    np.testing.assert_allclose(similarity, [[4 + 0.25 + 2, 4], [4, 4 + 1]])
    spaced = of(read_class_features, tmp_path, 'two words\tx y\none\ty\n', ['two words', 'one'])
    np.testing.assert_allclose(spaced, [[2, 1], [1, 1]])


def test_similarities(tmp_path):
    text = '\tb\ta\nb\t2\t-1\na\t-1\t3\n'
    np.testing.assert_array_equal(of(read_class_similarity, tmp_path, text, ['a', 'b']), [[3, -1], [-1, 2]])


MALFORMED = [
    (read_taxonomy, '', ': no steps (expected lines CHILD PARENT'),
    (read_taxonomy, '# nothing\n\n', ': no steps'),
    (read_taxonomy, 'a\n', ':1: 1 field (expected CHILD PARENT [WEIGHT])'),
    (read_taxonomy, 'a b c d\n', ':1: 4 fields'),
    (read_taxonomy, 'a top\nb\t\t3\n', ':2: an empty field'),
    (read_taxonomy, 'a top x\n', ":1: weight 'x' (expected a positive number)"),
    (read_taxonomy, 'a top 0\n', ":1: weight '0'"),
    (read_taxonomy, 'a top -1\n', ":1: weight '-1'"),
    (read_taxonomy, 'a top nan\n', ":1: weight 'nan'"),
    (read_taxonomy, 'a top inf\n', ":1: weight 'inf'"),
    (read_taxonomy, 'a top 1e308\n', ":1: weight '1e308' (expected one up to 1e+30 in size)"),
    (read_class_features, 'a x\nb y:-1e200\n', ":2: value '-1e200' (expected one up to 1e+15 in size)"),
    (read_class_similarity, 'a\tb\n1\t0\n0\t1e200\n', ":3: similarity '1e200' (expected one up to 1e+30 in size)"),
    (read_taxonomy, 'a top\nb b\n', ":2: 'b' is its own parent"),
    (read_taxonomy, 'a top\nb top\na top\n', ":3: the step from 'a' to 'top' stands here a second time"),
    (read_taxonomy, 'a top\nb x\nx y\ny b\n', ":2: 'b' is above itself"),
    (read_taxonomy, 'a top\n', ": label 'b' of the data is missing"),
    (read_class_features, '', ": no line for label 'a' of the data"),
    (read_class_features, 'a x\n', ": no line for label 'b' of the data (expected CLASS FEATURE[:VALUE] ...)"),
    (read_class_features, 'a x\nb\n', ':2: a class without features'),
    (read_class_features, 'a x\nb\t \n', ':2: a class without features'),
    (read_class_features, 'a x\nb y\na z\n', ":3: a second line for class 'a'"),
    (read_class_features, 'a x\nb y:1e999\n', ":2: value '1e999' (expected a finite number)"),
    (read_class_features, 'a x:nan\nb y\n', ":1: value 'nan'"),
    (read_class_features, 'a x:-inf\nb y\n', ":1: value '-inf'"),
    (read_class_features, 'a x:1.2.3\nb y\n', ":1: value '1.2.3'"),
    (read_class_features, 'a :2\nb y\n', ":1: ':2' has no name"),
    (read_class_similarity, '', ': no similarity matrix'),
    (read_class_similarity, 'a\tb\n1\t0\n0\tx\n', ":3: similarity 'x' (expected a finite number)"),
    (read_class_similarity, 'a\tb\n1\t0\n0\tnan\n', ":3: similarity 'nan'"),
    (read_class_similarity, 'a\tb\n1\t0\n0\n', ':3: 1 similarities (expected 2, as many as the header)'),
    (read_class_similarity, 'a\tc\n1\t0\n0\t1\n', ":1: label 'b' of the data is missing from the header"),
    (read_class_similarity, 'a\tb\n1\t0\n', ": no row for label 'b'"),
]


@pytest.mark.parametrize(('read', 'text', 'said'), MALFORMED)
def test_malformed_files(tmp_path, read, text, said):
    with pytest.raises(DataError) as found:
        of(read, tmp_path, text, ['a', 'b'])
    assert str(found.value).startswith(f'{tmp_path / "file"}{said}')


@pytest.mark.parametrize('read', [read_taxonomy, read_class_features, read_class_similarity])
def test_a_file_that_is_not_there(tmp_path, read):
    with pytest.raises(DataError, match='No such file'):
        read(tmp_path / 'none', ['a'])
