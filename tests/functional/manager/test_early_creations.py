# SPDX-License-Identifier: Apache-2.0
"""Objects that an answer names exist when it is sent, and are deleted if the request fails.

The object in these tests is the server group of instance capacity with an affinity.
"""
import acts
import pytest
from support import builders
from support import cloud_points
from support import crashing

from climate import errors
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.audit import comparison
from climate.manager.audit import repairs
from climate.manager.leases import early_creations

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
LATER = {'start': NOON + hours(2), 'end': NOON + hours(3)}
NO = errors.CloudError(service='Nova', reason='no')


def room(affinity=True, amount=2):
    return builders.instances(amount, affinity)


def groups(manager):
    """{id: (name, policy, project)} of the server groups in the cloud."""
    return {row[0]: row[1:] for row in manager.cloud.leftovers()['server_groups']}


def group_of(lease, place=0):
    return lease.reservations[place].binding.get('server_group_id')


@pytest.fixture
def pool(manager):
    manager.enrol(2)
    return manager


@pytest.mark.parametrize(('affinity', 'policy'), [(True, 'affinity'), (False, 'anti-affinity')])
@pytest.mark.parametrize('kind', ['virtual:instance', 'flavor:instance'])
def test_the_server_group_is_there_when_post_answers_and_goes_with_the_lease(
        pool, affinity, policy, kind):
    request = room(affinity) if kind == 'virtual:instance' else records.ReservationRequest(
        kind, {'flavor_id': '2', 'amount': 2, 'affinity': affinity})
    lease = pool.book(request, **LATER)
    [reservation] = lease.reservations
    expected = {group_of(lease): (f'reservation:{reservation.id}', policy, 'demo')}
    assert groups(pool) == expected
    assert group_of(pool.lease(lease)) == group_of(lease)
    pool.expect(lease, lifecycle.ACTIVE, NOON + hours(2))
    assert (groups(pool), group_of(pool.lease(lease))) == (expected, group_of(lease))
    pool.run_until(NOON + hours(4))
    assert groups(pool) == {}


@pytest.mark.parametrize('how', [{}, {'dry_run': True}])
def test_without_an_affinity_or_with_a_dry_run_nothing_is_created(pool, how):
    pool.book(room(True if how else None), **LATER, **how)
    assert groups(pool) == {}


def test_each_reservation_of_a_lease_has_its_own(pool):
    lease = pool.book(room(), room(None), room(False), **LATER)
    assert set(groups(pool)) == {group_of(lease), group_of(lease, 2)}
    assert group_of(lease, 1) is None


@pytest.mark.parametrize('kind', ['retries', 'wait'])
def test_a_lease_that_is_acquired_later_has_it_from_its_request_on(pool, kind):
    full = pool.active(builders.hosts(2), end=NOON + hours(9))
    lease = acts.sought(pool, kind, room())
    assert lease.state == lifecycle.ACQUIRING
    assert set(groups(pool)) == {group_of(lease)}
    pool.clock.advance(minutes(1))
    acts.end(pool, full)
    lease = pool.expect(lease, lifecycle.ACTIVE, NOON + minutes(9))
    assert set(groups(pool)) == {group_of(lease)}


@pytest.mark.parametrize('kind', ['pending', 'acquiring'])
def test_a_lease_that_is_deleted_before_it_starts_leaves_none(pool, kind):
    if kind == 'acquiring':
        pool.active(builders.hosts(2), end=NOON + hours(9))
        lease = acts.sought(pool, 'wait', room())
    else:
        lease = pool.book(room(), **LATER)
    pool.delete(lease)
    pool.run()
    assert groups(pool) == {}


@pytest.mark.proof
def test_a_lease_that_is_given_up_leaves_none(pool):
    pool.active(builders.hosts(2), end=NOON + hours(9))
    lease = acts.sought(pool, 'wait', room(), not_after=NOON + hours(1))
    pool.expect(lease, lifecycle.TIMEDOUT, NOON + hours(2))
    assert groups(pool) == {}


def test_a_refused_request_leaves_no_early_creation(pool):
    with pytest.raises(errors.NotEnough):
        pool.book(room(amount=900))
    pool.cloud.fail('nova.create_server_group', 1, errors.Conflict(reason='the quota'))
    with pytest.raises(errors.Conflict, match='the quota'):
        pool.book(room(), room())
    assert (groups(pool), acts.trusts(pool)) == ({}, [])
    assert early_creations.EarlyCreationReaper(pool.core).find(NOON + hours(1)) == []


