# SPDX-License-Identifier: Apache-2.0
"""Leases of each type while a service of the cloud is down: late, never lost, never stuck."""
import dataclasses
import itertools
import logging

import acts
import pytest
from support import builders
from support import thinning

from climate import errors
from climate.cloud import call_guard
from climate.cloud.simulated import neutron
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.events import loop

NOON, hours, minutes, seconds = builders.NOON, builders.hours, builders.minutes, builders.seconds
TEMPLATE = {'heat_template_version': '2021-04-16',
            'resources': {'word': {'type': 'OS::Heat::RandomString'}}}
#: {resource type: (a request, its change or None)}.
TYPES = {
    'physical:host': ({'min': 1, 'max': 1}, {'min': 2, 'max': 2}),
    'virtual:instance': ({'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 1,
                          'affinity': False}, {'amount': 2}),
    'flavor:instance': ({'flavor_id': '1', 'amount': 1, 'affinity': None}, {'amount': 2}),
    'virtual:floatingip': ({'network_id': neutron.PUBLIC, 'amount': 1}, {'amount': 2}),
    'virtual:network': ({'subnet': '10.42.0.0/24', 'router': True,
                         'external_network': neutron.PUBLIC}, None),
    'virtual:volume': ({'size_gb': 10, 'on_end': 'delete'}, None),
    'virtual:stack': ({'template': TEMPLATE}, None),
    'virtual:cluster': ({'cluster_template_id': 'kubernetes', 'node_count': 1}, None),
}
SERVICES = ('nova', 'placement', 'neutron', 'cinder', 'heat', 'magnum', 'glance', 'keystone')


class Outage:
    """An outage of one service or of several, which begins and ends when a test says so.

    :ivar seen: whether a call met it.
    """

    def __init__(self, manager, *services):
        self._down, self.seen, self._error = services, False, errors.CloudUnreachable
        manager.cloud.faults.on_point = self._meet

    def of(self, *services, error=errors.CloudUnreachable):
        self._down, self.seen, self._error = services, False, error

    def _meet(self, name, when):
        service = name.partition('.')[0]
        if when == 'before' and service in self._down:
            self.seen = True
            raise self._error(service=service.capitalize(), reason='HTTP 500')


def resourceful(conf, database, clock):
    """Return a manager with resources of all pools."""
    found = builders.Manager(conf, database, clock)
    found.enrol(6)
    for pool, name, fields in (
            ('address', '172.24.4.210', {'network_id': neutron.PUBLIC}),
            ('address', '172.24.4.211', {'network_id': neutron.PUBLIC}),
            ('segment', 'physnet1:vlan:3000', {}), ('backend', 'storage@ssd#ssd', {})):
        found.client.create_resource(builders.an_admin(), pool, name, {}, fields)
    return found


@pytest.fixture
def manager(conf, database, clock):
    return resourceful(conf, database, clock)


def asked(kind, **more):
    """Return a ReservationRequest of a type."""
    return records.ReservationRequest(kind, TYPES[kind][0], **more)


def held(manager):
    """Return the names of the resources that a reservation holds."""
    return [each.name for pool in ('host', 'address', 'segment', 'backend')
            for each in manager.client.list_resources(builders.an_admin(), pool)
            if each.held_by is not None]


def _pass(manager, span):
    manager.run_until(manager.clock() + span)


