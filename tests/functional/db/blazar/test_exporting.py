# SPDX-License-Identifier: Apache-2.0
"""An export to Blazar: the rows with which Blazar continues, and the rows that stay."""
import datetime

import pytest
from support import builders

from climate.domain import records


@pytest.fixture
def lease_id(blazar):
    """callable(name): the id of a lease of Blazar."""
    return lambda name: blazar.execute('SELECT id FROM leases WHERE name = ?', name)[0][0]


@pytest.fixture
def change(manager):
    """callable(lease id, **fields): change a lease in Climate, as an administrator."""
    def run(key, **fields):
        manager.client.update_lease(builders.an_admin(), key, records.LeaseChanges(**fields))
        manager.run()
    return run


def test_an_import_and_an_export_leave_the_rows_of_blazar_as_they_were(blazar, imported, export):
    before = {name: blazar.rows(name) for name in blazar.tables}
    imported()
    chosen, changes = export()
    assert changes == []
    assert len(chosen.contents.untouched) == 15
    assert {name: blazar.rows(name) for name in blazar.tables} == before
    assert [problem.why for problem in chosen.problems if 'l-doubled' in problem.what] == 5 * [
        'Blazar had allocated some of its resources twice, so it was imported in ERROR.']


def test_a_lease_that_ended_in_climate_is_terminated_in_blazar(
        blazar, manager, imported, export, running_host_lease, lease_id):
    running_host_lease()
    imported()
    manager.run_until(datetime.datetime(2026, 11, 26, 15, 8, tzinfo=datetime.UTC))
    export()
    rows = blazar.of_lease(lease_id('l-host-active'))
    assert (rows['leases'][0]['status'], rows['leases'][0]['trust_id']) == ('TERMINATED', None)
    assert [row['status'] for row in rows['reservations']] == ['deleted']
    assert [row['status'] for row in rows['events']] == ['DONE'] * len(rows['events'])
    assert rows['computehost_reservations'][0]['aggregate_id'] == 201
    assert 'computehost_allocations' not in rows


def test_a_lease_that_was_deleted_in_climate_is_deleted_in_blazar(
        blazar, manager, imported, export, lease_id):
    imported()
    key = lease_id('l-host-pending')
    manager.client.delete_lease(builders.an_admin(), key)
    manager.run()
    export()
    assert blazar.of_lease(key) == {}


def test_a_change_of_a_running_lease_is_written(
        blazar, imported, export, running_host_lease, lease_id, change):
    running_host_lease()
    imported()
    key = lease_id('l-host-active')
    before = blazar.of_lease(key)
    change(key, name='longer', end=datetime.datetime(2026, 11, 26, 20, tzinfo=datetime.UTC))
    export()
    rows = blazar.of_lease(key)
    [lease] = rows['leases']
    assert (lease['name'], lease['end_date'][:19], lease['status']) == (
        'longer', '2026-11-26 20:00:00', 'ACTIVE')
    assert {row['event_type']: (row['time'][:19], row['status']) for row in rows['events']} == {
        'start_lease': ('2026-11-26 14:26:00', 'DONE'),
        'end_lease': ('2026-11-26 20:00:00', 'UNDONE')}
    for name in ('reservations', 'computehost_reservations', 'computehost_allocations'):
        assert rows[name] == before[name]


def test_a_status_that_a_crash_of_blazar_left_is_replaced(blazar, imported, export, lease_id):
    key = lease_id('l-inst-active')
    blazar.execute("UPDATE leases SET status = 'UPDATING' WHERE id = ?", key)
    before = blazar.of_lease(key)
    imported()
    export()
    rows = blazar.of_lease(key)
    assert rows['leases'][0]['status'] == 'ACTIVE'
    assert {**rows, 'leases': []} == {**before, 'leases': []}


def test_a_deletion_that_a_crash_of_blazar_left_is_finished_in_climate_first(
        blazar, imported, export, lease_id):
    key = lease_id('l-host-active')
    blazar.execute("UPDATE leases SET status = 'DELETING' WHERE id = ?", key)
    before = blazar.of_lease(key)
    imported()
    [problem] = [each for each in export()[0].problems if each.is_loss]
    assert key in problem.what and 'is not finished' in problem.why
    assert blazar.of_lease(key) == before


def test_a_property_that_was_not_imported_stays(blazar, imported, export):
    blazar.execute("UPDATE resource_properties SET property_name = 'cpu_info' "
                   "WHERE property_name = 'gpu'")
    before = {name: blazar.rows(name) for name in blazar.tables}
    imported()
    assert export()[1] == []
    assert {name: blazar.rows(name) for name in blazar.tables} == before
