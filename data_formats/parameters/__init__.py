"""What the weights of a model are, task by task: vocabularies, arrays, and rows of text.

A module of this package offers

    VOCABULARIES                        those of the model, by the names that Model has for them; label_names is one of
                                        them where the task has labels
    STRUCTURE                           what the structure is built with, as headers keep it: a values.Key by name
    read(container, header, names, as_stored)   the dictionary of arrays, their shapes and ranges checked; names: the
                                        vocabularies, by name
    stored(weights)                     the same as a file keeps them
    listed(model)                       vocabularies that a model as text names in comment lines, `labels` left out
    blocks(model)                       the blocks that a model as text has whole
    write_rows(model, tables, stream, spell)    the rows of a model as text; tables: the names of each vocabulary, as
                                        they are spelled; spell: what spells a field that is made of names
    read_rows(rows, header, blocks)     ({vocabulary: names in order}, weights) of the same; rows: a model_tsv.Rows

and has the name of its task.
"""

from importlib import import_module

import numpy as np


def parameters_of(header):
    """The module for the task of a model."""
    return import_module(f'data_formats.parameters.{header["task"]}')


def row_table(container, name, rows, size):
    """Where each of the rows begins in an array of that size, int64[rows + 1]."""
    indptr = container.array(f'weights.{name}', '<i8', (rows + 1,))
    if indptr[0] != 0 or indptr[-1] != size or (indptr[1:] < indptr[:-1]).any():
        raise container.error(f'array weights.{name} is no table of rows')
    return indptr


def numbers(container, name, shape):
    """An array of finite numbers."""
    array = container.array(f'weights.{name}', '<f8', shape)
    if not np.isfinite(array).all():
        raise container.error(f'array weights.{name} holds a weight that is no finite number')
    return array