@pytest.mark.proof
@pytest.mark.parametrize('kind', TYPES)
def test_a_lease_of_each_type_outlives_outages_of_each_service(manager, kind):
    outage, change = Outage(manager), TYPES[kind][1]
    before = manager.cloud.leftovers()
    met = set()
    for service in SERVICES:
        lease = manager.book(
            asked(kind), start=manager.clock() + hours(1), end=manager.clock() + hours(9))
        # It starts late, within the start window.
        _pass(manager, minutes(59))
        outage.of(service)
        _pass(manager, minutes(7))
        if outage.seen:
            met.add(service)
            assert manager.lease(lease).state == lifecycle.PENDING
        outage.of()
        _pass(manager, minutes(3))
        lease = manager.lease(lease)
        assert lease.state == lifecycle.ACTIVE, (service, lease.reason)
        if change is not None:
            manager.change(lease, reservations=acts.asked(lease.reservations[0], **change))
            outage.of(service)
            _pass(manager, minutes(7))
            outage.of()
            _pass(manager, minutes(3))
            lease = manager.lease(lease)
            assert (lease.state, lease.task, lease.reason) == (lifecycle.ACTIVE, None, None)
        # It ends late, however long the outage takes.
        outage.of(service)
        (manager.delete(lease) if service in ('nova', 'keystone') else acts.end(manager, lease))
        _pass(manager, hours(2))
        if outage.seen:
            met.add(service)
        outage.of()
        _pass(manager, minutes(5))
        assert manager.lease(lease).state == lifecycle.TERMINATED, (service, lease.reason)
        assert held(manager) == []
        assert manager.cloud.leftovers() == before, service
    assert met, 'No service is used.'


def _errors_of(caplog):
    return [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR]


@pytest.mark.parametrize('error', [errors.CloudUnreachable, errors.CloudError])
def test_an_outage_that_ends_by_itself_logs_no_error(manager, caplog, error):
    outage, start = Outage(manager), NOON + hours(1)
    for number in range(2):
        # One ends and the other one starts while all services are down.
        manager.book(
            *(asked(kind) for kind in ('physical:host', 'virtual:instance', 'virtual:volume')),
            start=NOON + number * hours(1), end=start + number * hours(1))
    _pass(manager, minutes(59))
    outage.of(*SERVICES, error=error)
    # A service that refuses everything for a minute, as one behind a wrong proxy, is an outage too.
    _pass(manager, minutes(2) + seconds(20))
    assert outage.seen
    outage.of()
    _pass(manager, minutes(5))
    states = {each.state for each in manager.client.list_leases(
        builders.a_member(), records.LeaseQuery())}
    assert states == {lifecycle.TERMINATED, lifecycle.ACTIVE}
    assert _errors_of(caplog) == []
    assert 'failed' in caplog.text


class Interrupted:
    """A database to which nothing can be written while it is down."""

    def __init__(self, database):
        self._database, self.down = database, False

    def __getattr__(self, name):
        return getattr(self._database, name)

    def writer(self):
        if self.down:
            raise errors.DatabaseUnreachable(retry_after=5)
        return self._database.writer()


def test_a_result_that_an_outage_of_the_database_loses_is_no_error(manager, caplog):
    database = Interrupted(manager.database)
    manager.event_loop = loop.EventLoop(dataclasses.replace(manager.core, database=database),
                                        'this manager', lambda work, claim: work(claim))
    lease = manager.book(end=NOON + hours(9))

    def break_off(name, when):
        database.down = database.down or (name, when) == ('nova.add_host', 'after')
    manager.cloud.faults.on_point = break_off
    manager.run()
    database.down, manager.cloud.faults.on_point = False, None
    assert f'Lease {lease.id}: the result of start_lease could not be stored' in caplog.text
    _pass(manager, minutes(2))
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert _errors_of(caplog) == []


def test_a_refusal_that_lasts_longer_than_an_outage_logs_an_error(manager, caplog):
    outage = Outage(manager)
    lease = manager.book(end=NOON + hours(9))
    outage.of('nova', error=errors.CloudError)
    _pass(manager, minutes(9))
    assert _errors_of(caplog) == []
    _pass(manager, minutes(5))
    message = _errors_of(caplog)[0]
    assert message.startswith(f'Lease {lease.id}: start_lease failed, it is tried again, but')
    assert message.endswith('Nova: HTTP 500')


def test_a_start_that_is_not_tried_again_logs_an_error(conf, database, clock, caplog):
    conf.set_override('heal_seconds', 0, group='manager')
    manager = resourceful(conf, database, clock)
    outage = Outage(manager)
    lease = manager.book(end=NOON + hours(9))
    outage.of('nova', error=errors.CloudError)
    _pass(manager, minutes(2))
    [message] = _errors_of(caplog)
    assert message.startswith(f'Lease {lease.id}: start_lease failed, it is not tried again: ')


