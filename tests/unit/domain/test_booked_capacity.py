# SPDX-License-Identifier: Apache-2.0
"""Use of one resource, proved against a count of every single hour."""
import datetime

import hypothesis
from hypothesis import strategies as st
import pytest

from climate.domain import booked_capacity
from climate.domain import interval

MIDNIGHT = datetime.datetime(2030, 5, 1, tzinfo=datetime.UTC)
CLASSES = ('vcpus', 'memory_mb')


def span(first, last):
    return interval.Interval(MIDNIGHT + datetime.timedelta(hours=first),
                             MIDNIGHT + datetime.timedelta(hours=last))


spans_of_hours = st.tuples(st.integers(0, 20), st.integers(1, 8)).map(
    lambda pair: (pair[0], pair[0] + pair[1]))
units = st.fixed_dictionaries({}, optional={name: st.integers(0, 5) for name in CLASSES})
bookings_of_hours = st.lists(st.tuples(spans_of_hours, units), max_size=8)


def as_bookings(plan):
    return [(span(*hours), amount) for hours, amount in plan]


def most_in_any_hour(plan, window, name):
    return max(sum(amount.get(name, 0) for hours, amount in plan if hour in range(*hours))
               for hour in range(*window))


def copies_free(capacity, bookings, amount, interval):
    return booked_capacity.copies_beside(
        capacity, booked_capacity.touching(bookings, interval), amount)


@hypothesis.given(bookings_of_hours, spans_of_hours)
def test_the_peak_is_the_most_of_any_hour(plan, window):
    peak = booked_capacity.peak(as_bookings(plan), span(*window))
    for name in CLASSES:
        assert peak.get(name, 0) == most_in_any_hour(plan, window, name)


@hypothesis.given(bookings_of_hours, spans_of_hours, st.integers(0, 12), st.integers(0, 12),
                  st.integers(1, 4), st.integers(0, 4))
def test_so_many_copies_fit_and_not_one_more(plan, window, vcpus, memory_mb, one, other):
    capacity = {'vcpus': vcpus, 'memory_mb': memory_mb}
    amount = {'vcpus': one, 'memory_mb': other}

    def fits(copies):
        return all(most_in_any_hour(plan, window, name) + copies * amount[name] <= capacity[name]
                   for name in CLASSES if amount[name])

    expected = max((copies for copies in range(13) if fits(copies)), default=0)
    assert copies_free(capacity, as_bookings(plan), amount, span(*window)) == expected


@hypothesis.given(bookings_of_hours, st.integers(0, 6), st.integers(0, 6))
def test_overdrawn_are_those_that_use_a_class_in_an_hour_that_has_too_little(
        plan, vcpus, memory_mb):
    capacity = {'vcpus': vcpus, 'memory_mb': memory_mb}

    def suffers(hours, amount):
        return any(most_in_any_hour(plan, (hour, hour + 1), name) > capacity[name]
                   for name in CLASSES if amount.get(name) for hour in range(*hours))

    assert booked_capacity.overdrawn(capacity, as_bookings(plan)) == [
        place for place, booking in enumerate(plan) if suffers(*booking)]


def test_a_booking_that_ends_at_noon_is_free_for_one_that_starts_at_noon():
    bookings = [(span(12, 14), {'vcpus': 4}), (span(8, 12), {'vcpus': 4})]
    assert booked_capacity.peak(bookings, span(8, 14)) == {'vcpus': 4}


def test_a_class_that_nobody_uses_is_absent():
    assert booked_capacity.peak([(span(8, 12), {'vcpus': 0})], span(8, 12)) == {}


def test_bookings_outside_the_window_do_not_count():
    assert booked_capacity.peak([(span(8, 12), {'vcpus': 4})], span(12, 14)) == {}


def test_a_class_that_the_resource_lacks_leaves_no_room():
    assert copies_free({'vcpus': 8}, [], {'vcpus': 1, 'gpu': 1}, span(8, 9)) == 0


def test_a_class_with_zero_units_does_not_matter():
    assert copies_free({'vcpus': 8}, [], {'vcpus': 2, 'disk_gb': 0}, span(8, 9)) == 4


def test_an_overbooked_resource_has_no_room_rather_than_less_than_none():
    bookings = [(span(8, 9), {'vcpus': 20})]
    assert copies_free({'vcpus': 8}, bookings, {'vcpus': 2}, span(8, 9)) == 0


def test_an_amount_of_nothing_is_refused():
    with pytest.raises(ValueError):
        copies_free({'vcpus': 8}, [], {'vcpus': 0}, span(8, 9))
