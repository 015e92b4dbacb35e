# SPDX-License-Identifier: Apache-2.0
"""PUT of a lease: which fields may change in which state, and all or nothing."""
import collections
import datetime

import acts
import pytest
import sqlalchemy as sa
from support import billing_cases as cases
from support import billing_truths
from support import builders

from climate import errors
from climate.db import journal
from climate.db import later_asks
from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import records

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def _pending(manager):
    return manager.book(start=NOON + hours(1), end=NOON + hours(4))


def _starting(manager):
    lease = manager.book(end=NOON + hours(4))
    manager.cloud.fail('nova.add_host', 1, acts.NO)
    manager.run()
    return lease


def _active(manager):
    return manager.active(end=NOON + hours(4))


def _error(manager):
    manager.cloud.fail('nova.add_host', 9, acts.NO)
    lease = manager.book(end=NOON + hours(4))
    manager.run_until(NOON + minutes(5))
    manager.cloud.fail('nova.add_host', 0, None)
    return lease


def _terminated(manager):
    lease = _active(manager)
    manager.clock.advance(minutes(1))
    manager.change(lease, end_now=True)
    manager.run()
    return lease


def _deleting(manager):
    lease = _active(manager)
    manager.delete(lease)
    return lease


def _not_deleted(manager):
    """A lease whose deletion was given up."""
    lease = _active(manager)
    manager.cloud.fail('nova.remove_host', 99, acts.NO)
    manager.delete(lease)
    manager.run_until(NOON + minutes(30))
    manager.cloud.fail('nova.remove_host', 0, None)
    return lease


YES = None
RULES = [
    (_pending, 'PENDING', None, YES, YES, YES, True),
    (_starting, 'PENDING', 'start', errors.BadTransition, errors.BadTransition,
     errors.BadTransition, False),
    (_active, 'ACTIVE', None, YES, YES, YES, False),
    (_error, 'ERROR', None, YES, errors.BadTransition, errors.BadTransition, False),
    (_terminated, 'TERMINATED', None, errors.LeaseEnded, errors.LeaseEnded, errors.LeaseEnded,
     True),
    (_deleting, 'ACTIVE', 'delete', errors.BadTransition, errors.BadTransition,
     errors.BadTransition, False),
    (_not_deleted, 'ERROR', None, errors.BadTransition, errors.BadTransition,
     errors.BadTransition, False),
]


@pytest.mark.parametrize(('make', 'state', 'task', 'prolonged', 'before', 'more', 'gone'), RULES)
def test_each_state_allows_what_the_table_says(manager, make, state, task, prolonged, before,
                                               more, gone):
    manager.enrol(3)
    lease = manager.lease(make(manager))
    assert (lease.state, lease.task) == (state, task)
    assert manager.change(lease, name='renamed').name == 'renamed'
    [reservation] = lease.reservations
    for answer, fields in (
            (prolonged, {'end': NOON + hours(6)}),
            (before, {'before_end': NOON + hours(3)}),
            (more, {'reservations': acts.asked(reservation, min=2, max=2)})):
        if answer is YES:
            manager.change(lease, **fields)
            continue
        untouched = acts.everything(manager)
        with pytest.raises(answer):
            manager.change(lease, **fields)
        assert acts.everything(manager) == untouched
    assert manager.delete(lease) == gone
    manager.run_until(NOON + hours(7))
    assert manager.lease(lease).deleted_at is not None
    assert acts.is_clean(manager, 3)


def test_a_lease_is_prolonged_shortened_deferred_and_advanced(manager):
    manager.enrol(1)
    lease = _pending(manager)
    for start, end in ((1, 6), (1, 3), (2, 3), (0.5, 3), (5, 8)):
        changed = manager.change(lease, start=NOON + hours(start), end=NOON + hours(end))
        assert (changed.start, changed.end) == (NOON + hours(start), NOON + hours(end))
    [(_, [allocation])] = manager.client.list_allocations(builders.an_admin(), 'host')
    assert (allocation.start, allocation.end) == (NOON + hours(5), NOON + hours(8))
    manager.expect(lease, lifecycle.PENDING, NOON + hours(4.9))
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(5))
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(8))


