# SPDX-License-Identifier: Apache-2.0
"""Whether a reservation may be used at a moment, and by whom: what Nova's scheduler asks."""
from collections.abc import Mapping
import dataclasses

from climate.domain import lifecycle
from climate.domain import records


@dataclasses.dataclass(frozen=True)
class Holding:
    """What is known of a reservation and its lease: states, times, and whose it is.

    `state` and `task` are those of the lease, `reservation_state` that of the reservation.
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


@dataclasses.dataclass(frozen=True)
class Usability:
    """The answer.

    :ivar active: its owner may use it now.
    :ivar usable: the project that asks may.
    :ivar reason: why not, in words; None where it is usable.
    :ivar ordinary: its servers may be placed as if they named no reservation.
    :ivar server_id: the one server that it is for; None where it is for any, or not known yet.
    :ivar room: what that server may take of a host, {class: units}; None where all is its own, or
        none.
    :ivar hosts: the hypervisors that belong to it while it is active.
    :ivar service_hosts: the names of their nova-compute, in the same order.
    """

    id: str
    lease_id: str
    project_id: str
    active: bool
    usable: bool
    reason: str | None = None
    ordinary: bool = False
    server_id: str | None = None
    room: Mapping[str, int] | None = None
    hosts: tuple[str, ...] = ()
    service_hosts: tuple[str, ...] = ()


def judge(holding: Holding, project_id: str, now: records.Moment,
          wakes: bool = False) -> Usability:
    """The Usability of a reservation for a project at `now`, without its hosts.

    :param wakes: its hosts must be usable while it is being started, for what it leases is woken
        there.
    """
    idle = _why_idle(holding, now, wakes)
    foreign = holding.project_id != project_id
    reason = idle or ('It belongs to another project.' if foreign else None)
    return Usability(id=holding.id, lease_id=holding.lease_id, project_id=holding.project_id,
                     active=idle is None, usable=reason is None, reason=reason)


def _why_idle(holding: Holding, now: records.Moment, wakes: bool) -> str | None:
    """Why nobody may use the reservation at `now`, in words; None where it may be used."""
    lease = f'Lease {holding.lease_id}'
    if holding.deleted_at is not None:
        return f'{lease} was deleted.'
    if holding.state == lifecycle.TERMINATED or holding.end <= now:
        return f'{lease} ended at {holding.end:%Y-%m-%d %H:%M:%S} UTC.'
    if holding.task in lifecycle.TEARDOWN:
        return f'{lease} is being ended.'
    if holding.state == lifecycle.PENDING and holding.task != 'start':
        return f'{lease} has not started; it starts at {holding.start:%Y-%m-%d %H:%M:%S} UTC.'
    if wakes and holding.task == 'start':
        return None
    if holding.state not in (lifecycle.PENDING, lifecycle.ACTIVE):
        return f'{lease} is in the state {holding.state.lower()}.'
    if holding.reservation_state == lifecycle.RESERVATION_PENDING:
        return f'{lease} is starting; this reservation is not ready yet.'
    if holding.reservation_state != lifecycle.RESERVATION_ACTIVE:
        return f'The reservation is in the state {holding.reservation_state}.'
    return None
