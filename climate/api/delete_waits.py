# SPDX-License-Identifier: Apache-2.0
"""Waits of DELETE and PUT for a lease at REST 1.0, with limits on the number of waits."""
import contextlib
import time

from climate import errors
from climate.api import throttling
from climate.domain import due_events
from climate.domain import lifecycle

_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 2
_GROWTH = 1.5
# PUT waits for the end of these tasks, because the lease can be changed afterwards.
_PASSING = frozenset({'start', 'update', 'reclaim'})


class DeleteWaits:
    """The requests of one process that wait until a lease is deleted, or can be changed.

    A waiting request does not count as a running request. The number of waits is limited for the
    process, for each project, and to one for each lease. A request beyond these limits does not
    wait.
    """

    def __init__(self, manager, conf):
        """Prepare the waits; `conf` has the options of [api]."""
        self._manager = manager
        self._seconds = conf.delete_wait_seconds
        self._all = throttling.Slots(conf.delete_waits)
        self._of_project = throttling.Slots(conf.delete_waits_per_project)
        self._of_lease = throttling.Slots(1)

    def wait(self, environ, caller, lease):
        """Wait until a lease is deleted, for at most [api] delete_wait_seconds.

        :param lease: the lease as it was before this request. If it was being deleted already,
            this request does not wait.
        :raises Conflict: the deletion failed, and the lease is in error.
        """
        if not due_events.is_being_deleted(lease):
            self._wait(environ, caller, lease.id, _is_gone)

    def wait_for_task(self, environ, caller, lease_id):
        """Wait until the start or the change of a lease is done, as long as `wait` does.

        :returns: False if it is not done in this time, or too many requests wait.
        """
        return self._wait(environ, caller, lease_id, _is_settled)

    def _wait(self, environ, caller, lease_id, is_done):
        with contextlib.ExitStack() as taken:
            for slots, key in ((self._of_lease, lease_id), (self._of_project, caller.project_id),
                               (self._all, None)):
                slot = slots.take(key)
                if slot is None:
                    return False
                taken.callback(slot.release)
            throttling.stop_counting(environ)
            return self._until(is_done, caller, lease_id)

    def _until(self, is_done, caller, lease_id):
        now = time.monotonic()
        give_up, pause = now + self._seconds, _FIRST_PAUSE_SECONDS
        while now < give_up:
            if is_done(self._manager.get_lease(caller, lease_id)):
                return True
            time.sleep(min(pause, give_up - now))
            pause = min(pause * _GROWTH, _LONGEST_PAUSE_SECONDS)
            now = time.monotonic()
        return False


def _is_settled(lease):
    return lease.task not in _PASSING


def _is_gone(lease):
    """Return whether a lease is deleted.

    :raises Conflict: the deletion failed.
    """
    if lease.state == lifecycle.ERROR and not lease.task and lease.deleted_at is None:
        raise errors.Conflict(reason=(
            f'Lease {lease.id} was not deleted: the cloud did not release all its resources. '
            'Delete it again, or ask the operator of the cloud.'))
    return lease.deleted_at is not None
