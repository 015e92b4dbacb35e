# SPDX-License-Identifier: Apache-2.0
"""Transactions and their errors, and times and texts as the database stores them."""
import datetime
import threading

from oslo_db.sqlalchemy import exc_filters
import pymysql
import pytest
import sqlalchemy as sa
from support import db_rows

from climate import errors
from climate.db import allocations
from climate.db import engine
from climate.db import journal
from climate.db import lease_lists
from climate.db import leases
from climate.db import resources
from climate.domain import interval
from climate.domain import records
from climate.domain import texts

NOON, hours = db_rows.NOON, db_rows.hours
ODD_NAMES = ['Müller', 'müller', 'MÜLLER', '\U0001f680 rocket', '\U0001f681 rocket', 'a', 'A',
             'ß', 'ss', '100%', '100_']


def test_a_moment_comes_back_aware_with_its_microseconds(database):
    moment = datetime.datetime(2030, 5, 1, 14, 30, 59, 123457, tzinfo=datetime.timezone(hours(2)))
    lease = db_rows.saved(database, db_rows.a_lease(start=moment))
    with database.reader() as connection:
        found = leases.get(connection, lease.id).start
    assert found == moment
    assert found.utcoffset() == hours(0)
    assert found.microsecond == 123457


def test_a_moment_without_a_zone_is_refused(database):
    naive = NOON.replace(tzinfo=None)
    with pytest.raises(Exception, match='only moments that have a time zone'):
        db_rows.saved(database, db_rows.a_lease(start=naive, end=NOON))


def test_moments_compare_to_the_microsecond(database):
    tick = datetime.timedelta(microseconds=1)
    [host] = db_rows.hosts(database, 'a')
    lease = db_rows.saved(database, db_rows.a_lease(end=NOON + tick))
    db_rows.allocate(database, db_rows.allocation(lease, host))
    with database.reader() as connection:
        assert allocations.bookings(
            connection, [host], interval.Interval(NOON - hours(1), NOON + tick))
        assert not allocations.bookings(
            connection, [host], interval.Interval(NOON + tick, NOON + hours(1)))


def test_now_is_the_database_s_own_moment_and_near_ours(database):
    here = datetime.datetime.now(datetime.UTC)
    assert abs(database.now() - here) < datetime.timedelta(minutes=5)
    assert database.now().utcoffset() == hours(0)


def test_an_error_in_a_writer_leaves_nothing(database):
    lease = db_rows.a_lease()
    with pytest.raises(errors.NotEnough), database.writer() as connection:
        leases.add(connection, lease)
        raise errors.NotEnough(what='host', wanted=1, free=0)
    with database.reader() as connection, pytest.raises(errors.LeaseNotFound):
        leases.get(connection, lease.id)


def test_a_reader_does_not_write(database):
    with pytest.raises(RuntimeError, match='must not write'), database.reader() as connection:
        journal.note(connection, 'no lease', NOON, 'demo', 'create')
    with database.reader() as connection:
        assert journal.history(connection, 'no lease') == []


def test_a_second_lease_of_the_same_id_is_a_duplicate(database):
    lease = db_rows.saved(database, db_rows.a_lease())
    with pytest.raises(engine.Duplicate):
        db_rows.saved(database, db_rows.a_lease(id=lease.id))


@pytest.mark.parametrize('url', [
    'postgresql+psycopg2://u:p@127.0.0.1:9/x', 'sqlite:////nowhere/at/all'])
def test_a_database_that_does_not_answer_is_said_to_be_unreachable(url):
    with pytest.raises(errors.DatabaseUnreachable), engine.Database(url).reader():
        pass


def test_a_url_that_says_mariadb_is_as_good_as_one_that_says_mysql(database):
    if database.dialect != 'mysql':
        pytest.skip('MariaDB only.')
    url = database.engine.url.set(drivername='mariadb+pymysql')
    other = engine.Database(url.render_as_string(hide_password=False))
    lease = db_rows.saved(other, db_rows.a_lease(start=NOON + datetime.timedelta(microseconds=7)))
    with other.reader() as connection:
        assert leases.get(connection, lease.id).start == lease.start
    assert other.now() - database.now() < hours(1)
    other.dispose()


