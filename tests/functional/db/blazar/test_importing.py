# SPDX-License-Identifier: Apache-2.0
"""An import from Blazar: the leases read as before, go on, and are not doubled."""
import datetime

import pytest
from support import builders
from support import thinning

from climate.db import resources
from climate.db import tables
from climate.domain import lifecycle

ADMIN = 'root:ops:admin'


def test_leases_read_at_rest_1_0_as_blazar_wrote_them(conf, manager, imported, blazar):
    imported()
    answer = builders.Api(conf, manager).get('/v1/leases?all_tenants=1', token=ADMIN).json['leases']
    shown = {lease['id']: lease for lease in answer}
    rows = blazar.execute('SELECT id, name, user_id, project_id, trust_id, start_date, end_date, '
                          'status FROM leases')
    assert set(shown) == {row[0] for row in rows}
    for lease_id, name, user, project, trust, start, end, status in rows:
        lease = shown[lease_id]
        assert (lease['name'], lease['user_id'], lease['project_id'], lease['trust_id']) == (
            name, user, project, trust)
        assert (lease['start_date'][:19], lease['end_date'][:19]) == (
            start.replace(' ', 'T'), end.replace(' ', 'T'))
        if not name.startswith('l-doubled'):
            assert lease['status'] == status
        assert {event['id'] for event in lease['events']} <= {row[0] for row in blazar.execute(
            'SELECT id FROM events WHERE lease_id = ?', lease_id)}
        assert [(each['id'], each['resource_type']) for each in lease['reservations']] == (
            blazar.execute('SELECT id, resource_type FROM reservations WHERE lease_id = ?',
                           lease_id))


def test_hosts_keep_their_ids_and_properties(conf, manager, imported):
    imported()
    hosts = builders.Api(conf, manager).get('/v1/os-hosts', token=ADMIN).json['hosts']
    assert [(host['id'], host['hypervisor_hostname'], host.get('gpu'), host.get('rack'))
            for host in hosts] == [
                ('1', 'compute2', 'A100', 'r01'), ('2', 'compute1', 'A100', 'r02'),
                ('3', 'compute4', None, 'r03'), ('4', 'compute3', None, None)]


def test_a_host_that_is_enrolled_later_gets_an_id_of_its_own(manager, imported):
    imported()
    with manager.database.writer() as connection:
        key = resources.add(connection, 'host', 'compute9', {}, manager.clock())
        assert key > 6


def test_a_running_lease_ends_in_time_and_returns_its_host(
        manager, imported, blazar, running_host_lease):
    reservation_id = running_host_lease()
    imported()
    assert [server.name for server in manager.cloud.servers()] == ['one']
    manager.run_until(datetime.datetime(2026, 11, 26, 15, 8, tzinfo=datetime.UTC))
    assert not manager.cloud.servers()
    nova = manager.cloud.as_service().nova
    assert nova.aggregate(reservation_id) is None
    assert 'compute2' in nova.aggregate('freepool').hosts


def test_the_objects_of_a_future_lease_that_is_deleted_leave_the_cloud(manager, imported, blazar):
    services = manager.cloud.as_service()
    reserved = dict(blazar.execute(
        'SELECT l.name, r.id FROM reservations r JOIN leases l ON l.id = r.lease_id '
        "WHERE l.status = 'PENDING'"))
    services.nova.ensure_aggregate(reserved['l-host-pending'])
    services.nova.ensure_aggregate(reserved['l-inst-pending'])
    services.flavors.ensure(reserved['l-inst-pending'], 'made by Blazar', {
        'vcpus': 1, 'ram': 512, 'disk': 0, 'ephemeral': 0, 'swap': 0}, {})
    imported()
    for key, in blazar.execute("SELECT id FROM leases WHERE name IN ('l-host-pending', "
                               "'l-inst-pending')"):
        manager.client.delete_lease(builders.an_admin(), key)
    manager.run()
    left = {each.name for each in services.nova.aggregates()} | {
        each.id for each in services.flavors.every()}
    assert not left & set(reserved.values())


def test_a_future_lease_starts_on_the_host_that_blazar_allocated(
        manager, imported, blazar, running_host_lease):
    running_host_lease()
    imported()
    manager.run_until(datetime.datetime(2026, 11, 27, 14, 27, tzinfo=datetime.UTC))
    [(reservation_id,)] = blazar.execute(
        'SELECT r.id FROM reservations r JOIN leases l ON l.id = r.lease_id '
        "WHERE l.name = 'l-host-pending'")
    assert manager.cloud.as_service().nova.aggregate(reservation_id).hosts == ('compute3',)


def test_the_first_of_leases_with_the_same_hosts_keeps_them(manager, imported, conf):
    converted, _ = imported()
    assert len(converted.overlaps) == 20
    leases = builders.Api(conf, manager).get('/v1/leases?all_tenants=1', token=ADMIN).json['leases']
    doubled = {lease['name']: lease['status'] for lease in leases if 'doubled' in lease['name']}
    assert sorted(doubled.values()) == ['ERROR'] * 5 + ['PENDING']
    assert doubled['l-doubled-4'] == 'PENDING'


def everything(manager):
    """All rows of the tables that an import fills, without moments of this run."""
    with manager.database.reader() as connection:
        return {table.name: sorted(str([value for name, value in row.items()
                                        if name not in ('id', 'at', 'created_at', 'updated_at')
                                        or (table.name, name) == ('leases', 'id')])
                                   for row in connection.execute(table.select()).mappings())
                for table in (tables.LEASES, tables.RESERVATIONS, tables.EVENTS, tables.RESOURCES,
                              tables.ALLOCATIONS, tables.PROPERTY_VALUES, tables.TRUSTS)}


