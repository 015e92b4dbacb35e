# SPDX-License-Identifier: Apache-2.0
"""A host that is lent to one reservation cannot be leased by any other."""
import acts
import pytest
from support import builders

from climate import errors
from climate.db import resources
from climate.domain import interval
from climate.manager.booking import booking
from climate.manager.booking import wish_lists

NOON, hours = builders.NOON, builders.hours


def _lend(manager, host, reservation_id):
    with manager.database.writer() as connection:
        resources.change(connection, host.id, NOON, lent_to=reservation_id)


@pytest.mark.parametrize('start', [NOON, NOON + hours(1)])
@pytest.mark.parametrize('request_of', [
    builders.hosts, lambda: builders.instances(memory_mb=1)])
def test_nobody_else_books_it_whole_or_in_part(manager, start, request_of):
    [host] = manager.enrol(1)
    _lend(manager, host, 'somebody')
    with pytest.raises(errors.NotEnough) as caught:
        manager.book(request_of(), start=start, end=NOON + hours(2))
    assert caught.value.kwargs['total'] == 0
    assert caught.value.kwargs['nearest'] is None
    _lend(manager, host, None)
    manager.book(request_of(), start=start, end=NOON + hours(2))


def test_a_booking_that_was_planned_before_it_was_lent_loses(manager, meddling):
    first, second = manager.enrol(2)
    meddling.before_writer = lambda: _lend(manager, first, 'somebody')
    other = acts.Second(manager, meddling)
    need = manager.core.registry.plugin('physical:host').needs({'min': 1, 'max': 1})[0]
    span = interval.Interval(NOON, NOON + hours(1))
    chosen = booking.Booking(other.core).book(
        [wish_lists.Wish('mine', need)], span, NOON, lambda connection, chosen: chosen)
    assert [each.resource_id for each in chosen] == [second.id]


def test_the_reservation_that_it_is_lent_to_gets_it(manager):
    [host] = manager.enrol(1)
    _lend(manager, host, 'mine')
    need = manager.core.registry.plugin('physical:host').needs({'min': 1, 'max': 1})[0]
    span = interval.Interval(NOON, NOON + hours(1))
    chosen = booking.Booking(manager.core).book(
        [wish_lists.Wish('mine', need)], span, NOON, lambda connection, chosen: chosen)
    assert [each.resource_id for each in chosen] == [host.id]
