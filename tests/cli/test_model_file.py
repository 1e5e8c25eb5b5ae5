"""The model file: round trip, equal bytes, and everything that can be wrong with one."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cython_ext.duals.sparse import SparsePoint
from cython_ext.text.vocabulary import Vocabulary
from data_formats.errors import DataError
from data_formats.models.header import FORMAT_VERSION, STATUSES
from data_formats.models.model import Model, load, save
from ssvm_cli.training.closing import STATUS_TEXT

HEADER = {
    'task': 'chain',
    'objective': 'hinge',
    'loss': 'hamming',
    'lambda': 0.25,
    'feature_set': 'all',
    'data': {'format': 'conll', 'task': 'chain', 'bias': False, 'template': 'U0:%x[0,0]\nB\n', 'columns': 2},
    'primal': 1.5,
    'dual': 1.0,
    'package_version': '0.1.0',
}


def small_model(**changes):
    rng = np.random.default_rng(0)
    weights = {
        'state': rng.normal(size=(3, 2)),
        'transition': rng.normal(size=(2, 2)),
        'edge': rng.normal(size=(1, 2, 2)),
    }
    dual = SparsePoint(np.array([0, 1]), np.array([1.0]), np.array([0, 2]), np.array([0, 1], np.int32))
    fields = {
        'header': dict(HEADER),
        'label_names': Vocabulary(['A', 'B']),
        'attributes': Vocabulary(['x', b'\xff\xfe', 'ö:\\']),
        'edge_attributes': Vocabulary(['e']),
        'weights': weights,
        'cost': np.array([[0.0, 2.0], [1.0, 0.0]]),
        'dual': dual,
    }
    return Model(**(fields | changes))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'm.model'
    save(small_model(), path)
    return path


def rewrite(path, changes=None, header=None, drop=()):
    """Write the container anew with some members changed: a model altered by hand, all checksums right."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name not in drop}
    if header is not None:
        members['header.json'] = header if isinstance(header, bytes) else json.dumps(header).encode()
    for name, array in (changes or {}).items():
        stream = io.BytesIO()
        np.save(stream, array)
        members[name] = stream.getvalue()
    with zipfile.ZipFile(path, 'w') as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def full_header(**changes):
    return {'format': 'ssvm-model', 'format_version': 1, **HEADER, **changes}


def test_everything_comes_back(path):
    model, back = small_model(), load(path)
    assert back.header == {'format': 'ssvm-model', 'format_version': 1, **model.header}
    for name in ('label_names', 'attributes', 'edge_attributes'):
        assert getattr(back, name) == getattr(model, name)
    assert back.attributes.name_bytes(1) == b'\xff\xfe'
    assert back.weights.keys() == model.weights.keys()
    for name, array in model.weights.items():
        np.testing.assert_array_equal(back.weights[name], array)
    np.testing.assert_array_equal(back.cost, model.cost)
    for name, array in model.dual.arrays().items():
        np.testing.assert_array_equal(back.dual.arrays()[name], array)
    assert back.weights['state'].flags.writeable


def test_observed_pairs_come_back(tmp_path):
    weights = {
        'state.indptr': np.array([0, 1, 1, 3]),
        'state.labels': np.array([1, 0, 1], np.int32),
        'state.weights': np.array([0.5, -1.0, 2.0]),
        'transition': np.zeros((2, 2)),
    }
    model = small_model(weights=weights, edge_attributes=Vocabulary(), cost=None, dual=None)
    model.header['feature_set'] = 'observed'
    save(model, tmp_path / 'm')
    back = load(tmp_path / 'm')
    assert back.weights.keys() == weights.keys()
    for name, array in weights.items():
        np.testing.assert_array_equal(back.weights[name], array)
    assert back.cost is None and back.dual is None


