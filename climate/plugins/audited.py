# SPDX-License-Identifier: Apache-2.0
"""The parts of the contracts of plugins and pools that audits use.

Each plugin and each pool compares its own objects in the cloud with the database. The defaults in
this module do nothing; they are for types that create nothing in the cloud.
"""
import dataclasses

from climate.domain import audit
from climate.domain import records


def incomplete(reservation, problem):
    """Return a Drift that ``Audited.complete`` can repair in a running reservation."""
    return audit.Drift('incomplete', f'reservation {reservation.id}', problem, audit.COMPLETE,
                       reservation.id)


class Audited:
    """The part of the contract of a resource plugin that audits use.

    `observed` is the recent result of `observe`; `lease` and `reservation` are Records. No method
    may delete or move a server, or withdraw a resource that a project uses.
    """

    def observe(self, cloud):
        """Return the present objects in the cloud, as a frozen record of the plugin. Reads only.

        Lists whole collections instead of reading single objects, because an audit makes each call
        only once for all plugins and pools.
        """

    def traces(self, observed):
        """Return the objects in the cloud that the plugin created for reservations. Pure.

        Includes objects of reservations that the database does not know, if they can be recognised
        as created by Climate. Excludes objects that cannot be listed for all projects at once, such
        as stacks: only the `end` of their lease removes them.

        :returns: ``domain.audit.Trace`` objects, in any order.
        """
        return []

    def lacks(self, observed, lease, reservation, resources):
        """Return the differences between a running reservation and the cloud, as Drifts. Pure.

        :param resources: {need key: the allocated Resources, each once}.
        """
        return []

    def complete(self, cloud, lease, reservation, resources):
        """Recreate the missing objects of a running reservation; return its binding. Repeatable.

        :raises StillBusy: servers prevent the repair.
        """
        return dict(reservation.binding)

    def clear(self, cloud, made_for, resources):
        """Remove the objects that an ended reservation left in the cloud, except servers.

        Repeatable.

        :param made_for: the id of the reservation, as in its Traces.
        :param resources: the enrolled Resources that no reservation holds. Only these may return to
            the pool.
        :raises StillBusy: servers still need some objects, which were not removed.
        """


@dataclasses.dataclass(frozen=True)
class Held:
    """A resource that a running reservation has.

    :ivar project_id: the project of the lease.
    :ivar whole: True if the reservation has the whole resource, False if it has a part.
    """

    resource: records.Resource
    reservation_id: str
    lease_id: str
    project_id: str
    whole: bool


class AuditedPool:
    """The part of the contract of a pool that audits use."""

    def observe(self, cloud):
        """Return the present objects in the cloud, as ``Audited.observe``."""

    def audit(self, observed, resources, enrolled):
        """Return the Drifts of the pool itself, independent of leases. Pure.

        :param observed: the recent result of `observe`.
        :param resources: the enrolled Resources that may be compared.
        :param enrolled: the names of all enrolled resources.
        """
        return []

    def disturbed(self, cloud, held):
        """Return {resource id: why, in words} of leased resources that others use, too.

        A lease with such a resource is degraded. Reads only.

        :param held: the Held records of this pool.
        """
        return {}
