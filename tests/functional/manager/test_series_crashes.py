# SPDX-License-Identifier: Apache-2.0
"""A manager that dies at any commit while it works on a series: nothing is doubled or lost."""
import datetime
import itertools
import uuid

import acts
import pytest
import sqlalchemy as sa
from support import builders
from support import crashing

from climate import errors
from climate.db import tables
from climate.domain.series import series_records
from climate.manager.series import horizon

NOON, hours = builders.NOON, builders.hours
pytestmark = pytest.mark.proof

DAY = datetime.timedelta(days=1)
MEMBER = builders.a_member()
REQUEST = series_records.SeriesRequest(
    name='lab', reservations=(builders.hosts(),), start=f'{NOON:%Y-%m-%d}T14:00:00', seconds=3600,
    repeat='every day for 4 times', time_zone='UTC')
# After this time, the request that makes a series counts as failed.
ABANDONED = datetime.timedelta(minutes=11)


@pytest.fixture
def points():
    return crashing.Points()


@pytest.fixture
def dying(manager, points):
    """A second manager of the same cloud and database, which may die at each commit."""
    database = crashing.Fragile(manager.database.engine.url, points)
    yield builders.Manager(manager.core.conf, database, manager.clock, manager.cloud)
    database.dispose()


def starts(manager):
    """Return the starts of the leases of series that are not deleted, in order."""
    with manager.database.reader() as connection:
        return list(connection.execute(sa.select(tables.LEASES.c.start).where(
            tables.LEASES.c.series_id.is_not(None), tables.LEASES.c.deleted_at.is_(None))
            .order_by(tables.LEASES.c.start)).scalars())


def days(*numbers, hour=2):
    return [NOON + hours(hour) + number * DAY for number in numbers]


def recovered(manager):
    """Have another manager finish the work; return the series that users see."""
    manager.clock.advance(ABANDONED)
    for _ in range(2):
        horizon.Horizon(manager.core).step(manager.clock())
    return manager.client.list_series(MEMBER, series_records.SeriesQuery())


def dies(points, number, work):
    """Call `work` in a process that dies at a point; return whether it reached the point."""
    points.begin(number)
    try:
        work()
    except crashing.Crash:
        return True
    finally:
        points.begin(0)
    return False


def test_a_series_exists_whole_or_not_at_all_after_a_crash(manager, dying, points):
    manager.enrol(1)
    whole = 0
    for number in itertools.count(1):
        key = str(uuid.uuid4())
        died = dies(points, number, lambda key=key: dying.client.create_series(
            MEMBER, key, REQUEST))
        found = recovered(manager)
        assert starts(manager) == (days(0, 1, 2, 3) if found else [])
        if not found:
            # The records of trusts that were never used are deleted by another task.
            assert len(acts.trusts(manager)) <= 1
        else:
            whole += 1
            manager.client.cancel_series(MEMBER, found[0].id, series_records.ALL)
            horizon.Horizon(manager.core).step(manager.clock())
            # The trust goes with the last lease, so that the next round begins without one.
            assert recovered(manager)[0].status == series_records.CANCELLED
            _purge(manager)
        manager.clock.now = NOON
        _drop_trusts(manager)
        if not died:
            break
    assert number > 8
    assert whole >= 1


def test_a_pass_over_the_horizon_books_each_occurrence_once(manager, dying, points, conf):
    conf.set_override('horizon_days', 1, group='series')
    manager.enrol(1)
    series = manager.client.create_series(MEMBER, str(uuid.uuid4()), REQUEST)
    conf.set_override('horizon_days', 60, group='series')
    _due(manager, series)
    for number in itertools.count(1):
        if not dies(points, number, lambda: horizon.Horizon(dying.core).step(manager.clock())):
            break
        assert len(set(starts(manager))) == len(starts(manager))

    assert starts(manager) == days(0, 1, 2, 3)


@pytest.mark.parametrize('scope', ['all', 'following'])
def test_a_change_reaches_every_lease_after_a_crash(manager, dying, points, scope):
    manager.enrol(1)
    for number in itertools.count(1):
        series = manager.client.create_series(MEMBER, str(uuid.uuid4()), REQUEST)
        changes = series_records.SeriesChanges(
            scope, 3 if scope == 'following' else None, time='16:00:00')
        died = dies(points, number, lambda series=series, changes=changes:
                    dying.client.update_series(MEMBER, series.id, changes))
        recovered(manager)
        unchanged = days(0, 1, 2, 3)
        changed = days(0, 1, 2, 3, hour=4) if scope == 'all' else days(0, 1) + days(2, 3, hour=4)
        assert starts(manager) in (changed, unchanged)
        assert died or starts(manager) == changed
        assert len(acts.trusts(manager)) == 1
        _start_again(manager)
        if not died:
            break
    assert number > 3


def test_a_cancelled_series_has_no_lease_after_a_crash(manager, dying, points):
    manager.enrol(1)
    for number in itertools.count(1):
        series = manager.client.create_series(MEMBER, str(uuid.uuid4()), REQUEST)
        died = dies(points, number, lambda series=series: dying.client.cancel_series(
            MEMBER, series.id, series_records.ALL))
        recovered(manager)
        assert starts(manager) in ([], days(0, 1, 2, 3))
        assert died or not starts(manager)
        _start_again(manager)
        if not died:
            break
    assert number > 3


def _due(manager, series):
    with manager.database.writer() as connection:
        connection.execute(sa.update(tables.SERIES).where(tables.SERIES.c.id == series.id)
                           .values(extend_at=NOON))


def _start_again(manager):
    """Cancel all series, and go back to the first moment."""
    for series in manager.client.list_series(MEMBER, series_records.SeriesQuery()):
        try:
            manager.client.cancel_series(MEMBER, series.id, series_records.ALL)
        except errors.SeriesOver:
            continue
    recovered(manager)
    assert not acts.trusts(manager)
    _purge(manager)
    manager.clock.now = NOON


def _purge(manager):
    with manager.database.writer() as connection:
        for table in (tables.SERIES_OCCURRENCES, tables.SERIES):
            connection.execute(sa.delete(table))


def _drop_trusts(manager):
    for trust in acts.trusts(manager):
        manager.cloud.as_service().keystone.delete_trust(trust.id)
