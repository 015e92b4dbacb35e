# SPDX-License-Identifier: Apache-2.0
"""Leases under an enforcement service: a server that answers as coral-credits does."""
import dataclasses

import pytest
from support import builders
from support import credits_server

from climate import errors
from climate.db import enforcement_calls
from climate.domain import enforcement
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.leases import enforcement_reports

_GRANTED = {'VCPU': 1000, 'MEMORY_MB': 10_000_000, 'DISK_GB': 100_000}


class World:
    """A manager and the service that it asks."""

    def __init__(self, manager, credit, conf):
        self.manager = manager
        self.credit = credit
        self.conf = conf
        self._reports = enforcement_reports.EnforcementReports(manager.core)

    def report(self):
        """Report everything that is due."""
        for _ in range(3):
            self._reports.step(self.manager.clock())

    @property
    def left(self):
        """The VCPU hours of the account."""
        return self.credit.balance['VCPU']

    @property
    def actions(self):
        return [action for action, *_ in self.credit.calls]

    def calls(self):
        """The stored calls, as (kind, state)."""
        with self.manager.database.reader() as connection:
            return [(call.kind, call.state) for lease_id in sorted({
                lease_id for _, lease_id, _ in self.credit.calls})
                for call in enforcement_calls.of_lease(connection, lease_id)]

    def count(self):
        with self.manager.database.reader() as connection:
            return enforcement_calls.counts(connection)


@pytest.fixture
def url(clock):
    credit = credits_server.Credits(clock, **_GRANTED)
    with credits_server.serving(credit) as url:
        yield url, credit


@pytest.fixture
def world(conf, database, clock, url):
    address, credit = url
    for name, value in {'driver': 'http', 'dialect': 'coral', 'url': address,
                        'token': credits_server.TOKEN, 'timeout_seconds': 2,
                        'auth_url': 'http://keystone.example:5000/v3'}.items():
        conf.set_override(name, value, group='enforcement')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(2)
    return World(manager, credit, conf)


def _break(_action):
    raise credits_server.broken()


def _vcpus(world, lease):
    """The VCPUs of all hosts of a lease."""
    ids = [key for each in lease.reservations for key in each.resource_ids]
    return sum(each.capacity['vcpus'] for each in world.manager.client.get_resources(
        builders.an_admin(), 'host', ids))


def test_a_created_lease_is_charged_at_once(world):
    lease = world.manager.book(start=builders.at(2), end=builders.at(12))
    assert world.actions == ['check-create', 'create']
    assert world.left == 1000 - 10 * _vcpus(world, lease)
    assert world.calls() == [(enforcement.CREATE, enforcement.REPORTED)]


def test_a_refused_lease_is_not_written_and_names_the_reason_of_the_service(world):
    world.credit.balance['VCPU'] = 1.0
    with pytest.raises(errors.EnforcementRefused) as caught:
        world.manager.book(start=builders.at(2), end=builders.at(12))
    assert 'Insufficient VCPU credits available. Requested:' in caught.value.message
    assert 'InsufficientCredits' not in caught.value.message
    assert caught.value.status == 403
    assert world.left == 1.0
    assert world.count() == {}
    assert world.manager.client.list_leases(builders.an_admin(), records.LeaseQuery()) == []


def test_an_extension_is_charged_and_a_shorter_lease_returns_the_rest(world):
    lease = world.manager.book(start=builders.at(2), end=builders.at(12))
    vcpus = _vcpus(world, lease)
    world.manager.change(lease, end=builders.at(14))
    assert world.left == 1000 - 12 * vcpus
    world.manager.change(lease, end=builders.at(5))
    assert world.left == 1000 - 3 * vcpus
    assert world.actions == ['check-create', 'create', 'check-update', 'update', 'update']


def test_a_refused_extension_leaves_the_lease_as_it_was(world):
    lease = world.manager.book(start=builders.at(2), end=builders.at(12))
    world.credit.balance['VCPU'] = 1.0
    with pytest.raises(errors.EnforcementRefused):
        world.manager.change(lease, end=builders.at(14))
    assert world.manager.lease(lease).end == builders.at(12)
    assert world.calls() == [(enforcement.CREATE, enforcement.REPORTED)]


