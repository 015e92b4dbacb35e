# SPDX-License-Identifier: Apache-2.0
"""Refused demand is recorded once, and a failure of the record changes no answer."""
import uuid

import pytest
import sqlalchemy as sa
from support import builders
from support import db_rows
from support import simultaneous

from climate import errors
from climate.db import engine
from climate.db import migrate
from climate.db import refusals as rows
from climate.db import tables
from climate.domain import interval
from climate.domain import records
from climate.domain import refusals
from climate.manager.booking import refused_demand
from climate.manager.usage import days

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
EVER = interval.Interval(NOON - hours(24), NOON + hours(24 * 30))


def found(manager, pool='host'):
    with manager.database.reader() as connection:
        return rows.of_pool(connection, pool, EVER)


def refused(manager, request, caller=None):
    with pytest.raises(refusals.SHORTAGES):
        manager.create(request, caller)


def three(**more):
    return builders.a_lease(builders.hosts(3), end=NOON + hours(2), **more)


def test_a_request_that_does_not_fit_is_recorded_with_its_time_and_its_reason(manager):
    manager.enrol(2)
    refused(manager, three())
    (refusal,) = found(manager)
    assert (refusal.start, refusal.end, refusal.copies) == (NOON, NOON + hours(2), 3)
    assert (refusal.amount, refusal.reason) == (None, refusals.NO_MATCH)
    assert (refusal.project_id, refusal.user_id, refusal.times) == ('demo', 'demo', 1)
    assert (refusal.resource_type, refusal.waited_seconds) == ('physical:host', 0)


def test_hosts_that_others_have_are_another_reason_than_hosts_that_do_not_exist(manager):
    manager.enrol(3)
    manager.book()
    refused(manager, three())
    assert [each.reason for each in found(manager)] == [refusals.NOT_FREE]


def test_fitting_requests_and_dry_runs_are_not_recorded(manager, api):
    manager.enrol(2)
    manager.book()
    refused(manager, three(dry_run=True))
    assert found(manager) == []


def test_a_request_in_a_loop_is_one_refusal_that_counts(manager):
    manager.enrol(1)
    for _ in range(4):
        refused(manager, builders.a_lease(builders.hosts(3), end=NOON + hours(9)))
        manager.clock.advance(minutes(50))
    (refusal,) = found(manager)
    assert (refusal.times, refusal.at, refusal.last_at) == (4, NOON, NOON + minutes(150))


def test_a_request_of_another_project_or_day_is_another_refusal(manager):
    manager.enrol(1)
    later = builders.a_lease(builders.hosts(3), start=NOON + hours(20), end=NOON + hours(22))
    refused(manager, later)
    refused(manager, later, builders.a_member('eve', 'other'))
    manager.clock.advance(minutes(61))
    refused(manager, later)
    assert [(each.project_id, each.times) for each in found(manager)] == [
        ('demo', 1), ('other', 1), ('demo', 1)]


def test_all_needs_of_a_lease_are_refused_together(manager):
    manager.enrol(2)
    refused(manager, builders.a_lease(builders.hosts(1), builders.hosts(2)))
    assert [each.copies for each in found(manager)] == [1, 2]


def test_a_refused_change_records_the_demand_beyond_the_lease(manager):
    manager.enrol(2)
    lease = manager.book(builders.hosts(2), end=NOON + hours(2))
    manager.book(start=NOON + hours(2), end=NOON + hours(5))
    with pytest.raises(errors.NotEnough):
        manager.change(lease, end=NOON + hours(4))
    (refusal,) = found(manager)
    assert (refusal.start, refusal.end) == (NOON + hours(2), NOON + hours(4))
    assert (refusal.copies, refusal.lease_id) == (2, lease.id)


@pytest.mark.proof
def test_a_lease_that_waited_in_vain_is_recorded_with_its_wait(manager):
    manager.enrol(1)
    manager.book(end=NOON + hours(9))
    manager.run()
    manager.book(duration_seconds=3600, acquire=records.AcquireRequest(
        'wait', not_after=NOON + hours(1)))
    assert found(manager) == []
    manager.run_until(NOON + hours(2))
    (refusal,) = found(manager)
    assert refusal.reason == refusals.WAITED_TOO_LONG
    assert (refusal.start, refusal.end) == (NOON, NOON + hours(1))
    assert refusal.waited_seconds == 3600


def test_a_lease_that_is_deleted_while_it_waits_was_refused_until_then(manager):
    manager.enrol(1)
    manager.book(end=NOON + hours(9))
    manager.run()
    waits = manager.book(duration_seconds=3600, acquire=records.AcquireRequest('wait'))
    manager.clock.advance(minutes(30))
    manager.delete(waits)
    manager.run()
    (refusal,) = found(manager)
    assert (refusal.reason, refusal.waited_seconds) == (refusals.WITHDRAWN, 1800)
    assert (refusal.lease_id, refusal.copies) == (waits.id, 1)


def test_a_lease_whose_type_was_disabled_is_given_up_without_a_record(manager):
    manager.enrol(1)
    manager.book(end=NOON + hours(9))
    manager.run()
    waits = manager.book(duration_seconds=3600, acquire=records.AcquireRequest(
        'wait', not_after=NOON + hours(1)))
    del manager.core.registry.plugins['physical:host']
    manager.clock.advance(hours(2))
    manager.delete(waits)
    assert found(manager) == []


