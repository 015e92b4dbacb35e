# SPDX-License-Identifier: Apache-2.0
"""The decision whether a project may use a reservation now, for Nova's scheduler."""
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
    :ivar shared: whether the lease was ever shared.
    :ivar guests: the other projects that may use the reservation by shares.
    :ivar parent_id: the lease that has the hosts, too, if the lease is a sub-lease.
    :ivar sub_leased: whether the lease ever had sub-leases.
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
    shared: bool = False
    guests: frozenset[str] = frozenset()
    parent_id: str | None = None
    sub_leased: bool = False


@dataclasses.dataclass(frozen=True)
class Usability:
    """The answer to the question whether a reservation may be used, and on which hosts.

    :ivar active: whether the project of the lease may use the reservation now.
    :ivar usable: whether the project in the question may use the reservation now.
    :ivar reason: why the reservation is not usable, in words; None if it is usable.
    :ivar ordinary: whether servers with this reservation may be placed like ordinary servers.
    :ivar server_id: the only server that may use the reservation; None: all may, or the server is
        not known yet.
    :ivar capacity: the resources of a host that this server may take, {class: units}; None: there
        is no limit, or no capacity at all.
    :ivar hosts: the hypervisors of the reservation while it is active.
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


def judge(facts: UsabilityFacts, project_id: str, now: records.Moment,
          usable_in_start: bool = False) -> Usability:
    """Return the Usability of a reservation for a project at `now`, without its hosts.

    :param usable_in_start: whether the hosts must be usable while the lease is being started,
        because the start places servers there.
    """
    unusable = _why_unusable(facts, now, usable_in_start)
    foreign = facts.project_id != project_id and project_id not in facts.guests
    reason = unusable or ('It belongs to another project.' if foreign else None)
    return Usability(id=facts.id, lease_id=facts.lease_id, project_id=facts.project_id,
                     active=unusable is None, usable=reason is None, reason=reason)


def not_one(lease: records.Lease, ids: Sequence[str]) -> Usability:
    """Return the Usability if a lease is named in place of a reservation, and has none or several.

    :param ids: the ids of its reservations in which servers can be placed.
    """
    reason = f'Lease {lease.id} has no reservation for servers.'
    if ids:
        reason = (f'Lease {lease.id} has {len(ids)} reservations: name one of them instead: '
                  f'{", ".join(ids[:_NAMED])}{", and others" if len(ids) > _NAMED else ""}.')
    return Usability(id=lease.id, lease_id=lease.id, project_id=lease.project_id, active=False,
                     usable=False, reason=reason)


def _why_unusable(facts: UsabilityFacts, now: records.Moment,
                  usable_in_start: bool) -> str | None:
    """Return why nobody may use a reservation at `now`, in words; None: it may be used."""
    lease = f'Lease {facts.lease_id}'
    if facts.deleted_at is not None:
        return f'{lease} was deleted.'
    if facts.state == lifecycle.TERMINATED or facts.end <= now:
        return f'{lease} ended at {facts.end:%Y-%m-%d %H:%M:%S} UTC.'
    if facts.task in lifecycle.TEARDOWN:
        return f'{lease} is being ended.'
    if facts.task == 'reclaim':
        return f'{lease} is idle, and is being reclaimed or made smaller.'
    if facts.state == lifecycle.PENDING and facts.task != 'start':
        return f'{lease} has not started; it starts at {facts.start:%Y-%m-%d %H:%M:%S} UTC.'
    if usable_in_start and (facts.task == 'start' or facts.healing):
        return None
    if facts.deleting:
        return f'{lease} is being deleted.'
    # A running reservation is usable even if a change or another reservation of the lease failed.
    runs = (facts.state == lifecycle.ERROR
            and facts.reservation_state == lifecycle.RESERVATION_ACTIVE)
    if facts.state not in (lifecycle.PENDING, lifecycle.ACTIVE) and not runs:
        return f'{lease} is in the state {facts.state.lower()}.'
    if facts.reservation_state == lifecycle.RESERVATION_PENDING:
        return f'{lease} is starting; this reservation is not ready yet.'
    if facts.reservation_state != lifecycle.RESERVATION_ACTIVE:
        return f'The reservation is in the state {facts.reservation_state}.'
    return None
