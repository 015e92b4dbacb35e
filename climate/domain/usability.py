# SPDX-License-Identifier: Apache-2.0
"""The decision, for Nova's scheduler, whether a project may use a reservation at a moment."""
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses

from climate.domain import lifecycle
from climate.domain import records

# A reason names at most this many reservations of a lease.
_NAMED = 10


@dataclasses.dataclass(frozen=True)
class UsabilityFacts:
    """The states, times and project of a reservation and its lease.

    `state` and `task` are those of the lease, `reservation_state` that of the reservation.

    :ivar healing: whether the start or change of a lease in error is tried again.
    :ivar deleting: whether the deletion of a lease in error was ordered.
    """

    id: str
    lease_id: str
    project_id: str
    start: records.Moment
    end: records.Moment
    state: str
    task: str | None
    reservation_state: str
    resource_type: str
    deleted_at: records.Moment | None
    healing: bool = False
    deleting: bool = False


@dataclasses.dataclass(frozen=True)
class Usability:
    """The answer to the question whether a reservation may be used, and on which hosts.

    :ivar active: whether the owner may use it now.
    :ivar usable: whether the project in the question may use it now.
    :ivar reason: why it is not usable, in words; None if it is.
    :ivar ordinary: whether its servers may be placed as if they named no reservation.
    :ivar server_id: the only server that may use it; None: any may, or it is not known yet.
    :ivar capacity: the resources of a host that this server may take, {class: units}; None: without
        limit, or none at all.
    :ivar hosts: the hypervisors that belong to it while it is active.
    :ivar service_hosts: the service hosts of these hypervisors, in the same order.
    """

    id: str
    lease_id: str
    project_id: str
    active: bool
    usable: bool
    reason: str | None = None
    ordinary: bool = False
    server_id: str | None = None
    capacity: Mapping[str, int] | None = None
    hosts: tuple[str, ...] = ()
    service_hosts: tuple[str, ...] = ()


def judge(holding: UsabilityFacts, project_id: str, now: records.Moment,
          usable_in_start: bool = False) -> Usability:
    """Return the Usability of a reservation for a project at `now`, without its hosts.

    :param usable_in_start: whether its hosts must be usable while the lease is being started,
        because the start has servers placed there.
    """
    idle = _why_idle(holding, now, usable_in_start)
    foreign = holding.project_id != project_id
    reason = idle or ('It belongs to another project.' if foreign else None)
    return Usability(id=holding.id, lease_id=holding.lease_id, project_id=holding.project_id,
                     active=idle is None, usable=reason is None, reason=reason)


def not_one(lease: records.Lease, ids: Sequence[str]) -> Usability:
    """Return the Usability of a lease that is named instead of its only reservation.

    :param ids: the ids of its reservations in which servers can be placed.
    """
    reason = f'Lease {lease.id} has no reservation for servers.'
    if ids:
        reason = (f'Lease {lease.id} has {len(ids)} reservations: name one of them instead: '
                  f'{", ".join(ids[:_NAMED])}{", and others" if len(ids) > _NAMED else ""}.')
    return Usability(id=lease.id, lease_id=lease.id, project_id=lease.project_id, active=False,
                     usable=False, reason=reason)


def _why_idle(holding: UsabilityFacts, now: records.Moment, usable_in_start: bool) -> str | None:
    """Return why nobody may use the reservation at `now`, in words; None: it may be used."""
    lease = f'Lease {holding.lease_id}'
    if holding.deleted_at is not None:
        return f'{lease} was deleted.'
    if holding.state == lifecycle.TERMINATED or holding.end <= now:
        return f'{lease} ended at {holding.end:%Y-%m-%d %H:%M:%S} UTC.'
    if holding.task in lifecycle.TEARDOWN:
        return f'{lease} is being ended.'
    if holding.task == 'reclaim':
        return f'{lease} is idle, and is being reclaimed or made smaller.'
    if holding.state == lifecycle.PENDING and holding.task != 'start':
        return f'{lease} has not started; it starts at {holding.start:%Y-%m-%d %H:%M:%S} UTC.'
    if usable_in_start and (holding.task == 'start' or holding.healing):
        return None
    if holding.deleting:
        return f'{lease} is being deleted.'
    # A change of the lease, or the start of another reservation, may fail: a running one goes on.
    runs = (holding.state == lifecycle.ERROR
            and holding.reservation_state == lifecycle.RESERVATION_ACTIVE)
    if holding.state not in (lifecycle.PENDING, lifecycle.ACTIVE) and not runs:
        return f'{lease} is in the state {holding.state.lower()}.'
    if holding.reservation_state == lifecycle.RESERVATION_PENDING:
        return f'{lease} is starting; this reservation is not ready yet.'
    if holding.reservation_state != lifecycle.RESERVATION_ACTIVE:
        return f'The reservation is in the state {holding.reservation_state}.'
    return None