def test_weights_that_are_mostly_zero_are_stored_as_lists(tmp_path):
    names = [f'a{k}'.encode() for k in range(50)]
    state = np.zeros((50, 2))
    state[[0, 7, 7, 49], [1, 0, 1, 0]] = [0.5, -1.0, 1e-300, 2.0]
    weights = {'state': state, 'transition': np.ones((2, 2))}
    model = small_model(
        weights=weights, attributes=Vocabulary(names), edge_attributes=Vocabulary(), cost=None, dual=None
    )
    save(model, tmp_path / 'm')
    np.testing.assert_array_equal(load(tmp_path / 'm').weights['state'], state)
    stored = load(tmp_path / 'm', as_stored=True).weights
    assert stored['state.weights'].tolist() == [0.5, -1.0, 1e-300, 2.0]
    assert stored['state.labels'].tolist() == [1, 0, 1, 0]


def test_equal_models_are_equal_bytes(path, tmp_path):
    save(small_model(), tmp_path / 'again')
    assert (tmp_path / 'again').read_bytes() == path.read_bytes()


def test_the_dual_point_can_be_left_unread(path):
    assert load(path, with_dual=False).dual is None


def test_numbers_that_shrink_are_deflated(tmp_path):
    zeros = {'state': np.zeros((30000, 2)), 'transition': np.zeros((2, 2)), 'edge': np.zeros((1, 2, 2))}
    attributes = Vocabulary(str(k) for k in range(30000))
    save(small_model(weights=zeros, attributes=attributes), tmp_path / 'zeros')
    assert os.path.getsize(tmp_path / 'zeros') < 200_000
    assert not load(tmp_path / 'zeros').weights['state'].any()


def test_a_failed_write_leaves_the_old_model(path, monkeypatch):
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(np.lib.format, 'write_array', full)
    with pytest.raises(DataError, match=r'm\.model: cannot be written: No space left on device'):
        save(small_model(), path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ['m.model']


def test_a_symbolic_link_stays_one(path):
    link = path.parent / 'link'
    link.symlink_to(path)
    save(small_model(cost=None), link)
    assert link.is_symlink() and load(path).cost is None


def test_permissions_follow_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        save(small_model(), tmp_path / 'm')
    finally:
        os.umask(old)
    assert (tmp_path / 'm').stat().st_mode & 0o777 == 0o640


def text(content):
    return lambda path: path.write_bytes(content)


def cut(share):
    def damage(path):
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])

    return damage


