"""Threads that share work: results and errors in the order of the items, whoever is faster."""

import threading
import time

import pytest

from cython_ext.common.parallel import Pool, even_ranges, in_order, ranges

THREADS = (1, 2, 5)


@pytest.mark.parametrize('threads', THREADS)
@pytest.mark.parametrize('count', [0, 1, 2, 30])
def test_results_are_in_the_order_of_the_items(threads, count):
    def square(i):
        time.sleep(0.001 * (i % 3))
        return i * i

    assert Pool(threads).map(square, [(i,) for i in range(count)]) == [i * i for i in range(count)]


@pytest.mark.parametrize('threads', THREADS)
def test_the_first_item_that_fails_is_told(threads):
    def fail(i):
        time.sleep(0.002 * (5 - i) if i < 5 else 0)
        if i >= 2:
            raise ValueError(i)

    with pytest.raises(ValueError, match=r'^2$'):
        Pool(threads).map(fail, [(i,) for i in range(10)])


def test_nothing_is_begun_after_a_failure():
    begun = []

    def work(i):
        begun.append(i)
        if i == 0:
            raise KeyError(i)
        time.sleep(0.02)

    with pytest.raises(KeyError):
        Pool(2).map(work, [(i,) for i in range(100)])
    assert len(begun) < 10


def test_threads_work_at_the_same_time():
    both = threading.Barrier(2, timeout=20)  # broken, and so an error, if one came alone
    Pool(2).map(lambda _: both.wait(), [(i,) for i in range(2)])


def test_a_pool_can_be_used_by_its_own_workers():
    pool = Pool(2)
    assert pool.map(lambda i: sum(pool.map(lambda j: i * j, [(j,) for j in range(4)])), [(i,) for i in range(6)]) == [
        6 * i for i in range(6)
    ]


@pytest.mark.parametrize('threads', THREADS)
def test_results_are_given_out_before_what_is_not_there_yet(threads):
    """An item None is one that would have to be waited for: all results come before the next item is asked for."""
    found = []

    def items():
        for item in (None, 1, 2, None, 3, None, None, 4):
            yield item
            if item is None:
                assert found == [2, 3, 4][: len(found)] and len(found) == len(given)
            else:
                given.append(item)

    given = []
    for result in in_order(lambda i: i + 1, items(), threads, lambda: False):
        found.append(result)
    assert found == [2, 3, 4, 5]


@pytest.mark.parametrize('threads', THREADS)
def test_streams_keep_results_and_errors_in_order(threads):
    def items():
        yield from range(5)
        raise OSError('the end')

    found = []
    with pytest.raises(OSError, match='the end'):
        for result in in_order(lambda i: i + 1, items(), threads):
            found.append(result)
    assert found == [1, 2, 3, 4, 5]


def test_ranges_cover_everything_once():
    assert [i for a, b in even_ranges(17, 5) for i in range(a, b)] == list(range(17))
    assert even_ranges(0, 3) == []
    cost = [0, 1, 1, 9, 10, 30]
    assert [i for a, b in ranges(cost, 3) for i in range(a, b)] == list(range(5))
    assert ranges([0], 4) == []
