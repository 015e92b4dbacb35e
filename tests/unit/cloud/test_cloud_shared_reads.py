# SPDX-License-Identifier: Apache-2.0
"""Reads of the cloud that concurrent callers share."""
from concurrent import futures
import threading

import pytest
from support import waiting

from climate.cloud import call_guard
from climate.cloud import shared_reads


class Slow:
    """A read that is under way until it is let go.

    :ivar asked: the keys of each read.
    """

    def __init__(self):
        self.asked = []
        self.began = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.problem = None
        self.shared = shared_reads.SharedRead(self._read)

    def _read(self, keys):
        self.asked.append(keys)
        self.began.release()
        assert self.go.acquire(timeout=waiting.SECONDS)
        if self.problem is not None:
            raise self.problem
        call_guard.check()
        return len(self.asked)


@pytest.fixture
def slow():
    return Slow()


def all_at_once(slow, pool, *keys):
    """Ask for each key while a first read is under way; return the futures of their answers."""
    first = pool.submit(slow.shared.ask, 'first')
    assert slow.began.acquire(timeout=waiting.SECONDS)
    others = [pool.submit(slow.shared.ask, key) for key in keys]
    waiting.until(lambda: slow.shared.waiting == set(keys))
    slow.go.release()
    assert first.result(waiting.SECONDS) == 1
    assert slow.began.acquire(timeout=waiting.SECONDS)
    return others


def test_callers_that_ask_during_a_read_share_the_next_one(slow):
    with futures.ThreadPoolExecutor(9) as pool:
        others = all_at_once(slow, pool, *'abcdefgh')
        slow.go.release()
        assert {each.result(waiting.SECONDS) for each in others} == {2}
    assert slow.asked == [{'first'}, set('abcdefgh')]


def test_all_callers_get_the_error_and_the_next_caller_reads_again(slow):
    with futures.ThreadPoolExecutor(4) as pool:
        others = all_at_once(slow, pool, *'abc')
        slow.problem = ValueError('no')
        slow.go.release()
        for each in others:
            with pytest.raises(ValueError, match='no'):
                each.result(waiting.SECONDS)
    slow.problem = None
    slow.go.release()
    assert slow.shared.ask() == 3


def test_a_shared_read_ignores_the_check_of_its_caller(slow):
    def refuse():
        raise AssertionError
    slow.go.release()
    with call_guard.before_each_call(refuse):
        assert slow.shared.ask('a') == 1
