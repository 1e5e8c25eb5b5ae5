"""ssvm predict --threads: the same bytes, the same errors and no more memory, whoever parses which part."""

import gzip
import itertools
import threading
import time

import pytest

from cython_ext.common.parallel import in_order
from ssvm_cli.commands import run_predict
from tests.cli.commands import conll_text, hmm_text, multiclass_text, run

THREADS = (1, 2, 4)


def crfsuite_text(sentences=20, seed=0):
    """The attributes word and word before of conll_text, one of them with a value."""
    lines, before = [], 'start'
    for line in conll_text(sentences, seed).splitlines():
        if line:
            word, label = line.split()
            lines.append(f'{label}\tw={word}\tbefore={before}:0.5')
            before = word
        else:
            lines.append('')
            before = 'start'
    return '\n'.join(lines) + '\n'


TRAINING = {'svm': multiclass_text(), 'hmm': hmm_text(), 'conll': conll_text(), 'crfsuite': crfsuite_text()}
# More of the same, with what is rare: labels and words that the model does not know, comments, blank lines, CRLF.
TESTING = {
    'svm': multiclass_text(60, seed=1) + '# a comment\n\n7 1:1 99:2\r\n' + multiclass_text(30, seed=2),
    'hmm': '# a comment\n'
    + hmm_text(20, seed=1)
    + '\n7 qid:300 1:1 99:2\r\n# a comment\n7 qid:300 2:1\n1 qid:00301 1:1\n'
    + ''.join(f'{k % 3 + 1} qid:{400 + k // 7} {k % 4 + 1}:1 # {k}\n' for k in range(100)),
    'conll': '\n-DOCSTART- O\n\n' + conll_text(120, seed=1) + ' \t\n\nnew B-NEW\r\nw3\tO\n\n' + conll_text(60, seed=2),
    'crfsuite': '\n' + crfsuite_text(30, seed=1) + '\nB-NEW\tw=new\r\n\tw=w1\n\n\n' + crfsuite_text(20, seed=2),
}


@pytest.fixture(scope='module')
def trained(tmp_path_factory):
    """Models by the ending of their training file."""
    folder, found = tmp_path_factory.mktemp('threads'), {}
    for ending, text in TRAINING.items():
        (folder / f'train.{ending}').write_text(text)
        found[ending] = folder / f'{ending}.model'
        objective = [] if ending in ('svm', 'hmm') else ['--objective', 'log']
        run('train', '-q', *objective, '--lambda', '0.1', folder / f'train.{ending}', found[ending])
    return found


@pytest.fixture(params=[40, 150, 700])
def part(request, monkeypatch):
    """Bytes of a part."""
    monkeypatch.setattr(run_predict, 'PART_BYTES', request.param)
    return request.param


@pytest.fixture
def jumbled(monkeypatch):
    """Every third part takes long, so that later ones are done before; gives the threads that worked."""
    decode, number, threads = run_predict.Writer.decode, itertools.count(), set()

    def slow(self, block):
        threads.add(threading.get_ident())
        time.sleep(0.01 if next(number) % 3 == 0 else 0.001)
        return decode(self, block)

    monkeypatch.setattr(run_predict.Writer, 'decode', slow)
    return threads


def outcome(path, model, threads, *options, code=0):
    """(standard output, standard error)"""
    result = run('predict', '--threads', threads, *options, path, model, code=code)
    return result.stdout_bytes, result.stderr


@pytest.mark.parametrize('ending', TESTING)
@pytest.mark.parametrize(
    'options', [(), ('--nbest', 2), ('--scores',)], ids=lambda options: ' '.join(map(str, options))
)
def test_the_same_bytes(trained, tmp_path, part, jumbled, ending, options):
    path = tmp_path / f'test.{ending}'
    path.write_bytes(TESTING[ending].encode())
    found = []
    for threads in THREADS:
        jumbled.clear()
        found.append(outcome(path, trained[ending], threads, '--evaluate', *options))
        assert (len(jumbled) > 1) == (threads > 1)
    assert found[0][0].count(b'\n') >= 90 and 'accuracy' in found[0][1]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize('ending', TESTING)
def test_parts_make_no_difference(trained, tmp_path, part, monkeypatch, ending):
    path = tmp_path / f'test.{ending}'
    path.write_bytes(TESTING[ending].encode())
    in_parts = outcome(path, trained[ending], 2, '--evaluate')
    monkeypatch.setattr(run_predict, 'PART_BYTES', 1 << 20)
    assert in_parts == outcome(path, trained[ending], 1, '--evaluate')


