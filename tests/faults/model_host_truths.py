# SPDX-License-Identifier: Apache-2.0
"""Invariants of hosts that fail, sleep, or have maintenance."""
import collections
import dataclasses

import sqlalchemy as sa

from climate.cloud.simulated import storage_services
from climate.db import tables
from climate.domain import health
from climate.domain import lifecycle
from climate.domain import maintenance_windows
from climate.domain import sleep
from climate.plugins import sleepable

#: The states of power in which a host may be off, or closed for its sleep.
_OFF = (*sleep.SLEEPING, sleep.FAILED)


@dataclasses.dataclass(frozen=True)
class Seen:
    """The hosts, windows and services, beside the recorded leases.

    :ivar power: {resource id: state}; what is absent is awake.
    :ivar windows: {id: the row of a window of maintenance}.
    :ivar maintained: {maintenance id: {resource id}}.
    :ivar computes: {name of a host: its Compute}.
    :ivar storage: {service host: the Service of the back ends there}.
    """

    power: dict
    windows: dict
    maintained: dict
    computes: dict
    storage: dict

    def open_windows(self):
        """Return the rows of the windows that are not over."""
        return [each for each in self.windows.values() if each.state != maintenance_windows.DONE]


def look(database, cloud):
    """Return what there is now, as a Seen."""
    maintained = collections.defaultdict(set)
    with database.reader() as connection:
        power = {row.resource_id: row.state for row in connection.execute(
            sa.select(tables.POWER_STATES))}
        windows = {row.id: row for row in connection.execute(
            sa.select(tables.MAINTENANCE_WINDOWS))}
        for row in connection.execute(sa.select(tables.MAINTENANCE_RESOURCES)):
            maintained[row.maintenance_id].add(row.resource_id)
    with cloud.state() as connection:
        storage = {each.host: each for each in storage_services.every(connection)
                   if each.binary == storage_services.BINARY}
    return Seen(power, windows, maintained,
                {each.host: each for each in cloud.compute_services()}, storage)


def check(recorded, before, seen, seen_before, enabled_by_hand=()):
    """Check all invariants.

    :param before: what was recorded at the last look; `seen_before` likewise. None: there was none.
    :param enabled_by_hand: names of hosts that an administrator has enabled.
    """
    what_runs_is_awake(recorded, seen)
    what_is_kept_free_is_kept_for_something(recorded, seen)
    what_is_closed_is_closed_for_something(recorded, seen)
    storage_that_is_closed_sleeps(recorded, seen)
    if before is not None:
        what_starts_works(recorded, before, seen, seen_before)
        what_is_maintained_is_closed(recorded, seen, seen_before, enabled_by_hand)


def _running(recorded):
    """Return {reservation id: [its Resources]} of what runs, and nothing is done about it."""
    found = collections.defaultdict(list)
    for each in recorded.hosts():
        if each.held_by is None:
            continue
        reservation = recorded.reservations[each.held_by]
        lease = recorded.leases[reservation.lease_id]
        if (reservation.state == lifecycle.RESERVATION_ACTIVE and lease.task is None
                and lease.state == lifecycle.ACTIVE):
            found[each.held_by].append(each)
    return found


def what_runs_is_awake(recorded, seen):
    """A host with a running lease neither sleeps, nor falls asleep, nor wakes up."""
    for reservation_id, hosts in _running(recorded).items():
        for each in hosts:
            state = seen.power.get(each.id)
            assert state not in sleep.SLEEPING, f'{reservation_id} runs on {each}, which is {state}'


def what_starts_works(recorded, before, seen, seen_before):
    """Leases have not started on a host that was out of order, or off, all the time.

    What a lease lacks, it says.
    """
    known = {each.id: each for each in before.hosts()}
    was_running = _running(before)
    for reservation_id, hosts in _running(recorded).items():
        reservation = recorded.reservations[reservation_id]
        if reservation_id in was_running or reservation_id not in before.reservations or (
                reservation.missing_resources
                or before.reservations[reservation_id].state == lifecycle.RESERVATION_ACTIVE):
            continue
        for each in hosts:
            was = known.get(each.id, each)
            assert {each.health_state, was.health_state} != {health.OUT_OF_ORDER}, (
                f'{reservation_id} started on {each}, which is out of order.')
            computes = [some.computes.get(each.name) for some in (seen, seen_before)]
            assert any(one is None or one.up for one in computes), (
                f'{reservation_id} started on {each}, which is off.')