def test_an_early_creation_is_deleted_with_the_trust_if_the_booking_fails(
        conf, database, clock, meddling):
    manager = builders.Manager(conf, meddling, clock)
    manager.enrol(1)
    other = builders.Manager(conf, database, clock, manager.cloud)

    def take_all():
        # First the row of what is created early is written, then the lease.
        meddling.before_writer = lambda: other.book(builders.hosts(1), **LATER)
    meddling.before_writer = take_all
    with pytest.raises(errors.NotEnough):
        manager.book(room(), **LATER)
    assert (groups(manager), acts.trusts(manager)) == ({}, [])
    assert early_creations.EarlyCreationReaper(manager.core).find(NOON + hours(1)) == []


def test_a_repeated_request_makes_one_early_creation(pool):
    request = builders.a_lease(room(), **LATER, idempotency_key='k', request_hash='h')
    first = pool.create(request)
    assert pool.create(request).id == first.id
    assert set(groups(pool)) == {group_of(first)}


def test_two_equal_requests_at_the_same_time_make_one_early_creation(
        conf, database, clock, meddling):
    manager = builders.Manager(conf, meddling, clock)
    manager.enrol(2)
    other = builders.Manager(conf, database, clock, manager.cloud)
    lease_id = '11111111-1111-4111-8111-111111111111'
    request = builders.a_lease(room(), **LATER)

    def first():
        meddling.before_writer = lambda: other.client.create_lease(
            builders.a_member(), lease_id, request)
    meddling.before_writer = first
    lease = manager.client.create_lease(builders.a_member(), lease_id, request)
    assert set(groups(manager)) == {group_of(lease)}
    assert len(acts.trusts(manager)) == 1


def test_a_lease_of_an_offer_has_it_too(pool):
    offer = pool.hold(builders.a_lease(room()))
    assert groups(pool) == {}
    lease = pool.take(offer)
    assert set(groups(pool)) == {group_of(lease)}


def test_a_start_uses_the_one_that_was_told_and_replaces_one_that_is_gone(pool):
    lease = pool.book(room(), **LATER)
    pool.cloud.as_service().flavors.delete_group(group_of(lease))
    after = pool.expect(lease, lifecycle.ACTIVE, NOON + hours(2))
    assert set(groups(pool)) == {group_of(after)} != {group_of(lease)}


def test_a_pending_lease_whose_affinity_changes_gets_another_when_put_answers(pool):
    lease = pool.book(room(None), **LATER)
    told = []
    for affinity, policy in ((True, 'affinity'), (False, 'anti-affinity'), (None, None)):
        lease = pool.change_reservation(lease, affinity=affinity)
        told.append(group_of(lease))
        assert [each[1] for each in groups(pool).values()] == [policy] * (policy is not None)
        assert set(groups(pool)) == {group_of(lease)} - {None}
        assert group_of(pool.lease(lease)) == group_of(lease)
    assert len(set(told)) == 3


def test_a_change_of_something_else_keeps_it(pool):
    lease = pool.book(room(), **LATER)
    assert group_of(pool.change_reservation(lease, amount=1)) == group_of(lease)
    assert set(groups(pool)) == {group_of(lease)}


def test_a_change_that_fails_leaves_what_there_was(pool):
    lease = pool.book(room(), **LATER)
    with pytest.raises(errors.NotEnough):
        pool.change_reservation(lease, affinity=False, amount=3)
    assert set(groups(pool)) == {group_of(lease)}
    assert group_of(pool.lease(lease)) == group_of(lease)


def _crash_before_the_lease_is_written(manager, call='nova.create_server_group'):
    crashing.dies_after(manager.cloud, call, lambda: manager.book(room(), **LATER))
    assert len(groups(manager)) == 1


@pytest.mark.parametrize('how', ['reaper', 'audit'])
def test_after_a_crash_in_between_it_is_deleted_when_it_is_old(pool, how):
    _crash_before_the_lease_is_written(pool)
    for age, left in ((minutes(9), 1), (minutes(1), 0)):
        pool.clock.advance(age)
        if how == 'reaper':
            early_creations.EarlyCreationReaper(pool.core).reap(pool.clock())
        else:
            found = comparison.Auditor(pool.core).compare()
            assert [each.remedy for each in found if each.kind == 'left behind'] == (
                ['deletes it'] * (1 - left))
            repairs.Repairs(pool.core).make(found)
        assert len(groups(pool)) == left
    assert {each.kind for each in comparison.Auditor(pool.core).compare()} <= {'trust'}