@pytest.mark.proof
@pytest.mark.parametrize('service', thinning.few(['nova', 'heat', 'neutron', 'cinder'], 2))
def test_reservations_that_depend_on_each_other_start_all_after_an_outage(manager, service):
    outage = Outage(manager)
    lease = manager.book(
        asked('physical:host', label='hosts'), asked('virtual:network', label='net'),
        asked('virtual:volume', label='data', depends_on=('hosts',)),
        asked('virtual:stack', label='stack', depends_on=('hosts', 'net')),
        start=NOON + hours(1), end=NOON + hours(9))
    _pass(manager, minutes(59))
    outage.of(service)
    _pass(manager, minutes(9))
    assert manager.lease(lease).state == lifecycle.PENDING
    outage.of()
    _pass(manager, minutes(2))
    assert manager.lease(lease).state == lifecycle.ACTIVE, manager.lease(lease).reason


@pytest.mark.proof
def test_after_the_start_window_all_or_nothing_is_kept_and_nothing_stays(conf, manager):
    conf.set_override('outage_seconds', 300, group='manager')
    outage = Outage(manager)
    before = manager.cloud.leftovers()
    lease = manager.book(
        asked('physical:host', label='hosts'),
        asked('virtual:stack', label='stack', depends_on=('hosts',)), end=NOON + hours(9))
    outage.of('heat')
    _pass(manager, minutes(12))
    assert manager.lease(lease).end < NOON + minutes(12)
    assert manager.lease(lease).state != lifecycle.ACTIVE
    outage.of()
    _pass(manager, minutes(5))
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert (held(manager), manager.cloud.leftovers()) == ([], before)


def test_a_refusal_after_an_outage_is_tried_again_and_then_given_up(manager):
    outage = Outage(manager)
    lease = manager.book(asked('physical:host'), end=NOON + hours(9))
    outage.of('nova')
    _pass(manager, minutes(5))
    outage.of()
    manager.cloud.fail('nova.create_aggregate', 2, acts.NO)
    _pass(manager, minutes(1))
    assert manager.lease(lease).state == lifecycle.ACTIVE
    refused = manager.book(asked('physical:host'), end=NOON + hours(9))
    manager.cloud.fail('nova.create_aggregate', 99, acts.NO)
    _pass(manager, seconds(63))
    assert manager.lease(refused).state == lifecycle.ERROR


class Refusal:
    """Services that refuse to create anything, as because of a full quota."""

    def __init__(self, manager, *services):
        self._services = services
        manager.cloud.faults.on_point = self._meet

    def _meet(self, name, when):
        service, _, method = name.partition('.')
        if when == 'before' and service in self._services and method.startswith('create'):
            raise acts.NO


@pytest.mark.proof
@pytest.mark.parametrize('kind', TYPES)
def test_a_start_that_is_refused_for_a_day_leaves_nothing_held(manager, kind):
    before = manager.cloud.leftovers()
    lease = manager.book(asked(kind), start=NOON + hours(1), end=NOON + hours(24 * 300))
    Refusal(manager, *SERVICES)
    _pass(manager, hours(24))
    assert manager.lease(lease).state == lifecycle.ERROR
    _pass(manager, hours(3))
    lease = manager.lease(lease)
    assert (lease.state, lease.degraded) == (lifecycle.TERMINATED, False), lease.reason
    assert lease.end < manager.clock()
    assert (held(manager), manager.cloud.leftovers()) == ([], before)
    assert acts.history(manager, lease).count('start_lease given up') == 2
    # All that it had is free for others.
    manager.cloud.faults.on_point = None
    lease = manager.book(asked(kind), end=NOON + hours(48))
    _pass(manager, minutes(5))
    assert manager.lease(lease).state == lifecycle.ACTIVE


