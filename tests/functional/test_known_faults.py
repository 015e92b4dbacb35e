# SPDX-License-Identifier: Apache-2.0
"""Faults that reservation services are known for, each shown not to be one of Climate's.

doc/source/contributor/known-faults.rst lists all of them, with those that are proved elsewhere.
A test of a property that both resource types of instances share runs for both.
"""
import collections
import concurrent.futures
import datetime
import json

import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import records

pytestmark = pytest.mark.usefixtures('rare_polls')

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
sized, flavored = builders.instances, builders.flavor_instances
NO = errors.CloudError(service='Nova', reason='no')


both = pytest.mark.parametrize('request_of', [sized, flavored])


@pytest.fixture
def enrol(manager):
    """callable(count): enrol hosts, each with capacity for eight instances."""
    def build(count, of=None):
        made = []
        for number in range(count):
            (of or manager).cloud.add_host(f'small-{number}', vcpus=2)
            made.append((of or manager).client.create_resource(
                builders.an_admin(), 'host', f'small-{number}', {}))
        return made
    return build


def change(manager, lease, **fields):
    """The lease after LeaseChanges, and after what follows from them."""
    manager.change(lease, **fields)
    manager.run()
    return manager.lease(lease)


def amount(lease, count):
    """The `reservations` of LeaseChanges that change the amount of the only one."""
    return (records.ReservationRequest(None, {'amount': count}, id=lease.reservations[0].id),)


@both
def test_a2_of_many_who_want_the_last_rooms_at_once_no_two_get_the_same(
        manager, enrol, request_of):
    enrol(1)

    def ask(_):
        try:
            return manager.book(request_of(3))
        except errors.NotEnough:
            return None
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        made = [lease for lease in threads.map(ask, range(8)) if lease is not None]
    assert len(made) == 2


@both
def test_a5_a_lease_that_fills_the_cloud_shrinks_is_prolonged_and_shortened(
        manager, enrol, request_of):
    enrol(1)
    lease = manager.active(request_of(8), end=NOON + hours(2))
    for fields in ({'end': NOON + hours(3)}, {'end': NOON + hours(1)},
                   {'reservations': amount(lease, 5)}, {'reservations': amount(lease, 8)}):
        lease = change(manager, lease, **fields)
        assert (lease.state, lease.reason) == (lifecycle.ACTIVE, None)
    assert len(lease.reservations[0].resource_ids) == 8


@both
def test_a5_a_pending_lease_that_fills_the_cloud_moves_over_its_own_time(
        manager, enrol, request_of):
    enrol(1)
    lease = manager.book(request_of(8), start=NOON + hours(1), end=NOON + hours(3))
    lease = change(manager, lease, start=NOON + hours(2), end=NOON + hours(4))
    assert lease.start == NOON + hours(2)