def test_a_server_group_that_only_looks_like_one_of_climate_stays(pool):
    theirs = 'reservation:11111111-1111-4111-8111-111111111111'
    pool.cloud.as_service().flavors.create_group(theirs, 'affinity')
    pool.clock.advance(hours(9))
    early_creations.EarlyCreationReaper(pool.core).reap(pool.clock())
    repairs.Repairs(pool.core).make(comparison.Auditor(pool.core).compare())
    assert [each[0] for each in groups(pool).values()] == [theirs]


def test_a_request_that_takes_too_long_is_refused_instead_of_answered_with_what_is_gone(
        conf, database, clock, meddling):
    manager = builders.Manager(conf, meddling, clock)
    manager.enrol(1)
    reaper = early_creations.EarlyCreationReaper(
        builders.Manager(conf, database, clock, manager.cloud).core)

    def after_the_early_creation():
        meddling.before_writer = lambda: reaper.reap(NOON + hours(1))

    def after_the_trust():
        meddling.before_writer = after_the_early_creation
    meddling.before_writer = after_the_trust
    with pytest.raises(errors.LostRace):
        manager.book(room(), **LATER)
    assert groups(manager) == {}
    assert manager.client.list_leases(builders.an_admin(), records.LeaseQuery()) == []


def test_an_early_creation_that_cannot_be_deleted_is_deleted_later(pool):
    pool.cloud.fail('nova.delete_server_group', 1, NO)
    pool.cloud.fail('nova.create_server_group', 0, None)
    cloud_points.once_at(pool.cloud, 'nova.create_server_group',
                         lambda: pool.cloud.fail('nova.create_server_group', 1, NO), 'after')
    with pytest.raises(errors.CloudError):
        pool.book(room(), room(), **LATER)
    assert len(groups(pool)) == 1
    early_creations.EarlyCreationReaper(pool.core).reap(NOON + hours(1))
    assert groups(pool) == {}


def _without_trust(manager, conf):
    conf.set_override('trust_required', False, group='keystone')
    manager.cloud.fail('keystone.create_trust', 1, errors.TrustRefused(reason='It cannot.'))


@pytest.mark.parametrize('affinity', [True, False])
def test_the_server_group_of_a_lease_without_a_trust_is_made_with_the_token_of_its_caller(
        pool, conf, affinity):
    _without_trust(pool, conf)
    lease = pool.active(room(affinity))
    [(_, _, project_id)] = groups(pool).values()
    assert (lease.trust_id, project_id) == (None, 'demo')
    pool.run_until(NOON + hours(4))
    assert groups(pool) == {}


def test_without_a_trust_a_server_that_would_sleep_until_the_start_is_refused(pool, conf):
    request = builders.a_server(flavor_id='1', on_end='snapshot')
    _without_trust(pool, conf)
    with pytest.raises(errors.BadField, match=r'^start: '):
        pool.book(request, **LATER)
    _without_trust(pool, conf)
    assert pool.book(request).trust_id is None


@pytest.mark.parametrize('request_of', [
    lambda: room(None), lambda: builders.hosts(1, before_end='snapshot')])
def test_an_early_creation_without_an_owner_works_without_a_trust(pool, conf, request_of):
    _without_trust(pool, conf)
    lease = pool.active(request_of(), end=NOON + hours(3))
    hints = {'reservation': lease.reservations[0].id}
    if request_of().resource_type == 'physical:host':
        pool.cloud.boot('demo', 'one', hints)
    pool.run_until(NOON + hours(4))
    assert (lease.trust_id, pool.lease(lease).state) == (None, lifecycle.TERMINATED)
    assert {each['project_id'] for each in pool.cloud.images()} <= {'demo'}


def test_a_lease_without_a_trust_gets_an_affinity_by_a_change(pool, conf):
    _without_trust(pool, conf)
    lease = pool.book(room(None), **LATER)
    pool.cloud.fail('keystone.create_trust', 1, errors.TrustRefused(reason='It cannot.'))
    group = group_of(pool.change_reservation(lease, affinity=True))
    assert groups(pool)[group][1:] == ('affinity', 'demo')


@pytest.mark.proof
def test_a_lease_that_lost_its_trust_says_at_its_start_what_to_do(pool):
    lease = pool.book(room(), **LATER)
    pool.cloud.as_service().flavors.delete_group(group_of(lease))
    pool.cloud.delete_trustor('demo')
    pool.run_until(NOON + hours(2) + minutes(30))
    lease = pool.lease(lease)
    assert (lease.state, groups(pool)) == (lifecycle.ERROR, {})
    assert 'the trust of the lease is no longer valid' in lease.reason
