"""What `ssvm predict` does: blocks of examples through the decoder, in order and in constant memory."""

import io
import json

import click
import numpy as np

from cython_ext.parallel import in_order
from data_formats.atomic import atomic_output
from data_formats.errors import DataError, UsageError
from data_formats.model import load
from data_formats.reading import PartParser
from ssvm_cli.decoder import Decoder
from ssvm_cli.inputs import opened, place_of_labels
from ssvm_cli.metrics import Scores
from ssvm_cli.paths import check_paths
from ssvm_cli.progress import Progress, counted
from ssvm_cli.resources import available_cpus

PART = 1 << 18  # bytes of the input that a thread takes at a time: all arrays made of them fit into a cache


def predict(o):
    """Run `ssvm predict`; o: the options, by parameter name."""
    if o.nbest is not None and (o.marginals or o.scores):
        raise UsageError('--nbest writes scores and probabilities itself: leave --marginals and --scores out')
    check_paths({'TEST': o.test, 'MODEL': o.model}, {'OUTPUT': o.output, '--metrics': o.metrics})
    threads = o.threads or available_cpus()
    model = load(o.model, with_dual=False, as_stored=True)
    source, module, read_options = opened(o.test, model, o.format_name)
    decoder = Decoder(model, o.model)
    if o.marginals and not decoder.probabilistic:
        raise UsageError(f'--marginals needs a log or softmax-margin model: scores of {o.model} are no probabilities')
    writer = Writer(o, module, decoder)
    scores = Scores(model.label_names.names(), None if model.task == 'chain' else False, model.cost)
    scored = o.evaluate or o.metrics is not None
    source.block = PART
    examples = tokens = 0
    with atomic_output(o.output) as stream, source:
        reader = module.reader(source, read_options, model)
        parse = PartParser(source, reader, read_options, model)
        for dataset, labels, text in in_order(lambda part: writer.decode(parse(part)), reader.parts(source), threads):
            stream.write(text)
            examples, tokens = examples + dataset.n, tokens + dataset.tokens
            if scored:
                scores.add(dataset.offsets, dataset.labels, labels, dataset.unknown_labels)
        if scored and not scores.tokens:
            expected = f'expected labels{place_of_labels(model)} for --evaluate and --metrics'
            raise DataError(source.name, None, 'no labels', expected)
    Progress(o.verbose).say(f'{o.test}: {counted(examples, "example")}, {counted(tokens, "token")}', level=2)
    if o.evaluate:
        click.echo(scores.table().encode('utf-8', 'surrogateescape'), err=True)
    if o.metrics is not None:
        with atomic_output(o.metrics) as stream:
            text = json.dumps(scores.summary(), indent=1, ensure_ascii=False)
            stream.write(text.encode('utf-8', 'surrogateescape') + b'\n')


class Writer:
    """Decodes a block and writes its predictions in the form that the options ask for."""

    def __init__(self, o, module, decoder):
        self.o = o
        self.module = module
        self.decoder = decoder

    def decode(self, block):
        """(dataset, labels int32[N], the text to write)."""
        o, dataset, text = self.o, block.dataset, io.BytesIO()
        predictions = self.decoder.on(dataset)
        if o.nbest is not None:
            candidates = predictions.nbest(o.nbest)
            self.module.write_nbest(block, candidates, text)
            first = [example[0][0] for example in candidates]
            return dataset, np.concatenate([np.empty(0, np.int32), *first]), text.getvalue()
        labels, scores = predictions.best()
        columns = headers = None
        if o.scores and self.decoder.task == 'multiclass':
            columns = _columns(self.decoder.names, predictions.label_scores(), '.10g')
        elif o.scores:
            headers = [f'# 1 {score:.10g}' for score in scores.tolist()]
        if o.marginals:
            marginals = _columns(self.decoder.names, predictions.marginals(), '.6f')
            columns = marginals if columns is None else [a + b for a, b in zip(columns, marginals, strict=True)]
        self.module.write_predictions(block, labels, text, columns, headers)
        return dataset, labels, text.getvalue()


def _columns(names, table, form):
    """For each row of a table [N, K] its `LABEL:NUMBER` columns."""
    return [[f'{name}:{value:{form}}' for name, value in zip(names, row, strict=True)] for row in table.tolist()]