def test_a_change_that_finds_no_room_changes_nothing(manager):
    manager.enrol(2)
    lease = manager.active(builders.hosts(1), builders.hosts(1))
    first, second = lease.reservations
    manager.book(start=NOON + hours(2), end=NOON + hours(3))
    before = acts.everything(manager)
    for fields in ({'end': NOON + hours(3)},
                   {'reservations': acts.asked(first, min=1, max=1)
                    + acts.asked(second, min=2, max=2)},
                   {'name': 'other', 'end': NOON + minutes(30),
                    'reservations': acts.asked(first, min=3, max=3)}):
        with pytest.raises(errors.NotEnough):
            manager.change(lease, **fields)
        assert acts.everything(manager) == before


def test_new_criteria_move_a_pending_lease_and_not_an_active_one(manager):
    first, second = manager.enrol(2)
    pending = _pending(manager)
    assert pending.reservations[0].resource_ids == (first.id,)
    changed = manager.change_reservation(pending, resource_properties=acts.named(second))
    assert changed.reservations[0].resource_ids == (second.id,)
    manager.run_until(NOON + hours(1))
    before = acts.everything(manager)
    with pytest.raises(errors.NotEnough, match='that the reservation uses'):
        manager.change_reservation(pending, resource_properties=acts.named(first))
    assert acts.everything(manager) == before


def test_a_pending_lease_gets_more_and_fewer_hosts(manager):
    manager.enrol(4)
    lease = _pending(manager)
    for count in (4, 2, 3, 1):
        changed = manager.change_reservation(lease, min=count, max=count)
        assert len(changed.reservations[0].resource_ids) == count
    manager.run_until(NOON + hours(1))
    assert len(acts.aggregate(manager, lease).hosts) == 1


def test_hosts_that_a_lease_gives_up_are_free_when_their_servers_are_gone(conf, database, clock):
    conf.set_override('delete_seconds', 20, group='simulated')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(2)
    lease = manager.active(builders.hosts(2), end=NOON + hours(5))
    [reservation] = lease.reservations
    for name in ('one', 'two'):
        manager.cloud.boot('demo', name, {'reservation': reservation.id})
    manager.clock.advance(minutes(1))
    manager.change(lease, reservations=acts.asked(reservation, min=1, max=1))
    manager.run()
    assert len(acts.holders(manager)) == 2
    with pytest.raises(errors.NotEnough):
        manager.book(end=NOON + hours(2))
    manager.run_until(NOON + minutes(2))
    assert len(acts.holders(manager)) == 1
    assert len(manager.cloud.servers()) == 1
    assert manager.lease(lease).state == lifecycle.ACTIVE
    manager.book(end=NOON + hours(2))


def test_an_update_that_failed_once_is_really_done_the_second_time(manager):
    manager.enrol(3)
    lease = manager.active(end=NOON + hours(5))
    manager.cloud.fail('nova.add_host', 1, acts.NO)
    manager.change_reservation(lease, min=2, max=2)
    manager.run_until(NOON + minutes(1))
    lease = manager.lease(lease)
    assert lease.reservations[0].state == lifecycle.RESERVATION_ACTIVE
    assert len(acts.aggregate(manager, lease).hosts) == 2
    assert lease.state == lifecycle.ACTIVE


def test_before_end_keeps_its_distance_and_is_armed_again(manager):
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(3))
    assert lease.before_end == NOON + hours(2)
    manager.run_until(NOON + hours(2.5))
    assert acts.history(manager, lease)[-1] == 'before_end_lease'
    changed = manager.change(lease, end=NOON + hours(6))
    assert changed.before_end == NOON + hours(5)
    assert 'lease.event.before_end_lease.stop' in acts.news(manager)
    manager.run_until(NOON + hours(5))
    assert acts.history(manager, lease).count('before_end_lease') == 2
    assert acts.news(manager).count('lease.event.before_end_lease') == 2


def test_a_lease_shorter_than_the_notice_is_told_when_it_has_started(manager):
    manager.enrol(1)
    lease = manager.book(end=NOON + minutes(30))
    manager.run_until(NOON + minutes(1))
    assert acts.history(manager, lease) == ['create', 'start_lease', 'before_end_lease']