def test_a_lease_that_ends_early_pays_until_its_end(world):
    lease = world.manager.active(end=builders.at(10))
    vcpus = _vcpus(world, lease)
    world.manager.clock.advance(builders.minutes(90))
    world.manager.change(lease, end_now=True)
    world.manager.run()
    world.report()
    hours = (world.manager.lease(lease).end - lease.start).total_seconds() / 3600
    assert world.left == 1000 - -(-vcpus * hours // 1)
    assert world.count() == {}


def test_a_lease_that_ends_at_its_time_pays_no_more_if_that_is_reported_late(world):
    lease = world.manager.active(end=builders.at(3))
    vcpus = _vcpus(world, lease)
    world.manager.run_until(builders.at(3) + builders.minutes(1))
    world.manager.clock.advance(builders.hours(5))
    world.report()
    assert world.manager.lease(lease).state == lifecycle.TERMINATED
    assert world.left == 1000 - 3 * vcpus
    assert world.actions[-2:] == ['on-end', 'update']


def test_a_lease_that_is_deleted_before_its_start_pays_nothing(world):
    lease = world.manager.book(start=builders.at(2), end=builders.at(12))
    world.manager.delete(lease)
    world.report()
    assert world.left == 1000
    assert world.count() == {}


def test_each_attempt_of_a_call_has_the_same_id(world):
    lease = world.manager.book(start=builders.at(2), end=builders.at(12))
    world.manager.delete(lease)
    broken = ['on-end']

    def break_once(action):
        if action in broken:
            broken.remove(action)
            raise credits_server.broken()
    world.credit.before = break_once
    world.report()
    world.manager.clock.advance(builders.minutes(1))
    world.report()
    keys = {key for action, _, key in world.credit.calls if action == 'on-end'}
    assert world.actions.count('on-end') == 2
    assert len(keys) == 1
    assert world.left == 1000


def test_a_dry_run_is_asked_about_and_charged_nothing(world):
    request = builders.a_lease(start=builders.at(2), end=builders.at(12), dry_run=True)
    world.manager.create(request)
    assert world.actions == ['check-create']
    world.credit.balance['VCPU'] = 1.0
    with pytest.raises(errors.EnforcementRefused):
        world.manager.create(request)
    assert world.count() == {}


def test_an_offer_is_asked_about_and_its_lease_is_charged(world):
    offer = world.manager.hold(builders.a_lease(start=builders.at(2), end=builders.at(12)))
    assert world.actions == ['check-create']
    assert world.left == 1000
    lease = world.manager.take(offer)
    assert world.left == 1000 - 10 * _vcpus(world, lease)
    world.credit.balance['VCPU'] = 1.0
    with pytest.raises(errors.EnforcementRefused):
        world.manager.hold(builders.a_lease(start=builders.at(2), end=builders.at(12)))


@pytest.mark.usefixtures('rare_polls')
def test_a_waiting_lease_is_asked_about_when_it_gets_its_resources(world):
    first = world.manager.active(builders.hosts(2), end=builders.at(2))
    waiting = world.manager.create(builders.a_lease(
        builders.hosts(1), start=None, end=None, duration_seconds=3600,
        acquire=records.AcquireRequest('wait')))
    assert waiting.state == lifecycle.ACQUIRING
    before = world.actions.count('check-create')
    world.manager.run_until(builders.at(2) + builders.minutes(10))
    world.report()
    assert world.actions.count('check-create') == before + 1
    assert world.manager.lease(waiting).state in (lifecycle.ACTIVE, lifecycle.PENDING)
    assert set(world.credit.charges) == {first.id, waiting.id}


@pytest.mark.usefixtures('rare_polls')
def test_a_waiting_lease_that_is_refused_is_given_up_with_the_reason_of_the_service(world):
    world.manager.active(builders.hosts(2), end=builders.at(2))
    waiting = world.manager.create(builders.a_lease(
        builders.hosts(1), start=None, end=None, duration_seconds=3600,
        acquire=records.AcquireRequest('wait')))
    world.credit.balance['VCPU'] = 0.0
    world.manager.run_until(builders.at(2) + builders.minutes(10))
    given_up = world.manager.lease(waiting)
    assert given_up.state == lifecycle.ERROR
    assert 'Insufficient VCPU credits' in given_up.owner_reason


def test_a_lease_is_refused_while_the_service_is_silent(world):
    world.credit.before = _break
    with pytest.raises(errors.EnforcementUnavailable) as caught:
        world.manager.book(start=builders.at(2), end=builders.at(12))
    assert caught.value.status == 503
    assert '500' in caught.value.message
    assert '500' not in caught.value.owner_message
    assert world.count() == {}


def test_a_lease_that_is_allowed_without_an_answer_is_charged_later(world):
    world.conf.set_override('on_unavailable', 'allow', group='enforcement')
    world.credit.before = _break
    lease = world.manager.book(start=builders.at(2), end=builders.at(12))
    assert world.calls() == [(enforcement.CREATE, enforcement.DUE)]
    world.credit.before = lambda action: None
    world.manager.clock.advance(builders.minutes(1))
    world.report()
    assert world.left == 1000 - 10 * _vcpus(world, lease)
    assert world.calls() == [(enforcement.CREATE, enforcement.REPORTED)]


def test_a_lease_whose_charge_is_refused_after_the_booking_ends_with_that_reason(world):
    def spend_elsewhere(action):
        if action == 'create':
            world.credit.balance['VCPU'] = 1.0
    world.credit.before = spend_elsewhere
    with pytest.raises(errors.EnforcementRefused):
        world.manager.book(start=builders.at(2), end=builders.at(12))
    world.manager.run()
    world.report()
    [lease] = world.manager.client.list_leases(builders.an_admin(), records.LeaseQuery())
    assert lease.state == lifecycle.TERMINATED
    [why] = [line.why for line in world.manager.client.lease_history(
        builders.a_member(), lease.id) if line.what == 'end early']
    assert 'Insufficient VCPU credits' in why
    assert world.left == 1.0
    assert world.count() == {}
    # Its resources are free again.
    world.credit.balance['VCPU'] = 1000.0
    world.credit.before = lambda action: None
    world.manager.book(builders.hosts(2), start=builders.at(2), end=builders.at(12))


def test_an_extension_whose_charge_is_refused_after_the_booking_is_undone(world):
    lease = world.manager.active(end=builders.at(12))
    left = world.left

    def spend_elsewhere(action):
        world.credit.balance['VCPU'] = {'check-update': 1000.0, 'update': 1.0}[action]
    world.credit.before = spend_elsewhere
    with pytest.raises(errors.EnforcementRefused):
        world.manager.change(lease, end=builders.at(14))
    world.credit.balance['VCPU'] = left
    world.credit.before = lambda action: None
    assert world.manager.lease(lease).end == builders.at(12)
    world.report()
    lease = world.manager.lease(lease)
    assert (lease.state, lease.extended_count) == (lifecycle.ACTIVE, 0)
    assert world.left == left
    # A rule of extensions counts only those that stay.
    world.manager.change(lease, end=builders.at(13))
    assert world.manager.lease(lease).extended_count == 1


@pytest.fixture
def refused_late(world):
    """Have the service refuse to charge for each lease that it allowed before."""
    def spend_elsewhere(action):
        world.credit.balance['VCPU'] = {'create': 1.0}.get(action, 1000.0)
    world.credit.before = spend_elsewhere


@pytest.mark.usefixtures('refused_late')
@pytest.mark.parametrize('runs_between', [False, True])
def test_a_repeated_request_is_refused_as_the_first_one_was(world, runs_between):
    request = builders.a_lease(start=builders.at(2), end=builders.at(12), idempotency_key='once',
                               request_hash='same')
    with pytest.raises(errors.EnforcementRefused) as first:
        world.manager.create(request)
    if runs_between:
        world.manager.run()
        world.report()
    actions = world.actions
    with pytest.raises(errors.EnforcementRefused) as second:
        world.manager.create(request)
    assert (second.value.message, second.value.status) == (first.value.message, 403)
    assert world.actions == actions
    assert len(world.manager.client.list_leases(builders.an_admin(), records.LeaseQuery())) == 1


@pytest.mark.parametrize('is_refused', [True, False])
def test_a_request_that_is_repeated_before_the_charge_is_known_gets_the_same_answer(
        world, is_refused):
    request = builders.a_lease(start=builders.at(2), end=builders.at(12), idempotency_key='once',
                               request_hash='same')
    repeated = []

    def repeat(action):
        if action == 'create':
            if is_refused:
                world.credit.balance['VCPU'] = 1.0
            if not repeated:
                repeated.append(None)
                repeated.append(answer())

    def answer():
        try:
            return world.manager.create(request).id
        except errors.EnforcementRefused as error:
            return error.message
    world.credit.before = repeat
    first = answer()
    assert repeated == [None, first]
    assert ('refuses the lease' in first) == is_refused
    world.manager.run()
    world.report()
    assert len(world.credit.charges) == (not is_refused)
    [lease] = world.manager.client.list_leases(builders.an_admin(), records.LeaseQuery())
    assert (lease.ended_at is not None) == is_refused


def test_a_step_is_asked_about_and_charged(world):
    lease = world.manager.active(end=builders.at(2), while_free_seconds=3600)
    vcpus = _vcpus(world, lease)
    world.manager.run_until(builders.at(1))
    assert world.manager.lease(lease).end == builders.at(3)
    world.manager.clock.advance(builders.minutes(1))
    world.report()
    assert world.actions == ['check-create', 'create', 'check-update', 'update']
    assert world.left == 1000 - 3 * vcpus


def test_a_refused_step_ends_the_steps_and_the_owner_reads_why(world):
    lease = world.manager.active(end=builders.at(2), while_free_seconds=3600)
    world.credit.balance['VCPU'] = 1.0
    world.manager.run_until(builders.at(1))
    found = world.manager.lease(lease)
    assert (found.end, found.while_free_seconds) == (builders.at(2), None)
    [why] = [line.why for line in world.manager.client.lease_history(
        builders.a_member(), lease.id) if line.what == 'last step']
    assert 'It ends at 2030-05-01 14:00 UTC' in why
    assert 'Insufficient VCPU credits' in why
    world.manager.expect(lease, lifecycle.TERMINATED, builders.at(2))


@pytest.mark.proof
def test_a_step_waits_for_a_service_that_is_silent(world):
    lease = world.manager.active(end=builders.at(2), while_free_seconds=3600)
    world.credit.before = _break
    world.manager.run_until(builders.at(1) + builders.minutes(1))
    found = world.manager.lease(lease)
    assert (found.end, found.while_free_seconds) == (builders.at(2), 3600)
    world.credit.before = lambda action: None
    world.manager.run_until(builders.at(1.5))
    assert world.manager.lease(lease).end == builders.at(3)


def test_a_step_whose_charge_is_refused_afterwards_is_undone_and_ends_the_steps(world):
    lease = world.manager.active(end=builders.at(2), while_free_seconds=3600)
    left = world.left

    def spend_elsewhere(action):
        world.credit.balance['VCPU'] = {'update': 1.0}.get(action, 1000.0)
    world.credit.before = spend_elsewhere
    world.manager.run_until(builders.at(1))
    assert world.manager.lease(lease).end == builders.at(3)
    world.manager.clock.advance(builders.minutes(1))
    world.report()
    world.credit.balance['VCPU'] = left
    world.credit.before = lambda action: None
    world.report()
    found = world.manager.lease(lease)
    assert (found.end, found.while_free_seconds) == (builders.at(2), None)
    assert world.left == left


def test_a_lease_of_an_exempt_project_is_neither_asked_about_nor_reported(world):
    world.conf.set_override('exempt_projects', ['demo'], group='enforcement')
    lease = world.manager.book(start=builders.at(2), end=builders.at(12))
    world.manager.change(lease, end=builders.at(14))
    world.manager.delete(lease)
    world.report()
    assert world.credit.calls == []


def test_a_lease_made_before_the_service_was_used_is_reported_when_it_changes(world):
    world.conf.set_override('exempt_projects', ['demo'], group='enforcement')
    lease = world.manager.active(end=builders.at(4))
    world.conf.set_override('exempt_projects', [], group='enforcement')
    world.manager.clock.advance(builders.hours(1))
    world.manager.change(lease, end=builders.at(6))
    assert world.actions == ['check-create', 'create']
    hours = (builders.at(6) - world.manager.clock()).total_seconds() / 3600
    assert world.left == 1000 - -(-_vcpus(world, lease) * hours // 1)
    world.report()
    assert world.actions == ['check-create', 'create']


def test_a_swap_is_reported_without_a_question(world):
    lease = world.manager.active(end=builders.at(12))
    [before] = lease.reservations[0].resource_ids
    name = world.manager.client.get_resource(builders.an_admin(), 'host', before).name
    world.manager.client.swap_resource(builders.a_member(), lease.id, name)
    world.manager.run()
    world.report()
    assert world.actions == ['check-create', 'create', 'update']
    with world.manager.database.reader() as connection:
        [call] = enforcement_calls.of_lease(connection, lease.id)
    [allocation] = call.lease['reservations'][0]['allocations']
    assert allocation['id'] != str(before)


def test_a_question_of_a_request_that_died_is_withdrawn(world):
    lease = world.manager.book(start=builders.at(2), end=builders.at(12))
    with world.manager.database.writer() as connection:
        [known] = enforcement_calls.of_lease(connection, lease.id)
        enforcement_calls.add(connection, dataclasses.replace(
            known, call_id='dead', lease_id='of-a-dead-request', state=enforcement.ASKING))
    world.manager.clock.advance(enforcement_reports.AGE + builders.minutes(1))
    world.report()
    assert world.count().keys() == {enforcement.REPORTED}


def test_a_member_of_rest_1_0_reads_the_refusal_with_the_status_403(world):
    world.credit.balance['VCPU'] = 1.0
    api = builders.Api(world.conf, world.manager)
    answer = api.post('/v1/leases', builders.a_body(start='2030-05-01 14:00',
                                                    end='2030-05-01 23:00'), version=None)
    assert answer.status_int == 403
    assert 'Insufficient VCPU credits available' in answer.text