def flipped(name):
    """Damage one byte inside a member."""

    def damage(path):
        data = bytearray(path.read_bytes())
        with zipfile.ZipFile(path) as archive:
            info = archive.getinfo(name)
        data[info.header_offset + 30 + len(name) + info.compress_size // 2] ^= 0x55
        path.write_bytes(data)

    return damage


def altered(changes=None, header=None, drop=()):
    return lambda path: rewrite(path, changes, header, drop)


MALFORMED = [
    ('missing', lambda path: path.unlink(), 'No such file or directory'),
    ('empty', text(b''), 'empty file'),
    ('text', text(b'SVM-multiclass Version V2.20\n'), 'not an ssvm model'),
    ('crfsuite', text(b'lCRF' + bytes(40)), 'not an ssvm model'),
    ('pickle', text(pickle.dumps({'w': 1})), 'not an ssvm model'),
    ('gzip', text(b'\x1f\x8b' + bytes(40)), 'not an ssvm model'),
    ('first half', cut(0.5), 'truncated or damaged'),
    ('last byte gone', cut(0.9999), 'truncated or damaged'),
    ('only the magic number', text(b'PK\x03\x04'), 'truncated or damaged'),
    ('other zip file', altered(drop=('header.json',)), r'a zip file without header\.json'),
    ('weights altered', flipped('weights.state.npy'), 'truncated or altered'),
    ('names altered', flipped('attributes.bytes.npy'), 'truncated or altered'),
    ('header altered', flipped('header.json'), 'truncated or altered'),
    ('array missing', altered(drop=('weights.state.npy',)), r'array weights\.state is missing'),
    ('vocabulary missing', altered(drop=('attributes.bytes.npy',)), r'array attributes\.bytes is missing'),
    ('header no JSON', altered(header=b'{'), r'header\.json is damaged'),
    ('header not UTF-8', altered(header=b'{"a": "\xff\xfe"}'), 'not an ssvm model'),
    ('header a list', altered(header=b'[]'), r'header\.json is no JSON object'),
    ('header with NaN', altered(header=b'{"lambda": NaN}'), 'NaN is no number'),
    ('deep header', altered(header=b'[' * 100000), r'header\.json is damaged'),
    ('other format', altered(header=full_header(format='other')), 'not an ssvm model'),
    (
        'newer',
        altered(header=full_header(format_version=9, package_version='7.0')),
        r'model format 9, written by ssvm 7\.0, is newer',
    ),
    ('no version', altered(header=full_header(format_version=None)), 'format version is None'),
    ('no task', altered(header=full_header(task=None)), 'header has task = None'),
    ('unknown task', altered(header=full_header(task='parsing')), "header has task = 'parsing'"),
    ('unknown objective', altered(header=full_header(objective='square')), "header has objective = 'square'"),
    ('lambda 0', altered(header=full_header(**{'lambda': 0})), r'header has lambda = 0 \(expected a number above 0\)'),
    ('lambda beyond reason', altered(header=full_header(**{'lambda': 10**400})), 'header has lambda = 1000'),
    ('lambda a word', altered(header=full_header(**{'lambda': 'x'})), "header has lambda = 'x'"),
    ('status a number', altered(header=full_header(status=7)), r'header has status = 7 \(expected converged or '),
    ('fewer than no examples', altered(header=full_header(examples=-5)), 'header has examples = -5'),
    ('tolerance a number', altered(header=full_header(tolerance=5)), 'header has tolerance = 5'),
    ('tolerance of words', altered(header=full_header(tolerance={'rel_gap': 'x'})), 'header has tolerance = '),
    ('primal a word', altered(header=full_header(primal='low')), "header has primal = 'low'"),
    ('true is no number', altered(header=full_header(slack_norm=True)), 'header has slack_norm = True'),
    (
        'unknown loss',
        altered(header=full_header(loss='iou')),
        r"header has loss = 'iou' \(expected hamming, zero-one, ",
    ),
    (
        'hinge without loss',
        altered(header=full_header(loss='none')),
        "header has loss = 'none' and objective = 'hinge'",
    ),
    ('costs lost', altered(header=full_header(loss='costs'), drop=('cost.npy',)), 'there is no cost matrix'),
    ('key twice', altered(header=b'{"a": 1, "b": {"c": 1, "c": 2}}'), "key 'c' stands twice"),
    ('no data facts', altered(header=full_header(data={})), r'header has data\.format = None'),
    (
        'template a number',
        altered(header=full_header(data={'format': 'conll', 'template': 3})),
        r'header has data\.template = 3',
    ),
    ('edge weights missing', altered(drop=('weights.edge.npy',)), r'array weights\.edge is missing'),
    (
        'wrong shape',
        altered({'weights.state.npy': np.zeros((4, 2))}),
        r'array weights\.state is float64 4 x 2 \(expected float64 3 x 2',
    ),
    (
        'wrong dtype',
        altered({'weights.state.npy': np.zeros((3, 2), np.float32)}),
        r'array weights\.state is float32 3 x 2',
    ),
    ('objects', altered({'weights.transition.npy': np.array([[None, 1]])}), r'array weights\.transition is damaged'),
    ('infinite', altered({'weights.state.npy': np.full((3, 2), np.inf)}), 'no finite number'),
    ('offsets descend', altered({'attributes.offsets.npy': np.array([0, 2, 1, 7])}), 'is no table of names'),
    ('offsets too far', altered({'attributes.offsets.npy': np.array([0, 1, 2, 900])}), 'is no table of names'),
    (
        'labels twice',
        altered({'label_names.bytes.npy': np.frombuffer(b'AA', np.uint8)}),
        'two labels have the same name',
    ),
    (
        'no labels',
        altered({'label_names.bytes.npy': np.zeros(0, np.uint8), 'label_names.offsets.npy': np.zeros(1, np.int64)}),
        'a model without labels',
    ),
    ('cost of another size', altered({'cost.npy': np.zeros((3, 3))}), 'array cost is float64 3 x 3'),
    ('no npy', lambda path: rewrite_raw(path, 'weights.state.npy', b'nothing'), r'array weights\.state is damaged'),
    (
        'short npy',
        lambda path: rewrite_raw(path, 'weights.state.npy', npy(np.zeros((3, 2)))[:-8]),
        r'array weights\.state is damaged',
    ),
    (
        'open brackets in npy',
        lambda path: rewrite_raw(path, 'weights.state.npy', npy(np.zeros((3, 2))).replace(b'(3, 2), }', b'(3, 2, (()')),
        r'array weights\.state is damaged',
    ),
    (
        'huge npy',
        lambda path: rewrite_raw(
            path, 'weights.state.npy', npy(np.zeros((3, 2))).replace(b'(3, 2), }   ', b'(3000, 2), }')
        ),
        r'array weights\.state is damaged',
    ),
]


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def rewrite_raw(path, name, data):
    with zipfile.ZipFile(path) as archive:
        members = {n: archive.read(n) for n in archive.namelist()}
    with zipfile.ZipFile(path, 'w') as archive:
        for n, old in members.items():
            archive.writestr(n, data if n == name else old)


@pytest.mark.parametrize(('damage', 'message'), [case[1:] for case in MALFORMED], ids=[case[0] for case in MALFORMED])
def test_malformed(path, damage, message):
    damage(path)
    with pytest.raises(DataError, match=message) as error:
        load(path)
    assert str(error.value).startswith(f'{path}: ')
    assert '\n' not in str(error.value)


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(DataError, match='Is a directory'):
        load(tmp_path)


def test_a_member_that_promises_too_much_asks_for_no_memory(path):
    data = bytearray(path.read_bytes())
    at = data.rindex(b'PK\x01\x02', 0, data.index(b'weights.state.npy', data.index(b'PK\x01\x02')))
    data[at + 24 : at + 28] = (2**31 - 1).to_bytes(4, 'little')  # uncompressed size in the directory
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"member 'weights\.state\.npy' has two lengths or checksums"):
        load(path)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_mutated_bytes_are_refused_or_harmless(tmp_path, data):
    """Any few bytes changed, cut or added: a DataError, or a model that loads; never another exception."""
    path = tmp_path / 'm'
    if not path.exists():
        save(small_model(), path)
        (tmp_path / 'good').write_bytes(path.read_bytes())
    good = (tmp_path / 'good').read_bytes()
    bytes_ = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(bytes_) - 1))
        kind = data.draw(st.sampled_from(['set', 'cut', 'insert', 'swap']))
        if kind == 'set':
            bytes_[at] = data.draw(st.integers(0, 255))
        elif kind == 'cut':
            del bytes_[at : at + data.draw(st.integers(1, 40))]
        elif kind == 'insert':
            bytes_[at:at] = data.draw(st.binary(min_size=1, max_size=9))
        else:
            to = data.draw(st.integers(0, len(bytes_) - 1))
            bytes_[at], bytes_[to] = bytes_[to], bytes_[at]
        if not bytes_:
            break
    path.write_bytes(bytes_)
    try:
        model = load(path)
    except DataError as error:
        assert str(error)
    else:
        assert len(model.label_names) == 2


def test_version_of_the_format_is_written(path):
    assert FORMAT_VERSION == load(path).header['format_version'] == 1


def test_every_status_of_a_run_can_be_read():
    assert set(STATUSES) == set(STATUS_TEXT)
