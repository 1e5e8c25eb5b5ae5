"""Weights of the rules of a grammar: 'rule' float64[rules], and 'grammar.NAME' the arrays of the Grammar itself.

As text, a row `rule LABEL CHILDREN` for each rule, the labels of the children parted by blanks, or `rule TAG WORD`; a
word that is the name of a label too, or begins with a backslash, has a backslash in front. Comment lines name all
words, the tags that unknown words may have (`open_tags`), and the chains of labels that stand above each other over the
same words. The rows are the grammar: one that is deleted is a rule less.
"""

import numpy as np

from cython_ext.structures.cfg.grammar import Grammar
from data_formats.errors import shown
from data_formats.parameters import numbers
from data_formats.parameters.values import Key, one_of, up_to

VOCABULARIES = ('label_names', 'word_names')
MOST_WORDS = 2**31 - 1  # of a sentence
STRUCTURE = {
    'terminals': Key(one_of('word', 'pos'), 'word or pos'),
    'max_length': Key(up_to(MOST_WORDS), f'a whole number from 0 to {MOST_WORDS}', needed=True, nullable=True),
}
PREFIX, BLOCK, ESCAPE = 'grammar.', 'rule', '\\'
WIDE_ARRAYS = ('rhs_indptr', 'chain_indptr')  # int64, the other arrays are int32


def grammar_of(header, weights, label_names):
    """The Grammar of a model.

    Raises:
        ValueError: the model has no label that is on top of all trees.
    """
    start = label_names.get(header['data']['top'])
    if start < 0:
        raise ValueError(f'header has data.top = {header["data"]["top"]!r}, which is no label')
    return Grammar(header['structure']['terminals'], start, *(weights[PREFIX + name] for name in Grammar.ARRAYS))


def check_facts(header, labels, error):
    """Raise error(text, expected) unless the header says what rules begin with and end in. labels: their names."""
    if header['data'].get('top') is None or (header.get('structure') or {}).get('terminals') is None:
        raise error('header of a grammar without data.top and structure.terminals', 'expected both')
    if header['data']['top'] not in labels:
        raise error(f'header has data.top = {header["data"]["top"]!r}, which is no label')


def read(container, header, names, as_stored):
    weights = {
        PREFIX + name: container.array(f'weights.{PREFIX}{name}', '<i8' if name in WIDE_ARRAYS else '<i4', (None,))
        for name in Grammar.ARRAYS
    }
    weights[BLOCK] = numbers(container, BLOCK, (None,))
    check_facts(header, names['label_names'].names(), container.error)
    try:
        grammar = Grammar(header['structure']['terminals'], 0, *(weights[PREFIX + name] for name in Grammar.ARRAYS))
        grammar.check(len(names['label_names']), len(names['word_names']))
    except ValueError as error:
        raise container.error(f'its grammar is none: {error}') from error
    if len(weights[BLOCK]) != grammar.size:
        raise container.error(f'{len(weights[BLOCK])} weights for {grammar.size} rules')
    return weights


def stored(weights):
    return weights


def listed(model):
    grammar, labels = grammar_of(model.header, model.weights, model.label_names), model.label_names.names()
    chains = [[labels[k] for k in grammar.chain_labels(c)] for c in range(1, len(grammar.chain_indptr))]
    open_tags = [labels[k] for k in grammar.open_tags.tolist()]
    return {'word_names': model.word_names.names(), 'open_tags': open_tags, 'chains': chains}


def blocks(model):
    return [BLOCK]


def write_rows(model, tables, stream, spell):
    grammar = grammar_of(model.header, model.weights, model.label_names)
    rules = spelled(grammar, model.label_names.names(), model.word_names.names())
    for (left, right), weight in zip(rules, model.weights[BLOCK].tolist(), strict=True):
        stream.write(f'{BLOCK}\t{spell(left)}\t{spell(right)}\t{weight:.17g}\n')


def spelled(grammar, label_names, word_names):
    """(label, text of the right-hand side) of each rule; the names are lists."""
    known = set(label_names)
    for rule, label in enumerate(grammar.lhs.tolist()):
        yield label_names[label], ' '.join(label_names[child] for child in grammar.children(rule))
    for tag, word in zip(grammar.lexical_tags.tolist(), grammar.lexical_words.tolist(), strict=True):
        text = word_names[word]
        yield label_names[tag], ESCAPE + text if text in known or text.startswith(ESCAPE) else text


def read_rows(rows, header, blocks):
    check_facts(header, rows.labels, rows.error_of_file)
    words = rows.places(header.pop('word_names', None), 'word', 'word_names')
    tags = rows.places(header.pop('open_tags', None), 'tag', 'open_tags')
    chains = header.pop('chains', None)
    phrasal, lexical = {}, {}
    for block, left, right, text in rows:
        if block != BLOCK:
            raise rows.error(f'block {shown(block)}', f'expected {BLOCK}')
        weight, label, right = rows.weight(text), rows.label(left), rows.name(right)
        if right in rows.labels or ' ' in right:
            rules, rule = phrasal, (label, tuple(rows.label(child) for child in right.split(' ')))
        else:
            word = words.get(right.removeprefix(ESCAPE))
            if word is None:
                raise rows.error(f'{shown(right)} is no label and no word of the model')
            rules, rule = lexical, (word, label)
        if rule in rules:
            raise rows.error(f'a second weight for the rule {shown(left)} {shown(right)}')
        rules[rule] = weight
    steps, open_tags = [], [rows.labels.get(tag) for tag in tags]
    try:
        steps = sorted([rows.labels[name] for name in chain] for chain in chains)
        grammar = Grammar.made(header['structure']['terminals'], 0, sorted(phrasal), sorted(lexical), steps, open_tags)
        grammar.check(len(rows.labels), len(words))
    except (KeyError, TypeError, ValueError) as error:
        raise rows.error_of_file('its open_tags or chains do not fit its rules') from error
    weights = {PREFIX + name: getattr(grammar, name) for name in Grammar.ARRAYS}
    weights[BLOCK] = np.array([rules[rule] for rules in (phrasal, lexical) for rule in sorted(rules)])
    return {'label_names': rows.labels, 'word_names': words}, weights
