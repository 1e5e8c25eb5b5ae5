"""Random data sets as plain lists, and plain writers of them.

A data set is a list of sequences, a sequence a list of tokens, a token (label, {attribute: value}).
"""

from hypothesis import strategies as st

values = st.one_of(
    st.just(1.0),
    st.integers(-1000, 1000).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.1, 1e22, 1e23, 5e-324, 2.0**53 + 2]),
)
numbers = st.integers(1, 12).map(str) | st.sampled_from(['4194304', '4294967297', '999999999999999999'])
whole_labels = st.integers(1, 12).map(str)
words = st.text(st.characters(blacklist_categories=('Cs',), blacklist_characters='\t\n\r\0'), min_size=1, max_size=6)
names = st.sampled_from(['w=:', 'dir=c:\\tmp', 'a\\', '\\:', '__BOS__', '7', 'é', ' b ']) | words


def sequences(attributes, labels, values, longest=4):
    token = st.tuples(labels, st.dictionaries(attributes, values, max_size=5))
    return st.lists(st.lists(token, min_size=1, max_size=longest), min_size=1, max_size=6)


numbered = sequences(numbers, whole_labels, values)
named = sequences(names, names.filter(lambda name: name.strip(' ')), values)


def pairs(row):
    return ' '.join(f'{k}:{v!r}' for k, v in sorted(row.items(), key=lambda item: int(item[0])))


def svmlight(data):
    return ''.join(f'{label} {pairs(row)}\n' for sequence in data for label, row in sequence)


def svmhmm(data):
    return ''.join(f'{y} qid:{q} {pairs(row)}\n' for q, sequence in enumerate(data, 1) for y, row in sequence)


def crfsuite(data):
    def escaped(name):
        return name.replace('\\', '\\\\').replace(':', '\\:')

    def line(label, row):
        return '\t'.join([escaped(label), *(f'{escaped(k)}:{v!r}' for k, v in row.items()), ''])

    return '\n'.join(''.join(line(*token) + '\n' for token in sequence) for sequence in data)
