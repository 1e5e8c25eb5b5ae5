"""Boxes in pictures that are bags of words."""

import io

import numpy as np

from ssvm_cli.localisation import LocalisationScores
from ssvm_cli.progress import counted
from ssvm_cli.warm_start import transferred_features

MANY = 1 << 18  # boxes of a picture over which sums take long


def task(name):
    return BoxTask(name)


class BoxTask:
    """The task whose data are a PictureDataset; see the package for what the methods promise."""

    options = ()
    outputs_name = 'boxes'

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
        return [
            counted(dataset.n, 'picture'),
            counted(dataset.tokens, 'point'),
            counted(len(dataset.attributes), 'word'),
        ]

    def warning(self, dataset, o, facts):
        width, height = dataset.sizes.astype(np.int64).T
        most = int((width * (width + 1) * height * (height + 1) // 4).max())
        if o.objective != 'hinge' and most > MANY:
            return f'a picture has {most} boxes, each of which --objective {o.objective} visits: that takes long'
        return None

    def memory_hint(self, dataset):
        return counted(len(dataset.attributes), 'word'), 'fewer words need less'

    def names(self, dataset):
        return {'attributes': dataset.attributes}

    def transferred(self, model, dataset, features, path):
        return transferred_features(model, dataset, path)

    # ----------------------------------------------------------------------------------- reading with a model

    def model_options(self, model):
        return {}

    def place(self, model):
        return ''

    def lack(self, dataset, model, what):
        if dataset.complete:
            return None
        return f'picture {1 + int((dataset.right[:, 0] < 0).argmax())} has no box', 'expected one in each'

    def given(self, dataset):
        return bool((dataset.right[:, 0] >= 0).any())

    def problem_structure(self, model, path):
        return None

    # ------------------------------------------------------------------------------------------ predicting

    def build_options(self, model, path):
        return {}

    def problem_options(self, model, problem):
        return {}

    def outputs(self, codes, dataset, decoder, w):
        """The boxes, int32 [n, 4]."""
        return codes.reshape(-1, 4)

    def decode(self, o, module, predictions, block):
        text = io.BytesIO()
        if o.nbest is not None:
            candidates = predictions.nbest(o.nbest)
            module.write_nbest(block, candidates, text)
            first = [example[0][0] for example in candidates]
            return np.concatenate([np.empty(0, np.int32), *first]).reshape(-1, 4), text.getvalue()
        codes, scores = predictions.best()
        boxes = self.outputs(codes, block.dataset, predictions.decoder, predictions.w)
        columns = [[f'{score:.10g}'] for score in scores.tolist()] if o.scores else None
        module.write_predictions(block, boxes, text, columns)
        return boxes, text.getvalue()

    def scores(self, model, o=None):
        return LocalisationScores()
