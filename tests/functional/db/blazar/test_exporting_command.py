# SPDX-License-Identifier: Apache-2.0
"""climate-db export-blazar as an operator runs it."""
import pytest
from support import blazar_database
from support import blazar_leases
from support import builders

from climate.db import managers
from climate.domain import records


@pytest.fixture
def export_blazar(run_program, blazar, imported):
    """callable(*words): run the command after an import; returns (exit status, output)."""
    imported()
    return lambda *words, url=None: run_program(
        'climate-db', 'export-blazar', '--target', url or blazar.url, *words,
        options=f'{blazar_database.NAMES}[cloud]\ndriver = simulated\n')


@pytest.mark.proof
def test_an_export_without_changes_reports_that_nothing_changes(export_blazar, blazar):
    before = {name: blazar.rows(name) for name in blazar.tables}
    status, output = export_blazar()
    assert status == 0, output
    assert '0 leases of Climate to write' in output
    assert '15 leases stay as Blazar has them' in output
    assert 'Rows: 0 new, 0 changed, 0 deleted.' in output
    assert {name: blazar.rows(name) for name in blazar.tables} == before


def test_a_dry_run_writes_only_the_report(export_blazar, blazar, manager, tmp_path):
    booked = manager.create(blazar_leases.later(builders.hosts(1)))
    status, output = export_blazar('--dry-run', '--report', f'{tmp_path}/report')
    assert status == 0 and 'Nothing was written, because of --dry-run.' in output, output
    assert '1 leases of Climate to write, 1 PENDING' in (tmp_path / 'report').read_text()
    assert blazar.of_lease(booked.id) == {}


def test_a_pending_lease_gets_its_objects_and_its_rows(export_blazar, blazar, manager):
    booked = manager.create(blazar_leases.later(builders.hosts(1)))
    status, output = export_blazar()
    assert status == 0 and 'Wrote 1 leases to Blazar, deleted 0.' in output, output
    [details] = blazar.of_lease(booked.id)['computehost_reservations']
    assert details['aggregate_id'] is not None


@pytest.mark.proof
def test_losses_are_accepted_before_anything_is_written(export_blazar, blazar, manager):
    kept = manager.create(blazar_leases.later(builders.hosts(1)))
    manager.create(builders.a_lease(
        builders.hosts(4), end=manager.clock() + builders.hours(1),
        acquire=records.AcquireRequest('wait')))
    status, output = export_blazar()
    assert status == 1 and 'say --accept-losses. Nothing was written' in output, output
    assert blazar.of_lease(kept.id) == {}
    status, output = export_blazar('--accept-losses')
    assert status == 0 and 'It waits for resources' in output, output
    assert blazar.of_lease(kept.id)


def test_an_export_waits_until_managers_are_stopped(export_blazar, database):
    now = database.now()
    with database.writer() as connection:
        managers.seen(connection, 'one', 'controller', now, now, 0)
    status, output = export_blazar()
    assert status == 1 and 'climate-manager runs on controller: stop it' in output


@pytest.mark.parametrize('url', ['blazar', 'sqlite:////nowhere'])
def test_a_wrong_target_is_one_line(export_blazar, url):
    status, output = export_blazar(url=url)
    assert status == 1 and output.count('\n') <= 1 and '--target' in output, output


def test_a_target_of_another_service_is_refused(export_blazar, blazar):
    blazar.execute('DROP TABLE computehost_allocations')
    status, output = export_blazar()
    assert status == 1 and 'this is not a database of Blazar 2025.2 to 2026.2' in output, output


@pytest.mark.proof
def test_a_target_that_cannot_be_written_is_one_line_and_unchanged(export_blazar, blazar, manager):
    booked = manager.create(blazar_leases.later(builders.hosts(1)))
    blazar.execute('CREATE TRIGGER full BEFORE INSERT ON computehost_allocations '
                   "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
    status, output = export_blazar()
    assert status == 1 and 'the disk is full' in output and 'Traceback' not in output, output
    assert blazar.of_lease(booked.id) == {}
    blazar.execute('DROP TRIGGER full')
    status, output = export_blazar()
    assert status == 0 and 'Wrote 1 leases' in output, output
