# SPDX-License-Identifier: Apache-2.0
"""Databases that answer and refuse to work: the error of requests, and one line of the log."""
import contextlib
import logging
import sqlite3

from oslo_db import exception as db_exc
import psycopg2
import pymysql
import pytest
import sqlalchemy as sa
from support import builders
from support import db_rows

from climate import errors
from climate.db import engine
from climate.db import outages
from climate.domain import lifecycle

LOGIN, FULL, READ_ONLY = (
    'it refuses the login of Climate.', 'it has no space left.', 'it is read-only.')
# Each as its driver raised it.
REFUSED = [
    (pymysql.OperationalError(1045, "Access denied for user 'c'@'h' (using password: YES)"), LOGIN),
    (pymysql.OperationalError(1044, "Access denied for user 'c'@'%' to database 'c'"), LOGIN),
    (pymysql.OperationalError(1698, "Access denied for user 'root'@'localhost'"), LOGIN),
    (pymysql.OperationalError(1049, "Unknown database 'c'"), LOGIN),
    (pymysql.OperationalError(1114, "The table 'leases' is full"), FULL),
    (pymysql.OperationalError(1021, 'Disk full (/tmp/#sql); waiting for someone'), FULL),
    (pymysql.OperationalError(1290, 'Running with the --read-only option'), READ_ONLY),
    (psycopg2.OperationalError('connection to server at "h", port 5432 failed: FATAL:  password '
                               'authentication failed for user "c"'), LOGIN),
    (psycopg2.OperationalError('connection to server at "h" failed: FATAL:  role "c" does not '
                               'exist'), LOGIN),
    (psycopg2.OperationalError('connection to server at "h" failed: FATAL:  database "c" does not '
                               'exist'), LOGIN),
    (psycopg2.OperationalError('connection to server at "h" failed: FATAL:  no pg_hba.conf entry '
                               'for host "h"'), LOGIN)]
OTHERS = [pymysql.OperationalError(2003, "Can't connect to MySQL server on 'h'"),
          pymysql.OperationalError(1040, 'Too many connections'),
          psycopg2.OperationalError('connection to server at "h" failed: Connection refused'),
          psycopg2.OperationalError('connection to server at "h" failed: FATAL:  sorry, too many '
                                    'clients already'),
          psycopg2.OperationalError('FATAL:  the database system is starting up'),
          sqlite3.OperationalError('unable to open database file'), ValueError(), ValueError('x')]


@pytest.mark.parametrize(('name', 'reason'), [
    ('SQLITE_FULL', FULL), ('SQLITE_IOERR_WRITE', 'its disk fails, or is full.'),
    ('SQLITE_IOERR', 'its disk fails, or is full.'), ('SQLITE_READONLY_DBMOVED', READ_ONLY),
    ('SQLITE_CANTOPEN', None), ('SQLITE_BUSY', None)])
def test_a_refusal_of_sqlite_is_known_by_its_name(name, reason):
    error = sqlite3.OperationalError('x')
    error.sqlite_errorname = name
    assert outages.refusal(sa.exc.OperationalError('SELECT 1', {}, error)) == reason


@pytest.mark.parametrize(('error', 'reason'), REFUSED + [(each, None) for each in OTHERS], ids=str)
def test_a_refusal_is_known_by_the_code_of_its_driver(error, reason):
    assert outages.refusal(error) == reason
    assert outages.refusal(sa.exc.OperationalError('SELECT 1', {}, error)) == reason
    assert outages.refusal(db_exc.DBError(error)) == reason
    assert outages.refusal(db_exc.DBError(sa.exc.DBAPIError('SELECT 1', {}, error))) == reason


@pytest.fixture
def small(database, tmp_path):
    """callable(most pages): a Database on the file of the test, whose disk has space for these."""
    if database.dialect != 'sqlite':
        pytest.skip('Only a file of SQLite is limited so simply.')
    made = engine.Database(f'sqlite:///{tmp_path}/climate.sqlite')
    limit = [1]

    @sa.event.listens_for(made.engine, 'connect')
    def _limit(connection, _record):
        connection.execute(f'PRAGMA max_page_count = {limit[0]}')

    def limited(most):
        limit[0] = most
        made.dispose()
        return made
    yield limited
    made.dispose()


def _fill(database, count=500):
    for _ in range(count):
        db_rows.saved(database, *[db_rows.a_lease('x' * 80) for _ in range(9)])


def test_a_full_disk_refuses_changes_and_no_reads_until_there_is_room(small, caplog):
    full = small(1)
    for _ in range(2):
        with pytest.raises(errors.DatabaseRefuses, match='has no space left') as found:
            _fill(full)
    assert found.value.status == 503
    assert caplog.text.count('The database does not work: it has no space left.') == 1
    with full.reader() as connection:
        assert connection.exec_driver_sql('SELECT COUNT(*) FROM leases').scalar_one() > 0
    _fill(small(10 ** 6), 1)


