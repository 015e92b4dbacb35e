# SPDX-License-Identifier: Apache-2.0
"""The start of one reservation, on substitutes if the cloud refuses resources that it has."""
from oslo_log import log

from climate import errors
from climate.manager.booking import allocated
from climate.manager.booking import substitutes
from climate.manager.energy import wake_before_start

LOG = log.getLogger(__name__)

# So many times resources are substituted in one try: each of them costs a few calls of the cloud.
_MOST = 10


class Starts:
    """Calls the plugins to start reservations."""

    def __init__(self, core):
        self._core = core
        self._allocated = allocated.Allocated(core)
        self._substitutes = substitutes.Substitutes(core)
        self._wakes = wake_before_start.WakeBeforeStart(core)

    def start(self, claim, cloud, calls, reservation, resources):
        """Start a reservation; substitute the resources that the cloud refuses, and go on.

        :param calls: the Turns of the lease.
        :param resources: the Resources of the reservation by need.
        :returns: (the Reservation with what it has then, its binding).
        :raises NotEnough: a resource is refused, and there is no substitute; the error names it.
        :raises StillBusy: not yet, such as because a substitute sleeps and is woken.
        """
        plugin = self._core.registry.plugin(reservation.resource_type)
        refused = {}
        for left in reversed(range(_MOST)):
            claim.ownership.check()
            try:
                return reservation, plugin.start(cloud, calls.lease, reservation, resources)
            except errors.ResourcesRefused as error:
                LOG.warning('Lease %s, reservation %s: %s', calls.lease.id, reservation.id,
                            error.message)
                if not left:
                    raise
                refused |= error.refused
            reservation = self._substituted(claim, calls, reservation, refused)
            resources = self._allocated.of([reservation])[reservation.id]
        raise AssertionError('The last try returns or raises.')

    def _substituted(self, claim, calls, reservation, refused):
        """Return the Reservation with substitutes for what the cloud refuses."""
        now = self._core.clock()
        self._substitutes.ensure(calls.lease, reservation, now, refused=refused)
        with self._core.database.reader() as connection:
            current = substitutes.reread(connection, claim.lease)
        after = calls.given(next(each for each in current.reservations
                                 if each.id == reservation.id))
        self._wakes.await_awake(set(after.resource_ids), now)
        return after
