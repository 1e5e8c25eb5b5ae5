"""What labels of single inputs (multiclass) and of sequences of them (chain) share."""

from cython_ext.text.vocabulary import Vocabulary
from data_formats.errors import shown
from ssvm_cli.options.kernel import basis_of
from ssvm_cli.options.windows import check_neighbours
from ssvm_cli.scores.labels import Scores
from ssvm_cli.tasks.base import Task, without_attributes
from ssvm_cli.terminal.progress import counted


class TokenTask(Task):
    """A task whose data are a TokenDataset."""

    options = ('template', 'min_freq', 'bias', 'window', 'kernel', 'marginals')
    chunks = False  # as of Scores

    # ------------------------------------------------------------------------------------------- training

    def read_options(self, o, module):
        asked = _neighbours(o)
        check_neighbours(module, **asked)
        return asked

    def facts(self, dataset, o):
        return {'template': dataset.template, 'columns': dataset.columns, **_neighbours(o)}

    def sizes(self, dataset):
        kinds = [counted(len(dataset.label_names), 'label'), counted(len(dataset.attributes), 'attribute')]
        return [counted(dataset.n, 'example'), *kinds]

    def warning(self, dataset, o, facts):
        if len(dataset.label_names) == 1:
            return (
                f'only one label, {dataset.label_names.name(0)}: there is nothing to decide (is it in the '
                f'format that was meant, {facts["format"]}? see --format)'
            )
        return without_attributes(dataset, o)

    def memory_hint(self, dataset):
        return super().memory_hint(dataset)[0], '--min-freq N and --feature-set observed need less'

    def names(self, dataset):
        edges = dataset.edge_attributes if dataset.edge_attributes is not None else Vocabulary()
        return {'label_names': dataset.label_names, 'attributes': dataset.attributes, 'edge_attributes': edges}

    def transferred(self, model, dataset, features, path):
        from ssvm_cli.initial.weights import transferred

        return transferred(model, dataset, features.blocks(features.zeros()), path)

    # ----------------------------------------------------------------------------------- reading with a model

    def model_options(self, spec):
        return {
            'template': spec.data.get('template'),
            'bias': bool(spec.data.get('bias')),
            'columns': spec.data.get('columns'),
            'window': spec.data.get('window') or 0,
            'edge_features': bool(spec.data.get('edge_features')),
        }

    def place(self, spec):
        columns = spec.data.get('columns')
        return f' in column {columns}' if columns else ''

    def lack(self, dataset, spec, what):
        if dataset.complete:
            return None
        token = int((dataset.labels < 0).argmax())
        example = int((dataset.offsets <= token).sum())
        label = dataset.label(token)
        said = 'no label' if label is None else f'label {shown(label)}, which {what} does not know'
        return f'example {example} has {said}', f'expected {self.outputs_name}{self.place(spec)}'

    def given(self, dataset):
        return bool((dataset.labels >= 0).any() or dataset.unknown_labels)

    # ------------------------------------------------------------------------------------------ predicting

    def build_options(self, spec, model, path):
        return {'basis': basis_of(model, path), 'structure': spec.structure}

    def problem_options(self, spec, problem):
        return {'basis': getattr(problem.features, 'basis', None), 'structure': spec.structure}

    def marginals(self, predictions):
        names = predictions.dataset.label_names.names()
        return label_columns(names, predictions.decoder.marginals(predictions.w)[1], '.6f')

    def scores(self, spec, model, o=None):
        """A cost matrix counts where predictions are scored, not while a model is trained (o is None)."""
        return Scores(model.label_names.names(), self.chunks, None if o is None else model.cost)


def _neighbours(o):
    """What a token gets of its neighbours, as ReadOptions and models name it; o: options, or None."""
    return {'window': getattr(o, 'window', 0), 'edge_features': getattr(o, 'edge_features', False)}


def label_columns(names, table, form):
    """For each row of a table [N, K] its `LABEL:NUMBER` columns."""
    return [[f'{name}:{value:{form}}' for name, value in zip(names, row, strict=True)] for row in table.tolist()]