@pytest.mark.parametrize('name', ODD_NAMES)
def test_a_lease_is_found_by_its_very_name_only(database, name):
    db_rows.saved(database, *[db_rows.a_lease(each) for each in ODD_NAMES])
    assert _named(database, name) == [name]


@pytest.mark.parametrize('name', ['a', 'a ', 'a  ', ' a'])
def test_spaces_at_the_end_of_a_name_count(database, name):
    db_rows.saved(database, *[db_rows.a_lease(each) for each in ('a', 'a ', 'a  ', ' a')])
    assert _named(database, name) == [name]


def test_hosts_whose_names_differ_in_case_only_are_two(database):
    ids = db_rows.hosts(database, 'Compute', 'compute', '\U0001f680')
    with database.reader() as connection:
        found = [resources.named(connection, 'host', name).id
                 for name in ('Compute', 'compute', '\U0001f680')]
        assert found == ids
        assert resources.named(connection, 'host', 'COMPUTE') is None


@pytest.mark.parametrize('odd', ['\U0001f680' * 80, 'a\\b\'c"d;--', 'tab\tnew\nline', '%s %(x)s'])
def test_any_text_comes_back_as_it_was(database, odd):
    lease = db_rows.a_lease(odd[:80], reason=odd, owner_reason=odd)
    db_rows.saved(database, lease)
    with database.writer() as connection:
        journal.note(connection, lease.id, NOON, odd, 'rename', texts.same(odd))
        journal.publish(connection, NOON, 'lease.create', [{odd: [odd]}])
    with database.writer() as connection:
        journal.fanned_out(connection, journal.lock_not_fanned_out(connection, 9))
        found = leases.get(connection, lease.id)
        assert (found.name, found.reason_text) == (odd[:80], texts.same(odd))
        [line] = journal.history(connection, lease.id)
        assert (line.who, line.why) == (odd, odd)
        [(_, _, payload)] = journal.unsent(connection, 'me', NOON, NOON + hours(1), 9)
        assert payload == {odd: [odd]}


def test_a_second_writer_waits_for_the_first_and_then_sees_its_allocation(database):
    [host] = db_rows.hosts(database, 'a')
    lease = db_rows.saved(database, db_rows.a_lease())
    at_the_door = threading.Event()
    inside = threading.Event()
    span = interval.Interval(NOON, NOON + hours(1))

    def second():
        with db_rows.another(database) as other:
            at_the_door.set()
            with other.writer() as connection:
                # A picture of the database taken here must not be what the look below sees.
                before = allocations.bookings(connection, [host], span)
                resources.lock(connection, [host])
                inside.set()
                return before, allocations.bookings(connection, [host], span)

    with database.writer() as connection:
        resources.lock(connection, [host])
        waiting = db_rows.on_a_thread(second)
        assert at_the_door.wait(30)
        allocations.add(connection, [db_rows.allocation(lease, host)])
        resources.touch(connection, [host], NOON)
        assert not inside.wait(0.5)
    before, after = waiting.result(60)
    assert len(after[host]) == 1
    if database.dialect != 'sqlite':  # which lets the second in only when the first is done
        assert not before


def test_writers_that_want_different_hosts_do_not_wait_for_each_other(database):
    if database.dialect == 'sqlite':
        pytest.skip('SQLite has one writer at a time.')
    one, two = db_rows.hosts(database, 'a', 'b')

    def second():
        with database.writer() as connection:
            return [each.id for each in resources.lock(connection, [two])]

    with database.writer() as connection:
        resources.lock(connection, [one])
        assert db_rows.on_a_thread(second).result(60) == [two]


def test_writers_that_block_each_other_end_in_a_lost_race(database):
    if database.dialect == 'sqlite':
        pytest.skip('SQLite has one writer at a time.')
    ids = db_rows.hosts(database, 'a', 'b')
    both = threading.Barrier(2)

    def crosswise(first, second):
        try:
            with database.writer() as connection:
                resources.lock(connection, [first])
                both.wait(30)
                resources.lock(connection, [second])
                return 'done'
        except errors.LostRace:
            return 'lost'

    one = db_rows.on_a_thread(lambda: crosswise(*ids))
    two = db_rows.on_a_thread(lambda: crosswise(*reversed(ids)))
    assert sorted([one.result(60), two.result(60)]) == ['done', 'lost']


