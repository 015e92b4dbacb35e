# SPDX-License-Identifier: Apache-2.0
"""Retries of a lease: by the clock, and at once when resources are released."""
import datetime
import itertools

import acts
import pytest
from support import builders

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


@pytest.fixture
def full(manager):
    """A lease for three hours that has the only two hosts."""
    manager.enrol(2)
    return manager.active(builders.hosts(2), end=NOON + hours(3))


def retried(manager, *reservations, **fields):
    return acts.sought(manager, 'retries', *reservations, **fields)


def test_a_lease_that_fits_gets_its_resources_at_the_first_attempt(manager):
    manager.enrol(1)
    lease = retried(manager)
    assert (lease.state, lease.acquisition.attempts) == (lifecycle.PENDING, 1)
    manager.expect(lease, lifecycle.ACTIVE)
    assert [each.what for each in acts.told(manager, lease)] == [
        'create', 'acquired', 'start_lease']


def test_two_failures_and_then_a_host_is_freed_is_acquired_at_once(manager, full):
    lease = retried(manager, retry_pause_seconds=30)
    waiting = manager.expect(lease, lifecycle.ACQUIRING, NOON + datetime.timedelta(seconds=40))
    assert waiting.acquisition.attempts == 2
    assert waiting.acquisition.next_at > NOON + datetime.timedelta(seconds=80)
    assert waiting.reason.startswith('Attempt 2 of 6, next at 2030-05-01 12:01:')
    assert 'Only 0 of 1 hosts are free' in waiting.reason
    acts.end(manager, full)
    got = manager.lease(lease)
    assert got.state == lifecycle.ACTIVE
    assert got.start == manager.clock()
    assert got.reason is None


def test_its_time_counts_from_the_moment_it_is_acquired(manager, full):
    lease = retried(manager, hours=4)
    manager.clock.advance(minutes(1))
    acts.end(manager, full)
    got = manager.lease(lease)
    assert (got.start, got.end) == (NOON + minutes(1), NOON + minutes(1) + hours(4))
    assert got.before_end == got.end - hours(1)
    assert {each.kind: each.at for each in got.events if each.kind in event_kinds.SHOWN} == {
        event_kinds.START: got.start, event_kinds.END: got.end,
        event_kinds.BEFORE_END: got.before_end}


def test_an_end_that_is_given_stays_where_it_is(manager, full):
    lease = manager.book(end=NOON + hours(5), acquire=records.AcquireRequest('retries'))
    manager.clock.advance(minutes(1))
    acts.end(manager, full)
    got = manager.lease(lease)
    assert (got.start, got.end) == (NOON + minutes(1), NOON + hours(5))


def test_the_last_failure_leaves_it_in_error_with_the_reason_and_without_its_trust(manager, full):
    before = len(acts.trusts(manager))
    lease = retried(manager, retries=2, retry_pause_seconds=10)
    lost = manager.expect(lease, lifecycle.ERROR, NOON + hours(1))
    assert lost.reason.startswith('Attempt 3 of 3, the last one: Only 0 of 1')
    assert lost.ended_at is not None
    assert len(acts.trusts(manager)) == before
    assert [each.what for each in acts.told(manager, lease)][-2:] == ['attempt', 'tries used up']
    assert 'lease.error' in acts.news(manager)
    assert manager.delete(lost)


def test_pauses_grow_to_the_longest_and_are_not_all_alike(manager, full, conf):
    conf.set_override('retry_pause_longest_seconds', 100, group='acquire')
    lease = retried(manager, retries=6, retry_pause_seconds=20)
    moments = [NOON]
    while (following := manager.lease(lease).acquisition.next_at) is not None:
        moments.append(following)
        manager.run_until(following)
    pauses = [(b - a).total_seconds() for a, b in itertools.pairwise(moments)]
    assert len(pauses) == 6
    for pause, least in zip(pauses, (20, 40, 80, 100, 100, 100), strict=True):
        assert least <= pause <= least * 1.2
    assert len(set(pauses[3:])) > 1


