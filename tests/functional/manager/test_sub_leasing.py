# SPDX-License-Identifier: Apache-2.0
"""Sub-leases: another project has hosts of a lease for a time, and then they are returned."""
import uuid

import acts
import pytest
from support import builders

from climate import errors
from climate.db import sub_leases as stored
from climate.domain import lifecycle
from climate.domain import sub_leases
from climate.domain import transfers
from climate.manager.audit import comparison
from climate.manager.pools import flags

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
STUDENTS = 'students'


@pytest.fixture
def parent(manager):
    """A running lease of two hosts for eight hours."""
    manager.enrol(3)
    return manager.active(builders.hosts(2), end=NOON + hours(8))


def student():
    return builders.a_member('sue', STUDENTS)


def sub_lease(manager, lease, caller=None, **fields):
    """Create a sub-lease, by default of one host until the end of the lease."""
    if 'resources' not in fields:
        fields.setdefault('count', 1)
    return manager.client.create_sub_lease(
        caller or builders.a_member(), lease.id, str(uuid.uuid4()),
        sub_leases.SubLeaseRequest(**{'project': STUDENTS, 'name': 'lab', **fields}))


def running(manager, lease, **fields):
    return manager.expect(sub_lease(manager, lease, **fields), lifecycle.ACTIVE)


def boot(manager, lease, name='theirs', project=STUDENTS):
    """Boot a server with the reservation of a lease; return it, or None if no host takes it."""
    try:
        return manager.cloud.boot(project, name, {'reservation': lease.reservations[0].id})
    except errors.ClimateError:
        return None


def servers(manager):
    return sorted(server.name for server in manager.cloud.servers())


def host_of(manager, lease):
    """The service host of a lease with one host."""
    [host] = acts.aggregate(manager, lease).hosts
    return host


def usable_hosts(manager, lease, project):
    return set(manager.client.reservation_hosts(
        builders.an_admin(), lease.reservations[0].id, project).service_hosts)


def spans(manager, lease):
    """The hours after noon of all allocations of a lease, by host."""
    with manager.database.reader() as connection:
        rows = stored.own_rows(connection, [each.id for each in lease.reservations])
    by_host = {}
    for row in rows:
        by_host.setdefault(row.resource_id, []).append(
            tuple((moment - NOON) / hours(1) for moment in (row.start, row.end)))
    return sorted(by_host.values())


def test_a_project_uses_a_host_of_another_lease_until_its_sub_lease_ends(manager, parent):
    lease = running(manager, parent, end=NOON + hours(2))
    assert (lease.project_id, lease.parent_id) == (STUDENTS, parent.id)
    host = host_of(manager, lease)
    assert boot(manager, lease).host == host
    own = {boot(manager, parent, f'own{number}', 'demo').host for number in range(3)}
    assert host not in own
    assert usable_hosts(manager, parent, 'demo') == own
    assert usable_hosts(manager, lease, STUDENTS) == {host}
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(2) + minutes(1))
    assert servers(manager) == ['own0', 'own1', 'own2']
    assert acts.aggregate(manager, lease) is None
    assert usable_hosts(manager, parent, 'demo') == own | {host}
    assert manager.lease(parent).state == lifecycle.ACTIVE


def test_servers_of_the_parent_keep_running_on_a_host_that_is_sub_leased(manager, parent):
    for number in range(4):
        boot(manager, parent, f'own{number}', 'demo')
    lease = running(manager, parent, end=NOON + hours(2))
    assert boot(manager, lease) is not None
    manager.run_until(NOON + hours(3))
    assert servers(manager) == ['own0', 'own1', 'own2', 'own3']
    assert {server.status for server in manager.cloud.servers()} == {'ACTIVE'}
    manager.expect(parent, lifecycle.TERMINATED, NOON + hours(9))
    assert servers(manager) == []
    assert acts.is_clean(manager, 3)


def test_counted_hosts_without_servers_come_first(manager, parent):
    used = boot(manager, parent, 'own', 'demo').host
    assert host_of(manager, running(manager, parent)) != used


def test_the_time_of_a_host_is_divided_between_both_leases(manager, parent):
    lease = sub_lease(manager, parent, start=NOON + hours(2), end=NOON + hours(4))
    assert spans(manager, parent) == [[(0, 2), (4, 8)], [(0, 8)]]
    assert spans(manager, lease) == [[(2, 4)]]
    assert len(manager.lease(parent).reservations[0].resource_ids) == 2


