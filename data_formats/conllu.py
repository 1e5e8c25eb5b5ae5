"""CoNLL-U treebanks (Universal Dependencies): CoNLL-X with comments, ranges and empty nodes; one root a sentence."""

from data_formats import treebank

NAME = 'conllu'
DESCRIPTION = 'CoNLL-U: ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC, a blank line after a sentence'
EXTENSIONS = ('.conllu',)
TASKS = ('dependency',)
UNIVERSAL = True
SINGLE_ROOT = True  # unless --multi-root or --single-root says otherwise


def reader(source, options, vocabularies):
    """How the file is read."""
    return treebank.reader(UNIVERSAL, options, vocabularies)


def read(source, options, vocabularies=None):
    """The whole file as a SentenceDataset."""
    return treebank.read(UNIVERSAL, source, options, vocabularies)


def stream(source, options, vocabularies):
    """The file as Blocks of whole sentences."""
    return treebank.stream(UNIVERSAL, source, options, vocabularies)


def write_predictions(block, trees, stream, extra_columns=None, headers=None):
    """The lines of the input, HEAD and DEPREL replaced."""
    treebank.write_predictions(block, trees, stream, extra_columns, headers)


def write_nbest(block, candidates, stream):
    """The candidates of each sentence, best first."""
    treebank.write_nbest(block, candidates, stream)


def transcribe(source, target, stream):
    """Write the file in the format of another module that has UNIVERSAL; see treebank.transcribe."""
    return treebank.transcribe(source, UNIVERSAL, target.UNIVERSAL, stream)
