"""`ssvm predict -` answers each example when its end has arrived: a process is talked to, one example at a time."""

import os
import select
import subprocess
import time

import pytest

from tests.cli.commands import run, start
from tests.cli.test_outputs import ARFF, CASES, CONLLU, GRAPH, HOMOLOG, PARSED

PATIENCE = 8  # seconds for an answer; a program that waits for more input gives none

# format -> (what is sent before the first example, the examples, what ends the last of those that have no end of their
# own, the first lines of answers)
TALKS = {
    'svmlight': ('', ['1 1:1\n', '1 2:1\n', '2\n'], '', ['1', '2', '1']),
    'svmhmm': ('', ['1 qid:1 1:1\n', '1 qid:2 2:1\n1 qid:2 1:1\n'], '1 qid:3 1:1\n', ['1', '2']),
    'conll': ('', ['a X\n\n', 'b X\nb X\n\n', 'a X\n \n'], '', ['a X X', 'b X Y', 'a X X']),
    'crfsuite': ('', ['a\tx\n\n', 'a\ty\na\tx\n\n'], '', ['a', 'b']),
    'multilabel': ('', [' 1:1\n', ' 2:1\n', 'a 2:1\n'], '', ['a,b', 'b', 'b']),
    'arff': (ARFF, ['{0 1,2 1}\n', '{1 1}\n', '{2 2}\n'], '', ['a', '', 'a']),
    'conllu': ('', [CONLLU + '\n', '# text\n' + CONLLU + '\n', '# none\n\n'], '', [CONLLU[:4], '# text', '# none']),
    'conllx': ('', [CONLLU + '\n', CONLLU + '\n'], '', [CONLLU[:4]] * 2),
    'brackets': ('', [PARSED, PARSED.rstrip('\n'), '\n(())', '(N n0)'], '', [PARSED, PARSED, '(())', '(TOP']),
    'sentences': ('', ['n0 v1\n', '\n', 'n9 v9\n'], '', [PARSED, '(())', '(TOP (S']),
    'tags': ('', ['n0_N v1_V\n', '\n'], '', [PARSED, '(())']),
    'fasta': ('', [HOMOLOG, HOMOLOG.replace('native a', 'native x')], HOMOLOG, ['>native a', '>native x']),
    'graph': ('', [GRAPH, '{"nodes": []}\n', GRAPH], '', ['{"states"', '{"nodes"', '{"states"']),
    'links': ('', ['1 0-0 same:1\n\n', '0 qid:2 0-0 other:1\n\n'], '', ['0-0', '']),
    'svmrank': ('', ['0 qid:1 1:1\n', '1 qid:2 2:1\n0 qid:2 1:1\n'], '0 qid:3 1:1\n', ['1', '2']),
    'boxes': ('', ['picture 2 2\n0 0 a\n', 'picture 2 1\n0 0 b\n'], 'picture 1 1\n', ['0 0', '']),
}