def test_a_sub_lease_that_is_deleted_before_its_start_returns_all_of_its_time(manager, parent):
    lease = sub_lease(manager, parent, start=NOON + hours(2), end=NOON + hours(4))
    manager.client.delete_lease(student(), lease.id)
    manager.run()
    assert spans(manager, parent) == [[(0, 8)], [(0, 8)]]


def test_a_sub_lease_that_ends_early_returns_the_rest(manager, parent):
    lease = running(manager, parent)
    assert spans(manager, parent) == [[(0, 0)], [(0, 8)]]
    manager.clock.advance(hours(1))
    manager.change(lease, student(), end_now=True)
    assert spans(manager, parent) == [[(0, 8)], [(1, 8)]]
    manager.expect(lease, lifecycle.TERMINATED)


def test_a_sub_lease_of_a_future_lease_starts_with_it(manager):
    manager.enrol(2)
    parent = manager.book(builders.hosts(2), start=NOON + hours(1), end=NOON + hours(3))
    lease = sub_lease(manager, parent)
    assert (lease.start, lease.end) == (parent.start, parent.end)
    manager.run_until(NOON + hours(1) + minutes(1))
    assert manager.lease(lease).state == manager.lease(parent).state == lifecycle.ACTIVE
    assert boot(manager, lease) is not None
    manager.run_until(NOON + hours(3) + minutes(5))
    assert manager.lease(lease).state == manager.lease(parent).state == lifecycle.TERMINATED
    assert acts.is_clean(manager, 2)


def test_a_sub_lease_is_shortened_and_extended_inside_its_parent_only(manager, parent):
    lease = running(manager, parent, end=NOON + hours(4))
    manager.change(lease, student(), end=NOON + hours(2))
    assert spans(manager, parent) == [[(0, 0), (2, 8)], [(0, 8)]]
    other = sub_lease(manager, parent, project='third', start=NOON + hours(6),
                      resources=(str(manager.lease(lease).reservations[0].resource_ids[0]),))
    manager.change(lease, student(), end=NOON + hours(5))
    assert spans(manager, lease) == [[(0, 5)]]
    with pytest.raises(errors.SubLeaseRefused, match='until 2030-05-01 18:00 UTC at the latest'):
        manager.change(lease, student(), end=NOON + hours(7))
    with pytest.raises(errors.SubLeaseRefused, match='18:00'):
        manager.change(lease, student(), end=NOON + hours(7), dry_run=True)
    assert manager.client.latest_end(student(), lease.id).end == NOON + hours(6)
    with pytest.raises(errors.SubLeaseRefused, match='its start and its hosts'):
        manager.change(other, builders.a_member('tim', 'third'), start=NOON + hours(7))


def test_a_parent_is_not_shortened_below_its_sub_leases(manager, parent):
    lease = running(manager, parent, end=NOON + hours(4))
    with pytest.raises(errors.SubLeasesOpen, match=lease.id):
        manager.change(parent, end=NOON + hours(3))
    manager.change(parent, end=NOON + hours(4))
    assert spans(manager, parent) == [[(0, 0)], [(0, 4)]]
    manager.run_until(NOON + hours(4) + minutes(5))
    assert manager.lease(lease).state == manager.lease(parent).state == lifecycle.TERMINATED
    assert acts.is_clean(manager, 3)


def test_a_parent_is_extended_with_its_sub_leased_hosts(manager, parent):
    lease = running(manager, parent)
    manager.change(parent, end=NOON + hours(9))
    assert spans(manager, parent) == [[(0, 0), (8, 9)], [(0, 9)]]
    assert manager.lease(lease).end == NOON + hours(8)


def test_a_future_parent_is_extended_with_its_sub_leased_hosts(manager):
    manager.enrol(3)
    parent = manager.book(builders.hosts(2), start=NOON + hours(1), end=NOON + hours(3))
    lease = sub_lease(manager, parent, end=NOON + hours(2))
    manager.change(parent, end=NOON + hours(4))
    assert spans(manager, parent) == [[(1, 1), (2, 4)], [(1, 4)]]
    with pytest.raises(errors.SubLeasesOpen, match='another start'):
        manager.change(parent, start=NOON + hours(2))
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(1) + minutes(1))
    manager.run_until(NOON + hours(5))
    assert acts.is_clean(manager, 3)


