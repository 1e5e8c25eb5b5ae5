"""Trees of a context-free grammar over sentences."""

import numpy as np

from cython_ext.structures.cfg.grammar import WORDS
from data_formats.datasets.empties import numbers_of
from data_formats.errors import DataError
from data_formats.parameters.cfg import BLOCK, grammar_of, spelled
from ssvm_cli.options.problem_spec import ProblemSpec
from ssvm_cli.scores.cfg import BracketScores
from ssvm_cli.tasks.base import Task
from ssvm_cli.tasks.wordless import without_words
from ssvm_cli.terminal.progress import counted

LONG, LONG_FOR_F1 = 40, 20  # words of sentences whose parsing takes long


class CfgTask(Task):
    """The task whose data are a TreeDataset."""

    name = 'cfg'
    options = ('marginals',)
    outputs_name = 'trees'

    # ------------------------------------------------------------------------------------------- training

    def read_options(self, o, module):
        return {'terminals': o.terminals}

    def facts(self, dataset, o):
        return {'top': dataset.tree(0).top}

    def trainable(self, dataset, structure):
        lengths, most = np.diff(dataset.offsets), structure['max_length']
        if most is None or lengths.max() <= most:
            return without_words(dataset)
        kept = np.flatnonzero(lengths <= most)
        skipped = f'{dataset.n - len(kept)} of {counted(dataset.n, "sentence")} have more than {counted(most, "word")}'
        texts = without_words(dataset)[1], f'{skipped} and are skipped (--max-length)'
        return kept, '; '.join(filter(None, texts))

    def sizes(self, dataset):
        tags = len(np.unique(dataset.tags))
        words = [counted(len(dataset.word_names), 'form')] if len(dataset.word_names) else []
        return [
            counted(dataset.n, 'sentence'),
            counted(dataset.tokens, 'word'),
            counted(len(np.unique(dataset.node_labels)), 'label'),
            counted(tags, 'tag'),
            *words,
        ]

    def warning(self, dataset, o, facts):
        longest = int(np.diff(dataset.offsets).max())
        counts_brackets = o.objective != 'log' and not o.hard_margin and o.task_loss in (None, 'f1')
        if counts_brackets and longest > LONG_FOR_F1:
            what, advice = 'the loss f1 has to tell its parses apart', '--max-length N, or --task-loss zero-one'
        elif longest > LONG:
            what, advice = 'time grows with the third power of lengths', '--max-length N'
        else:
            return None
        return f'a sentence of {longest} words: {what}, which takes long ({advice})'

    def memory_hint(self, dataset):
        return f'rules of {counted(dataset.n, "tree")}', '--max-length N needs less'

    def transferred(self, model, dataset, features, path):
        """Those of the rules that the model has too."""
        if ProblemSpec.from_header(model.header).structure['terminals'] != features.grammar.terminals:
            raise DataError(path, None, 'has other --terminals', 'expected those of this run')
        old = grammar_of(model.header, model.weights, model.label_names)
        rules = spelled(old, model.label_names.names(), model.word_names.names())
        weights = dict(zip(rules, model.weights[BLOCK].tolist(), strict=True))
        new = spelled(features.grammar, dataset.label_names.names(), dataset.word_names.names())
        return features.blocks(features.zeros()) | {BLOCK: np.array([weights.get(rule, 0.0) for rule in new])}

    # ----------------------------------------------------------------------------------- reading with a model

    def model_options(self, spec):
        return {'terminals': spec.structure['terminals'], 'top': spec.data['top']}

    def lack(self, dataset, spec, what):
        if dataset.complete:
            return None
        for i in range(dataset.n):
            tags, nodes = dataset.tree(i)
            if None in tags or any(label is None for label, _, _ in nodes):
                return f'tree {numbers_of(dataset)[i]} has a label that {what} does not know', 'expected known ones'
        return None

    def given(self, dataset):
        return dataset.given

    def problem_structure(self, spec, model, path):
        return {**spec.structure, 'grammar': self._grammar(model, path)}

    # ------------------------------------------------------------------------------------------ predicting

    def build_options(self, spec, model, path):
        return {'structure': {**self.problem_structure(spec, model, path), 'gold': False}}

    def problem_options(self, spec, problem):
        return {'structure': {**spec.structure, 'grammar': problem.features.grammar, 'gold': False}}

    def outputs(self, codes, dataset, decoder, w):
        """For each sentence (tags, labels, begins, ends) as TreeDataset.with_trees takes them, None without a parse."""
        grammar, at = decoder.features.grammar, (4 * dataset.offsets - 2 * np.arange(dataset.n + 1)).tolist()
        codes = codes.tolist()
        return [grammar.tree(codes[at[i] : at[i + 1]]) for i in range(dataset.n)]

    def written(self, outputs, predictions):
        flat = Flat(predictions)
        return [tree or flat.tree(i) for i, tree in enumerate(outputs)]

    def headers(self, o, predictions, scores):
        headers = super().headers(o, predictions, scores)
        if not o.marginals:
            return headers
        chances = bracket_chances(predictions)
        return chances if headers is None else ['\n'.join(lines) for lines in zip(headers, chances, strict=True)]

    def empty_header(self, o):
        return '\n'.join(['# 1 0'] * o.scores + ['#'] * o.marginals)

    def candidates(self, predictions, several):
        flat, shown = Flat(predictions), []
        for i, example in enumerate(super().candidates(predictions, several)):
            shown.append([(flat.tree(i), -np.inf, None)] if example[0][0] is None else example)
        return shown

    def candidate(self, i, code, predictions):
        return predictions.decoder.features.grammar.tree(code.tolist())

    def scores(self, spec, model, o=None):
        return TreeScores(spec.structure['terminals'] == WORDS)

    def _grammar(self, model, path):
        try:
            return grammar_of(model.header, model.weights, model.label_names)
        except ValueError as error:
            raise DataError(path, None, str(error)) from error


