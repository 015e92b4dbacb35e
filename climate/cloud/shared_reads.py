# SPDX-License-Identifier: Apache-2.0
"""Reads of the cloud that concurrent callers share."""
from concurrent import futures
import threading

from climate import errors
from climate.cloud import call_guard


class SharedRead:
    """One read at a time, shared by all callers that asked before it began.

    So no answer is outdated. Do not change the answer: other callers have it too.

    :param read: callable(frozenset of keys) → the answer; the keys are those of all its callers.
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
                self._next = _SharedRound()
            current = self._next
            current.keys.update(keys)
        if leads:
            self._lead(current)
        return current.answer.result()

    @property
    def waiting(self):
        """The keys of the next read."""
        with self._lock:
            return frozenset(self._next.keys if self._next is not None else ())

    def _lead(self, current):
        # The claim of the leading caller does not matter to the other callers, and a read changes
        # nothing. One of the other callers may be ending a lease, so the read comes first.
        try:
            with self._turn, call_guard.before_each_call(None, call_guard.Rank.FIRST):
                self._close(current)
                answer = self._read(frozenset(current.keys))
        except BaseException as error:
            # The other callers must not wait for ever.
            self._close(current)
            if isinstance(error, Exception):
                current.answer.set_exception(error)
                return
            current.answer.set_exception(errors.CloudError(
                service='Climate', reason='a read that others share was interrupted.'))
            raise
        current.answer.set_result(answer)

    def _close(self, current):
        with self._lock:
            if self._next is current:
                self._next = None


class _SharedRound:
    """The keys and the answer of one read, for all its callers."""

    def __init__(self):
        self.keys = set()
        self.answer = futures.Future()