def test_a_parent_is_not_extended_into_the_lease_of_another_project(manager, parent):
    running(manager, parent)
    manager.book(builders.hosts(2), start=NOON + hours(8), end=NOON + hours(9))
    with pytest.raises(errors.NotEnough):
        manager.change(parent, end=NOON + hours(9))
    assert spans(manager, parent) == [[(0, 0)], [(0, 8)]]


def test_a_parent_is_extended_after_its_sub_leases(manager, parent):
    running(manager, parent, end=NOON + hours(2))
    manager.run_until(NOON + hours(3))
    assert spans(manager, parent) == [[(0, 8)], [(2, 8)]]
    manager.change(parent, end=NOON + hours(9))
    assert spans(manager, parent) == [[(0, 9)], [(2, 9)]]


def test_a_parent_keeps_hosts_that_are_sub_leased(manager, parent):
    lease = running(manager, parent, end=NOON + hours(4))
    [host_id] = lease.reservations[0].resource_ids
    with pytest.raises(errors.SubLeasesOpen, match='"lab"'):
        manager.client.swap_resource(builders.a_member(), parent.id, str(host_id))
    with pytest.raises(errors.SubLeasesOpen, match='"lab"'):
        manager.change_reservation(parent, min=1, max=1)
    with pytest.raises(errors.SubLeaseRefused, match='not swapped'):
        manager.client.swap_resource(student(), lease.id, str(host_id))


@pytest.mark.parametrize('ends', [
    lambda manager, parent: manager.change(parent, end_now=True),
    lambda manager, parent: manager.delete(parent)], ids=['end', 'delete'])
def test_the_end_of_a_parent_ends_its_sub_leases_first(manager, parent, ends):
    now, later = running(manager, parent, end=NOON + hours(2)), sub_lease(
        manager, parent, start=NOON + hours(3))
    boot(manager, now)
    boot(manager, parent, 'own', 'demo')
    manager.clock.advance(hours(1))
    lost = manager.client.preview_deletion(builders.a_member(), parent.id)
    assert sorted(loss.name for loss in lost) == ['lab', 'lab', 'own', 'theirs']
    ends(manager, parent)
    manager.run_until(NOON + hours(1) + minutes(5))
    assert {manager.lease(each).state for each in (parent, now, later)} == {lifecycle.TERMINATED}
    assert 'end early' in acts.history(manager, now)
    assert servers(manager) == []
    assert acts.is_clean(manager, 3)


def test_a_future_parent_is_deleted_with_its_sub_leases(manager):
    manager.enrol(1)
    parent = manager.book(start=NOON + hours(1), end=NOON + hours(3))
    lease = sub_lease(manager, parent)
    manager.delete(parent)
    manager.run_until(NOON + minutes(1))
    assert manager.lease(parent).deleted_at is not None
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert spans(manager, parent) == spans(manager, lease) == []


def test_two_sub_leases_follow_each_other_on_a_host(manager, parent):
    first = running(manager, parent, end=NOON + hours(2))
    boot(manager, first)
    host = str(first.reservations[0].resource_ids[0])
    second = sub_lease(manager, parent, project='third', resources=(host,),
                       start=NOON + hours(2), end=NOON + hours(3))
    manager.run_until(NOON + hours(2) + minutes(2))
    assert manager.lease(first).state == lifecycle.TERMINATED
    assert manager.lease(second).state == lifecycle.ACTIVE
    assert boot(manager, second, 'other', 'third') is not None


@pytest.mark.parametrize(('fields', 'field'), [
    ({'project': 'demo'}, 'project'), ({'end': NOON + hours(9)}, 'end'),
    ({'start': NOON - hours(1)}, 'start'), ({'resources': ('nothing',)}, 'resources'),
    ({'start': NOON + hours(3), 'end': NOON + hours(3)}, 'end'),
])
def test_a_wrong_field_is_refused_by_its_name(manager, parent, fields, field):
    with pytest.raises(errors.BadField) as caught:
        sub_lease(manager, parent, **fields)
    assert caught.value.kwargs['field'] == field


def test_a_project_that_does_not_exist_gets_no_sub_lease(manager, parent):
    manager.cloud.leave(project_id=STUDENTS)
    with pytest.raises(errors.BadField, match='Keystone has no project "students"'):
        sub_lease(manager, parent)


