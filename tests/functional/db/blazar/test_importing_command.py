# SPDX-License-Identifier: Apache-2.0
"""climate-db import-blazar as an operator runs it."""
import os
import signal
import subprocess

import pytest
from support import blazar_database
from support import builders
from support import programs

from climate.db import managers
from climate.db import tables


@pytest.fixture
def import_blazar(run_program, blazar):
    """callable(*words): run the command; returns (exit status, output)."""
    return lambda *words, url=None: run_program(
        'climate-db', 'import-blazar', '--source', url or blazar.url, *words,
        options=blazar_database.NAMES)


def leases(database):
    with database.reader() as connection:
        return connection.execute(tables.LEASES.select()).all()


def test_a_dry_run_shows_overlaps_with_both_owners_and_writes_nothing(import_blazar, database):
    status, output = import_blazar('--dry-run')
    assert status == 0, output
    assert '2 of the pool address, 4 of the pool host\n15 leases, 5 PENDING, 3 ACTIVE' in output
    assert '(l-doubled-4) of project 0cb0c4b7bec24bf9a909b1db7ebf24c3 keeps them' in output
    assert not leases(database)


@pytest.mark.proof
def test_overlaps_are_accepted_before_anything_is_written(import_blazar, database):
    status, output = import_blazar()
    assert status == 1 and '--accept-losses. Nothing was written.' in output
    assert not leases(database)


def test_an_import_and_its_repetition_report_their_numbers(import_blazar, database, tmp_path):
    status, output = import_blazar('--accept-losses', '--report', f'{tmp_path}/report')
    assert status == 0 and 'Enrolled 6 resources. Leases: 15 added' in output, output
    assert 'l-doubled-4' in (tmp_path / 'report').read_text()
    assert len(leases(database)) == 15
    status, output = import_blazar('--accept-losses')
    assert status == 0 and '0 added, 0 updated, 15 unchanged' in output, output


@pytest.mark.proof
def test_an_import_waits_until_managers_are_stopped(import_blazar, database):
    now = database.now()
    with database.writer() as connection:
        managers.seen(connection, 'one', 'controller', now, now, 0)
    status, output = import_blazar('--accept-losses')
    assert status == 1 and 'climate-manager runs on controller: stop it' in output
    assert not leases(database)


@pytest.mark.parametrize('url', ['blazar', 'sqlite:////nowhere'])
def test_a_wrong_source_is_one_line(import_blazar, url):
    status, output = import_blazar(url=url)
    assert status == 1 and output.count('\n') <= 1 and '--source' in output, output


@pytest.mark.proof
def test_a_report_that_cannot_be_written_is_one_line_and_nothing_is_imported(
        import_blazar, database):
    status, output = import_blazar('--accept-losses', '--report', '/nowhere/report')
    assert status == 1 and '--report: ' in output and 'Traceback' not in output
    assert not leases(database)


@pytest.mark.proof
# The resources are written in one transaction, the leases in another.
@pytest.mark.parametrize('commit', range(2))
def test_an_import_whose_process_is_killed_at_a_commit_is_completed_by_the_next(
        import_blazar, database, blazar, tmp_path, commit):
    options = builders.on_files(tmp_path, blazar_database.NAMES)
    killed = subprocess.run(
        [*programs.climate_db_that_dies(commit), '--config-file', options, 'import-blazar',
         '--source', blazar.url, '--accept-losses'],
        env={**os.environ, 'CLIMATE_STATE': str(tmp_path)}, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    status, output = import_blazar('--accept-losses')
    assert status == 0, output
    assert len(leases(database)) == 15
    with database.reader() as connection:
        assert len(connection.execute(tables.RESOURCES.select()).all()) == 6
