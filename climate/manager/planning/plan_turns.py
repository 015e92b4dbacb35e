# SPDX-License-Identifier: Apache-2.0
"""The limit of concurrent plans: what-if answers and forecasts need much memory and CPU time."""
import contextlib
import threading

from climate import errors

# A manager has few processors, and one plan of a large cloud uses one of them for seconds.
AT_ONCE = 2
WAITING = 2
_RETRY_SECONDS = 5


class PlanTurns:
    """The turns of the plans of one manager: `AT_ONCE` plans run at a time, and `WAITING` wait.

    Take a turn before a database connection, because a waiting caller must not hold a connection.
    """

    def __init__(self):
        self._places = threading.BoundedSemaphore(AT_ONCE + WAITING)
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    @contextlib.contextmanager
    def taken(self):
        """Wait for a turn, which lasts as long as the block.

        :raises PlansBusy: too many callers wait already.
        """
        if not self._places.acquire(blocking=False):
            raise errors.PlansBusy(most=AT_ONCE + WAITING, retry_after=_RETRY_SECONDS)
        try:
            with self._turns:
                yield
        finally:
            self._places.release()
