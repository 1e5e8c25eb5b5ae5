"""Candidates: each example lists its outputs, with sparse features and what each of them loses."""

import numpy as np

from ssvm_cli.initial.weights import transferred_features
from ssvm_cli.scores.candidates import RerankingScores
from ssvm_cli.tasks.base import Task
from ssvm_cli.terminal.progress import counted


class CandidateTask(Task):
    """The task whose data are a CandidateDataset."""

    name = 'candidates'
    options = ('min_freq', 'marginals')
    outputs_name = 'losses that differ'

    # ------------------------------------------------------------------------------------------- training

    def read_options(self, o, module):
        return {'grades': o.grades}

    def facts(self, dataset, o):
        return {'grades': dataset.graded}

    def trainable(self, dataset, structure):
        kept = np.flatnonzero(dataset.decided)
        if len(kept) == dataset.n:
            return None, None
        tied = f'{dataset.n - len(kept)} of {counted(dataset.n, "group")}'
        return kept, f'{tied} have nothing to choose from and are skipped (all losses are the same)'

    def sizes(self, dataset):
        return [
            counted(dataset.n, 'group'),
            counted(dataset.tokens, 'candidate'),
            counted(len(dataset.attributes), 'attribute'),
        ]

    def warning(self, dataset, o, facts):
        groups, texts = counted(dataset.n, 'group'), []
        if not len(dataset.attributes):
            texts.append('no attributes are left')
        if dataset.without_zero():
            without = f'{dataset.without_zero()} of {groups} have no candidate with loss 0'
            texts.append(f'{without}: losses count from the smallest of each group')
        if not dataset.graded and (dataset.costs == 0).sum() > max(dataset.n, dataset.tokens / 2):
            texts.append('most candidates are as good as the best of their group (are these grades? see --grades)')
        again = dataset.n - len(np.unique(dataset.qids))
        if again:
            texts.append(f'{again} of {groups} have the qid of an earlier one (the lines of a group stand together)')
        return '; '.join(texts) or None

    def transferred(self, model, dataset, features, path):
        return transferred_features(model, dataset, path)

    # ----------------------------------------------------------------------------------- reading with a model

    def model_options(self, spec):
        return {'grades': bool(spec.data.get('grades'))}

    def given(self, dataset):
        return bool(dataset.decided.any())

    # ------------------------------------------------------------------------------------------ predicting

    def outputs(self, codes, dataset, decoder, w):
        """(the chosen candidate of each example, the scores of all candidates, None without grades)."""
        return codes, decoder.features.row_scores(w) if dataset.graded else None

    def written(self, outputs, predictions):
        return outputs[0].tolist()

    def columns(self, o, predictions, scores):
        columns = [[f'{score:.10g}'] if o.scores else [] for score in scores.tolist()]
        if o.marginals:
            columns = [a + b for a, b in zip(columns, self.marginals(predictions), strict=True)]
        return columns

    def marginals(self, predictions):
        """For each example a column CANDIDATE:P for each of its candidates, by their numbers."""
        counts = np.diff(predictions.dataset.offsets).tolist()
        means = predictions.decoder.means(predictions.w)
        return [
            [f'{c}:{p:.6f}' for c, p in enumerate(mean[:count].tolist(), 1)]
            for count, mean in zip(counts, means, strict=True)
        ]

    def headers(self, o, predictions, scores):
        return None

    def candidate(self, i, code, predictions):
        return int(code[0])

    def scores(self, spec, model, o=None):
        return RerankingScores(self.model_options(spec)['grades'])


TASK = CandidateTask
