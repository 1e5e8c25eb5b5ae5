"""Runs of the program on links, and what the matchings are compared with: models of given weights, and rows that are
linked without regard to each other."""

import json
import subprocess
import sys

BIAS = 'bias'
NONE = 0.0, None  # score and target of no link


def call(*words):
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'exit {done.returncode} from {" ".join(words)}\n{done.stderr}')
    return done


def write(path, examples):
    """examples: lists of links (row, column, target, {attribute: value}); attributes that are 0 are left out."""
    with open(path, 'w', encoding='utf-8') as stream:
        for number, example in enumerate(examples, 1):
            for row, column, target, values in example:
                words = [f'{name}:{value:.6g}' for name, value in values.items() if value]
                stream.write(' '.join([target, f'qid:{number}', f'{row}-{column}', *words]) + '\n')


def train(ssvm, path, dev, model, lambdas):
    """The model of the lambda that does best on held-out data."""
    call(ssvm, 'train', '-q', '--bias', '--rel-gap', 1e-3, '--lambda-path', lambdas, '--dev', dev, path, model)


def weights_of(ssvm, model):
    """{attribute: weight}"""
    text = model.with_suffix('.tsv')
    call(ssvm, 'convert', model, text)
    rows = [line.split('\t') for line in text.read_text(encoding='utf-8').splitlines()]
    return {row[1]: float(row[3]) for row in rows if row[0] == 'feature'}


def with_weights(ssvm, model, weights, made):
    """A model with other weights; attributes without one weigh 0."""
    text = made.with_suffix('.tsv')
    call(ssvm, 'convert', model, text)
    lines = text.read_text(encoding='utf-8').splitlines()
    for k, line in enumerate(lines):
        if line.startswith('feature\t'):
            name = line.split('\t')[1]
            lines[k] = f'feature\t{name}\t-\t{weights.get(name, 0.0)!r}'
    text.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    call(ssvm, 'convert', text, made)
    return made


def scores(ssvm, path, model):
    """The figures of the matchings of a model, as `ssvm predict --metrics` has them."""
    found = model.with_suffix('.json')
    call(ssvm, 'predict', '-q', '--metrics', found, path, model, model.with_suffix('.txt'))
    return json.loads(found.read_text())


def rows_alone(examples, weights):
    """The same figures where each row takes its best column, if that scores above 0, whatever the others take."""
    found = sure = found_sure = found_possible = 0
    for example in examples:
        best = {}
        for row, _, target, values in example:
            score = weights[BIAS] + sum(weights[name] * value for name, value in values.items() if name in weights)
            if score > best.get(row, NONE)[0]:
                best[row] = score, target
        targets = [target for _, target in best.values()]
        found, sure = found + len(targets), sure + sum(link[2] == '1' for link in example)
        found_sure, found_possible = found_sure + targets.count('1'), found_possible + len(targets) - targets.count('0')
    return {
        'aer': 1 - (found_sure + found_possible) / max(1, found + sure),
        'precision': found_possible / max(1, found),
        'recall': found_sure / max(1, sure),
    }