def test_a_record_that_cannot_be_written_changes_no_answer(manager, monkeypatch):
    manager.enrol(1)
    manager.book(end=NOON + hours(2))
    with pytest.raises(errors.NotEnough) as before:
        manager.book(end=NOON + hours(2))
    for error in (errors.DatabaseUnreachable(retry_after=5), engine.Duplicate(), errors.LostRace()):
        def fail(*_, error=error):
            raise error
        monkeypatch.setattr(rows, 'repeat', fail)
        with pytest.raises(errors.NotEnough) as after:
            manager.book(end=NOON + hours(2))
        assert after.value.message == before.value.message


def test_requests_at_the_same_moment_are_one_refusal(conf, database, clock):
    manager = builders.Manager(conf, database, clock)
    manager.enrol(1)
    refused_calls = simultaneous.at_once(*[lambda: manager.client.create_lease(
        builders.a_member(), str(uuid.uuid4()), three())] * 4, caught=errors.NotEnough)
    assert refused_calls == [errors.NotEnough] * 4
    assert [each.times for each in found(manager)] == [4]


def test_the_criteria_that_were_asked_for_are_recorded(manager):
    host, *_ = manager.enrol(2)
    manager.client.update_resource(builders.an_admin(), 'host', host.id, {'gpu': 'A1'})
    refused(manager, builders.a_lease(builders.hosts(2, criteria='["==", "$gpu", "A1"]'),
                                      end=NOON + hours(2)))
    refused(manager, three())
    assert [each.criteria for each in found(manager)] == [['==', '$gpu', 'A1'], []]


def test_refusals_that_are_too_old_for_any_forecast_are_deleted(manager, conf):
    conf.set_override('refusals_days', 30, group='forecast')
    manager.enrol(1)
    refused(manager, three())
    manager.clock.now = NOON + hours(90)
    refused(manager, builders.a_lease(builders.hosts(2), start=NOON + hours(90),
                                      end=NOON + hours(24 * 36500)))
    refused_demand.delete_old(manager.core, NOON + hours(24 * 32))
    assert len(found(manager)) == 2, 'their days are not counted yet'
    days.close(manager.database, NOON + hours(24 * 32), most=None)
    refused_demand.delete_old(manager.core, NOON + hours(24 * 29))
    assert len(found(manager)) == 2
    refused_demand.delete_old(manager.core, NOON + hours(24 * 32))
    assert [each.copies for each in found(manager)] == [2]
    conf.set_override('refusals_days', 0, group='forecast')
    refused_demand.delete_old(manager.core, NOON + hours(24 * 90))
    assert len(found(manager)) == 1
    conf.set_override('refusals_days', 30, group='forecast')
    days.close(manager.database, NOON + hours(24 * 36), most=None)
    refused_demand.delete_old(manager.core, NOON + hours(24 * 36))
    assert found(manager) == [], 'it asked for a century, which is not over'


@pytest.mark.proof
def test_the_refusals_of_a_project_are_bounded(manager, conf):
    conf.set_override('refusals_per_project', 20, group='forecast')
    manager.enrol(1)
    refused(manager, three(), builders.a_member('eve', 'other'))
    long = ['or', *(['==', '$hypervisor_hostname', 'x' * 400] for _ in range(100))]
    for day in range(1, 9):
        refused(manager, builders.a_lease(
            *(builders.hosts(10 ** 6, criteria=long) for _ in range(30)),
            start=NOON + hours(24 * day), end=NOON + hours(24 * 36500)))
    with manager.database.reader() as connection:
        left = connection.execute(sa.select(tables.REFUSALS)).all()
    assert [each.project_id for each in left] == ['other'] + ['demo'] * 20
    assert sum(len(str(each)) for each in left) < 20 * 2000
    # Equal requests are counted, not kept.
    refused(manager, three(), builders.a_member('eve', 'other'))
    assert len(found(manager)) == 1 + 20


@pytest.mark.parametrize('deleted', [
    True, pytest.param(False, marks=pytest.mark.proof)])
def test_leases_that_wait_in_vain_leave_no_more_than_refused_requests(manager, conf, deleted):
    conf.set_override('refusals_per_project', 20, group='forecast')
    manager.enrol(6)
    manager.book(builders.hosts(6), end=NOON + hours(99))
    manager.run()
    refused(manager, three(), builders.a_member('eve', 'other'))
    for _ in range(8):
        lease = manager.book(
            *(builders.hosts(1) for _ in range(6)), duration_seconds=3600,
            acquire=records.AcquireRequest('wait', not_after=manager.clock() + hours(1)))
        if deleted:
            manager.delete(lease)
        manager.run_until(manager.clock() + hours(2))
    with manager.database.reader() as connection:
        left = connection.execute(sa.select(tables.REFUSALS.c.project_id, tables.REFUSALS.c.at)
                                  .order_by(tables.REFUSALS.c.id)).all()
    assert [each.project_id for each in left] == ['other'] + ['demo'] * 20
    assert max(each.at for each in left) == left[-1].at


def test_a_purge_takes_old_refusals_whatever_time_they_asked_for(manager):
    manager.enrol(1)
    refused(manager, three())
    for moment, count in ((0, 4), (20, 2)):
        manager.clock.now = NOON + hours(moment)
        refused(manager, builders.a_lease(builders.hosts(count), start=NOON + hours(90),
                                          end=NOON + hours(99)))
    db_rows.closed(manager.database)
    migrate.purge(manager.database, NOON + hours(10))
    assert [each.copies for each in found(manager)] == [2]
