# SPDX-License-Identifier: Apache-2.0
"""The hunt of a best effort: hosts are cleared for a lease, step by step."""
from climate import errors


class Hunt:
    """Plans a hunt, carries it on, and undoes it."""

    def __init__(self, core):
        self._core = core

    def plan(self, lease, wishes, now):
        """The plan for a lease that is not written yet, JSON-ready; nothing is touched.

        :raises NotEnough: no plan could succeed, with what was missing.
        """
        raise errors.BadField(field='acquire.type', reason=(
            'best-effort is not enabled here; "wait" stands in line for what others give back.'))

    def step(self, claim, now):
        """Carry the hunt of a claimed lease on for a moment, by the plan in its acquisition.

        :returns: an Outcome: DONE, all is there to be booked; BUSY, it is to be carried on.
        """
        raise NotImplementedError

    def abandon(self, lease, now):
        """Undo whatever a hunt has left of a lease. Repeatable, harmless where there is nothing.

        :returns: in words what was achieved, or None.
        :raises StillBusy: not all is undone yet.
        """