def _named(database, name):
    query = records.LeaseQuery(name=name)
    with database.reader() as connection:
        return [lease.name for lease in lease_lists.find(connection, query, NOON)]


def test_each_connection_is_strict_and_opening_one_warns_of_nothing(database, caplog):
    if database.dialect != 'mysql':
        pytest.skip('MariaDB only.')
    other = engine.Database(database.engine.url.render_as_string(hide_password=False))
    for connect in (other.reader, other.writer):
        with connect() as connection:
            mode = connection.exec_driver_sql('SELECT @@sql_mode').scalar_one()
            assert 'STRICT_ALL_TABLES' in mode.split(',')
    other.dispose()
    assert caplog.text == ''


def test_the_sql_mode_is_that_of_the_configuration(conf, database):
    if database.dialect != 'mysql':
        pytest.skip('MariaDB only.')
    conf.set_override('connection', database.engine.url.render_as_string(hide_password=False),
                      group='database')
    conf.set_override('mysql_sql_mode', 'STRICT_ALL_TABLES,ANSI_QUOTES', group='database')
    other = engine.connect(conf)
    with other.reader() as connection:
        mode = connection.exec_driver_sql('SELECT @@sql_mode').scalar_one()
    other.dispose()
    assert set(mode.split(',')) == {'STRICT_ALL_TABLES', 'ANSI_QUOTES'}


@pytest.mark.parametrize(('number', 'words'), [
    (1213, 'Deadlock found when trying to get lock; try restarting transaction'),
    (1213, 'Deadlock: wsrep aborted transaction'),
    (1213, 'WSREP detected deadlock/conflict and aborted the transaction. Try restarting the '
           'transaction'),
    (1180, 'Got error 149 "Lock deadlock; Retry transaction" during COMMIT'),
])
def test_a_conflict_between_nodes_of_galera_is_a_lost_race(number, words):
    database = engine.Database('sqlite://')
    url = sa.make_url('mysql+pymysql://nobody@127.0.0.1/none')
    elsewhere = sa.create_engine(url, creator=lambda: _Refusing(number, words))
    exc_filters.register_engine(elsewhere)
    elsewhere.dialect.initialize = lambda connection: None
    with pytest.raises(errors.LostRace), database.writer(), elsewhere.begin():
        pass
    database.dispose()


class _Refusing:
    """A connection of a driver of which each commit is refused."""

    def __init__(self, *refusal):
        self._refusal = refusal

    def commit(self):
        raise pymysql.err.OperationalError(*self._refusal)

    def __getattr__(self, name):
        return lambda *_, **__: None


@pytest.mark.parametrize(('url', 'module', 'wanted'), [
    ('postgresql+psycopg2://u:p@db/x?sslmode=verify-full&sslrootcert=/tls/ca.pem', 'psycopg2',
     {'sslmode': 'verify-full', 'sslrootcert': '/tls/ca.pem'}),
    ('mysql+pymysql://u:p@db/x?ssl_ca=/tls/ca.pem&ssl_cert=/tls/c.pem&ssl_key=/tls/c.key',
     'pymysql', {'ssl': {'ca': '/tls/ca.pem', 'cert': '/tls/c.pem', 'key': '/tls/c.key'}}),
    ('mariadb+pymysql://u:p@db/x?ssl_ca=/tls/ca.pem', 'pymysql', {'ssl': {'ca': '/tls/ca.pem'}})])
def test_the_driver_is_told_the_tls_options_of_the_url(url, module, wanted, monkeypatch):
    driver = pytest.importorskip(module)
    told = []

    def connect(*_args, **options):
        told.append(options)
        raise driver.OperationalError('No network here.')

    monkeypatch.setattr(driver, 'connect', connect)
    with pytest.raises(errors.DatabaseUnreachable):
        engine.Database(url, max_retries=1, retry_interval=0)
    assert {name: told[0][name] for name in wanted} == wanted