# ending -> name -> (what is put in at two thirds of the file, what the message says)
BROKEN = {
    'svm': {
        'word': ('1 x:y\n', 'index of'),
        'two errors': ('1 2:1 1:1\n' + '1 1:1\n' * 60 + '1 x:y\n', 'feature number 1 after 2'),
        'label': ('nan 1:1\n' + '1 1:1\n' * 60 + 'nan 1:1\n', 'is not a number'),
        'word before NUL': ('1 x:y\n' + '1 1:1\n' * 300 + '\0\n', 'index of'),
        'NUL before word': ('1 1:1\0\n' + '1 1:1\n' * 300 + '1 x:y\n', 'a NUL byte'),
    },
    'hmm': {
        'no qid': ('1 1:1\n', 'no qid'),
        'falls': ('1 qid:900 1:1\n1 qid:350 1:1\n', 'qid 350 after qid 900'),
        'falls far behind': (
            '1 qid:900 1:1\n' + '# a comment\n' * 100 + '1 qid:350 1:1\n1 qid:350 x:1\n',
            'qid 350 after qid 900',
        ),
        'falls later': (''.join(f'1 qid:{900 + k} 1:1\n' for k in range(100)) + '1 qid:5 1:1\n', 'qid 5 after qid 999'),
        'falls in each part': (''.join(f'1 qid:{999 - k} 1:1\n' for k in range(200)), 'qid 998 after qid 999'),
    },
    'conll': {
        'narrow': ('w1\n\n' + 'w1 O\n\n' * 60 + 'w1\n', '1 column (expected 2 as in line 4)'),
        'wide': ('w1 O O\n\n' + 'w1\n\n' * 60, '3 columns (expected 2 as in line 4)'),
        'blank': (' w1 O\n\n' + 'w1 O O\n\n' * 60, 'a row that begins with a blank'),
        'lone return': ('w1 O\n\n' * 60 + 'w1 \r O\n\n' + 'w1 O O\n\n' * 60, 'a carriage return inside the line'),
    },
    'crfsuite': {
        'value': ('O\tw:x\n\n' + 'O\tw=w1\n\n' * 60 + '\t\t\n', 'value of'),
        'colon': ('O\tw=w1\n\n' * 60 + 'a:b\tw=w1\n' + '\0\n', ''),
    },
}
CASES = [(ending, name) for ending, cases in BROKEN.items() for name in cases]


@pytest.mark.parametrize(('ending', 'name'), CASES)
def test_the_same_error_after_the_same_output(trained, tmp_path, part, jumbled, ending, name):
    text, message = BROKEN[ending][name]
    good = TESTING[ending]
    cut = good.index('\n\n', 2 * len(good) // 3) + 2 if '\n\n' in good[2 * len(good) // 3 :] else len(good)
    path = tmp_path / f'test.{ending}'
    path.write_bytes((good[:cut] + text + good[cut:]).encode())
    found = [outcome(path, trained[ending], threads, code=1) for threads in THREADS]
    assert found[0][0] and message in found[0][1] and found[0][1].startswith(f'{path}:')
    assert found[0] == found[1] == found[2]


def test_the_width_is_that_of_the_first_row_of_the_file(trained, tmp_path, part):
    path = tmp_path / 'test.conll'
    path.write_text('\n' * 2000 + 'w1\nw2\n\n' + 'w3\n\n' * 300 + 'w1 O\n\n')
    for threads in THREADS:
        assert outcome(path, trained['conll'], threads, code=1)[1] == (
            f'{path}:2604: 2 columns (expected 1 as in line 2001)\n'
        )


def test_a_damaged_file_gives_what_came_before(trained, tmp_path, monkeypatch, jumbled):
    monkeypatch.setattr(run_predict, 'PART_BYTES', 700)
    path = tmp_path / 'test.conll.gz'
    whole = gzip.compress(conll_text(3000, seed=1).encode(), mtime=0)
    path.write_bytes(whole[: len(whole) // 2])
    found = [outcome(path, trained['conll'], threads, code=1) for threads in THREADS]
    assert found[0][0] and 'damaged compressed file' in found[0][1]
    assert found[0] == found[1] == found[2]


def test_in_order_holds_few_items():
    taken = []

    def items():
        for item in range(200):
            taken.append(item)
            yield item

    for done, result in enumerate(in_order(lambda item: item, items(), 3)):
        assert result == done
        assert len(taken) - done <= 2 * 3 + 1
    assert done == 199


@pytest.mark.parametrize('threads', THREADS)
def test_in_order_raises_the_first_error(threads):
    def items():
        yield from range(10)
        raise OSError('the source')

    def slow(item):
        if item in (6, 7):
            time.sleep(0.02 if item == 6 else 0)
            raise ValueError(item)
        return item

    found = []
    with pytest.raises(ValueError, match='6'):
        keep(in_order(slow, items(), threads), found)
    assert found == list(range(6))
    found = []
    with pytest.raises(OSError, match='the source'):
        keep(in_order(lambda item: item, items(), threads), found)
    assert found == list(range(10))


def keep(items, found):
    """Append items to a list, which has those before an error too."""
    for item in items:
        found.append(item)