TASK = CfgTask


def bracket_chances(predictions):
    """For each sentence `# LABEL:FIRST-LAST:P ...`, the likeliest first; brackets that would be written with 0 are left
    out."""
    from cython_ext.core.bracket_marginals import Brackets

    names = predictions.dataset.label_names.names()
    brackets = Brackets(predictions.decoder.structure, predictions.decoder.features, 5e-7)
    lines = []
    for found in brackets.probabilities(np.ascontiguousarray(predictions.w, np.float64)):
        order = sorted(found, key=lambda bracket: (-bracket[3], bracket))
        lines.append(' '.join(['#', *(f'{names[a]}:{begin + 1}-{end}:{p:.6f}' for begin, end, a, p in order)]))
    return lines


class Flat:
    """What is written for sentences without a parse: all words right below TOP, each with its likeliest tag."""

    def __init__(self, predictions):
        grammar, self.dataset = predictions.decoder.features.grammar, predictions.dataset
        self.tags = self.dataset.tags
        if grammar.terminals == WORDS:
            lexical = np.asarray(predictions.w)[grammar.phrasal : grammar.size]
            self.tags = best_tags(grammar, lexical, self.dataset)

    def tree(self, i):
        begin, end = self.dataset.offsets[i : i + 2].tolist()
        return self.tags[begin:end].tolist(), [-1], [0], [end - begin]


def best_tags(grammar, weights, dataset):
    """int32 [N]: for each word the tag whose rule weighs most, for unknown ones the commonest that they may have."""
    order = np.lexsort((weights, grammar.lexical_words))
    counts = np.bincount(grammar.lexical_tags, minlength=grammar.open_tags.max(initial=0) + 1)
    tags = np.full(len(dataset.word_names) + 1, grammar.open_tags[counts[grammar.open_tags].argmax()], np.int32)
    tags[grammar.lexical_words[order]] = grammar.lexical_tags[order]
    return tags[dataset.words]


class TreeScores(BracketScores):
    """BracketScores of a stream of predictions; sentences of words without a right tree are not counted."""

    def compare(self, dataset, trees):
        """Count the sentences of a TreeDataset; trees: as CfgTask.outputs has them."""
        if dataset.empties is not None:
            self.skip(len(dataset.empties))
        for i, tree in enumerate(trees):
            if dataset.forms[i]:
                self.add(dataset.tree(i), None if tree is None else dataset.named(*tree))