class Talk:
    """A process that predicts, and pipes to and from it."""

    def __init__(self, model, *options, test='-', **how):
        self.process = start('predict', '-q', *options, test, model, stdin=subprocess.PIPE, **how)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.communicate()

    def say(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def hear(self):
        """What comes within some seconds, whole lines; more may follow it."""
        heard, until = b'', time.monotonic() + PATIENCE
        descriptor = self.process.stdout.fileno()
        while not heard.endswith(b'\n'):
            left = until - time.monotonic()
            if left < 0 or not select.select([descriptor], [], [], left)[0]:
                pytest.fail(f'no answer within {PATIENCE} seconds, only {heard!r}')
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                pytest.fail(f'the process has ended: {self.process.stderr.read()!r}')
            heard += piece
        return heard.decode()

    def end(self):
        """Close the pipe; the rest of what is written."""
        rest, errors = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, errors
        return rest.decode()


@pytest.fixture(scope='module')
def models(tmp_path_factory):
    """A function: format -> a model for it, trained when first asked for."""
    found = {}

    def model(name):
        if name not in found:
            case, folder = CASES[name], tmp_path_factory.mktemp(name)
            (folder / case.name).write_text(case.train)
            run('train', '-q', '--lambda', 0.01, *case.options, folder / case.name, folder / 'm')
            found[name] = folder / 'm'
        return found[name]

    return model


@pytest.mark.parametrize('name', TALKS)
def test_each_example_is_answered_before_the_next_is_sent(models, name):
    before, examples, last, answers = TALKS[name]
    delayed = bool(last)  # the end of an example is the beginning of the next
    heard = ''
    with Talk(models(name)) as talk:
        talk.say(before)
        for k, example in enumerate([*examples, last] if delayed else examples):
            talk.say(example)
            if k >= delayed:
                heard += (answer := talk.hear())
                assert answer.lstrip('\n').startswith(answers[k - delayed].rstrip('\n')), (k, answer)
        heard += talk.end()
    assert heard == run('predict', '-q', '-', models(name), stdin=before + ''.join(examples) + last).stdout


def test_answers_do_not_wait_for_an_example_that_has_begun(models):
    """Half of the next sentence is there already."""
    with Talk(models('conll'), '--threads', 3) as talk:
        for _ in range(3):
            talk.say('a X\n\nb ')
            assert talk.hear().lstrip('\n').startswith('a X X')
            talk.say('X\n\n')
            assert talk.hear().lstrip('\n').startswith('b X Y')


@pytest.mark.parametrize('options', [('--nbest', 2), ('--scores',), ('--evaluate', '--threads', 1)])
def test_answers_with_options(models, options):
    with Talk(models('conll'), *options) as talk:
        for _ in range(3):
            talk.say('b X\n\n')
            assert 'b X Y\n' in talk.hear()


def test_an_example_larger_than_blocks_is_answered(models):
    text = 'a X\n' * 200_000 + '\n'
    with Talk(models('conll')) as talk:
        talk.say('b X\n\n')
        assert talk.hear().startswith('b X Y')
        talk.say(text)
        heard = ''
        while heard.count('\n') < 200_001:
            heard += talk.hear()
        talk.say('b X\n\n')
        assert 'b X Y' in talk.hear()


def test_answers_come_by_named_pipes(models, tmp_path):
    """A pipe by its name, and an output that is one."""
    test, output = tmp_path / 'questions', tmp_path / 'answers'
    os.mkfifo(test)
    os.mkfifo(output)
    process = start('predict', '-q', test, models('svmlight'), output)
    answers = os.open(output, os.O_RDONLY | os.O_NONBLOCK)  # there may be no writer yet
    try:
        with open(test, 'wb', buffering=0) as questions:
            for text, answer in (('1 1:1\n', b'1\n'), ('1 2:1\n', b'2\n'), ('2 1:1\n', b'1\n')):
                questions.write(text.encode())
                assert select.select([answers], [], [], PATIENCE)[0], 'no answer'
                assert os.read(answers, 100) == answer
        assert process.wait(PATIENCE) == 0
    finally:
        os.close(answers)
        process.kill()
        process.communicate()


def test_an_error_comes_behind_the_answers(models):
    with Talk(models('svmlight')) as talk:
        talk.say('1 1:1\n')
        assert talk.hear() == '1\n'
        talk.say('1 1:x\n')
        rest, errors = talk.process.communicate(timeout=PATIENCE)
        assert talk.process.returncode == 1 and rest == b''
        assert errors.startswith(b'<stdin>:2: ')


@pytest.mark.parametrize('text', ['a', 'a\n', '\n', '', 'PK', '(', 'BZ', '7'])
def test_short_beginnings(models, text):
    """What could be the beginning of something compressed is text if no more comes."""
    with Talk(models('svmlight')) as talk:
        talk.say(text)
        talk.process.communicate(timeout=PATIENCE)
        assert talk.process.returncode == 0
