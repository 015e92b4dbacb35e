# SPDX-License-Identifier: Apache-2.0
"""The rows of a timeline for a caller who sees one project, compared with those for everybody."""
import pytest
from support import builders

from climate.db import blocks
from climate.db import timeline_rows
from climate.domain import health
from climate.domain import interval
from climate.domain import maintenance_windows
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


@pytest.mark.parametrize(('start', 'end'), [(-1, 100), (0, 1), (2, 29), (35, 45), (61, 62)])
def test_a_project_sees_the_same_rows_without_the_leases_of_others(world, start, end):
    query = timeline.TimelineQuery('host', builders.at(start), builders.at(end), project_id='demo')
    with world.database.reader() as connection:
        everything = timeline_rows.allocated(connection, 'host', query.start, query.end, MOST)
        found = timeline_rows.allocated_for(connection, query, MOST)
    expected = []
    for row in everything:
        row = timeline_rows.AllocatedRow(*row)
        if row.project_id not in (None, 'demo'):
            row = timeline_rows.AllocatedRow(*row[:4], None, timeline_rows.HIDDEN)
        expected.append(row)
    assert found == expected and found


@pytest.mark.parametrize(('start', 'end'), [(-1, 100), (0, 1), (2, 29), (35, 45), (61, 62)])
def test_many_rows_are_read_in_parts_and_are_the_same(world, monkeypatch, start, end):
    monkeypatch.setattr(timeline_rows, '_FEW', 0)
    query = timeline.TimelineQuery('host', builders.at(start), builders.at(end), everybody=True)
    with world.database.reader() as connection:
        everything = timeline_rows.allocated(connection, 'host', query.start, query.end, MOST)
        assert timeline_rows.allocated_for(connection, query, MOST) == everything != []


def test_a_sick_host_has_no_bar_of_a_lease(world, monkeypatch):
    monkeypatch.setattr(timeline_rows, '_FEW', 0)
    [sick] = [host for host in world.client.list_resources(builders.an_admin(), 'host')
              if host.name == 'compute-5']
    for caller in ({'everybody': True}, {'project_id': 'demo'}):
        found = world.client.get_timeline(builders.an_admin(), timeline.TimelineQuery(
            'host', builders.at(1), builders.at(20), **caller))
        place = [each.id for each in found.resources].index(sick.id)
        kinds = {timeline.KINDS[kind] for lane, kind in zip(found.lanes, found.kinds, strict=True)
                 if lane == place}
        assert not kinds & {timeline.OWN, timeline.OTHERS}, caller
