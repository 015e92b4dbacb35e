# SPDX-License-Identifier: Apache-2.0
"""The events of a lease: new, acquired, changed, over."""
import dataclasses
import datetime

from climate.domain import acquire
from climate.domain import event_kinds
from climate.domain import interval
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import records

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)


def hours(count):
    return datetime.timedelta(hours=count)


def event(kind, at, status=lifecycle.EVENT_UNDONE):
    return records.Event(id=kind, lease_id='l', kind=kind, at=at, due_at=at, status=status)


def lease(*events, **more):
    """A lease from one to nine, whose owner is notified at eight."""
    return records.Lease(**{
        'id': 'l', 'name': 'a lease', 'project_id': 'p', 'user_id': 'u', 'start': NOON + hours(1),
        'end': NOON + hours(9), 'before_end': NOON + hours(8), 'events': events, **more})


START = event(event_kinds.START, NOON + hours(1))
END = event(event_kinds.END, NOON + hours(9))
NEAR = event(event_kinds.BEFORE_END, NOON + hours(8))


NOTHING = lease_events.Preparations()


def changed(before, notify_at=(), anew=False, ahead=NOTHING, now=NOON, **wanted):
    return lease_events.after_change(before, dataclasses.replace(before, **wanted), notify_at,
                                     anew, ahead, now)


def test_a_new_lease_starts_ends_and_says_when_its_end_is_near():
    assert lease_events.of_new(lease(), (), NOTHING, NOON) == (
        (event_kinds.START, NOON + hours(1)), (event_kinds.END, NOON + hours(9)),
        (event_kinds.BEFORE_END, NOON + hours(8)))


def test_a_new_lease_has_only_the_notices_that_its_owner_wants():
    planned = lease_events.of_new(lease(before_end=None), (NOON + hours(2), NOON + hours(3)),
                                  NOTHING, NOON)
    assert planned[2:] == ((event_kinds.NOTIFY, NOON + hours(2)),
                           (event_kinds.NOTIFY, NOON + hours(3)))


def test_targets_are_prepared_at_once():
    assert (event_kinds.PREPARE, NOON) in lease_events.of_new(
        lease(), (), lease_events.Preparations(prepares=True), NOON)


STAGES = lease_events.Preparations(stages=datetime.timedelta(minutes=10))


def staged_at(planned):
    return [at for kind, at in planned if kind == event_kinds.STAGE]


def test_staging_is_spread_over_the_time_before_the_start():
    moments = [at for number in range(500) for at in staged_at(
        lease_events.of_new(lease(id=f'lease-{number}'), (), STAGES, NOON))]
    ahead = [(NOON + hours(1) - each).total_seconds() / 60 for each in moments]
    assert len(ahead) == 500
    assert all(2 < each <= 10 for each in ahead)
    for least in range(2, 10):
        assert 30 < sum(least < each <= least + 1 for each in ahead) < 100


def test_a_lease_that_starts_soon_is_staged_in_the_time_that_is_left_or_not_at_all():
    for seconds in (60, 10):
        soon = lease(start=NOON + datetime.timedelta(seconds=seconds))
        [at] = staged_at(lease_events.of_new(soon, (), STAGES, NOON))
        assert NOON <= at <= NOON + datetime.timedelta(seconds=seconds * 0.8)
    for seconds in (9, 0, -60):
        soon = lease(start=NOON + datetime.timedelta(seconds=seconds))
        assert staged_at(lease_events.of_new(soon, (), STAGES, NOON)) == []


def test_another_start_or_request_is_staged_anew():
    before = lease(START, END)
    [at] = staged_at(changed(before, ahead=STAGES, start=NOON + hours(2)).add)
    assert hours(0) < NOON + hours(2) - at < hours(0.2)
    open_, done = (event(event_kinds.STAGE, NOON + hours(0.9), status) for status in (
        lifecycle.EVENT_UNDONE, lifecycle.EVENT_DONE))
    later = {'start': NOON + hours(2)}
    assert moved(changed(lease(START, END, open_), ahead=STAGES, **later), open_)
    assert not moved(changed(lease(START, END, done), ahead=STAGES, **later), done)
    assert moved(changed(lease(START, END, done), ahead=STAGES, anew=True), done)
    assert not moved(changed(lease(START, END, open_), ahead=STAGES), open_)
    running = lease(START, END, done, state=lifecycle.ACTIVE)
    assert not moved(changed(running, ahead=STAGES, anew=True), done)


WAKES = lease_events.Preparations(wakes=datetime.timedelta(minutes=15))


def woken_at(planned):
    return [at for kind, at in planned if kind == event_kinds.WAKE]


def test_sleeping_resources_are_woken_before_the_start_or_at_once_but_not_during_it():
    before = lease_events.of_new(lease(), (), WAKES, NOON)
    assert woken_at(before) == [NOON + hours(1) - datetime.timedelta(minutes=15)]
    soon = lease(start=NOON + datetime.timedelta(minutes=5))
    assert woken_at(lease_events.of_new(soon, (), WAKES, NOON)) == [NOON]
    assert woken_at(lease_events.of_new(lease(start=NOON), (), WAKES, NOON)) == []
    assert woken_at(lease_events.of_new(lease(), (), NOTHING, NOON)) == []


