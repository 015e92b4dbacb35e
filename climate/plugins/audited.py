# SPDX-License-Identifier: Apache-2.0
"""The parts of the contracts of plugins and pools that audits use.

Each plugin and each pool observes the cloud and compares it with the database itself. The defaults
in this module do nothing; they are for types that create nothing in the cloud.
"""
import dataclasses

from climate.domain import audit
from climate.domain import records


def incomplete(reservation, problem):
    """Return the Drift of a running reservation that ``Audited.complete`` can repair."""
    return audit.Drift('incomplete', f'reservation {reservation.id}', problem, audit.COMPLETE,
                       reservation.id)


class Audited:
    """The part of the contract of a resource plugin that audits use.

    `observed` is the recent result of `observe`; `lease` and `reservation` are Records. No method
    may delete or move a server, or take a resource from a project that uses it.
    """

    def observe(self, cloud):
        """Return what the type observes in the cloud, as a frozen record of its own. Reads only.

        It lists whole collections instead of single objects: an audit makes each call once for all
        plugins and pools.
        """

    def traces(self, observed):
        """Return the objects that reservations have in the cloud, of this type's kinds. Pure.

        Objects of reservations that the database does not know count too, but only objects that
        can be recognised as Climate's. Objects of owners that cannot be listed for all projects at
        once, such as stacks, are no traces: only the `end` of their lease removes them.

        :returns: ``domain.audit.Trace``, in any order.
        """
        return []

    def lacks(self, observed, lease, reservation, resources):
        """Return the differences of a running reservation from the cloud, as Drifts. Pure.

        :param resources: {need key: the allocated Resources, each once}.
        """
        return []

    def complete(self, cloud, lease, reservation, resources):
        """Add the missing objects of a running reservation; return its binding. Repeatable.

        It takes nothing from other reservations; only `start` may do so.

        :raises StillBusy: servers prevent it.
        """
        return dict(reservation.binding)

    def clear(self, cloud, made_for, resources):
        """Remove what an ended reservation left in the cloud, except servers. Repeatable.

        :param made_for: the id of the reservation, as a Trace has it.
        :param resources: the enrolled Resources that no reservation holds. Those of this
            reservation return to the pool.
        :raises StillBusy: servers prevent it; nothing that they need was removed.
        """


@dataclasses.dataclass(frozen=True)
class Held:
    """A resource that a running reservation has.

    :ivar resource: the Resource.
    :ivar project_id: the project of the lease.
    :ivar whole: whether the reservation has the whole resource, not only a part of it.
    """

    resource: records.Resource
    reservation_id: str
    lease_id: str
    project_id: str
    whole: bool


class AuditedPool:
    """The part of the contract of a pool that audits use."""

    def observe(self, cloud):
        """Return what the pool observes in the cloud, as ``Audited.observe``."""

    def audit(self, observed, resources, enrolled):
        """Return the Drifts of the pool itself, independent of leases. Pure.

        :param observed: the recent result of `observe`.
        :param resources: the enrolled Resources that may be compared.
        :param enrolled: the names of all enrolled resources.
        """
        return []

    def disturbed(self, cloud, held):
        """Return {resource id: why, in words} of resources that others use, too.

        A lease that has such a resource is degraded. Reads only.

        :param held: Helds of this pool.
        """
        return {}