def test_tries_that_somebody_woke_cost_no_retry(manager, full):
    lease = retried(manager, builders.hosts(2), retries=1, retry_pause_seconds=600)
    manager.run()
    tries = manager.lease(lease).event(event_kinds.ACQUIRE).claim_no
    for _ in range(5):
        other = manager.book(start=NOON + hours(5), end=NOON + hours(6))
        manager.delete(other)
        manager.run()
    waiting = manager.lease(lease)
    assert waiting.event(event_kinds.ACQUIRE).claim_no == tries + 5
    assert (waiting.state, waiting.acquisition.attempts) == (lifecycle.ACQUIRING, 1)
    # That nothing had changed is not told each time.
    assert acts.history(manager, lease) == ['create', 'attempt']


def test_an_end_that_comes_before_its_resources_ends_the_search(manager, full):
    lease = manager.book(
        end=NOON + minutes(2), acquire=records.AcquireRequest('retries', retries=50))
    lost = manager.expect(lease, lifecycle.TIMEDOUT, NOON + minutes(3))
    assert 'by 2030-05-01 12:02:00 UTC. Attempt 3 of 51, the last one in its time' in lost.reason
    assert 'lease.timedout' in acts.news(manager)


def test_a_new_host_is_given_at_once(manager, full):
    lease = retried(manager, retry_pause_seconds=600)
    manager.run()
    name = sorted(manager.cloud.host_names())[2]
    manager.client.create_resource(builders.an_admin(), 'host', name, {})
    manager.expect(lease, lifecycle.ACTIVE)


def test_a_host_that_is_in_use_again_is_given_at_once(manager):
    first, second = manager.enrol(2)
    manager.active(end=NOON + hours(3))
    [spare] = [each for each in (first, second) if each.id not in acts.holders(manager)]
    acts.disable(manager, spare)
    lease = retried(manager, retry_pause_seconds=600)
    manager.expect(lease, lifecycle.ACQUIRING)
    acts.enable(manager, spare)
    manager.expect(lease, lifecycle.ACTIVE)


def test_a_lease_that_becomes_smaller_feeds_another(manager, full):
    lease = retried(manager, retry_pause_seconds=600)
    manager.run()
    manager.change_reservation(full, min=1, max=1)
    manager.expect(lease, lifecycle.ACTIVE)


@pytest.mark.parametrize('tried', [False, True])
def test_an_acquiring_lease_can_be_deleted(manager, full, tried):
    lease = retried(manager)
    if tried:
        manager.run()
    assert manager.delete(lease) is not tried
    manager.run()
    gone = manager.lease(lease)
    assert gone.deleted_at is not None
    assert gone.state == lifecycle.TERMINATED
    manager.clock.advance(minutes(1))
    acts.end(manager, full)
    manager.run_until(NOON + hours(2))
    assert acts.is_clean(manager, 2)


def test_an_acquiring_lease_can_only_be_renamed(manager, full):
    lease = retried(manager)
    manager.run()
    assert manager.change(lease, name='better').name == 'better'
    for change in ({'end': NOON + hours(9)}, {'end_now': True},
                   {'reservations': acts.asked(lease.reservations[0], min=2, max=2)}):
        with pytest.raises(errors.BadTransition, match='only its name'):
            manager.change(lease, **change)
    manager.clock.advance(minutes(1))
    acts.end(manager, full)
    assert manager.lease(lease).state == lifecycle.ACTIVE
    assert manager.change(lease, end=NOON + hours(9)).end == NOON + hours(9)


def test_a_request_that_could_never_fit_is_refused_at_once(manager, full):
    with pytest.raises(errors.NotEnough, match='nothing to wait for'):
        retried(manager, builders.hosts(3))
    with pytest.raises(errors.UnknownProperty):
        retried(manager, builders.hosts(1, criteria='["=", "$gpu", "A100"]'))
    assert len(manager.client.list_leases(builders.a_member(), records.LeaseQuery())) == 1


def test_a_dry_run_says_what_would_be_and_saves_nothing(manager, full):
    before = acts.everything(manager)
    lease = manager.book(
        duration_seconds=3600, acquire=records.AcquireRequest('retries'), dry_run=True)
    assert lease.state == lifecycle.ACQUIRING
    assert acts.everything(manager) == before