def test_the_event_that_wakes_moves_with_the_start_even_if_it_is_done():
    at = NOON + hours(2) - datetime.timedelta(minutes=15)
    later = {'start': NOON + hours(2)}
    for status in (lifecycle.EVENT_UNDONE, lifecycle.EVENT_DONE):
        known = event(event_kinds.WAKE, NOON, status)
        assert (known, at) in changed(lease(START, END, known), ahead=WAKES, **later).move
        assert not moved(changed(lease(START, END, known), ahead=WAKES), known)
        running = lease(START, END, known, state=lifecycle.ACTIVE)
        assert not moved(changed(running, ahead=WAKES, anew=True), known)
    busy = event(event_kinds.WAKE, NOON, lifecycle.EVENT_IN_PROGRESS)
    assert not moved(changed(lease(START, END, busy), ahead=WAKES, **later), busy)


def moved(changes, event):
    return event in [each for each, _ in changes.move]


def acquired_at(now, notify_at=()):
    acquisition = records.Acquisition(lease_id='l', type=acquire.WAIT, notify_at=notify_at)
    span = interval.Interval(now, now + hours(4))
    return lease_events.of_acquired(lease(acquisition=acquisition), span, NOTHING, now)


def test_an_acquired_lease_keeps_the_distance_of_its_notice_from_the_end():
    got = acquired_at(NOON + hours(2))
    assert (got.lease.start, got.lease.before_end, got.lease.end) == (
        NOON + hours(2), NOON + hours(5), NOON + hours(6))
    assert (event_kinds.BEFORE_END, NOON + hours(5)) in got.add
    assert got.late == ()


def test_notices_whose_time_passed_before_the_lease_was_acquired_are_left_out():
    got = acquired_at(NOON + hours(2), (NOON + hours(1), NOON + hours(3)))
    assert got.late == (NOON + hours(1),)
    assert [at for kind, at in got.add if kind == event_kinds.NOTIFY] == [NOON + hours(3)]


def test_other_dates_move_the_events():
    assert changed(lease(START, END, NEAR), start=NOON + hours(2), end=NOON + hours(7),
                   before_end=NOON + hours(6)) == lease_events.EventChanges(
        move=((START, NOON + hours(2)), (END, NOON + hours(7)), (NEAR, NOON + hours(6))))


def test_unchanged_dates_move_no_event():
    assert changed(lease(START, END, NEAR)) == lease_events.EventChanges()


def test_a_lease_that_ends_now_gives_no_notice_any_more():
    after = changed(lease(START, END, NEAR), now=NOON + hours(3), end=NOON + hours(3),
                    before_end=NOON + hours(2))
    assert after.close == (event_kinds.BEFORE_END, event_kinds.NOTIFY, event_kinds.EXTEND)
    assert after.move == ((END, NOON + hours(3)),)


def test_a_notice_of_the_end_is_added_where_there_was_none():
    after = changed(lease(START, END, before_end=None), before_end=NOON + hours(7))
    assert after.add == ((event_kinds.BEFORE_END, NOON + hours(7)),)


def test_a_notice_that_was_given_is_given_again():
    told = dataclasses.replace(NEAR, status=lifecycle.EVENT_DONE)
    after = changed(lease(START, END, told), before_end=NOON + hours(8.5))
    assert after.moves_again(event_kinds.BEFORE_END)
    assert not changed(lease(START, END, NEAR), before_end=NOON + hours(8.5)).moves_again(
        event_kinds.BEFORE_END)


def test_a_running_lease_is_updated_where_a_request_of_it_changes():
    before = lease(START, END, NEAR)
    running = dataclasses.replace(before, state=lifecycle.ACTIVE)
    assert changed(running, anew=True).add == ((event_kinds.UPDATE, NOON),)
    assert changed(before, anew=True).add == ()
    assert changed(running).add == ()


def test_an_event_that_is_ordered_twice_happens_again_only_after_it_was_done():
    def ordered(status):
        known = event(event_kinds.CHECK, NOON, status)
        found = lease_events.ordered(lease(known), event_kinds.CHECK, NOON + hours(1))
        return found.move == ((known, NOON + hours(1)),)
    assert lease_events.ordered(lease(), event_kinds.CHECK, NOON).add == (
        (event_kinds.CHECK, NOON),)
    assert ordered(lifecycle.EVENT_DONE)
    assert ordered(lifecycle.EVENT_ERROR)
    assert not ordered(lifecycle.EVENT_UNDONE)
    assert not ordered(lifecycle.EVENT_IN_PROGRESS)


def test_a_failed_start_is_healed_unless_the_lease_is_past_its_end():
    pause = hours(0.5)
    ordered = lease_events.healed(lease(), pause, NOON)
    assert ordered == lease_events.EventChanges(add=((event_kinds.HEAL, NOON + pause),))
    nothing = lease_events.EventChanges()
    assert lease_events.healed(lease(), None, NOON) == nothing
    assert lease_events.healed(lease(), pause, NOON + hours(9)) == nothing


def test_a_trust_is_dropped_once():
    dropped = event(event_kinds.DROP_TRUST, NOON)
    assert lease_events.trust_dropped(lease(trust_id='t'), NOON) == (
        (event_kinds.DROP_TRUST, NOON),)
    assert lease_events.trust_dropped(lease(dropped, trust_id='t'), NOON) == ()
    assert lease_events.trust_dropped(lease(), NOON) == ()


def test_a_lease_of_which_nothing_is_left_ends_now():
    assert lease_events.ended_early(lease(START, END), NOON).move == ((END, NOON),)


def test_a_lease_that_is_being_ended_is_not_ended_early():
    ending = dataclasses.replace(END, status=lifecycle.EVENT_IN_PROGRESS)
    assert lease_events.ended_early(lease(START, ending), NOON) == lease_events.EventChanges()


def test_a_lease_that_is_being_acquired_is_not_tried_any_more_when_nothing_of_it_is_left():
    sought = lease(state=lifecycle.ACQUIRING)
    assert lease_events.ended_early(sought, NOON).close == (event_kinds.ACQUIRE,)
