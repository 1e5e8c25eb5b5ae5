"""CoNLL-X treebanks: a word a line in ten columns, blank lines between sentences; several roots are usual."""

from functools import partial

from data_formats.parsing import treebank

NAME = 'conllx'
DESCRIPTION = 'CoNLL-X: ID FORM LEMMA CPOSTAG POSTAG FEATS HEAD DEPREL PHEAD PDEPREL, a blank line after a sentence'
EXTENSIONS = ('.conllx',)
TASKS = ('dependency',)
UNIVERSAL = False
SINGLE_ROOT = False  # unless --multi-root or --single-root says otherwise

reader = partial(treebank.reader, UNIVERSAL)
transcribe = partial(treebank.transcribe, UNIVERSAL)
write_predictions, write_nbest = treebank.write_predictions, treebank.write_nbest
