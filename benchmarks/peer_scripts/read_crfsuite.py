"""Read a CRFsuite attribute file into a python-crfsuite trainer, as its users do: read_crfsuite.py FILE."""

import sys

import pycrfsuite


def unescape(name):
    return name.replace('\\:', ':').replace('\\\\', '\\') if '\\' in name else name


def read(path, trainer):
    """Append every sequence of the file to the trainer; returns how many tokens there were."""
    tokens, items, labels = 0, [], []
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            line = line.rstrip('\n')
            if line:
                label, *attributes = line.split('\t')
                if '\\' in line:
                    attributes = [unescape(name) for name in attributes]
                labels.append(label)
                items.append(attributes)
            elif items:
                trainer.append(items, labels)
                tokens += len(items)
                items, labels = [], []
    if items:
        trainer.append(items, labels)
        tokens += len(items)
    return tokens


if __name__ == '__main__':
    print(read(sys.argv[1], pycrfsuite.Trainer(verbose=False)), 'tokens')