def test_a_sub_lease_gets_only_hosts_that_are_free_in_its_parent(manager, parent):
    lease = sub_lease(manager, parent)
    [name] = manager.core.resource_names.of(lease.reservations[0].resource_ids).split()[:1]
    with pytest.raises(errors.BadField, match='another sub-lease has it'):
        sub_lease(manager, parent, project='third', resources=(name,))
    with pytest.raises(errors.NotEnough, match='1 hosts'):
        sub_lease(manager, parent, project='third', count=2)
    free = manager.client.free_hosts(builders.a_member(), parent.id, None, None)
    assert len(free) == 1


def test_a_sub_lease_has_no_sub_leases(manager, parent):
    lease = running(manager, parent)
    with pytest.raises(errors.SubLeaseRefused, match='has no sub-leases'):
        sub_lease(manager, lease, student(), project='third')


def test_a_lease_that_is_over_or_has_no_hosts_has_no_sub_leases(manager, parent):
    flavor = manager.book(builders.instances(), end=NOON + hours(1))
    with pytest.raises(errors.SubLeaseRefused, match='physical:host'):
        sub_lease(manager, flavor)
    manager.expect(parent, lifecycle.TERMINATED, NOON + hours(9))
    with pytest.raises(errors.LeaseEnded):
        sub_lease(manager, parent)


def test_a_dry_run_writes_nothing(manager, parent):
    planned = sub_lease(manager, parent, dry_run=True)
    assert len(planned.reservations[0].resource_ids) == 1
    assert spans(manager, parent) == [[(0, 8)], [(0, 8)]]
    assert not manager.lease(parent).sub_leases


def test_both_projects_read_of_a_sub_lease(manager, parent):
    lease = running(manager, parent)
    assert 'sub_leased' in acts.history(manager, parent)
    assert 'sub_leased' in acts.history(manager, lease)
    [known] = manager.lease(parent).sub_leases
    assert (known.id, known.project_id, len(known.resource_ids)) == (lease.id, STUDENTS, 1)


@pytest.mark.parametrize('zone', ['where_none', 'always', 'never'])
def test_an_audit_finds_nothing_wrong_with_sub_leases(conf, manager, zone):
    conf.set_override('reservation_zone', zone, group='nova')
    manager.enrol(2)
    parent = manager.active(builders.hosts(2), end=NOON + hours(8))
    for number in range(2):
        boot(manager, parent, f'own{number}', 'demo')
    lease = running(manager, parent, end=NOON + hours(2))
    assert boot(manager, lease) is not None
    assert comparison.Auditor(manager.core).compare() == []
    flags.Flags(manager.core).refresh(manager.clock())
    assert not manager.lease(lease).degraded and not manager.lease(parent).degraded
    manager.run_until(NOON + hours(3))
    assert comparison.Auditor(manager.core).compare() == []
    assert servers(manager) == ['own0', 'own1']


def test_a_host_that_breaks_before_the_start_is_replaced_in_both_leases(manager):
    hosts = manager.enrol(2)
    parent = manager.book(start=NOON + hours(1), end=NOON + hours(5))
    lease = sub_lease(manager, parent, start=NOON + hours(2), end=NOON + hours(3))
    [broken] = parent.reservations[0].resource_ids
    acts.disable(manager, next(each for each in hosts if each.id == broken))
    manager.run_until(NOON + hours(1) + minutes(1))
    [other] = manager.lease(parent).reservations[0].resource_ids
    assert other != broken
    assert manager.lease(lease).reservations[0].resource_ids == (other,)
    assert spans(manager, parent) == [[(1, 2), (3, 5)]]
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(2) + minutes(1))
    assert boot(manager, lease) is not None
    manager.run_until(NOON + hours(6))
    assert {manager.lease(each).state for each in (parent, lease)} == {lifecycle.TERMINATED}


def test_a_sub_lease_counts_for_the_limits_of_its_project(manager, parent):
    manager.client.create_limit_book(builders.an_admin(), None, {'limits': [
        {'name': 'one', 'measure': 'resources', 'most': 1, 'projects': [STUDENTS],
         'resource_type': 'physical:host'}]})
    with pytest.raises(errors.LimitExceeded):
        sub_lease(manager, parent, count=2)
    sub_lease(manager, parent)


def test_a_lease_with_sub_leases_is_not_transferred(manager, parent):
    lease = running(manager, parent)
    for offered, owner in ((parent, builders.a_member()), (lease, student())):
        with pytest.raises(errors.TransferRefused, match='sub-lease'):
            manager.client.offer_transfer(owner, offered.id,
                                          transfers.TransferRequest('third'))
