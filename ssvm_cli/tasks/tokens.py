"""Labels of single inputs (multiclass) and of sequences of them (chain)."""

import io

import numpy as np

from cython_ext.text.vocabulary import Vocabulary
from data_formats.errors import shown
from ssvm_cli.kernels import basis_of
from ssvm_cli.metrics import Scores
from ssvm_cli.neighbours import check_neighbours
from ssvm_cli.progress import counted

OPTIONS = (
    *('template', 'min_freq', 'bias', 'window', 'kernel', 'taxonomy', 'class_features', 'class_similarity'),
    'marginals',
)
CHAIN_OPTIONS = ('order', 'edge_features')
MANY = 100  # tokens of a file, from which on a single sequence is likely to be none


def task(name):
    return TokenTask(name)


class TokenTask:
    """A task whose data are a TokenDataset; see the package for what the methods promise."""

    outputs_name = 'labels'

    def __init__(self, name):
        self.name = name
        self.options = (*OPTIONS, *CHAIN_OPTIONS) if name == 'chain' else OPTIONS

    # ------------------------------------------------------------------------------------------- training

    def read_options(self, o, module):
        asked = _neighbours(o)
        check_neighbours(module, **asked)
        return asked

    def facts(self, dataset, o):
        return {'template': dataset.template, 'columns': dataset.columns, **_neighbours(o)}

    def structure(self, o, module, dataset):
        return {'order': int(o.order)} if self.name == 'chain' else {}

    def trainable(self, dataset, structure):
        return None, None

    def sizes(self, dataset):
        tokens = [] if self.name == 'multiclass' else [counted(dataset.tokens, 'token')]
        kinds = [counted(len(dataset.label_names), 'label'), counted(len(dataset.attributes), 'attribute')]
        return [counted(dataset.n, 'example'), *tokens, *kinds]

    def warning(self, dataset, o, facts):
        if len(dataset.label_names) == 1:
            return (
                f'only one label, {dataset.label_names.name(0)}: there is nothing to decide (is it in the '
                f'format that was meant, {facts["format"]}? see --format)'
            )
        if not len(dataset.attributes):
            dropped = f' (none occurs --min-freq {o.min_freq} times)' if o.min_freq > 1 else ''
            return f'no attributes are left{dropped}'
        if self.name == 'chain' and dataset.n == 1 and dataset.tokens >= MANY:
            parted = 'another qid begins' if facts['format'] == 'svmhmm' else 'a blank line ends'
            return f'all lines are one sequence: {parted} one (if each is an example of its own: --task multiclass)'
        return None

    def memory_hint(self, dataset):
        kinds = counted(len(dataset.attributes), 'attribute'), counted(len(dataset.label_names), 'label')
        return ' and '.join(kinds), '--min-freq N and --feature-set observed need less'

    def names(self, dataset):
        edges = dataset.edge_attributes if dataset.edge_attributes is not None else Vocabulary()
        return {'label_names': dataset.label_names, 'attributes': dataset.attributes, 'edge_attributes': edges}

    def transferred(self, model, dataset, features, path):
        from ssvm_cli.warm_start import transferred

        return transferred(model, dataset, features.blocks(features.zeros()), path)

    # ----------------------------------------------------------------------------------- reading with a model

    def model_options(self, model):
        facts = model.header['data']
        return {
            'template': facts.get('template'),
            'bias': bool(facts.get('bias')),
            'columns': facts.get('columns'),
            'window': facts.get('window') or 0,
            'edge_features': bool(facts.get('edge_features')),
        }

    def place(self, model):
        columns = model.header['data'].get('columns')
        return f' in column {columns}' if columns else ''

    def lack(self, dataset, model, what):
        if dataset.complete:
            return None
        token = int((dataset.labels < 0).argmax())
        example = int((dataset.offsets <= token).sum())
        label = dataset.label(token)
        said = 'no label' if label is None else f'label {shown(label)}, which {what} does not know'
        return f'example {example} has {said}', f'expected {self.outputs_name}{self.place(model)}'

    def given(self, dataset):
        return bool((dataset.labels >= 0).any() or dataset.unknown_labels)

    def problem_structure(self, model, path):
        return model.header.get('structure')

    # ------------------------------------------------------------------------------------------ predicting

    def build_options(self, model, path):
        return {'basis': basis_of(model, path), 'structure': model.header.get('structure')}

    def problem_options(self, model, problem):
        return {'basis': getattr(problem.features, 'basis', None), 'structure': model.header['structure']}

    def outputs(self, codes, dataset, decoder, w):
        return codes

    def decode(self, o, module, predictions, block):
        text = io.BytesIO()
        names = block.dataset.label_names.names()
        if o.nbest is not None:
            candidates = predictions.nbest(o.nbest)
            module.write_nbest(block, candidates, text)
            first = [example[0][0] for example in candidates]
            return np.concatenate([np.empty(0, np.int32), *first]), text.getvalue()
        labels, scores = predictions.best()
        columns = headers = None
        if o.scores and self.name == 'multiclass':
            columns = _columns(names, label_scores(predictions, len(names)), '.10g')
        elif o.scores:
            headers = [f'# 1 {score:.10g}' for score in scores.tolist()]
        if o.marginals:
            marginals = _columns(names, predictions.decoder.marginals(predictions.w)[1], '.6f')
            columns = marginals if columns is None else [a + b for a, b in zip(columns, marginals, strict=True)]
        module.write_predictions(block, labels, text, columns, headers)
        return labels, text.getvalue()

    def scores(self, model, o=None):
        """A cost matrix counts where predictions are scored, not while a model is trained (o is None)."""
        chunks = None if self.name == 'chain' else False
        return Scores(model.label_names.names(), chunks, None if o is None else model.cost)


def _neighbours(o):
    """What a token gets of its neighbours, as ReadOptions and models name it; o: options, or None."""
    return {'window': getattr(o, 'window', 0), 'edge_features': getattr(o, 'edge_features', False)}


def label_scores(predictions, labels):
    """float64[n, K]: score of each label; multiclass only."""
    table = np.empty((predictions.dataset.n, labels))
    for i, (codes, scores) in enumerate(predictions.decoder.nbest(predictions.w, labels)):
        table[i, codes[:, 0]] = scores
    return table


def _columns(names, table, form):
    """For each row of a table [N, K] its `LABEL:NUMBER` columns."""
    return [[f'{name}:{value:{form}}' for name, value in zip(names, row, strict=True)] for row in table.tolist()]