def test_a_repeated_request_returns_the_waiting_lease(manager, full):
    request = builders.a_lease(duration_seconds=3600, acquire=records.AcquireRequest('retries'),
                               idempotency_key='key', request_hash='hash')
    lease = manager.create(request)
    assert manager.create(request).id == lease.id


def test_notices_whose_time_passed_before_it_had_its_resources_are_left_out(manager, full):
    lease = manager.book(
        end=NOON + hours(5), before_end=NOON + minutes(40),
        notify_at=(NOON + minutes(30), NOON + hours(2)),
        acquire=records.AcquireRequest('retries', retry_pause_seconds=600))
    assert [each.kind for each in lease.events] == [event_kinds.ACQUIRE]
    manager.clock.advance(hours(1))
    acts.end(manager, full)
    assert acts.history(manager, lease).count('notify') == 0
    [left_out] = [each.why for each in acts.told(manager, lease)
                  if each.what == 'notices left out']
    assert left_out == ('Their time passed before: 2030-05-01 12:30:00 UTC, '
                        '2030-05-01 12:40:00 UTC')
    assert manager.lease(lease).before_end is None
    manager.run_until(NOON + hours(2))
    assert acts.history(manager, lease).count('notify') == 1
    manager.run_until(NOON + hours(6))
    assert 'before_end_lease' not in acts.history(manager, lease)


@pytest.mark.parametrize('retries', [1, 5])
def test_a_release_while_a_try_runs_lets_it_be_tried_again(manager, meddling, full, retries):
    lease = retried(manager, retries=retries, retry_pause_seconds=600)
    manager.run()
    second = acts.Second(manager, meddling)
    manager.clock.now = manager.lease(lease).acquisition.next_at
    second.claim()
    # The attempt found no free hosts; before that is written, both hosts are released.
    meddling.before_writer = lambda: acts.end(manager, full)
    second.finish()
    manager.expect(lease, lifecycle.ACTIVE)


@pytest.mark.usefixtures('each_lease_has_a_trust')
@pytest.mark.parametrize('at', [minutes(1), hours(1)])
def test_a_lease_that_is_deleted_while_it_is_tried_gets_nothing(manager, full, at):
    lease = acts.sought(manager, 'wait', not_after=NOON + hours(1))
    manager.run()
    manager.clock.advance(at)
    second = acts.Second(manager)
    second.claim()
    manager.delete(lease)
    second.finish()
    manager.run()
    gone = manager.lease(lease)
    assert (gone.state, gone.reservations[0].resource_ids) == (lifecycle.TERMINATED, ())
    assert gone.deleted_at is not None
    assert {each.status for each in gone.events} == {lifecycle.EVENT_DONE}
    assert len(acts.trusts(manager)) == 1


def test_one_of_two_managers_carries_out_an_attempt(manager, full):
    lease = retried(manager)
    second = acts.Second(manager)
    assert second.claim() == 1
    assert manager.event_loop.tick(manager.clock()) == 0
    manager.clock.advance(minutes(1))
    manager.change(full, end_now=True)
    manager.expect(lease, lifecycle.ACTIVE)
    before = acts.everything(manager)
    second.finish()
    assert acts.everything(manager) == before


@pytest.mark.usefixtures('each_lease_has_a_trust')
@pytest.mark.parametrize('kind', ['retries', 'wait', 'best-effort'])
def test_a_first_try_that_loses_every_race_is_followed_by_others(manager, conf, database, kind):
    manager.enrol(2)
    breaking = acts.Breaking(database.engine.url.render_as_string(hide_password=False))
    breaking.breaks = conf.manager.booking_attempts
    # The trust is recorded first.
    breaking.spares = 1
    lease = acts.sought(builders.Manager(conf, breaking, manager.clock, manager.cloud), kind)
    assert lease.state == lifecycle.ACQUIRING
    assert 'at the same time' in lease.reason
    manager.expect(lease, lifecycle.ACTIVE)
    breaking.dispose()
