"""Labels of the positions of sequences."""

from ssvm_cli.tasks.tokens import TokenTask
from ssvm_cli.terminal.progress import counted

LONG_SEQUENCE = 100  # tokens of a file, from which on a single sequence is likely to be none


class ChainTask(TokenTask):
    """The task whose data are a TokenDataset of sequences."""

    name = 'chain'
    # those of classes are refused by ssvm_cli/options/classes.py, which says what to do
    options = (*TokenTask.options, 'taxonomy', 'class_features', 'class_similarity')
    chunks = None  # where the labels are such

    def structure(self, o, module, dataset):
        return {'order': int(o.order)}

    def sizes(self, dataset):
        examples, *kinds = super().sizes(dataset)
        return [examples, counted(dataset.tokens, 'token'), *kinds]

    def warning(self, dataset, o, facts):
        text = super().warning(dataset, o, facts)
        if text is None and dataset.n == 1 and dataset.tokens >= LONG_SEQUENCE:
            parted = 'another qid begins' if facts['format'] == 'svmhmm' else 'a blank line ends'
            return f'all lines are one sequence: {parted} one (if each is an example of its own: --task multiclass)'
        return text


TASK = ChainTask
