"""SVMlight ranking files: `LOSS qid:N INDEX:VALUE ... # comment`, a candidate a line, one qid for each example.

The first number is the loss of a candidate, or its grade of relevance where the options say so."""

from cython_ext.text.boundaries import before_last_qid
from cython_ext.text.formats.svmrank import CandidateParser
from data_formats.datasets.candidates import CandidateDataset
from data_formats.parsing.reading import Reader, learn_attributes
from data_formats.parsing.writing import candidate_header, write_candidates

NAME = 'svmrank'
DESCRIPTION = 'SVMlight ranking: LOSS qid:N INDEX:VALUE ..., one candidate a line'
EXTENSIONS = ('.svmrank', '.rank')
TASKS = ('candidates',)
VALUES = True
NUMBERS = True
ALIKE = ('svmlight', 'svmhmm')


def finish(parts, options, frozen):
    if frozen is not None:
        parts['attributes'] = frozen.attributes
    return CandidateDataset(**parts, graded=options.grades)


def reader(source, options, vocabularies):
    """How the file is read."""
    attributes = None if vocabularies is None else vocabularies.attributes
    losses = options.require_labels and not options.grades
    first = 0 if options.zero_based else 1
    return Reader(
        before_last_qid,
        lambda: CandidateParser(attributes, losses).count_from(first),
        learn=learn_attributes,
        finish=finish,
    )


def write(dataset, stream, names=None, zero_based=False):
    """A dataset as such a file; attributes that are no numbers are numbered, and listed in `names`."""
    write_candidates(dataset, stream, names, zero_based)


def write_predictions(block, chosen, stream, extra_columns=None, headers=None):
    """For each example the number of the candidate that is chosen, from 1, and its extra columns.

    chosen : for each example the candidate, from 0
    extra_columns : None, or for each example a list of str
    """
    for i, candidate in enumerate(chosen):
        extra = [] if extra_columns is None else extra_columns[i]
        stream.write(' '.join([str(candidate + 1), *extra]).encode() + b'\n')


def write_nbest(block, candidates, stream):
    """For each example its best candidates: `# RANK SCORE [PROBABILITY]`, the number of the candidate, a blank line."""
    for example in candidates:
        for rank, (candidate, score, probability) in enumerate(example, 1):
            stream.write(candidate_header(rank, score, probability) + b'\n%d\n\n' % (candidate + 1))
