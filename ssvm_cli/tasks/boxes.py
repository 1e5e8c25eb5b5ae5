"""Boxes in pictures that are bags of words."""

import numpy as np

from ssvm_cli.initial.weights import transferred_features
from ssvm_cli.scores.boxes import LocalisationScores
from ssvm_cli.tasks.base import Task
from ssvm_cli.terminal.progress import counted

SLOW_BOXES = 1 << 18  # boxes of a picture over which sums take long


class BoxTask(Task):
    """The task whose data are a PictureDataset."""

    name = 'boxes'
    outputs_name = 'boxes'

    # ------------------------------------------------------------------------------------------- training

    def sizes(self, dataset):
        return [
            counted(dataset.n, 'picture'),
            counted(dataset.tokens, 'point'),
            counted(len(dataset.attributes), 'word'),
        ]

    def warning(self, dataset, o, facts):
        width, height = dataset.sizes.astype(np.int64).T
        most = int((width * (width + 1) * height * (height + 1) // 4).max())
        if o.objective != 'hinge' and most > SLOW_BOXES:
            return f'a picture has {most} boxes, each of which --objective {o.objective} visits: that takes long'
        return None

    def memory_hint(self, dataset):
        return counted(len(dataset.attributes), 'word'), 'fewer words need less'

    def transferred(self, model, dataset, features, path):
        return transferred_features(model, dataset, path)

    # ----------------------------------------------------------------------------------- reading with a model

    def lack(self, dataset, spec, what):
        if dataset.complete:
            return None
        return f'picture {1 + int((dataset.gold[:, 0] < 0).argmax())} has no box', 'expected one in each'

    def given(self, dataset):
        return bool((dataset.gold[:, 0] >= 0).any())

    # ------------------------------------------------------------------------------------------ predicting

    def outputs(self, codes, dataset, decoder, w):
        """The boxes, int32 [n, 4]."""
        return codes.reshape(-1, 4)

    def columns(self, o, predictions, scores):
        return [[f'{score:.10g}'] for score in scores.tolist()] if o.scores else None

    def headers(self, o, predictions, scores):
        return None

    def scores(self, spec, model, o=None):
        return LocalisationScores()


TASK = BoxTask
