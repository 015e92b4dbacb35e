# SPDX-License-Identifier: Apache-2.0
"""Invariants of the cloud, compared with the allocations after each step."""
import collections

import model_types
import model_world

from climate.domain import audit
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import maintenance_windows
from climate.domain.clearing import plans
from climate.plugins import sleepable
from climate.plugins.compute import capacity

_FREEPOOL = 'freepool'
# What is closed for a sleep or a maintenance is judged elsewhere.
_OURS = (sleepable.REASON, maintenance_windows.REASON)


def check(cloud, recorded, booted_for, strangers=()):
    """Check that all invariants of the cloud hold.

    :param booted_for: {server id: the id of the reservation it was booted for}.
    :param strangers: ids of the servers of others; an administrator may have forced them there.
    """
    # Being lent makes no difference.
    aggregates = [each for each in cloud.aggregates() if each.name != model_world.LENT_AGGREGATE]
    no_host_is_handed_out_twice(aggregates)
    free_hosts_are_in_the_freepool(aggregates, recorded)
    left = cloud.leftovers()
    nothing_is_there_that_no_lease_owns(aggregates, left, recorded)
    nobody_uses_what_is_staged(aggregates, left, recorded)
    flavors_are_as_they_were_leased(left, recorded)
    inside = {host for each in aggregates for host in each.hosts}
    nobody_is_on_the_hosts_of_others(
        [each for each in cloud.servers() if each.host in inside and each.id not in strangers],
        recorded, {**booted_for, **model_types.servers_of(cloud)})


def no_host_is_handed_out_twice(aggregates):
    """A host in the zone of one reservation is in no aggregate of another."""
    inside = collections.defaultdict(list)
    for each in aggregates:
        for host in each.hosts:
            inside[host].append(each)
    for host, found in inside.items():
        leased = [each.name for each in found if each.name != _FREEPOOL]
        zoned = [each.name for each in found if each.zone]
        assert not zoned or leased == zoned, f'{host} is in the aggregates {leased}'


def free_hosts_are_in_the_freepool(aggregates, recorded):
    """Nobody can come to a host that may be leased at any moment."""
    pooled = {host for each in aggregates if each.name == _FREEPOOL for host in each.hosts}
    for each in recorded.hosts():
        assert each.name in pooled or each.held_by is not None or not each.reservable, (
            f'{each} may be leased, and is not in the freepool.')


def nothing_is_there_that_no_lease_owns(aggregates, left, recorded):
    """Objects made for a reservation are deleted before the reservation is marked as over."""
    made = [each.name for each in aggregates] + [row[0] for row in left['flavors']]
    made += [row[0].removeprefix(capacity.CLASS_PREFIX).replace('_', '-').lower()
             for row in left['resource_classes']]
    for name in filter(audit.is_id, made):
        owner = recorded.reservations.get(name)
        assert owner is not None, f'The cloud has something of {name}, and no lease owns it.'
        assert owner.state != lifecycle.RESERVATION_DELETED, (
            f'{owner} is over, and the cloud has something of it: {left}')
    every_server_group_is_accounted_for(left, recorded)


def nobody_uses_what_is_staged(aggregates, left, recorded):
    """Before its start was tried, an aggregate has no hosts and nobody may use a flavor."""
    waiting = {each.id for each in recorded.reservations.values() if not any(
        event.kind in (event_kinds.START, event_kinds.ACQUIRE) and event.claim_no > 0
        for event in recorded.events.get(each.lease_id, ()))}
    for each in aggregates:
        assert each.name not in waiting or not each.hosts, f'{each} is of a lease to come.'
    for flavor_id, project_id in left['flavor_access']:
        assert flavor_id not in waiting, f'{project_id} may use {flavor_id} of a lease to come.'


