"""Log files."""

import pytest

from data_formats.errors import DataError
from data_formats.files.log import COLUMNS, TrainingLog, read_log


def row(k):
    return {
        'pass': k,
        'oracle_calls': 8 * k,
        'seconds': 0.5,
        'primal': 1.5,
        'dual': 1.0,
        'gap': 0.5,
        'relative_gap': 1 / 3,
    }


def test_golden(tmp_path):
    log = TrainingLog(tmp_path / 'log', 'ssvm 0 seed=1', ('dev_f1',))
    log.write(row(1) | {'dev_f1': 0.25})
    assert (tmp_path / 'log').read_text() == (
        '# ssvm 0 seed=1\n'
        'pass,oracle_calls,seconds,primal,dual,gap,relative_gap,primal_now,dual_now,dev_f1\n'
        '1,8,0.5,1.5,1.0,0.5,0.3333333333333333,,,0.25\n'
    )
    log.close()


def test_pandas_reads_it_as_the_manual_says(tmp_path):
    pandas = pytest.importorskip('pandas')
    log = TrainingLog(tmp_path / 'log', 'ssvm 0 seed=1')
    log.write(row(1))
    log.close()
    table = pandas.read_csv(tmp_path / 'log', comment='#')
    assert list(table.columns) == list(COLUMNS) and table['oracle_calls'].tolist() == [8]


def test_rows_are_on_disk_at_once(tmp_path):
    log = TrainingLog(tmp_path / 'log', '')
    log.write(row(1))
    assert len(read_log(tmp_path / 'log')) == 1
    log.close()


def test_resuming_drops_rows_that_come_again(tmp_path):
    log = TrainingLog(tmp_path / 'log', '')
    for k in range(1, 5):
        log.write(row(k))
    log.close()
    log = TrainingLog(tmp_path / 'log', '', keep=2)
    log.write(row(3))
    log.close()
    assert [r['pass'] for r in read_log(tmp_path / 'log')] == ['1', '2', '3']
    assert (tmp_path / 'log').read_text().count('#') == 1


def test_half_a_row_that_a_full_disk_has_left_is_dropped(tmp_path):
    log = TrainingLog(tmp_path / 'log', '')
    for k in range(1, 4):
        log.write(row(k))
    log.close()
    with open(tmp_path / 'log', 'a') as stream:
        stream.write('4,32,0.')
    log = TrainingLog(tmp_path / 'log', '', keep=9)
    assert log.rows == 3
    log.write(row(10))
    log.close()
    assert [r['pass'] for r in read_log(tmp_path / 'log')] == ['1', '2', '3', '10']


def test_a_new_run_starts_a_new_log(tmp_path):
    for _ in range(2):
        log = TrainingLog(tmp_path / 'log', '')
        log.write(row(1))
        log.close()
    assert len(read_log(tmp_path / 'log')) == 1


@pytest.mark.parametrize('empty', [False, True])
def test_resuming_without_the_old_log(tmp_path, empty):
    """Or with one that a full disk had no room for."""
    if empty:
        (tmp_path / 'log').touch()
    log = TrainingLog(tmp_path / 'log', '', keep=5)
    log.write(row(6))
    log.close()
    assert [r['pass'] for r in read_log(tmp_path / 'log')] == ['6']


@pytest.mark.parametrize('content', ['no log\n', '# ssvm\na,b\n1,2\n', ','.join(COLUMNS) + ',dev_f1\n'])
def test_resuming_refuses_another_file(tmp_path, content):
    (tmp_path / 'log').write_text(content)
    with pytest.raises(DataError, match='is not the log of the run to resume'):
        TrainingLog(tmp_path / 'log', '', keep=1)
    assert (tmp_path / 'log').read_text() == content
