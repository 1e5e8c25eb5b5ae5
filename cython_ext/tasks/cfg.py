"""A tree over each sentence, of a context-free grammar."""

from cython_ext.structures.cfg.bracketed import BracketedCfg
from cython_ext.structures.cfg.cfg import KEPT_TO_PREDICT, Cfg
from cython_ext.structures.cfg.grammar import Grammar
from cython_ext.tasks.common import zero_one
from cython_ext.tasks.registry import TaskInfo


def build(dataset, feature_set='all', terminals='word', max_length=None, grammar=None, gold=True, bracketed=False):
    """(Structure, FeatureMap) of a TreeDataset: a weight for each rule of a Grammar, by default that of all its trees
    over `terminals`. max_length: of sentences that such a grammar is read off, which were chosen before; gold: whether
    the gold trees are needed; bracketed: whether wrong and missed brackets are parts too."""
    from cython_ext.features.parts.cfg import RuleFeatures

    if grammar is None:
        grammar = Grammar.of(dataset, terminals)
    if gold:
        structure = (BracketedCfg if bracketed else Cfg)(grammar, dataset, grammar.codes(dataset))
    else:
        structure = Cfg(grammar, dataset, None, KEPT_TO_PREDICT)
    return structure, RuleFeatures(structure)


def bracket_f1():
    """1 - F1 of the brackets of a tree"""
    from cython_ext.losses.cfg.bracket_f1 import BracketF1

    return BracketF1


def bracket_errors():
    """how many brackets of a tree are not gold, and how many gold ones it lacks"""
    from cython_ext.losses.cfg.bracket_errors import BracketErrors

    return BracketErrors


def problem_arguments(how, lam, objective, loss, variant):
    """Of the structure: brackets are parts where a loss counts them."""
    return {'bracketed': loss == 'brackets'}


INFO = TaskInfo(
    name='cfg',
    summary='a tree over each sentence, of a context-free grammar',
    build=build,
    losses={'zero-one': zero_one, 'f1': bracket_f1, 'brackets': bracket_errors},
    default_loss='f1',
    refused={
        'basis': 'rules of a grammar are not compared by a kernel (use --kernel linear)',
        'similarity': 'rules of a grammar have no similarities of classes',
    },
    problem_arguments=problem_arguments,
)
