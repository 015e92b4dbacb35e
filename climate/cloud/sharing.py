# SPDX-License-Identifier: Apache-2.0
"""Reads of the cloud that all who ask at the same time share."""
from concurrent import futures
import threading

from climate.cloud import guard


class Shared:
    """A read that is made once for all who ask while the one before is under way.

    Each caller gets the answer of a read that began after it asked, so no answer is old. There is
    one read at a time. Do not change what it returns: others have it too.

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
        # The claim of the caller does not matter to the others, and a read changes nothing.
        with self._turn, guard.before_each_call(None):
            with self._lock:
                self._next = None
            try:
                mine.answer.set_result(self._read(frozenset(mine.keys)))
            except BaseException as error:  # noqa: BLE001 - the others must not wait for ever
                mine.answer.set_exception(error)


class _Round:
    """Those who share the next read.

    :ivar keys: what they ask for.
    """

    def __init__(self):
        self.keys = set()
        self.answer = futures.Future()
