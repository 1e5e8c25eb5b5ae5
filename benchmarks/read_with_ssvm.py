"""Read a training file with ssvm's readers and do nothing else: read_with_ssvm.py FILE [TEMPLATE]."""

import sys

from ssvm_cli.examples.reading import read_training_data

if __name__ == '__main__':
    path, template = (*sys.argv[1:], None)[:2]
    dataset, facts = read_training_data(path, 'auto', template, None, 1, False)
    print(f'{facts["format"]}: {dataset.n} examples, {dataset.tokens} tokens, {dataset.nnz} attribute occurrences')
