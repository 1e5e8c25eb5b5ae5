"""Generative models by counting with Laplace smoothing: naive Bayes, hidden Markov models, probabilistic grammars.

Each is made of a feature map (as its helper GenerativeModel) and is a function of (counts, smoothing): from a weight
vector with the counts of what the gold outputs have to one with logarithms of probabilities, the weights of the same
linear model. With c the counts and s the smoothing, what is chosen among A possibilities has the probability
(c + s) / (sum c + s A).
"""

import numpy as np

from cython_ext.common.errors import UnfitDataError


class GenerativeModel:
    """The model whose logarithms of probabilities are the weights of a feature map, for the solver `counts`. Raises
    ValueError where there is none, UnfitDataError where the data lack what it needs."""

    def __init__(self, features):
        raise ValueError('counts is for labels, sequences of labels and trees of a grammar, with linear features')


def no_model(reason):
    """What stands in the place of GenerativeModel for a feature map that has none for a reason of its own."""

    def refuse(features):
        raise ValueError(reason)

    return refuse


class Pcfg(GenerativeModel):
    """A probabilistic context-free grammar: the rules with the same label on the left share 1. A word that the grammar
    does not know counts neither for nor against any tag."""

    def __init__(self, features):
        grammar = features.grammar  # RuleFeatures
        self.left = np.concatenate([grammar.lhs, grammar.lexical_tags])

    def __call__(self, counts, smoothing):
        smoothed = counts[: len(self.left)] + smoothing
        weights = np.zeros_like(counts)
        weights[: len(self.left)] = np.log(smoothed) - np.log(np.bincount(self.left, smoothed)[self.left])
        return weights


class HiddenMarkov(GenerativeModel):
    """Each attribute of a token is emitted by its label independently of the others (a real value is that many
    occurrences), each edge attribute by its pair of labels:

        emission     p(a | y)    = (c_ay + s) / (sum_a c_ay + s A)          of A attributes
        transition   p(y' | y)   = (c_yy' + s) / (sum_y' c_yy' + s K)       of K labels
        start        p(y)        = (c_y + s) / (sum_y c_y + s K)            c_y: how often y begins a sequence
        triplet      p(y'' | y, y') = (c_yy'y'' + s) / (sum_y'' c_yy'y'' + s K)
                                                                           in chains of order 2, from the third token on

    The linear model has no weights for the start, so log p(y) is added to the score of y at every token and taken off
    every transition into y, which leaves the first one. In the same way triplets weigh
    log p(y'' | y, y') - log p(y'' | y'), which leaves the transition of the second token alone. What is added at every
    token stands on an attribute that has value 1 on all of them (--bias makes one) and tells nothing else. A chain
    without such an attribute begins with any label equally likely. Where there are no transition weights (naive Bayes)
    the tokens are independent, c_y counts all of them, and the attribute has to be there. What was never seen in
    training counts neither for nor against a label.
    """

    def __init__(self, features):
        self.features = features  # SparseFeatures
        if features.order == 2 and not features.transitions:
            raise UnfitDataError(
                'counts needs weights of label pairs beside those of triplets (a line B in the template)'
            )
        for rows in (features.tokens, features.edges):
            if rows is not None and np.min(_values(rows), initial=0) < 0:
                raise UnfitDataError('counts takes values for numbers of occurrences, and some are negative')
        self.constant = _constant(features)  # bool[attributes]; of value 1 on every token
        if not (self.constant.any() or features.transitions):
            raise UnfitDataError(
                'counts needs an attribute that every token has, for the probability of its label (use --bias)'
            )

    def __call__(self, counts, smoothing):
        return self.features.weights(self._probabilities(self.features.blocks(counts), smoothing))

    def _probabilities(self, counts, smoothing):
        """The weights from the counts, both by block."""
        weights = {'state': np.zeros_like(counts['state'])}
        weights['state'][~self.constant] = _logarithms(counts['state'][~self.constant], smoothing, axis=0)
        if 'edge' in counts:
            weights['edge'] = _logarithms(counts['edge'], smoothing, axis=0)
        if 'transition' in counts:
            weights['transition'] = _logarithms(counts['transition'], smoothing, axis=1)
        if 'triple' in counts:
            weights['triple'] = _logarithms(counts['triple'], smoothing, axis=2) - weights['transition']
        if self.constant.any():
            begins = counts['state'][self.constant][0]  # how many tokens each label has
            if 'transition' in counts:
                begins = begins - counts['transition'].sum(axis=0)
            start = _logarithms(begins, smoothing, axis=0)
            weights['state'][self.constant] = start / self.constant.sum()
            if 'transition' in counts:
                weights['transition'] -= start
        return weights


def _logarithms(counts, smoothing, axis):
    """log p along an axis."""
    smoothed = counts + smoothing
    return np.log(smoothed) - np.log(smoothed.sum(axis=axis, keepdims=True))


def _values(rows):
    return np.zeros(0) if rows.value_array is None else np.asarray(rows.value_array)


def _constant(features):
    """Which attributes have value 1 on every token."""
    tokens, groups = features.tokens, features.groups
    index = np.asarray(tokens.index_array)
    constant = np.bincount(index, minlength=tokens.columns) == tokens.n
    if groups is not None:  # made of attributes that are 1 wherever they occur
        return constant[groups.group]
    constant[index[: len(_values(tokens))][_values(tokens) != 1]] = False
    return constant
