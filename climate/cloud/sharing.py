# SPDX-License-Identifier: Apache-2.0
"""Reads of the cloud that all who ask at the same time share."""
from concurrent import futures
import threading

from climate import errors
from climate.cloud import guard


class Shared:
    """One read at a time, shared by all who asked before it began.

    So no answer is old. Do not change what it returns: others have it too.

    :param read: callable(frozenset of keys) → the answer; the keys are those of all who share it.
    """

    def __init__(self, read):
        self._read = read
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._next = None

    def ask(self, *keys):
        """Return the answer, or raise the error of the read."""
        with self._lock:
            leads = self._next is None
            if leads:
                self._next = _Round()
            mine = self._next
            mine.keys.update(keys)
        if leads:
            self._lead(mine)
        return mine.answer.result()

    @property
    def waiting(self):
        """The keys for which the next read will ask."""
        with self._lock:
            return frozenset(self._next.keys if self._next is not None else ())

    def _lead(self, mine):
        # The claim of the caller does not matter to the others, and a read changes nothing. Among
        # the others may be an end.
        try:
            with self._turn, guard.before_each_call(None, guard.Rank.FIRST):
                self._close(mine)
                answer = self._read(frozenset(mine.keys))
        except BaseException as error:
            # The others must not wait for ever.
            self._close(mine)
            if isinstance(error, Exception):
                mine.answer.set_exception(error)
                return
            mine.answer.set_exception(errors.CloudError(
                service='Climate', reason='a read that others share was interrupted.'))
            raise
        mine.answer.set_result(answer)

    def _close(self, mine):
        with self._lock:
            if self._next is mine:
                self._next = None


class _Round:
    """Those who share the next read.

    :ivar keys: what they ask for.
    """

    def __init__(self):
        self.keys = set()
        self.answer = futures.Future()