def flavors_are_as_they_were_leased(left, recorded):
    """The flavor of a running lease of sizes has these sizes."""
    for flavor in left['flavors']:
        owner = recorded.reservations.get(flavor[0])
        if owner is not None and owner.state == lifecycle.RESERVATION_ACTIVE and (
                'memory_mb' in owner.request):
            sizes = tuple(owner.request[name] for name in ('vcpus', 'memory_mb', 'disk_gb'))
            assert flavor[2:5] == sizes, f'{flavor} is not of {sizes}.'


def every_server_group_is_accounted_for(left, recorded):
    """One is there as long as its lease, or its request; it goes at last, with the trust."""
    asked = {each.reservation_id for each in recorded.early_creations}
    for row in left['server_groups']:
        reservation_id = row[1].removeprefix(capacity.NAME_PREFIX)
        if not audit.is_id(reservation_id) or reservation_id in asked:
            continue
        owner = recorded.reservations.get(reservation_id)
        assert owner is not None, f'{row} is of no reservation, and of no request.'
        dropped = [each for each in recorded.events.get(owner.lease_id, ())
                   if each.kind == event_kinds.DROP_TRUST]
        assert owner.state != lifecycle.RESERVATION_DELETED or not dropped or any(
            each.status != lifecycle.EVENT_DONE for each in dropped), (
            f'{owner} is over, and {row} is there.')


def nobody_is_on_the_hosts_of_others(servers, recorded, booted_for):
    """On a host of the pool are servers of reservations that are not over, and of no other.

    :param servers: those on hosts that are in the freepool, or in the aggregate of a reservation.
    """
    pooled = {each.name: each for each in recorded.hosts() if each.withdrawn_at is None}
    leasing = {each.leased_id: each.id for each in recorded.reservations.values()
               if each.leased_id is not None}
    for server in servers:
        host = pooled.get(server.host)
        if host is None or server.task == 'deleting':
            continue
        # A server that was booted for one lease may be leased by itself in another.
        owners = {booted_for.get(server.id), leasing.get(server.id)} - {None}
        assert owners, f'{server} is of nobody, and on {host}.'
        states = {recorded.reservations[owner].state for owner in owners}
        assert states != {lifecycle.RESERVATION_DELETED}, f'{server} of {owners} is on {host} yet.'
        if host.held_by is not None and _has_it_all(recorded, host.held_by):
            assert host.held_by in owners, f'{server} of {owners} is on {host}.'


def nobody_else_suffers(cloud, recorded, strangers, disabled):
    """A clearing loses no server of others, and keeps what an administrator did to a service.

    :param strangers: ids of the servers of others that their users have not deleted.
    :param disabled: {service host: why an administrator has disabled it}.
    """
    servers = {each.id: each for each in cloud.servers()}
    for server_id in strangers:
        server = servers.get(server_id)
        assert server and server.task != 'deleting' and server.host, f'{server} was lost.'
    leases = {key: each.state for key, each in recorded.leases.items()}
    for each in cloud.compute_services():
        if each.host in disabled:
            assert (each.enabled, each.reason) == (False, disabled[each.host]), (
                f'{each}: an administrator has disabled it.')
        elif not each.enabled and not each.reason.startswith(_OURS):
            lease_id = each.reason.removeprefix(plans.FENCE_PREFIX)
            assert leases.get(lease_id) == lifecycle.ACQUIRING or _is_being_deleted(
                recorded, lease_id), f'{each}, and {leases.get(lease_id)}'


def _is_being_deleted(recorded, lease_id):
    events = recorded.events.get(lease_id, ())
    return any(each.kind == event_kinds.DELETE and each.status != lifecycle.EVENT_DONE
               for each in events)


def _has_it_all(recorded, reservation_id):
    """True where the reservation runs, and nothing is being done about that."""
    reservation = recorded.reservations[reservation_id]
    return (reservation.state == lifecycle.RESERVATION_ACTIVE
            and recorded.leases[reservation.lease_id].state == lifecycle.ACTIVE
            and recorded.leases[reservation.lease_id].task is None)