@pytest.mark.proof
def test_started_reservations_stay_when_the_others_are_given_back(
        conf, database, clock):
    conf.set_override('heal_most_seconds', 300, group='manager')
    manager = resourceful(conf, database, clock)
    lease = manager.book(
        asked('physical:host'), asked('virtual:stack'), asked('virtual:cluster'),
        end=NOON + hours(24 * 300))
    Refusal(manager, 'heat', 'magnum')
    _pass(manager, minutes(10))
    lease = manager.lease(lease)
    assert lease.state == lifecycle.ACTIVE
    assert [each.state for each in lease.reservations] == ['active', 'deleted', 'deleted']
    assert 'could not be started for too long' in acts.told(manager, lease)[-1].why
    assert len(held(manager)) == 1
    assert 'healed' not in acts.history(manager, lease)


@pytest.mark.proof
@pytest.mark.parametrize(('most', 'fault'), [(0, Refusal), (1200, Outage)])
def test_a_start_is_tried_on_without_a_limit_or_while_a_service_is_down(
        conf, database, clock, most, fault):
    conf.set_override('heal_most_seconds', most, group='manager')
    manager = resourceful(conf, database, clock)
    lease = manager.book(asked('virtual:stack'), end=NOON + hours(24 * 300))
    fault(manager, 'heat')
    _pass(manager, hours(2))
    assert manager.lease(lease).state == lifecycle.ERROR
    manager.cloud.faults.on_point = None
    _pass(manager, hours(1))
    assert manager.lease(lease).state == lifecycle.ACTIVE


@pytest.mark.parametrize('order', [
    pytest.param(acts.end, marks=pytest.mark.proof), builders.Manager.delete])
def test_an_end_that_is_refused_is_tried_with_growing_pauses_until_nothing_is_held(
        manager, order):
    lease = manager.active(end=NOON + hours(48))
    manager.cloud.fail('nova.delete_aggregate', 10_000, acts.NO)
    manager.clock.advance(minutes(1))
    order(manager, lease)
    tries = []
    while manager.clock() < NOON + hours(8):
        manager.run()
        kind = 'end_lease' if order is acts.end else 'delete_lease'
        tries.append(manager.clock())
        manager.clock.now = manager.lease(lease).event(kind).due_at
    pauses = [(after - at).total_seconds() for at, after in itertools.pairwise(tries)]
    assert pauses[:6] == [2, 4, 8, 16, 32, 60]
    assert pauses == sorted(pauses) and pauses[-1] > 300
    broken = manager.lease(lease)
    assert (broken.state, broken.task) == (lifecycle.ERROR, None)
    assert 'Nova: no' in broken.reason
    assert acts.news(manager).count('lease.error') == 1
    assert [each for each in acts.history(manager, lease) if 'given up' in each] == [
        f'{kind} given up']
    manager.cloud.fail('nova.delete_aggregate', 0, None)
    _pass(manager, minutes(30))
    assert manager.lease(lease).state == lifecycle.TERMINATED
    assert acts.is_clean(manager, 6)


def test_a_deletion_that_is_repeated_is_tried_at_once(manager):
    lease = manager.active(end=NOON + hours(48))
    manager.cloud.fail('nova.delete_aggregate', 10_000, acts.NO)
    manager.delete(lease)
    _pass(manager, hours(2))
    manager.cloud.fail('nova.delete_aggregate', 0, None)
    manager.delete(lease)
    manager.run()
    assert manager.lease(lease).deleted_at is not None


def test_a_request_that_needs_a_service_that_is_down_is_answered_with_its_name(conf, manager):
    outage, left = Outage(manager), []
    outage.of('heat')
    meet = manager.cloud.faults.on_point

    def watch(name, when):
        left.append(call_guard.seconds_left())
        meet(name, when)
    manager.cloud.faults.on_point = watch
    body = {'name': 'stack', 'end': '2030-05-01 13:00', 'reservations': [
        {'resource_type': 'virtual:stack', 'template': TEMPLATE}]}
    answer = builders.Api(conf, manager).post('/v1/leases', body, version='1.1')
    assert answer.status_int == 503, answer.text
    assert 'Heat is not available' in answer.text
    # The calls of one request have a limit of time together.
    assert left and all(0 < each <= conf.manager.cloud_answer_seconds for each in left)
    assert acts.trusts(manager) == []
