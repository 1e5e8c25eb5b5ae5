"""Matchings of rows and columns, such as the words of a sentence and those of its translation."""

import io

import numpy as np

from data_formats.errors import DataError
from ssvm_cli.link_scores import LinkScores
from ssvm_cli.progress import counted

OPTIONS = ('min_freq', 'bias')


def task(name):
    return MatchingTask(name)


class MatchingTask:
    """The task whose data are a MatchingDataset; see the package for what the methods promise."""

    options = OPTIONS
    outputs_name = 'right links'

    def __init__(self, name):
        self.name = name

    # ------------------------------------------------------------------------------------------- training

    def read_options(self, o, module):
        return {}

    def facts(self, dataset, o):
        return {}

    def structure(self, o, module, dataset):
        return {}

    def trainable(self, dataset, structure):
        return None, None

    def sizes(self, dataset):
        rows, columns = dataset.sides
        return [
            counted(dataset.n, 'example'),
            counted(rows, 'row'),
            counted(columns, 'column'),
            f'{counted(dataset.tokens, "link")}, {int(dataset.sure.sum())} of them right',
            counted(len(dataset.attributes), 'attribute'),
        ]

    def warning(self, dataset, o, facts):
        if not dataset.sure.any():
            return 'no link is right: nothing is learned but to link nothing'
        if not len(dataset.attributes):
            dropped = f' (none occurs --min-freq {o.min_freq} times)' if o.min_freq > 1 else ''
            return f'no attributes are left{dropped}'
        return None

    def memory_hint(self, dataset):
        return counted(len(dataset.attributes), 'attribute'), '--min-freq N needs less'

    def names(self, dataset):
        return {'attributes': dataset.attributes}

    def transferred(self, model, dataset, features, path):
        """Weights by block: those of the attributes that the model has too."""
        places = np.array([model.attributes.get(name.encode()) for name in dataset.attributes.names()], np.int64)
        if (places < 0).all():
            raise DataError(path, None, 'none of its attributes occurs in the training data', 'expected one at least')
        return {'feature': np.where(places < 0, 0.0, model.weights['feature'][places])}

    # ----------------------------------------------------------------------------------- reading with a model

    def model_options(self, model):
        return {'bias': bool(model.header['data'].get('bias'))}

    def place(self, model):
        return ''

    def lack(self, dataset, model, what):
        return None  # right links that are no matching are refused where they stand in the file

    def given(self, dataset):
        return bool(dataset.sure.any())

    def problem_structure(self, model, path):
        return None

    # ------------------------------------------------------------------------------------------ predicting

    def build_options(self, model, path):
        return {}

    def problem_options(self, model, problem):
        return {}

    def outputs(self, codes, dataset, decoder, w):
        """For each example the numbers of its links, in the order of rows."""
        layout, at = decoder.structure.layout, decoder.code_indptr
        return [layout.links(i, codes[at[i] : at[i + 1]]) for i in range(dataset.n)]

    def decode(self, o, module, predictions, block):
        dataset, text = block.dataset, io.BytesIO()
        layout = predictions.decoder.structure.layout
        if o.nbest is not None:
            candidates = [
                [(layout.links(i, code), score, probability) for code, score, probability in several]
                for i, several in enumerate(predictions.nbest(o.nbest))
            ]
            module.write_nbest(block, candidates, text)
            return [several[0][0] for several in candidates], text.getvalue()
        codes, scores = predictions.best()
        outputs = self.outputs(codes, dataset, predictions.decoder, predictions.w)
        headers = [f'# 1 {score:.10g}' for score in scores.tolist()] if o.scores else None
        module.write_predictions(block, outputs, text, None, headers)
        return outputs, text.getvalue()

    def scores(self, model, o=None):
        return LinkScores()
