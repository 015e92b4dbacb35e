# SPDX-License-Identifier: Apache-2.0
"""The time for cleaning lies between whole hosts and parts of them alike."""
import acts
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle

NOON, hours = builders.NOON, builders.hours
ROOM = builders.instances(memory_mb=256)


@pytest.mark.parametrize('first, second', [
    (builders.hosts(1), builders.hosts(1)), (builders.hosts(1), ROOM),
    (ROOM, builders.hosts(1))])
def test_a_host_is_cleaned_between_two_leases(conf, database, clock, first, second):
    conf.set_override('cleaning_minutes', 30, group='manager')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(1)
    manager.book(first, start=NOON + hours(1), end=NOON + hours(2))
    with pytest.raises(errors.NotEnough):
        manager.book(second, start=NOON + hours(2), end=NOON + hours(3))
    later = NOON + hours(2) + builders.minutes(30)
    manager.book(second, start=later, end=later + hours(1))


@pytest.mark.parametrize('second', [builders.hosts(1), ROOM])
def test_a_host_that_a_running_lease_has_lost_is_cleaned_too(conf, database, clock, second):
    conf.set_override('cleaning_minutes', 30, group='manager')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(2)
    lease = manager.active(builders.hosts(2), end=NOON + hours(5))
    lost = clock.advance(builders.minutes(10))
    manager.change_reservation(lease, min=1, max=1)
    manager.run()
    with pytest.raises(errors.NotEnough):
        manager.book(second, start=lost + builders.minutes(29), end=NOON + hours(3))
    manager.book(second, start=lost + builders.minutes(30), end=NOON + hours(3))


@pytest.mark.parametrize('kind', ['wait', 'retries'])
def test_a_host_is_given_to_who_waits_as_soon_as_it_is_cleaned(conf, database, clock, kind):
    conf.set_override('cleaning_minutes', 7, group='manager')
    conf.set_override('hold_back_share', 0, group='acquire')
    conf.set_override('wait_look_seconds', 3600, group='acquire')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(2)
    first, _ = (manager.active(end=NOON + hours(9)) for _ in range(2))
    clock.advance(builders.minutes(1))
    fields = {'retry_pause_seconds': 600} if kind == 'retries' else {}
    never = acts.sought(manager, 'wait', builders.hosts(2))
    clock.advance(builders.seconds(1))
    lease = acts.sought(manager, kind, **fields)
    manager.run()
    ended = clock.advance(builders.seconds(30.5))
    acts.end(manager, first)
    manager.expect(lease, lifecycle.ACQUIRING, ended + builders.minutes(7) - builders.seconds(0.1))
    manager.expect(lease, lifecycle.ACTIVE, ended + builders.minutes(7) + builders.seconds(1))
    assert manager.lease(never).state == lifecycle.ACQUIRING


def test_a_broken_lease_starts_as_soon_as_a_host_is_cleaned(conf, database, clock):
    conf.set_override('cleaning_minutes', 7, group='manager')
    conf.set_override('heal_seconds', 900, group='manager')
    manager = builders.Manager(conf, database, clock)
    mine, other = manager.enrol(2)
    lease = manager.book(start=NOON + hours(1), end=NOON + hours(9))
    assert lease.reservations[0].resource_ids == (mine.id,)
    manager.active(builders.hosts(1, criteria=acts.named(other)),
                   end=NOON + hours(1) + builders.minutes(5))
    acts.disable(manager, mine)
    usable = NOON + hours(1) + builders.minutes(12)
    manager.expect(lease, lifecycle.ERROR, usable - builders.seconds(0.1))
    manager.expect(lease, lifecycle.ACTIVE, usable + builders.seconds(1))
