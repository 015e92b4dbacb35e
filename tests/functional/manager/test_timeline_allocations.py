# SPDX-License-Identifier: Apache-2.0
"""The bars of a timeline of every kind of caller, compared with the rows of the database."""
import pytest
from support import builders
from support import thinning

from climate.db import blocks
from climate.db import timeline_columns
from climate.db import timeline_rows
from climate.domain import health
from climate.domain import interval
from climate.domain import maintenance_windows
from climate.domain import status_words
from climate.domain import timeline

MOST = 1_000


@pytest.fixture
def world(manager):
    """Leases of two projects, one of them deleted, an offer, a maintenance, and a sick host."""
    manager.enrol(4)
    for caller in (builders.a_member(), builders.a_member('eve', 'elsewhere')):
        for hours in (1, 30):
            manager.create(builders.a_lease(end=builders.at(hours)), caller)
    manager.run()
    manager.delete(manager.book(start=builders.at(40), end=builders.at(41)))
    manager.hold(builders.a_lease(start=builders.at(40), end=builders.at(44)), seconds=3600)
    offer = manager.hold(builders.a_lease(start=builders.at(50), end=builders.at(51)))
    manager.take(offer)
    manager.client.create_maintenance(
        builders.an_admin(), maintenance_windows.MaintenanceRequest(
            'host', builders.at(60), builders.at(62), 'disk', ('compute-4',)))
    sick = manager.client.create_resource(builders.an_admin(), 'host', 'compute-5', {})
    with manager.database.writer() as connection:
        blocks.fill(connection, {(health.block_of(sick.id), sick.id): interval.Interval(
            builders.at(0), builders.at(30))})
    return manager


@pytest.mark.parametrize('few', [0, MOST])
@pytest.mark.parametrize('caller', [{'everybody': True}, {'project_id': 'demo'},
                                    {'project_id': 'demo', 'everybody': True}, {}])
@pytest.mark.parametrize(('start', 'end'), thinning.few([
    (-1, 100), (0, 1), (2, 29), (35, 45), (61, 62)], 1))
def test_bars_are_what_the_rows_of_allocations_and_leases_say(
        world, monkeypatch, start, end, caller, few):
    monkeypatch.setattr(timeline_columns, '_FEW', few)
    query = timeline.TimelineQuery('host', builders.at(start), builders.at(end), **caller)
    with world.database.reader() as connection:
        rows = timeline_rows.allocated(connection, 'host', query.start, query.end, MOST)
    expected = sorted(filter(None, (bar(row, query, world.clock()) for row in rows)), key=str)
    found = world.client.get_timeline(builders.an_admin(), query)
    shown = [(found.resources[lane].id, begin, until, timeline.KINDS[kind],
              found.words[status] if status >= 0 else None,
              found.leases[lease].id if lease >= 0 else None)
             for lane, begin, until, kind, status, lease in zip(
                 found.lanes, found.starts, found.ends, found.kinds, found.statuses,
                 found.of_leases, strict=True) if timeline.KINDS[kind] != timeline.OUT_OF_ORDER]
    assert sorted(shown, key=str) == expected != []
    assert [each[:2] for each in shown] == sorted(each[:2] for each in shown)


def bar(row, query, now):
    """Return the bar of a row of `allocated`; None: it has none."""
    place = (row.resource_id, *(int((moment - query.start).total_seconds())
                                for moment in (row.start, row.end)))
    if health.is_block(row.reservation_id):
        return None
    if row.lease_id is None:
        return (*place, timeline.OFFER if row.window_id is None else timeline.MAINTENANCE,
                None, None)
    own = row.project_id == query.project_id
    kind = timeline.OWN if own else timeline.OTHERS
    if query.everybody or (own and row.deleted_at is None):
        return (*place, kind, status_words.words(row.state, row.task, row.lease_start, now)[1],
                row.lease_id)
    return (*place, kind, None, None)


def test_a_sick_host_has_no_bar_of_a_lease(world, monkeypatch):
    monkeypatch.setattr(timeline_columns, '_FEW', 0)
    [sick] = [host for host in world.client.list_resources(builders.an_admin(), 'host')
              if host.name == 'compute-5']
    for caller in ({'everybody': True}, {'project_id': 'demo'}):
        found = world.client.get_timeline(builders.an_admin(), timeline.TimelineQuery(
            'host', builders.at(1), builders.at(20), **caller))
        place = [each.id for each in found.resources].index(sick.id)
        kinds = {timeline.KINDS[kind] for lane, kind in zip(found.lanes, found.kinds, strict=True)
                 if lane == place}
        assert not kinds & {timeline.OWN, timeline.OTHERS}, caller
