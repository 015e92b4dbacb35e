# SPDX-License-Identifier: Apache-2.0
"""The conversion of what Blazar left: states after a crash, and what cannot be kept."""
import datetime

import pytest

from climate.domain import event_kinds
from climate.domain import lifecycle

NAMED = "WHERE name = 'l-host-active'"
RESERVED = f'WHERE lease_id IN (SELECT id FROM leases {NAMED})'


def lease_of(conversion_, name='l-host-active'):
    return next((imported for imported in conversion_.leases if imported.lease.name == name), None)


@pytest.mark.parametrize(('status', 'state'), [
    ('CREATING', lifecycle.PENDING), ('STARTING', lifecycle.PENDING),
    ('UPDATING', lifecycle.ACTIVE), ('TERMINATING', lifecycle.ACTIVE),
    ('DELETING', lifecycle.ACTIVE), ('ERROR', lifecycle.ERROR)])
def test_a_status_that_a_crash_left_is_continued(blazar, converted, status, state, manager):
    blazar.execute(f'UPDATE leases SET status = ? {NAMED}', status)
    lease = lease_of(converted()).lease
    assert lease.state == state
    [end] = [event for event in lease.events if event.kind == event_kinds.END]
    assert end.status == lifecycle.EVENT_UNDONE
    assert end.due_at == (manager.clock() if status == 'DELETING' else lease.end)


def test_a_lease_without_an_end_event_gets_one(blazar, converted):
    blazar.execute(f'DELETE FROM events {RESERVED}')
    [end] = lease_of(converted()).lease.events
    assert (end.kind, end.at) == (event_kinds.END, lease_of(converted()).lease.end)


def test_an_event_without_a_time_is_no_event(blazar, converted):
    blazar.execute(f"UPDATE events SET time = NULL {RESERVED} AND event_type = 'start_lease'")
    assert [event.kind for event in lease_of(converted()).lease.events] == [event_kinds.END]


def test_a_pending_lease_without_a_start_event_gets_one(blazar, converted):
    blazar.execute("DELETE FROM events WHERE event_type = 'start_lease'")
    lease = lease_of(converted(), 'l-host-pending').lease
    start = lease.event(event_kinds.START)
    assert (start.at, start.due_at, start.status) == (
        lease.start, lease.start, lifecycle.EVENT_UNDONE)


def test_a_lease_whose_creation_crashed_ends_at_once(blazar, converted, manager):
    pending = "WHERE name = 'l-host-pending'"
    blazar.execute(f"UPDATE leases SET status = 'CREATING' {pending}")
    blazar.execute(f'DELETE FROM events WHERE lease_id IN (SELECT id FROM leases {pending})')
    lease = lease_of(converted(), 'l-host-pending').lease
    assert lease.event(event_kinds.END).due_at == manager.clock()


@pytest.mark.parametrize('status', ['ACTIVE', 'TERMINATED'])
def test_a_lease_that_ended_in_the_minute_of_its_start_is_imported(blazar, converted, status):
    blazar.execute(f'UPDATE leases SET status = ?, end_date = start_date {NAMED}', status)
    found = converted()
    lease = lease_of(found).lease
    assert lease.end - lease.start == datetime.timedelta(minutes=1)
    assert not any('l-host-active' in problem.what for problem in found.problems)


@pytest.mark.parametrize(('change', 'words'), [
    (f'UPDATE leases SET project_id = NULL {NAMED}', 'no owner'),
    (f"UPDATE leases SET status = 'ODD' {NAMED}", 'Its status is ODD'),
    (f'DELETE FROM reservations {RESERVED}', 'no reservations'),
    (f"UPDATE reservations SET resource_type = 'device' {RESERVED}", 'the type device'),
    ('DELETE FROM computehost_reservations', 'missing or malformed')])
def test_a_lease_that_cannot_be_imported_is_reported_with_the_way_out(
        blazar, converted, change, words):
    blazar.execute(change)
    found = converted()
    assert lease_of(found) is None
    problem = next(problem for problem in found.problems if 'l-host-active' in problem.what)
    assert words in problem.why
    assert (problem.happens, bool(problem.advice)) == ('It is left out.', True)


def test_criteria_that_climate_cannot_read_are_dropped_and_reported(blazar, converted):
    blazar.execute("UPDATE computehost_reservations SET resource_properties = '[\"==\", 1'")
    found = converted()
    [reservation] = lease_of(found).lease.reservations
    assert reservation.request['resource_properties'] == ''
    assert any('cannot be read' in problem.why for problem in found.problems)


def test_properties_get_the_composed_names_that_criteria_have(blazar, converted):
    blazar.execute("UPDATE resource_properties SET property_name = ?, private = 1 "
                   "WHERE property_name = 'gpu'", 'gro\u0308\u00dfe')
    hosts = [host for host in converted().resources if 'gr\u00f6\u00dfe' in host.properties]
    assert [(host.name, host.properties['gr\u00f6\u00dfe'], host.private) for host in hosts] == [
        ('compute2', 'A100', ('gr\u00f6\u00dfe',)), ('compute1', 'A100', ('gr\u00f6\u00dfe',))]


def test_two_hosts_of_one_name_become_one(blazar, converted):
    blazar.execute("UPDATE computehosts SET hypervisor_hostname = 'compute2' WHERE id = '4'")
    found = converted()
    assert [host.source_id for host in found.resources if host.pool == 'host'] == ['1', '2', '3']
    assert lease_of(found, 'l-host-pending').allocations[0].resource_id == ('host', '1')
    assert 'has the same name' in found.problems[0].why


def test_an_allocation_of_a_host_that_is_gone_is_reported(blazar, converted):
    blazar.execute("DELETE FROM computehosts WHERE id = '1'")
    found = converted()
    assert lease_of(found).allocations == ()
    assert any('not imported' in problem.why for problem in found.problems)


def test_required_addresses_have_a_need_of_their_own(blazar, converted):
    blazar.execute(
        "INSERT INTO required_floatingips (id, address, floatingip_reservation_id) "
        "SELECT 'x', '172.24.4.221', f.id FROM floatingip_reservations f "
        'JOIN reservations r ON r.id = f.reservation_id JOIN leases l ON l.id = r.lease_id '
        "WHERE l.name = 'l-fip-active'")
    [allocation] = lease_of(converted(), 'l-fip-active').allocations
    assert allocation.need == 'named'