def test_a_lease_whose_start_is_late_is_told_after_it(manager):
    manager.enrol(1)
    lease = manager.book(end=NOON + minutes(30))
    manager.cloud.fail('nova.add_host', 2, acts.NO)
    manager.run_until(NOON + minutes(1))
    assert [what for what in acts.history(manager, lease) if 'failed' not in what] == [
        'create', 'start_lease', 'before_end_lease']


def test_notify_events_happen_at_their_moments(manager):
    manager.enrol(1)
    lease = manager.book(start=NOON + hours(2), end=NOON + hours(4), notify_at=(NOON + hours(1),))
    manager.change(lease, notify_at=(NOON + hours(2.5),))
    manager.run_until(NOON + hours(2))
    assert acts.news(manager).count('lease.event.notify') == 1
    manager.run_until(NOON + hours(3))
    assert acts.news(manager).count('lease.event.notify') == 2


def test_moments_that_no_calendar_has_are_refused_by_name(manager):
    manager.enrol(1)
    for more in ({'start': NOON, 'duration_seconds': 10 ** 12},
                 {'start': NOON, 'duration_seconds': 10 ** 18},
                 {'end': NOON + hours(1), 'duration_seconds': 10 ** 12}):
        with pytest.raises(errors.BadField, match='duration'):
            manager.book(**more)


def test_a_reservation_that_is_changed_twice_at_once_is_refused(manager):
    manager.enrol(2)
    lease = manager.book(start=NOON + hours(1), end=NOON + hours(2))
    twice = [records.ReservationRequest(None, {'min': count, 'max': count},
                                        id=lease.reservations[0].id) for count in (1, 2)]
    with pytest.raises(errors.BadField, match='twice'):
        manager.change(lease, reservations=tuple(twice))
    assert manager.lease(lease).reservations == lease.reservations


def test_a_lease_that_would_be_over_already_is_refused(manager):
    manager.enrol(1)
    manager.clock.advance(datetime.timedelta(seconds=30))
    with pytest.raises(errors.BadDate, match='end'):
        manager.book(start=NOON, end=NOON + datetime.timedelta(seconds=20))


def test_a_lease_to_the_end_of_time_is_refused_with_reasons_on_a_full_cloud(manager):
    manager.enrol(1)
    forever = datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC)
    manager.book(end=forever)
    with pytest.raises(errors.NotEnough):
        manager.book(end=forever)


def test_a_stale_precondition_and_a_dry_run_change_nothing(manager):
    manager.enrol(1)
    lease = _pending(manager)
    before = acts.everything(manager)
    with pytest.raises(errors.StalePrecondition):
        manager.change(lease, end=NOON + hours(9), generation=lease.generation + 1)
    planned = manager.change(lease, end=NOON + hours(9), dry_run=True)
    assert planned.end == NOON + hours(9)
    assert acts.everything(manager) == before


def test_the_refusal_to_prolong_a_running_lease_says_that_others_have_its_hosts(manager):
    manager.enrol(4)
    lease = manager.active(builders.hosts(4))
    manager.book(builders.hosts(1), start=NOON + hours(2), end=NOON + hours(3))
    with pytest.raises(errors.NotEnough) as refused:
        manager.change(lease, end=NOON + hours(4))
    before = ('Only 3 of 4 hosts are free for all of the time asked for: 4 are enrolled. The lease '
              'runs, so it keeps the hosts that it has; other leases have 1 of them ')
    after = ' Ask for an earlier end, or for less.'
    assert refused.value.message == f'{before}from 2030-05-01 14:00:00 UTC on.{after}'
    assert refused.value.owner_message == f'{before}for a part of the time.{after}'


def test_the_refusal_of_more_hosts_for_a_running_lease_says_that_it_keeps_those_it_has(manager):
    manager.enrol(3)
    lease = manager.active(builders.hosts(2))
    with pytest.raises(errors.NotEnough) as refused:
        manager.change_reservation(lease, min=4, max=4)
    assert refused.value.owner_message.endswith(
        'The lease runs, so it keeps the hosts that it has. Ask for less time, or for less.')


def kinds(manager, table, column):
    """Return the number of rows of each kind in a table."""
    with manager.database.reader() as connection:
        return collections.Counter(connection.execute(sa.select(table.c[column])).scalars())


