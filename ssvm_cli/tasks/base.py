"""A task as the commands see it: all that depends on what the examples of a task are. The docstrings of `Task` are the
contract, and its methods what most tasks do; a task is a subclass that states what is different, in a module with its
name that calls it TASK."""

import io

import numpy as np

from data_formats.datasets.empties import with_empties
from data_formats.parameters import parameters_of
from ssvm_cli.terminal.progress import counted

COUNTED = {'attributes': 'attribute', 'label_names': 'label'}  # vocabularies that the number of weights grows with


class Task:
    """What the commands ask a task for; made anew for each run.

    Attributes:
        name: of the task, in --task and in models.
        data_of: the task whose formats hold data of this one too, where no format names it in its TASKS.
        options: those that have a meaning for it besides its own (ssvm_cli/options/tasks/), by parameter name.
        outputs_name: what files have of right outputs, for messages: 'labels'.
        empty: the output of an example without words, of data that have some.
    """

    name = None
    data_of = None
    options = ()
    outputs_name = 'labels'
    empty = None

    @property
    def reads(self):
        """The task that formats and ReadOptions know."""
        return self.data_of or self.name

    # ------------------------------------------------------------------------------------------- training

    def read_options(self, o, module):
        """Further ReadOptions, a dict. o: the options of the command; module: that of the format."""
        return {}

    def facts(self, dataset, o):
        """What else must be known to read other files in the same way, a dict."""
        return {}

    def structure(self, o, module, dataset):
        """What the structure is built with, a dict of plain values for a model's header: as far as its keys
        (data_formats/parameters/) are options of their name, what these say."""
        return {key: getattr(o, key) for key in parameters_of({'task': self.name}).STRUCTURE}

    def trainable(self, dataset, structure):
        """(int64 the examples that can be learned from, a text about the others), or (None, None) where all can."""
        return None, None

    def sizes(self, dataset):
        """Texts that count what there is, such as '3 examples'."""
        raise NotImplementedError

    def warning(self, dataset, o, facts):
        """A text about data that are hardly meant, or None."""

    def memory_hint(self, dataset):
        """(what makes the weights many, what would make them fewer)."""
        names = self.names(dataset)
        return ' and '.join(
            counted(len(names[k]), COUNTED[k]) for k in COUNTED if k in names
        ), '--min-freq N needs less'

    def names(self, dataset):
        """The vocabularies of a model, a dict."""
        return {name: getattr(dataset, name) for name in parameters_of({'task': self.name}).VOCABULARIES}

    def transferred(self, model, dataset, features, path):
        """Weights for --init, by block: those of an earlier model that mean something in the dataset too."""
        raise NotImplementedError

    # ---------------- reading other files as a ProblemSpec says, with the vocabularies of a model or of what has them

    def model_options(self, spec):
        """Further ReadOptions, a dict."""
        return {}

    def place(self, spec):
        """Where the right outputs stand in a file, for messages: '' or ' in column 4'."""
        return ''

    def lack(self, dataset, spec, what):
        """(what is missing, what was expected) if an example has no right output, or None. what: has the names."""

    def given(self, dataset):
        """Whether any right output is given."""
        raise NotImplementedError

    def problem_structure(self, spec, model, path):
        """What the structure of the problem that a model solves is built with, a dict."""
        return spec.structure

    # ------------------------------------------------------------------------------------------ predicting

    def build_options(self, spec, model, path):
        """Arguments of cython_ext.tasks.build.build_decoder."""
        return {'structure': spec.structure}

    def problem_options(self, spec, problem):
        """The same for the weights of a training problem, where there is no model yet."""
        return self.build_options(spec, None, None)

    def outputs(self, codes, dataset, decoder, w):
        """What `compare` of the scores takes, of the codes of all examples under weights w."""
        return codes

    def decode(self, o, module, predictions, block):
        """(outputs, text to write) of a data_formats.datasets.tokens.Block."""
        text, dataset, several = io.BytesIO(), block.dataset, None
        if o.nbest is None:
            codes, scores = predictions.best()
        else:
            several = predictions.nbest(o.nbest)
            codes = np.concatenate([np.zeros(0, np.int32), *(example[0][0] for example in several)])
        outputs = self.outputs(codes, dataset, predictions.decoder, predictions.w)
        empties = getattr(dataset, 'empties', None)
        if several is None:
            columns, headers = self.columns(o, predictions, scores), self.headers(o, predictions, scores)
            headers = None if headers is None else with_empties(headers, empties, self.empty_header(o))
            module.write_predictions(block, self.written(outputs, predictions), text, columns, headers)
        else:
            nothing = [(self.empty, 0.0, 1.0 if predictions.probabilistic else None)]
            candidates = with_empties(self.candidates(predictions, several), empties, nothing)
            module.write_nbest(block, candidates, text)
        return outputs, text.getvalue()

    def written(self, outputs, predictions):
        """The outputs as `write_predictions` of the task's formats takes them."""
        return outputs

    def columns(self, o, predictions, scores):
        """The extra columns that --scores and --marginals ask for, or None. scores: float64 [n], of the outputs."""
        return self.marginals(predictions) if o.marginals else None

    def marginals(self, predictions):
        """The extra columns that --marginals asks for, where it has a meaning."""

    def headers(self, o, predictions, scores):
        """For each example the line that --scores and --marginals put before it, or None."""
        return [f'# 1 {score:.10g}' for score in scores.tolist()] if o.scores else None

    def empty_header(self, o):
        """The same for an example without words."""
        return '# 1 0'

    def candidates(self, predictions, several):
        """For each example a list of (output, score, probability or None), as `write_nbest` of the task's formats takes
        it. several: the same with codes."""
        return [
            [(self.candidate(i, code, predictions), *rest) for code, *rest in example]
            for i, example in enumerate(several)
        ]

    def candidate(self, i, code, predictions):
        """The output of example i that has a code."""
        return code

    def scores(self, spec, model, o=None):
        """An object with `compare(dataset, outputs)`, `count` of what was compared, `summary()`, `table()`, and for
        logs `columns` and `row()`, the last of which judges. o: the options of predict, None while a model is
        trained."""
        raise NotImplementedError


def without_attributes(dataset, o):
    """What is said where no attributes are left, or None."""
    if len(dataset.attributes):
        return None
    dropped = f' (none occurs --min-freq {o.min_freq} times)' if o.min_freq > 1 else ''
    return f'no attributes are left{dropped}'
