# SPDX-License-Identifier: Apache-2.0
"""Notices and before_end events beside a start or an end that takes its time."""
import datetime

import acts
import pytest
from support import builders

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.leases import target_watch

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


def test_a_notice_between_two_tries_of_a_start_leaves_the_start_alone(manager):
    manager.enrol(1)
    soon = NOON + datetime.timedelta(seconds=1)
    lease = manager.book(notify_at=(soon,), end=NOON + hours(3))
    manager.cloud.fail('nova.create_aggregate', 1, acts.NO)
    lease = manager.expect(lease, lifecycle.ACTIVE, NOON + minutes(1))
    assert [each.state for each in lease.reservations] == ['active']


def test_a_notice_at_the_end_does_not_finish_a_teardown_that_waits(conf, database, clock):
    conf.set_override('delete_seconds', 20, group='simulated')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(1)
    lease = manager.book(notify_at=(NOON + hours(1),))
    manager.run()
    manager.cloud.boot('demo', 'one', {'reservation': lease.reservations[0].id})
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(2))
    assert acts.is_clean(manager, 1)


@pytest.mark.parametrize(('ends', 'told'), [([1], 0), ([1, 4], 1), ([2], 1), ([1.5], 0)])
def test_no_notice_follows_an_end_that_came_nearer(manager, ends, told):
    manager.enrol(1)
    lease = manager.book(notify_at=(NOON + hours(2),), end=NOON + hours(3))
    manager.run()
    for end in ends:
        manager.change(lease, end=NOON + hours(end))
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(5))
    assert manager.lease(lease).event(event_kinds.NOTIFY).status == lifecycle.EVENT_DONE
    assert acts.history(manager, lease).count('notify') == told
    assert acts.news(manager).count('lease.event.notify') == told


def test_no_notice_follows_the_end_of_a_lease_whose_server_is_gone(manager):
    server_id = manager.cloud.boot('demo', 'one', {}, flavor='2').id
    lease = manager.book(
        records.ReservationRequest('virtual:instance', {'resource_id': server_id}),
        notify_at=(NOON + hours(2),), end=NOON + hours(3))
    manager.run()
    manager.cloud.delete_server(server_id)
    target_watch.TargetWatch(manager.core).check_all(manager.clock.advance(hours(1)))
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(4))
    assert acts.history(manager, lease).count('notify') == 0


def test_a_start_that_moves_takes_the_notice_of_the_end_along(manager):
    manager.enrol(1)
    lease = manager.book(start=NOON + hours(1), end=NOON + hours(3))
    manager.change(lease, start=NOON + hours(2) + minutes(30))
    lease = manager.lease(lease)
    assert lease.before_end == lease.start
    manager.run_until(NOON + hours(2) + minutes(40))
    assert manager.lease(lease).event(event_kinds.BEFORE_END).status == lifecycle.EVENT_DONE


def test_a_change_while_another_is_carried_out_is_refused(manager):
    manager.enrol(3)
    lease = manager.active(builders.hosts(1, 1))

    def grow(count):
        asked = records.ReservationRequest(None, {'min': count, 'max': count},
                                           id=lease.reservations[0].id)
        return manager.change(lease, reservations=(asked,))
    grow(2)
    acts.Second(manager).claim()
    with pytest.raises(errors.BadTransition):
        grow(3)


def noticed(manager, count):
    """Leases that run, each with a notice in an hour."""
    return [manager.book(acts.dummy(), end=NOON + hours(3),
                         notify_at=(NOON + hours(1),)) for _ in range(count)]


def test_many_notices_are_told_at_once_whatever_the_number_of_workers(manager):
    manager.core.conf.set_override('workers', 2, group='manager')
    made = noticed(manager, 20)
    manager.run()
    manager.clock.now = NOON + hours(1)
    with builders.statements() as asked:
        assert manager.event_loop.tick(manager.clock()) == 0
    # The statements of each pass over 12 of them; one pass is the first that finds none.
    assert len(asked) <= 3 * 13
    assert [acts.history(manager, each)[-1] for each in made] == ['notify'] * 20
    assert acts.news(manager)[-20:] == ['lease.event.notify'] * 20


def test_a_notice_is_told_once_however_many_managers_look(manager, meddling):
    made = noticed(manager, 5)
    manager.run()
    manager.clock.now = NOON + hours(1)
    slow, quick = acts.Second(manager, meddling, owner='slow'), acts.Second(manager, owner='quick')
    meddling.before_writer = quick.claim
    slow.claim()
    assert [acts.history(manager, each).count('notify') for each in made] == [1] * 5
    assert acts.news(manager).count('lease.event.notify') == 5


def test_a_notice_that_could_not_be_written_is_told_later(manager):
    [lease] = noticed(manager, 1)
    manager.run()
    manager.clock.now = NOON + hours(1)
    database = acts.Breaking(manager.database.engine.url)
    assert acts.Second(manager, database).claim() == 0
    assert 'notify' not in acts.history(manager, lease)
    manager.run()
    assert acts.history(manager, lease)[-1] == 'notify'
    database.dispose()


def test_a_notice_of_a_deleted_lease_is_not_told(manager):
    [lease] = noticed(manager, 1)
    manager.run()
    manager.delete(lease)
    manager.run_until(NOON + hours(2))
    assert 'notify' not in acts.history(manager, lease)
    assert manager.lease(lease).event(event_kinds.NOTIFY).status == lifecycle.EVENT_DONE