@pytest.mark.parametrize('kind', ['virtual:instance', 'flavor:instance'])
def test_a6_nobody_gives_a_reservation_an_identity_a_state_or_resources_by_a_body(
        api, manager, enrol, kind):
    enrol(1)
    forged = {'lease_id': 'other', 'status': 'active', 'state': 'active', 'project_id': 'other',
              'aggregate_id': 7, 'server_group_id': 'mine', 'missing_resources': True,
              'resources_changed': True, 'resource_ids': [1], 'binding': {'flavor_id': 'mine'}}
    wanted = {'resource_type': kind, 'amount': 1, 'affinity': None,
              **({'flavor_id': '1'} if kind == 'flavor:instance'
                 else {'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1})}
    made = api.post('/v1/leases', builders.a_body(start='2030-05-01 12:30', reservations=[
        {**wanted, **forged, 'id': 'chosen'}]))
    assert made.status_int == 201, made.body
    lease = made.json['lease']
    [reservation] = lease['reservations']
    changed = api.put(f'/v1/leases/{lease["id"]}', {'reservations': [
        {'id': reservation['id'], 'amount': 2, **forged}]})
    assert changed.status_int == 200, changed.body
    [after] = changed.json['lease']['reservations']
    for each in (reservation, after):
        assert each['id'] != 'chosen' and each['lease_id'] == lease['id']
        assert (each['status'], each['aggregate_id'], each['server_group_id']) == (
            'pending', None, None)
        assert not each['missing_resources'] and not each['resources_changed']
    assert after['amount'] == 2


def test_a10_as_many_as_are_free_are_given_whether_they_were_ever_used_or_not(manager, enrol):
    used, *_ = enrol(3)
    manager.book(sized(1), end=NOON + hours(1))
    later = {'start': NOON + hours(2), 'end': NOON + hours(3)}
    lease = manager.book(builders.hosts(1, 3), **later)
    assert len(lease.reservations[0].resource_ids) == 3
    assert used.id in lease.reservations[0].resource_ids
    manager.delete(lease)
    apart = manager.book(sized(3, affinity=False), **later)
    assert len(set(apart.reservations[0].resource_ids)) == 3


@both
def test_a11_a_lease_that_is_refused_or_fails_leaves_nothing_in_the_cloud(
        manager, enrol, request_of):
    enrol(2)
    before = manager.cloud.leftovers()
    with pytest.raises(errors.NotEnough):
        manager.book(request_of(1), request_of(99))
    assert manager.cloud.as_service().keystone.trusts() == []
    manager.cloud.fail('nova.allow_flavor', 99, NO)
    lease = manager.book(request_of(2, False))
    manager.expect(lease, lifecycle.ERROR, NOON + minutes(10))
    manager.delete(lease)
    manager.run_until(NOON + minutes(20))
    assert manager.cloud.leftovers() == before
    assert manager.cloud.as_service().keystone.trusts() == []


def test_a12_a_property_changes_on_a_host_with_instances_unless_one_asked_for_it(manager):
    [host] = manager.enrol(1, rack='7', row='1')
    admin = builders.an_admin()
    manager.book(flavored(1), sized(1, resource_properties='["==", "$rack", "7"]'))
    changed = manager.client.update_resource(admin, 'host', host.id, {'row': '2'})
    assert changed.properties == {'rack': '7', 'row': '2'}
    with pytest.raises(errors.PropertyInUse):
        manager.client.update_resource(admin, 'host', host.id, {'rack': '8'})


_MISTAKES = {
    'sizes of a running reservation': ({'vcpus': 3}, {}, errors.Conflict),
    'affinity of a running reservation': ({'affinity': True}, {}, errors.Conflict),
    'more than there is': ({'amount': 99}, {}, errors.NotEnough),
    'an unknown property': ({'resource_properties': '["==", "$nonsense", "1"]'}, {},
                            errors.ClimateError),
    'a before_end outside of the lease': ({}, {'before_end': NOON + hours(9)}, errors.BadRequest),
    'a word for a number': ({'amount': 'many'}, {}, errors.BadRequest),
    'another resource type': ({'min': 1, 'max': 1}, {}, errors.BadRequest),
}


@pytest.mark.parametrize('mistake', _MISTAKES)
def test_a14_a_mistake_of_a_user_leaves_a_running_lease_as_it_is(manager, enrol, mistake):
    request, fields, refusal = _MISTAKES[mistake]
    enrol(1)
    lease = manager.active(sized(2))
    if request:
        fields = {'reservations': (records.ReservationRequest(
            None, request, id=lease.reservations[0].id),)}
    with pytest.raises(refusal):
        change(manager, lease, **fields)
    manager.run()
    assert manager.lease(lease) == lease


def test_a14_a_flavor_that_is_changed_while_it_runs_is_refused_and_harms_nothing(
        manager, enrol):
    enrol(1)
    lease = manager.active(flavored(2))
    with pytest.raises(errors.Conflict):
        change(manager, lease, reservations=(records.ReservationRequest(
            None, {'flavor_id': '2'}, id=lease.reservations[0].id),))
    assert manager.lease(lease) == lease


@both
def test_a18_the_dates_of_what_has_begun_or_is_over_stay_also_within_the_minute(
        manager, enrol, request_of):
    enrol(1)
    lease = manager.active(request_of(1))
    for start in (NOON + datetime.timedelta(seconds=30), NOON + minutes(10)):
        with pytest.raises(errors.ClimateError):
            change(manager, lease, start=start)
    manager.clock.advance(datetime.timedelta(seconds=10))
    lease = change(manager, lease, end_now=True)
    assert lease.state == lifecycle.TERMINATED
    for fields in ({'end': NOON + hours(2)}, {'start': NOON + minutes(1)}):
        with pytest.raises(errors.LeaseEnded):
            change(manager, lease, **fields)
    assert manager.lease(lease).state == lifecycle.TERMINATED


@both
def test_a20_a_start_that_failed_is_not_told_as_one(manager, enrol, request_of):
    enrol(1)
    manager.cloud.fail('nova.allow_flavor', 99, NO)
    lease = manager.book(request_of(1))
    manager.expect(lease, lifecycle.ERROR, NOON + minutes(59))
    kinds = _told(manager)
    assert 'lease.error' in kinds
    assert 'lease.event.start_lease' not in kinds
    assert 'lease.event.before_end_lease' not in kinds


@both
def test_a21_a_lease_whose_start_failed_is_renamed_without_ado(manager, enrol, request_of):
    enrol(1)
    manager.cloud.fail('nova.allow_flavor', 99, NO)
    lease = manager.book(request_of(1))
    manager.run_until(NOON + minutes(10))
    assert change(manager, lease, name='another').name == 'another'


@both
def test_b_an_end_whose_servers_do_not_die_says_so_and_gives_nothing_back_before(
        conf, manager, enrol, request_of):
    conf.set_override('delete_seconds', 100000, group='simulated')
    conf.set_override('busy_seconds', 10, group='manager')
    manager = builders.Manager(conf, manager.database, manager.clock)
    enrol(1, of=manager)
    lease = manager.active(request_of(2))
    [reservation] = lease.reservations
    manager.cloud.boot('demo', 'one', flavor=reservation.id)
    manager.run_until(NOON + hours(1) + minutes(9))
    assert manager.lease(lease).task == 'end'
    assert _slots(manager) == [2]
    lease = manager.expect(lease, lifecycle.ERROR, NOON + hours(1) + minutes(30))
    assert 'being deleted' in lease.reason
    assert _slots(manager) == [2]


@both
def test_b_a_whole_host_is_handed_over_when_the_instances_before_it_are_gone(
        conf, manager, enrol, request_of):
    conf.set_override('delete_seconds', 60, group='simulated')
    manager = builders.Manager(conf, manager.database, manager.clock)
    enrol(1, of=manager)
    before = manager.active(request_of(2))
    manager.cloud.boot('demo', 'one', flavor=before.reservations[0].id)
    whole = manager.book(start=NOON + hours(1), end=NOON + hours(2))
    manager.expect(whole, lifecycle.PENDING, NOON + hours(1) + datetime.timedelta(seconds=30))
    assert len(manager.cloud.servers()) == 1
    manager.expect(whole, lifecycle.ACTIVE, NOON + hours(1) + minutes(3))
    assert manager.lease(before).state == lifecycle.TERMINATED


def _slots(manager):
    """Return the units of the classes of reservations in Placement, for each of them."""
    return [has['total'] for _, inventory in manager.cloud.leftovers()['inventories']
            for has in json.loads(inventory).values()]


def _told(manager):
    """{event type: how often} of the notifications that wait."""

    with manager.database.reader() as connection:
        return collections.Counter(connection.execute(
            sa.select(tables.OUTBOX.c.event_type)).scalars())
