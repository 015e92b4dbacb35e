# SPDX-License-Identifier: Apache-2.0
"""Among very many hosts a lease gets what the plain algorithm would choose among all of them."""
import dataclasses
import random

import pytest
import sqlalchemy as sa
from support import builders
from support import db_rows
from support import thinning

from climate import errors
from climate.db import allocations
from climate.db import tables
from climate.domain import interval
from climate.domain import joint_selection
from climate.domain import records
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import booking
from climate.manager.booking import candidates
from climate.manager.booking import wish_lists
from climate.plugins import base

NOON, hours = builders.NOON, builders.hours
# More than the first two steps read, so that the others matter too.
HOSTS = 700
SMALL = {'vcpus': 2, 'memory_mb': 512, 'disk_gb': 1}
LARGE = {'vcpus': 4, 'memory_mb': 1024, 'disk_gb': 2}
RACKS = [str(number) for number in range(7)]
SPANS = [interval.Interval(NOON + hours(at), NOON + hours(at + length))
         for at, length in ((1, 1), (3, 6), (0, 12), (20, 4))]


@pytest.fixture(autouse=True)
def few_at_first(monkeypatch):
    monkeypatch.setattr(candidates, 'FIRST_WHOLE', 20)
    monkeypatch.setattr(candidates, 'FIRST_SHARED', 100)


def capacity(number):
    return {'vcpus': 8 + number % 2 * 2, 'memory_mb': 4096, 'disk_gb': 8}


@pytest.fixture(params=['random', 'packed', 'empty'])
def booked(request, database):
    """Hosts with bookings: {id: [Allocation]}.

    In some, all allocations are on the first hosts, which have no free capacity.
    """
    made = random.Random(3)
    lease = db_rows.saved(database, db_rows.a_lease(start=NOON, end=NOON + hours(24)))
    mine = lease.reservations[0].id
    found = {number: [] for number in range(1, HOSTS + 1)}
    if request.param == 'random':
        for number, at in ((number, at) for number in found for at in range(0, 24, 4)):
            if made.random() < 0.6:
                whole = number % 3 == 0
                start = NOON + hours(at + made.random() * 2)
                found[number].append(records.Allocation(
                    mine, number, start, start + hours(made.random() * 2 + 0.1), whole=whole,
                    amount={} if whole else made.choice([SMALL, LARGE]), copies=1))
    if request.param == 'packed':
        for number in range(1, HOSTS - 20):
            found[number].append(records.Allocation(
                mine, number, NOON, NOON + hours(12), whole=False, amount=LARGE, copies=2))
        found[HOSTS - 30][0] = records.Allocation(
            mine, HOSTS - 30, NOON, NOON + hours(12), whole=False, amount=SMALL, copies=1)
    with database.writer() as connection:
        connection.execute(sa.insert(tables.PROPERTIES), [
            {'id': 1, 'pool': 'host', 'name': 'rack', 'created_at': NOON}])
        connection.execute(sa.insert(tables.RESOURCES), [
            {'id': number, 'pool': 'host', 'name': f'host-{number}',
             'enrolled_name': f'host-{number}', 'capacity': capacity(number), 'created_at': NOON}
            for number in found])
        connection.execute(sa.insert(tables.PROPERTY_VALUES), [
            {'resource_id': number, 'property_id': 1, 'text': RACKS[number % 7],
             'number': number % 7} for number in found])
        allocations.add(connection, [given for each in found.values() for given in each])
    return found


def wish(demand, criteria='', keep=()):
    need = base.Need('hosts', 'host', demand, requirement.parse(criteria))
    return wish_lists.Wish('mine', need, keep)


def plainly(booked, wishes, span):
    """Return the choice of each wish among all hosts, checked one after the other."""
    def meets(number, wanted):
        return requirement.matches(wanted, {
            'vcpus': capacity(number)['vcpus'], 'rack': RACKS[number % 7]})

    return joint_selection.choose([joint_selection.ReservationDemand(
        dataclasses.replace(each.need.demand, keep=tuple(map(selection.Pick, each.keep))),
        [selection.Candidate(number, capacity(number), [
            (interval.Interval(given.start, given.end),
             selection.WHOLE if given.whole else given.amount)
            for given in taken for _ in range(given.copies)])
         for number, taken in booked.items() if meets(number, each.need.requirement)])
        for each in wishes], span)


def planned(manager, wishes, span):
    chosen = booking.Booking(manager.core).plan(wishes, span, NOON - hours(24))
    assert all(given.end == span.end for given in chosen)
    return [selection.Pick(given.resource_id, given.copies) for given in chosen]


CRITERIA = ('', '["=", "$rack", 4]', '["and", [">", "$vcpus", 8], ["not", ["=", "$rack", "2"]]]')


@pytest.mark.proof
@pytest.mark.parametrize('criteria', thinning.few(CRITERIA[::-1], 1))
def test_a_lease_gets_what_would_be_chosen_among_all_hosts(manager, booked, criteria):
    whole = selection.Demand(selection.WHOLE, 1, 5, selection.Spread.APART)
    parts = [selection.Demand(SMALL, 2, 3, spread) for spread in selection.Spread]
    for span in SPANS:
        for demand in (whole, *parts):
            for keep in ((), (650, 3)):
                wanted = [wish(demand, criteria, keep)]
                try:
                    [expected] = plainly(booked, wanted, span)
                except errors.NotEnough:
                    with pytest.raises(errors.NotEnough):
                        planned(manager, wanted, span)
                else:
                    assert planned(manager, wanted, span) == list(expected)


def test_several_reservations_of_a_lease_get_what_would_be_chosen_among_all_hosts(manager, booked):
    wishes = [wish(selection.Demand(SMALL, 1, 4)),
              wish(selection.Demand(selection.WHOLE, 1, 2), CRITERIA[1]),
              wish(selection.Demand(LARGE, 2, 3, selection.Spread.TOGETHER)),
              wish(selection.Demand(SMALL, 2, 2, selection.Spread.APART), CRITERIA[2])]
    for span in SPANS[:3]:
        for count in (2, 4):
            expected = plainly(booked, wishes[:count], span)
            assert planned(manager, wishes[:count], span) == [
                pick for picks in expected for pick in picks]


def test_reservations_that_compare_with_1_and_with_true_have_different_candidates(manager):
    ids = [manager.client.create_resource(builders.an_admin(), 'host', name, {'ssd': ssd}).id
           for name, ssd in zip(sorted(manager.cloud.host_names()), ('1', 'true'), strict=False)]
    lease = manager.book(builders.hosts(criteria='["==", "$ssd", 1]'),
                         builders.hosts(criteria='["==", "$ssd", true]'))
    assert [each.resource_ids for each in lease.reservations] == [(key,) for key in ids]