@pytest.mark.proof
@pytest.mark.parametrize('seconds', [1, 3600])
def test_a_lease_that_is_changed_again_and_again_keeps_few_events_and_entries(
        manager, monkeypatch, seconds):
    monkeypatch.setattr(journal, 'MOST_OF_A_KIND', 4)
    monkeypatch.setattr(lease_events, 'MOST_NOTICES', 4)
    manager.enrol(3)
    lease = manager.active(builders.hosts(1), end=NOON + hours(40))
    before = kinds(manager, tables.HISTORY, 'what')
    for number in range(15):
        manager.change_reservation(lease, min=1 + number % 2, max=1 + number % 2)
        manager.change(lease, end=NOON + hours(41 + number))
        manager.change(lease, name=f'number {number}')
        manager.change(lease, notify_at=[manager.clock() + builders.seconds(seconds)] * 2)
        manager.run()
        manager.clock.advance(builders.seconds(2))
        if seconds > 1 and number == 3:
            # Those that are left to be sent are as many as there may be.
            break
    manager.run()
    had = kinds(manager, tables.EVENTS, 'kind')
    assert had[event_kinds.UPDATE] == 1
    assert had[event_kinds.NOTIFY] == 4
    after = kinds(manager, tables.HISTORY, 'what')
    # Changes that are not carried out yet add an entry later.
    assert {each: after[each] for each in ('rename', 'update')} == dict.fromkeys(
        ('rename', 'update'), 4)
    assert max((after - before).values()) <= 4 + 2
    assert before.items() <= after.items()
    assert manager.change(lease, name='still').name == 'still'


def _up_and_down(manager, lease, number):
    manager.change_reservation(lease, min=1 + number % 2, max=1 + number % 2)


def _copies_up_and_down(manager, lease, number):
    manager.change_reservation(lease, amount=1 + number % 2)


def _longer(manager, lease, number):
    manager.change(lease, end=lease.end + builders.hours(number))


@pytest.mark.proof
@pytest.mark.parametrize(('change', 'request_of'), [
    (_up_and_down, builders.hosts), (_copies_up_and_down, builders.instances),
    (_longer, builders.hosts)])
def test_a_running_lease_has_a_bounded_number_of_parts(conf, manager, change, request_of):
    conf.set_override('max_parts', 12, group='manager')
    cases.book(manager)
    manager.enrol(2)
    lease = manager.active(request_of(1), end=NOON + hours(2))
    done = 0
    with pytest.raises(errors.LimitReached, match=r'it has 1[2-4] parts') as refused:
        for done in range(1, 40):
            change(manager, lease, done)
            manager.run()
            manager.clock.advance(builders.seconds(2))
    assert done > 4
    assert refused.value.status == 409
    with manager.database.reader() as connection:
        assert later_asks.parts_of(connection, lease.id) <= 14
    assert manager.change(lease, name='other').name == 'other'
    manager.change(lease, end=NOON + hours(1))
    # Before its start a lease has no other parts than those that it will have.
    later = manager.book(request_of(1), start=NOON + hours(300), end=NOON + hours(301))
    for number in range(1, 20):
        change(manager, later, number)
    manager.run_until(NOON + hours(2))
    cases.bill(manager)
    billing_truths.statements_are_right(manager.database)


def test_a_lease_has_no_more_notices_than_a_request_may_have(manager, monkeypatch):
    monkeypatch.setattr(lease_events, 'MOST_NOTICES', 4)
    manager.enrol(1)
    lease = manager.active(end=NOON + hours(9), notify_at=(NOON + hours(1),) * 3)
    wanted = [NOON + hours(count) for count in (1, 2, 3, 4)]
    manager.change(lease, notify_at=wanted)
    manager.change(lease, notify_at=wanted)
    for dry_run in (True, False):
        with pytest.raises(errors.BadField, match='at most 4 notifications that are not sent yet'):
            manager.change(lease, notify_at=[NOON + hours(5)], dry_run=dry_run)
    manager.run_until(NOON + hours(2))
    manager.change(lease, notify_at=[NOON + hours(5), NOON + hours(6)])
    assert sorted(each.at for each in manager.lease(lease).events
                  if each.kind == event_kinds.NOTIFY) == [
                      NOON + hours(count) for count in (3, 4, 5, 6)]
