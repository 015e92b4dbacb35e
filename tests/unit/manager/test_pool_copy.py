# SPDX-License-Identifier: Apache-2.0
"""The board of a plan chooses as the domain does, and finds a later start that fits."""
import datetime
import json

import hypothesis
from hypothesis import strategies as st
import numpy as np

from climate import errors
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import selection
from climate.manager.planning import pool_copy

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
WINDOW = interval.Interval(NOON, NOON + 48 * HOUR)
CAPACITY = {'vcpus': 4}


def span(first, length):
    return interval.Interval(NOON + first * HOUR, NOON + (first + length) * HOUR)


SPANS = st.builds(span, st.integers(0, 40), st.integers(1, 12))
BOOKINGS = st.lists(st.tuples(st.integers(1, 4), SPANS, st.booleans()), max_size=12)


def fill(bookings, whole):
    made = pool_copy.PoolCopy(dict.fromkeys(range(1, 5), json.dumps(CAPACITY)),
                              datetime.timedelta(), WINDOW)
    taken = {key: [] for key in range(1, 5)}
    for number, (key, when, released) in enumerate(bookings):
        amount = selection.WHOLE if whole else {'vcpus': 2}
        made.add(str(number), [(key, when, amount, 1)])
        if released:
            made.release(str(number))
        else:
            taken[key].append((when, amount))
    return made, [selection.Candidate(key, CAPACITY, taken[key]) for key in taken]


def chosen(function, *arguments):
    try:
        return function(*arguments)
    except errors.NotEnough:
        return None


@hypothesis.given(BOOKINGS, SPANS, st.integers(1, 4), st.booleans(), st.sampled_from(
    list(selection.Spread)))
def test_the_copy_chooses_as_the_domain_and_waits_no_longer_than_needed(
        bookings, when, count, whole, spread):
    made, candidates = fill(bookings, whole)
    demand = (selection.Demand(selection.WHOLE, count, count) if whole
              else selection.Demand({'vcpus': 2}, count, count, spread))
    asks = [pool_copy.MaskedDemand(demand, np.ones(4, bool))]
    reference = [joint_selection.ReservationDemand(demand, candidates)]
    assert chosen(made.choose, asks, when) == chosen(joint_selection.choose, reference, when)
    found = made.choose_later(asks, when)
    starts = [NOON + hour * HOUR for hour in range(49)]
    fitting = [start for start in starts
               if start >= when.start and start + when.duration <= WINDOW.end
               and chosen(joint_selection.choose, reference,
                          interval.Interval(start, start + when.duration)) is not None]
    if found is None:
        assert fitting == []
    else:
        assert found[0].start == fitting[0]
    # Asked again, it says the same, also where it remembers that there is nothing.
    assert made.choose_later(asks, when) == found