def test_requests_to_a_full_disk_are_told_why_and_succeed_once_there_is_room(conf, small, clock):
    full = small(1)
    api = builders.Api(conf, builders.Manager(conf, full, clock))
    body = builders.a_body(name='x' * 80, reservations=[
        {'resource_type': 'virtual:dummy', 'resource_id': 'x' * 80}] * 20)
    answer = next(each for each in (api.post('/v1/leases', body, version='1.0')
                                    for _ in range(50)) if each.status_int != 201)
    assert answer.status_int == 503, answer.text
    assert answer.headers['Retry-After'] == '30'
    assert 'it has no space left' in answer.json['error_message']
    assert api.get('/v1/leases').status_int == 200
    small(10 ** 6)
    assert api.post('/v1/leases', body, version='1.0').status_int == 201


def test_an_event_that_meets_a_full_disk_fails_no_lease_and_happens_once_there_is_room(
        conf, small, clock, caplog):
    roomy = small(10 ** 6)
    manager = builders.Manager(conf, roomy, clock)
    manager.enrol(1)
    lease = manager.book(start=clock() + builders.hours(1), end=clock() + builders.hours(3))
    full = small(1)
    with pytest.raises(errors.DatabaseRefuses):
        _fill(full)
    clock.advance(builders.hours(1))
    for _ in range(3):
        with contextlib.suppress(errors.DatabaseRefuses):
            manager.run()
    assert manager.client.get_lease(builders.a_member(), lease.id).state == lifecycle.PENDING
    assert 'Traceback' not in caplog.text
    small(10 ** 6)
    clock.advance(builders.minutes(1))
    manager.run()
    assert manager.client.get_lease(builders.a_member(), lease.id).state == lifecycle.ACTIVE


def test_a_file_that_may_not_be_written_is_refused(database, tmp_path):
    if database.dialect != 'sqlite':
        pytest.skip('SQLite only.')
    made = engine.Database(f'sqlite:///file:{tmp_path}/climate.sqlite?mode=ro&uri=true')
    with pytest.raises(errors.DatabaseRefuses, match='read-only'):
        db_rows.saved(made, db_rows.a_lease())
    made.dispose()


def test_an_outage_is_logged_when_it_begins_and_when_it_is_over(caplog):
    caplog.set_level(logging.INFO)
    clock = builders.Clock(0)
    log = outages.Log(clock)
    for clock.now in range(100):
        log.failed(logging.ERROR, 'The disk is full.', 'x')
        log.succeeded()
    clock.now = 129
    log.succeeded()
    log.succeeded()
    log.failed(logging.WARNING, 'No answer.', 'y')
    log.failed(logging.ERROR, 'The disk is full.', 'x')
    assert [(each.levelname, each.getMessage().partition(' This')[0])
            for each in caplog.records] == [
        ('ERROR', 'The disk is full.'), ('INFO', 'The database works again'),
        ('WARNING', 'No answer.'), ('ERROR', 'The disk is full.')]


@pytest.mark.parametrize('wrong', [
    {'password': 'wrong-secret'}, {'username': 'nobody', 'password': 'wrong-secret'},
    {'database': 'nowhere'}], ids=str)
def test_a_login_that_the_server_refuses_is_told_without_the_password(conf, database, wrong):
    if database.dialect == 'sqlite':
        pytest.skip('SQLite has no login.')
    url = database.engine.url.set(**wrong)
    conf.set_override('connection', url.render_as_string(hide_password=False), group='database')
    with pytest.raises(errors.ConfigurationError) as found:
        engine.connect(conf)
    text = str(found.value)
    assert text.startswith(
        f'[database] connection = {url.render_as_string(hide_password=True)} is refused: ')
    assert text.endswith('Correct its user, password and database, or create them.')
    assert '\n' not in text
    assert 'wrong-secret' not in text


def test_a_server_that_takes_no_changes_is_read_only(database):
    if database.dialect == 'sqlite':
        pytest.skip('The file of SQLite has a test of its own.')
    query = {'postgresql': {'options': '-c default_transaction_read_only=on'},
             'mysql': {'init_command': 'SET SESSION TRANSACTION READ ONLY'}}[database.dialect]
    url = database.engine.url.update_query_dict(query)
    made = engine.Database(url.render_as_string(hide_password=False))
    with pytest.raises(errors.DatabaseRefuses, match='read-only'):
        db_rows.saved(made, db_rows.a_lease())
    made.dispose()
