"""What `ssvm predict` does: blocks of examples through the decoder, in order and in constant memory."""

import json

from cython_ext.common.parallel import in_order
from data_formats.datasets.empties import count_empties
from data_formats.errors import UsageError
from data_formats.files.atomic import atomic_output
from data_formats.files.locks import locked
from data_formats.models.model import load
from data_formats.parsing.reading import PartParser
from data_formats.parsing.writing import check_labels
from ssvm_cli.examples.decoder import Decoder
from ssvm_cli.examples.reading import opened
from ssvm_cli.options.files import check_paths
from ssvm_cli.tasks import check_options
from ssvm_cli.terminal.complaints import beside_the_result, tell
from ssvm_cli.terminal.launchers import refuse_copies
from ssvm_cli.terminal.progress import Progress, counted
from ssvm_cli.terminal.resources import available_cpus

PART = 1 << 19  # bytes of the input that a thread takes at a time: the smaller, the more threads wait for Python


def predict(o):
    """Run `ssvm predict`; o: the options, by parameter name."""
    refuse_copies()
    if o.nbest is not None and (o.marginals or o.scores):
        raise UsageError('--nbest writes scores and probabilities itself: leave --marginals and --scores out')
    check_paths({'TEST': o.test, 'MODEL': o.model}, {'OUTPUT': o.output, '--metrics': o.metrics})
    threads = o.threads or available_cpus()
    model = load(o.model, with_dual=False, as_stored=True)
    source, module, read_options = opened(o.test, model, o.format_name)
    decoder = Decoder(model, o.model)
    check_options(decoder.task, o)
    if decoder.spec.data['format'] != module.NAME:
        check_labels(module, model.label_names)
    if o.no_punctuation and not (o.evaluate or o.metrics is not None):
        raise UsageError('--no-punctuation is about the figures of --evaluate and --metrics')
    if o.inference is not None:
        if o.inference != 'exact' and (o.nbest is not None or o.marginals):
            raise UsageError('--nbest and --marginals need exact inference: leave --inference out')
        decoder.infer_by(o.inference)
    if o.marginals and not decoder.probabilistic:
        raise UsageError(f'--marginals needs a log or softmax-margin model: scores of {o.model} are no probabilities')
    writer = Writer(o, module, decoder)
    scores = decoder.task.scores(model, o)
    scored = o.evaluate or o.metrics is not None
    source.block, source.prompt = PART, True
    lines = wordless = examples = tokens = proved = 0
    with locked((o.output,), Progress(o.verbose).say), atomic_output(o.output) as stream, source:
        reader = module.reader(source, read_options, model)
        parse = PartParser(source, reader, read_options, model)
        for block, outputs, text, known in in_order(
            lambda part: writer.decode(parse(part)), reader.parts(source), threads, source.ready
        ):
            stream.write(text)
            if source.live:
                stream.flush()
            dataset = block.dataset
            lines += 0 if examples else block.rows.count(b'\n')
            wordless += count_empties(dataset)
            examples, tokens = examples + dataset.n, tokens + dataset.tokens
            proved = None if known is None else proved + known
            if scored:
                scores.compare(dataset, outputs)
    Progress(o.verbose).say(f'{o.test}: {counted(examples, "example")}, {counted(tokens, "token")}', level=2)
    if proved is not None and examples:
        text = f'{proved} of {counted(examples, "output")} are proved to be the best'
        Progress(o.verbose).say(f'{o.test}: {text}', level=1 if o.evaluate else 2)
    if scored and not scores.count:
        nothing = f'no {decoder.task.outputs_name}{decoder.task.place(model)}: nothing to score'
        tell(f'{source.name}: {nothing}')
    elif not examples and not wordless:
        held = f' in {counted(lines, "line")}' if lines else ''
        Progress(o.verbose).say(f'{source.name}: no examples{held}: nothing to predict')
    elif o.evaluate:
        tell(scores.table())
    if o.metrics is not None:
        with beside_the_result(o.metrics), atomic_output(o.metrics) as stream:
            text = json.dumps(scores.summary(), indent=1, ensure_ascii=False)
            stream.write(text.encode('utf-8', 'surrogateescape') + b'\n')


class Writer:
    """Decodes a block and writes its predictions in the form that the options ask for."""

    def __init__(self, o, module, decoder):
        self.o = o
        self.module = module
        self.decoder = decoder

    def decode(self, block):
        """(block, outputs, the text to write, how many outputs are proved), the outputs as the task scores them."""
        predictions = self.decoder.on(block.dataset)
        decoded = self.decoder.task.decode(self.o, self.module, predictions, block)
        return block, *decoded, predictions.decoder.structure.proved()
