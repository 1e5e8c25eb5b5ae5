"""What `ssvm predict` does: blocks of examples through the decoder, in order and in constant memory."""

import json
from dataclasses import dataclass

from cython_ext.common.parallel import in_order
from cython_ext.tasks.relaxations import TREES
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
from ssvm_cli.options.problem_spec import ProblemSpec
from ssvm_cli.tasks import check_options
from ssvm_cli.terminal.complaints import beside_the_result, tell
from ssvm_cli.terminal.launchers import refuse_copies
from ssvm_cli.terminal.progress import Progress, counted
from ssvm_cli.terminal.resources import available_cpus

PART_BYTES = 1 << 19  # bytes of the input that a thread takes at a time: the smaller, the more threads wait for Python


def predict(o):
    """Run `ssvm predict`; o: the options, by parameter name."""
    refuse_copies()
    if o.nbest is not None and (o.marginals or o.scores):
        raise UsageError('--nbest writes scores and probabilities itself: leave --marginals and --scores out')
    check_paths({'TEST': o.test, 'MODEL': o.model}, {'OUTPUT': o.output, '--metrics': o.metrics})
    threads = o.threads or available_cpus()
    model = load(o.model, with_dual=False, as_stored=True)
    spec = ProblemSpec.from_header(model.header)
    source, module, read_options = opened(o.test, spec, o.format_name)
    decoder = Decoder(spec, model, o.model)
    check_request(o, decoder, module, model)
    if o.inference is not None:
        decoder.infer_by(o.inference)
    elif o.marginals and decoder.spec.structure.get('relaxation') == 'lp':
        decoder.infer_by(TREES)  # whose marginals are those that it was trained with
    writer = Writer(o, module, decoder)
    scores = decoder.task.scores(spec, model, o)
    source.block, source.prompt = PART_BYTES, True
    counts = Counts()
    with locked((o.output,), Progress(o.verbose).say), atomic_output(o.output) as stream, source:
        reader = module.reader(source, read_options, model)
        parse = PartParser(source, reader, read_options, model)
        for block, outputs, text, proved in in_order(
            lambda part: writer.decode(parse(part)), reader.parts(source), threads, source.ready
        ):
            stream.write(text)
            if source.live:
                stream.flush()
            counts.add(block, proved)
            if is_scored(o):
                scores.compare(block.dataset, outputs)
    report(o, source.name, decoder, counts, scores)
    if o.metrics is not None:
        with beside_the_result(o.metrics), atomic_output(o.metrics) as stream:
            text = json.dumps(scores.summary(), indent=1, ensure_ascii=False)
            stream.write(text.encode('utf-8', 'surrogateescape') + b'\n')


def is_scored(o):
    """Whether the predictions are compared with the right outputs of the file."""
    return o.evaluate or o.metrics is not None


def check_request(o, decoder, module, model):
    """Refuse options that do not go with the model or with each other; module: of the format of the file.

    Raises:
        UsageError: with the reason. DataError: the format cannot write the labels of the model.
    """
    check_options(decoder.task, o)
    if decoder.spec.data['format'] != module.NAME:
        check_labels(module, model.label_names)
    if o.no_punctuation and not is_scored(o):
        raise UsageError('--no-punctuation is about the figures of --evaluate and --metrics')
    if o.inference not in (None, 'exact') and (o.nbest is not None or (o.marginals and o.inference != TREES)):
        beside = f'--inference {TREES} has marginals too'
        raise UsageError(f'--nbest and --marginals need exact inference: leave --inference out ({beside})')
    if o.marginals and not decoder.probabilistic:
        raise UsageError(f'--marginals needs a log or softmax-margin model: scores of {o.model} are no probabilities')


@dataclass
class Counts:
    """What was read and predicted: lines before the first example, sentences without words, examples and tokens with
    predictions, outputs that are proved to be the best (None where the oracle proves nothing)."""

    lines: int = 0
    wordless: int = 0
    examples: int = 0
    tokens: int = 0
    proved: int | None = 0

    def add(self, block, proved):
        """Count a Block, of whose outputs so many are proved."""
        self.lines += 0 if self.examples else block.rows.count(b'\n')
        self.wordless += count_empties(block.dataset)
        self.examples += block.dataset.n
        self.tokens += block.dataset.tokens
        self.proved = None if proved is None else self.proved + proved


def report(o, source_name, decoder, counts, scores):
    """Say what was predicted, and how good it is or why nobody knows."""
    say, examples = Progress(o.verbose).say, counted(counts.examples, 'example')
    say(f'{o.test}: {examples}, {counted(counts.tokens, "token")}', level=2)
    if counts.proved is not None and counts.examples:
        text = f'{counts.proved} of {counted(counts.examples, "output")} are proved to be the best'
        say(f'{o.test}: {text}', level=1 if o.evaluate else 2)
    if is_scored(o) and not scores.count:
        task = decoder.task
        tell(f'{source_name}: no {task.outputs_name}{task.place(decoder.spec)}: nothing to score')
    elif not counts.examples and not counts.wordless:
        held = f' in {counted(counts.lines, "line")}' if counts.lines else ''
        say(f'{source_name}: no examples{held}: nothing to predict')
    elif o.evaluate:
        tell(scores.table())


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
