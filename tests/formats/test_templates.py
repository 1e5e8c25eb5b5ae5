"""Template expansion against the plain expander."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_formats.errors import DataError
from data_formats.parsing import reading, templates
from tests.formats.expander import features, lines_of
from tests.formats.tools import read, sequences, stream

CHUNKING = '\n'.join(
    f'U{k:02d}:' + '/'.join(f'%x[{r},{c}]' for r, c in cells)
    for k, cells in enumerate(
        [[(r, 0)] for r in range(-2, 3)]
        + [[(-1, 0), (0, 0)], [(0, 0), (1, 0)]]
        + [[(r, 1)] for r in range(-2, 3)]
        + [[(r, 1), (r + 1, 1)] for r in range(-2, 2)]
        + [[(r, 1), (r + 1, 1), (r + 2, 1)] for r in range(-2, 1)]
    )
) + '\nB\n'  # fmt: skip

words = st.text(st.characters(blacklist_categories=('Cs', 'Cc', 'Z')), min_size=1, max_size=4)
cells = st.sampled_from(['a', 'b', 'B-1', '_B-1', '_B+2', 'Été', '%x[0,0]', '10:30', 'X']) | words
macros = st.one_of(
    st.builds('%x[{},{}]'.format, st.integers(-4, 4), st.integers(0, 1)),
    st.builds('%p[{},{},{}]'.format, st.integers(-2, 2), st.integers(0, 1), st.integers(1, 3)),
    st.builds('%s[{},{},{}]'.format, st.integers(-2, 2), st.integers(0, 1), st.integers(1, 3)),
    st.builds('%w[{},{}]'.format, st.integers(-2, 2), st.integers(0, 1)),
)
pieces = st.lists(macros | st.sampled_from(['/', ':', '01:', 'é', '[', 'x']), max_size=5).map(''.join)
patterns = st.lists(
    st.sampled_from('UUUB').flatmap(lambda kind: pieces.map(lambda rest: kind + rest)), min_size=1, max_size=6
)


def one_transition(lines):
    """Whether at most one B line has no macro, as the parser wants it."""
    return sum(line[0] == 'B' and '%' not in line for line in lines) <= 1


def sentences(width):
    row = st.tuples(*[cells] * (width - 1), st.sampled_from(['A', 'B']))
    return st.lists(st.lists(row, min_size=1, max_size=5), min_size=1, max_size=4)


def conll(data):
    return ''.join(''.join(' '.join(row) + '\n' for row in rows) + '\n' for rows in data)


def expected(data, template):
    """What `sequences` should give; repeated strings add up."""

    def counts(strings):
        return {s: float(strings.count(s)) for s in strings}

    return [
        [(row[-1], counts(u), counts(b)) for row, (u, b) in zip(rows, features(rows, template), strict=True)]
        for rows in data
    ]


def first_seen(data, template):
    """The strings of U lines in the order in which they appear, token by token."""
    return list(dict.fromkeys(s for rows in data for u, _ in features(rows, template) for s in u))


@given(sentences(3), patterns.filter(one_transition))
def test_expansion_equals_the_plain_expander(folder, data, lines):
    template = '\n'.join(lines)
    dataset = read(folder, 'conll', conll(data), template=template)
    assert sequences(dataset) == expected(data, template)
    assert dataset.attributes.names() == first_seen(data, template)
    assert dataset.transitions == any(line[0] == 'B' and '%' not in line for line in lines_of(template))
    assert (dataset.edge_indptr is not None) == any(line[0] == 'B' and '%' in line for line in lines)


@given(sentences(3), sentences(3), patterns.filter(one_transition))
def test_a_given_vocabulary_keeps_what_it_knows(folder, train, test, lines):
    template = '\n'.join(lines)
    known = read(folder, 'conll', conll(train), template=template)
    dataset = read(folder, 'conll', conll(test), known, template=template, columns=3)
    names, edges = set(known.attributes.names()), set()
    if known.edge_attributes is not None:
        edges = set(known.edge_attributes.names())
    assert sequences(dataset) == [
        [
            (y, {k: v for k, v in x.items() if k in names}, {k: v for k, v in e.items() if k in edges})
            for y, x, e in rows
        ]
        for rows in expected(test, template)
    ]
    assert dataset.attributes is known.attributes


def test_real_sentences(data_file, tmp_path):
    text = data_file('conll2000', 'train.txt').read_text()
    data = [[line.split() for line in s.split('\n')] for s in text.strip().split('\n\n')[:80]]
    for template in (CHUNKING, templates.builtin(3), CHUNKING + 'B1:%x[-1,1]/%x[0,1]\n'):
        dataset = read(tmp_path, 'conll', conll(data), template=template)
        assert sequences(dataset) == expected(data, template)


def test_size_of_conll_2000(data_file):
    """The figures that CRF++ users know."""
    from data_formats.datasets.tokens import ReadOptions
    from data_formats.formats import conll as module

    dataset = reading.read(module, data_file('conll2000', 'train.txt'), ReadOptions(template=CHUNKING))
    assert (dataset.n, dataset.tokens, len(dataset.attributes), dataset.nnz) == (8936, 211727, 338551, 4022813)
    assert dataset.values is None
    assert len(dataset.label_names) == 22
    assert dataset.label_names.names() == sorted(dataset.label_names.names())
    assert sum(dataset.nbytes().values()) < 50e6


@pytest.mark.parametrize('columns', [2, 3, 4, 5])
def test_builtin_templates(tmp_path, columns):
    rows = [[*[f'W{i}x', f'p{i}', f'c{i}', f'd{i}'][: columns - 1], 'A'] for i in range(4)]
    dataset = read(tmp_path, 'conll', conll([rows]))
    assert dataset.template == templates.builtin(columns)
    assert dataset.columns == columns
    assert dataset.transitions
    assert sequences(dataset) == expected([rows], dataset.template)
    template = templates.parse(dataset.template)
    assert template.width == columns - 1, 'every column is used'
    assert len({line.split(':')[0] for line in dataset.template.split()}) == len(dataset.template.split()), 'ids differ'


def test_without_ids_features_are_a_bag_of_words(tmp_path):
    dataset = read(tmp_path, 'conll', 'a A\na B\n', template='U%x[0,0]\nU%x[1,0]\n')
    assert sequences(dataset) == [[('A', {'Ua': 2.0}, {}), ('B', {'Ua': 1.0, 'U_B+1': 1.0}, {})]]
    assert not dataset.transitions


def test_a_stream_forgets_but_gives_the_same(tmp_path, monkeypatch, rng):
    """More distinct words than a stream remembers: what it gives does not change, what it holds stays bounded."""
    template = 'U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nU2:%w[0,0]/%s[1,0,2]\nB\n'
    train = [[(f'w{k}', 'A') for k in rng.integers(0, 1000, size=4)] for _ in range(200)]
    known = read(tmp_path, 'conll', conll(train), template=template)
    names = set(known.attributes.names())
    test = [[(f'w{k}', 'B') for k in rng.integers(0, 300_000, size=18)] for _ in range(15_000)]
    text = conll(test)
    found = 0
    for block in stream(tmp_path, 'conll', text, known, block=1 << 18, template=template, columns=2):
        for t in range(len(block.dataset.offsets) - 1):
            found += 1
            if found % 1000 == 0:
                rows = test[found - 1]
                got = sequences(block.dataset.subset([t]))[0]
                assert got == [('B', {s: 1.0 for s in u if s in names}, {}) for u, _ in features(rows, template)]
    assert found == len(test)


GOOD = [
    ('U00:%x[-1,0]/%x[0,1]', 'two macros'),
    ('U', 'a constant'),
    ('B', 'the plain transition'),
    ('B01', 'the same with an id'),
    ('# U00:%x[0,9]\nU0:%x[0,0]', 'a comment'),
    ('\n\nU0:%x[0,0]\r\n\r\nB\r\n', 'empty lines and CRLF'),
    ('\ufeffU0:%x[0,0]', 'a byte-order mark'),
    ('U0:%x[-9,0]', 'farther than CRF++ reaches'),
    ('U0:%x[0,0]#tag', 'a sharp without a blank is text'),
]


@pytest.mark.parametrize(('text', 'why'), GOOD, ids=[why for _, why in GOOD])
def test_good_templates(text, why):
    templates.parse(text)


BAD = [
    ('u0:%x[0,0]', "T:1: template line 'u0:%x[0,0]' begins with neither U nor B "
     '(expected U (features of a token), B (of a transition) or # in the first column)'),
    ('U0:%x[0,0]\n U1:%x[0,0]', "T:2: template line ' U1:%x[0,0]' begins with neither U nor B "
     '(expected U (features of a token), B (of a transition) or # in the first column)'),
    ('U0:%x[0 ,0]', "T:1: '%x[0 ,0]' is no macro "
     '(expected %x[ROW,COLUMN] with whole numbers, no blanks and no plus sign, like %x[-1,0])'),
    ('U0:%x[+1,0]', "T:1: '%x[+1,0]' is no macro "
     '(expected %x[ROW,COLUMN] with whole numbers, no blanks and no plus sign, like %x[-1,0])'),
    ('U0:%x[0]', "T:1: '%x[0]' is no macro "
     '(expected %x[ROW,COLUMN] with whole numbers, no blanks and no plus sign, like %x[-1,0])'),
    ('U0:%x[0,-1]', "T:1: '%x[0,-1]' is no macro "
     '(expected %x[ROW,COLUMN] with whole numbers, no blanks and no plus sign, like %x[-1,0])'),
    ('U0:%x[0,0', "T:1: '%x[0,0' is no macro "
     '(expected %x[ROW,COLUMN] with whole numbers, no blanks and no plus sign, like %x[-1,0])'),
    ('U0:100%', "T:1: '%' is no macro "
     '(expected %x[ROW,COLUMN] with whole numbers, no blanks and no plus sign, like %x[-1,0])'),
    ('U0:%m[0,0,"x"]', "T:1: '%m[0,0,\"x\"]' is no macro "
     '(expected %x[ROW,COLUMN] with whole numbers, no blanks and no plus sign, like %x[-1,0])'),
    ('U0:%x[0,0] # the word', "T:1: ' # the word' behind a pattern (expected comments on lines of their own)"),
    ('U0:%x[101,0]', 'T:1: row 101 of %x[101,0] (expected -100 to 100)'),
    ('U0:%p[0,0]', 'T:1: macro %p[0,0] (expected %p[ROW,COLUMN,N] with N from 1 to 100)'),
    ('U0:%s[0,0,0]', 'T:1: macro %s[0,0,0] (expected %s[ROW,COLUMN,N] with N from 1 to 100)'),
    ('U0:%w[0,0,2]', 'T:1: macro %w[0,0,2] (expected %w[ROW,COLUMN])'),
    ('B\nU0:%x[0,0]\nB01', "T:3: 'B01' is a second plain transition (line 1 has it already)"),
    ('U0:\t%x[0,0]', "T:1: a TAB or NUL byte in template line 'U0:\\t%x[0,0]' (expected none)"),
    ('', 'T: a template without features (expected lines that begin with U or B)'),
    ('# only\n\n# comments\n', 'T: a template without features (expected lines that begin with U or B)'),
]  # fmt: skip


@pytest.mark.parametrize(('text', 'message'), BAD, ids=[repr(text) for text, _ in BAD])
def test_bad_templates(text, message):
    with pytest.raises(DataError) as error:
        templates.parse(text, 'T')
    assert str(error.value) == message


BEYOND = {
    'line': ('U0:%x[' + '1' * 5000 + ',0]', ' has 5009 characters (expected at most 4096 characters)'),
    'row': ('U0:%x[' + '1' * 4000 + ',0]', 'T:1: row 1111111111 of %x[' + '1' * 37 + '... (expected -100 to 100)'),
    'row above': ('U0:%x[-' + '1' * 4000 + ',0]', '... (expected -100 to 100)'),
    'column': ('U0:%x[0,' + '1' * 4000 + ']', 'column 1111111111 of %x[0,' + '1' * 35 + '... (expected 0 to 9999)'),
    'size': ('U0:%p[0,0,' + '1' * 4000 + ']', '... (expected %p[ROW,COLUMN,N] with N from 1 to 100)'),
    'digits of another script': ('U0:%x[\u0663,0]', ", no blanks and no plus sign, like %x[-1,0])"),
    'macros': ('U0:' + '%x[0,0]' * 65, "T:1: 65 macros in template line 'U0:%x[0,0]%x[0,0]%x[0,0]%x[0,0]%x[0,0]%x...'"
               ' (expected at most 64)'),
}  # fmt: skip


@pytest.mark.parametrize('case', BEYOND)
def test_numbers_and_lengths_have_bounds(case):
    text, end = BEYOND[case]
    with pytest.raises(DataError) as error:
        templates.parse(text, 'T')
    assert str(error.value).endswith(end) and len(str(error.value)) < 200
    assert templates.parse('U0:' + '%x[0,0]' * 64).width == 1


def test_a_column_that_the_data_lack(tmp_path):
    with pytest.raises(DataError) as error:
        read(tmp_path, 'conll', 'a X A\n', template='B\nU0:%x[0,2]\n', template_name='T')
    assert str(error.value) == 'T:2: there is no column 2 (expected 0 to 1: the data have 2 before the label)'


@given(st.text(st.sampled_from('UB%xpsw[],-0123/: #\n'), max_size=60))
def test_any_text_is_a_template_or_an_error(text):
    try:
        template = templates.parse(text)
    except DataError as error:
        assert str(error).startswith('<template>')
    else:
        assert template.width >= 0
        assert len(template.states) == sum(line[0] == 'U' for line in lines_of(text))


def test_shape():
    assert templates.shape('Mc-20bÉé') == 'Xx-dxXx'
    assert templates.shape('') == ''
