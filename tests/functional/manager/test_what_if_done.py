# SPDX-License-Identifier: Apache-2.0
"""The fates that what-if shows for random small pools come true when the change is made."""
import hypothesis
from hypothesis import strategies as st
import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import tables
from climate.domain import what_if

NOON, hours = builders.NOON, builders.hours
END = NOON + hours(24)
HOSTS = 4
# Hosts (at least, and how many more at most), the hour of the start, hours.
LEASES = st.lists(st.tuples(st.integers(1, 2), st.integers(0, 1), st.integers(1, 12),
                            st.integers(1, 8)), min_size=1, max_size=7)
FEW = hypothesis.settings(max_examples=12, suppress_health_check=[
    hypothesis.HealthCheck.function_scoped_fixture])


@pytest.fixture
def filled(conf, database):
    """A function that empties the database and makes a manager with hosts and leases."""
    conf.set_override('cleaning_minutes', 0, group='manager')

    def fill(leases):
        _empty(database)
        manager = builders.Manager(conf, database, builders.Clock())
        hosts, made = manager.enrol(HOSTS), {}
        for least, more, start, length in leases:
            request = _request(least, least + more, NOON + hours(start), NOON + hours(
                start + length))
            try:
                made[manager.create(request).id] = request
            except errors.NotEnough:
                continue
        return manager, hosts, made
    return fill


def _empty(database):
    with database.writer() as connection:
        for table in reversed(tables.METADATA.sorted_tables):
            if table is not tables.WAIT_QUEUE:
                connection.execute(sa.delete(table))


def _request(least, most, start, end, criteria=''):
    return builders.a_lease(builders.hosts(least, most, criteria=criteria), start=start, end=end)


def asked(manager, **more):
    return manager.client.what_if(builders.an_admin(),
                                  what_if.WhatIfQuestion('host', NOON, END, **more))


@FEW
@hypothesis.given(LEASES, st.sampled_from([{}, {'demand_factor': 1.0}]))
def test_without_a_change_nothing_moves_waits_or_is_refused(filled, leases, more):
    manager, _, made = filled(leases)
    answer = asked(manager, **more)
    assert (answer.counts, answer.fates, answer.dropped, answer.leases) == ({}, (), 0, len(made))
    for step in answer.steps:
        assert (step.capacity, step.allocated) == (step.new_capacity, step.new_allocated)


@FEW
@hypothesis.given(LEASES, st.integers(0, HOSTS - 1), st.tuples(
    st.integers(0, 10), st.integers(1, 12)) | st.none())
def test_each_fate_is_the_one_of_the_lease_when_the_change_is_made(filled, leases, broken, out):
    manager, hosts, made = filled(leases)
    name = hosts[broken].name
    if out is None:
        change, begin, end = {'remove': (name,)}, NOON, END
    else:
        begin, end = NOON + hours(out[0]), NOON + hours(sum(out))
        change = {'out': (what_if.Outage((name,), begin, end),)}
    answer = asked(manager, **change)
    assert len(answer.fates) == sum(answer.counts.get('displaced', {}).values())
    for fate in answer.fates:
        request = made.pop(fate.lease_id)
        manager.client.delete_lease(builders.a_member(), fate.lease_id)
        length, asks = request.end - request.start, request.reservations[0].request
        if fate.outcome != what_if.MOVES:
            # Each of these leases needs the time in which the host is out of order.
            with pytest.raises(errors.NotEnough):
                manager.create(_request(asks['min'], asks['max'], request.start, request.end,
                                        ['not', ['==', '$hypervisor_hostname', name]]))
        if fate.outcome == what_if.REFUSED:
            continue
        assert asks['min'] <= len(fate.new_resources) <= asks['max']
        assert name not in fate.new_resources or not (
            fate.new_start < end and begin < fate.new_start + length)
        # It is refused unless just these hosts are free then.
        count = len(fate.new_resources)
        manager.create(_request(count, count, fate.new_start, fate.new_start + length,
                                ['in', '$hypervisor_hostname', list(fate.new_resources)]))
    for lease_id in made:
        lease = manager.client.get_lease(builders.a_member(), lease_id)
        # What-if did not name it, so it does not have the host while that is out of order.
        assert not (lease.start < end and begin < lease.end) or all(
            hosts[broken].id not in each.resource_ids for each in lease.reservations)
