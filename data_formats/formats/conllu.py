"""CoNLL-U treebanks (Universal Dependencies): CoNLL-X with comments, ranges and empty nodes; one root a sentence."""

from functools import partial

from data_formats.parsing import treebank

NAME = 'conllu'
DESCRIPTION = 'CoNLL-U: ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC, a blank line after a sentence'
EXTENSIONS = ('.conllu',)
TASKS = ('dependency',)
UNIVERSAL = True
SINGLE_ROOT = True  # unless --multi-root or --single-root says otherwise

reader = partial(treebank.reader, UNIVERSAL)
transcribe = partial(treebank.transcribe, UNIVERSAL)
write_predictions, write_nbest = treebank.write_predictions, treebank.write_nbest