def what_is_kept_free_is_kept_for_something(recorded, seen):
    """Leases are kept off a host because it is not well, or for a maintenance to come."""
    for given in recorded.allocations:
        resource = recorded.resources[given.resource_id]
        if given.reservation_id == health.block_of(resource.id):
            assert resource.health_state != health.WELL, f'{given} is of a host that is well.'
        elif given.reservation_id in seen.windows:
            window = seen.windows[given.reservation_id]
            assert resource.id in seen.maintained[window.maintenance_id], given


def what_is_closed_is_closed_for_something(recorded, seen):
    """A host closed for a sleep sleeps; a host closed for a maintenance has one."""
    hosts = {each.name: each for each in recorded.hosts() if each.withdrawn_at is None}
    for compute in seen.computes.values():
        if compute.enabled or compute.reason is None:
            continue
        if compute.reason == sleepable.REASON:
            state = seen.power.get(hosts[compute.host].id) if compute.host in hosts else None
            assert state in _OFF, f'{compute} is closed, and its host is {state}.'
        elif compute.reason.startswith(maintenance_windows.REASON):
            window = seen.windows.get(compute.reason.split(' ')[-1])
            assert window is not None and window.state in maintenance_windows.TOUCHED, (
                f'{compute} is closed for ever: {window}')


def storage_that_is_closed_sleeps(recorded, seen):
    """A storage service that Climate has closed sleeps."""
    for each in recorded.resources.values():
        if each.pool != 'backend' or each.withdrawn_at is not None:
            continue
        service = seen.storage[storage_services.service_host(each.name)]
        if not service.enabled and service.reason == sleepable.REASON:
            state = seen.power.get(each.id)
            assert state in _OFF, f'{service} is closed, and {each.name} is {state}.'


def what_is_maintained_is_closed(recorded, seen, seen_before, enabled_by_hand=()):
    """Nova starts nothing on a host while it is maintained."""
    for window in _at_work(seen) & _at_work(seen_before):
        for key in seen.maintained[seen.windows[window].maintenance_id]:
            host = recorded.resources[key]
            compute = seen.computes.get(host.name)
            assert (compute is None or not compute.enabled or host.withdrawn_at is not None
                    or seen.power.get(key) in sleep.SLEEPING
                    or host.name in enabled_by_hand), f'{compute} is open during {window}.'


def _at_work(seen):
    return {key for key, each in seen.windows.items() if each.state == maintenance_windows.RUNNING}


def those_on_sick_hosts_know(recorded, told, now, ahead):
    """The owner of a lease that starts soon on a host that is not well was notified.

    :param told: the ids of the leases whose owners were notified.
    :param ahead: the timedelta that counts as soon.
    """
    bad = {each.id for each in recorded.hosts() if each.withdrawn_at is None
           and each.lent_to is None and each.health_state != health.WELL}
    for given in recorded.allocations:
        reservation = recorded.reservations.get(given.reservation_id)
        if reservation is None or given.released_at is not None or given.resource_id not in bad:
            continue
        lease = recorded.leases[reservation.lease_id]
        if (lease.state == lifecycle.PENDING and lease.task is None and lease.deleted_at is None
                and now < lease.start <= now + ahead):
            assert lease.id in told, f'{lease} starts on a sick host, and nobody was notified.'


def told_of_sick_hosts(database, what):
    """Return the ids of the leases whose history says that."""
    with database.reader() as connection:
        return set(connection.execute(sa.select(tables.HISTORY.c.lease_id).where(
            tables.HISTORY.c.what == what)).scalars())


def nobody_waits_for_a_sleeper(recorded, seen, now, since, patience):
    """A lease does not wait for hosts that could be woken in time.

    :param since: the moment from which nothing failed any more.
    :param patience: how long all may take, as a timedelta.
    """
    for given in recorded.allocations:
        reservation = recorded.reservations.get(given.reservation_id)
        if reservation is None or given.released_at is not None or (
                seen.power.get(given.resource_id) not in sleep.SLEEPING):
            continue
        lease = recorded.leases[reservation.lease_id]
        assert not (lease.state == lifecycle.PENDING and lease.deleted_at is None
                    and lease.start > since + patience and lease.start + patience < now), (
            f'{lease} waits for host {given.resource_id}, which sleeps.')
