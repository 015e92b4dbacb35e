# SPDX-License-Identifier: Apache-2.0
"""The time for cleaning lies between whole hosts and parts of them alike."""
import acts
import builders
import pytest

from climate import errors
from climate.domain import records

NOON, hours = builders.NOON, builders.hours
ROOM = records.ReservationRequest('virtual:instance', {
    'vcpus': 1, 'memory_mb': 256, 'disk_gb': 1, 'amount': 1})


@pytest.mark.parametrize('first, second', [
    (builders.hosts(1), builders.hosts(1)), (builders.hosts(1), ROOM),
    (ROOM, builders.hosts(1))])
def test_a_host_is_cleaned_between_two_leases(conf, database, clock, first, second):
    conf.set_override('cleaning_minutes', 30, group='manager')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(1)
    manager.create(builders.a_lease(first, start=NOON + hours(1), end=NOON + hours(2)))
    with pytest.raises(errors.NotEnough):
        manager.create(builders.a_lease(second, start=NOON + hours(2), end=NOON + hours(3)))
    later = NOON + hours(2) + builders.minutes(30)
    manager.create(builders.a_lease(second, start=later, end=later + hours(1)))


@pytest.mark.parametrize('second', [builders.hosts(1), ROOM])
def test_a_host_that_a_running_lease_has_lost_is_cleaned_too(conf, database, clock, second):
    conf.set_override('cleaning_minutes', 30, group='manager')
    manager = builders.Manager(conf, database, clock)
    manager.enrol(2)
    lease = acts.active(manager, builders.hosts(2), end=NOON + hours(5))
    lost = clock.advance(builders.minutes(10))
    acts.change(manager, lease, reservations=acts.asked(lease.reservations[0], min=1, max=1))
    manager.run()
    with pytest.raises(errors.NotEnough):
        manager.create(builders.a_lease(second, start=lost + builders.minutes(29),
                                        end=NOON + hours(3)))
    manager.create(builders.a_lease(second, start=lost + builders.minutes(30),
                                    end=NOON + hours(3)))