def test_a_second_import_changes_nothing(manager, imported):
    _, first = imported()
    before = everything(manager)
    _, second = imported()
    assert (first.added, first.resources) == (15, 6)
    assert (second.added, second.updated, second.unchanged, second.resources) == (0, 0, 15, 0)
    assert everything(manager) == before


def test_a_second_import_follows_what_blazar_changed_meanwhile(manager, imported, blazar):
    imported()
    blazar.execute("UPDATE leases SET end_date = '2026-11-28 20:00:00' "
                   "WHERE name = 'l-host-pending'")
    for table in ('events', 'reservations', 'leases'):
        column = 'id' if table == 'leases' else 'lease_id'
        blazar.execute(f'DELETE FROM {table} WHERE {column} IN (SELECT id FROM leases '
                       "WHERE name = 'l-doubled-5')")
    _, counts = imported()
    assert (counts.updated, counts.deleted, counts.added) == (1, 1, 0)
    with manager.database.reader() as connection:
        rows = dict(connection.execute(tables.LEASES.select().with_only_columns(
            tables.LEASES.c.name, tables.LEASES.c.end)).all())
    assert rows['l-host-pending'] == datetime.datetime(2026, 11, 28, 20, tzinfo=datetime.UTC)
    assert 'l-doubled-5' not in rows


def test_a_lease_gets_the_hosts_that_an_earlier_lease_gave_up_in_blazar(manager, imported, blazar):
    imported()
    before = everything(manager)
    for table in ('events', 'reservations', 'leases'):
        column = 'id' if table == 'leases' else 'lease_id'
        blazar.execute(f'DELETE FROM {table} WHERE {column} IN (SELECT id FROM leases '
                       "WHERE name = 'l-doubled-4')")
    converted, counts = imported()
    assert counts.deleted == 1
    assert counts.updated == 5
    with manager.database.reader() as connection:
        states = dict(connection.execute(tables.LEASES.select().with_only_columns(
            tables.LEASES.c.id, tables.LEASES.c.state)).all())
    assert states == {lease.lease.id: lease.lease.state for lease in converted.leases}
    assert everything(manager) != before


def test_leases_that_exchanged_their_spans_on_a_host_in_blazar_are_imported_again(
        manager, imported, blazar):
    spans = {'l-doubled-4': ('2027-01-25 14:27:00', '2027-01-25 19:27:00'),
             'l-host-pending': ('2026-11-27 14:26:00', '2026-11-28 14:26:00')}
    blazar.execute("DELETE FROM computehost_allocations WHERE compute_host_id <> '4' OR "
                   'reservation_id NOT IN (SELECT r.id FROM reservations r JOIN leases l '
                   "ON l.id = r.lease_id WHERE l.name IN ('l-doubled-4', 'l-host-pending'))")
    imported()
    for name, (start, end) in zip(spans, reversed(spans.values()), strict=True):
        blazar.execute('UPDATE leases SET start_date = ?, end_date = ? WHERE name = ?',
                       start, end, name)
    # Each lease in a transaction of its own, if the import divided them.
    _, counts = imported(at_once=1)
    assert counts.updated == 2
    with manager.database.reader() as connection:
        starts = connection.execute(
            tables.ALLOCATIONS.select().with_only_columns(
                tables.LEASES.c.name, tables.ALLOCATIONS.c.start)
            .where(tables.ALLOCATIONS.c.reservation_id == tables.RESERVATIONS.c.id,
                   tables.RESERVATIONS.c.lease_id == tables.LEASES.c.id,
                   tables.LEASES.c.name.in_(spans))).all()
    assert {name: f'{start:%Y-%m-%d %H:%M:%S}' for name, start in starts} == {
        'l-doubled-4': spans['l-host-pending'][0], 'l-host-pending': spans['l-doubled-4'][0]}


def test_a_lease_on_which_climate_acts_is_not_imported_again(
        manager, imported, blazar, running_host_lease):
    running_host_lease()
    imported()
    manager.run_until(datetime.datetime(2026, 11, 26, 15, 8, tzinfo=datetime.UTC))
    blazar.execute("UPDATE leases SET end_date = '2026-12-30 20:00:00' "
                   "WHERE name = 'l-host-active'")
    _, counts = imported()
    assert counts.kept >= 1
    with manager.database.reader() as connection:
        state = connection.execute(tables.LEASES.select().with_only_columns(
            tables.LEASES.c.state).where(tables.LEASES.c.name == 'l-host-active')).scalar()
    assert state == lifecycle.TERMINATED


class Killed(Exception):
    """The process was killed at a commit."""


class Dying:
    """A database of which a process is killed before one of its transactions."""

    def __init__(self, database, commit):
        self._database, self._left = database, commit

    def writer(self):
        self._left -= 1
        if self._left < 0:
            raise Killed
        return self._database.writer()

    def __getattr__(self, name):
        return getattr(self._database, name)


# Six resources and fifteen leases, in transactions of four.
@pytest.mark.parametrize('commit', thinning.few(range(6), 3))
def test_an_import_that_was_killed_is_completed_by_the_next(manager, imported, commit):
    with pytest.raises(Killed):
        imported(Dying(manager.database, commit), at_once=4)
    _, counts = imported()
    assert counts.added + counts.unchanged == 15
    with manager.database.reader() as connection:
        assert len(connection.execute(tables.LEASES.select()).all()) == 15
        assert len(connection.execute(tables.RESOURCES.select()).all()) == 6
        assert len(connection.execute(tables.TRUSTS.select()).all()) == 13
