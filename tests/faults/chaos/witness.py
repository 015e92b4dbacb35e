# SPDX-License-Identifier: Apache-2.0
"""The simulated cloud as a witness: who had each host, and which servers went without an image."""
import collections
import dataclasses
import sqlite3

from chaos import tenants
from chaos import things
from climate.cloud import models
from climate.cloud.simulated import aggregates
from climate.cloud.simulated import flavors
from climate.cloud.simulated import hosts
from climate.cloud.simulated import server_rows
from climate.cloud.simulated import store

_FREEPOOL = 'freepool'
_LENT = 'lent'
_OTHERS = 'others'
_RUNNING = 'ACTIVE'
# Written by the database itself, in the transaction of the change: nobody can forget it.
_TABLE = ('CREATE TABLE witness (id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, '
          'aggregate TEXT NOT NULL, whole INTEGER NOT NULL, came INTEGER NOT NULL)')
_TRIGGER = ('CREATE TRIGGER witness_{what} AFTER {what} ON aggregate_hosts BEGIN '
            'INSERT INTO witness (host, aggregate, whole, came) '
            'SELECT {row}.host, name, zone IS NOT NULL, {came} FROM aggregates '
            'WHERE id = {row}.aggregate_id; END')
_DELETIONS = ('CREATE TABLE deletions (server_id TEXT NOT NULL, name TEXT NOT NULL, '
              'images INTEGER NOT NULL)')
_DELETED = ('CREATE TRIGGER witness_deleted AFTER UPDATE OF task ON servers '
            "WHEN NEW.task = 'deleting' AND OLD.task IS NOT 'deleting' BEGIN "
            'INSERT INTO deletions SELECT NEW.id, NEW.name, (SELECT count(*) FROM images '
            "WHERE server_id = NEW.id AND status = 'active'); END")


def appear(path, count, lent):
    """Make the state of a cloud that writes down who had each of its hosts.

    :param count: how many hosts it has, beside those that are lent, each with a server of others,
        and one more.
    """
    def found(connection):
        hosts.add_first(connection, count + lent + 1)
        flavors.add_first(connection)
        flavor = flavors.usable(connection, '1', _OTHERS)
        aggregate = aggregates.make(connection, _LENT, None)
        for number in range(count + 1, count + lent + 1):
            aggregates.add_host(connection, aggregate.id, f'compute-{number}')
            server_rows.make(connection, models.Server(
                id='', name=f'of others {number}', host=f'compute-{number}',
                project_id=_OTHERS, status=_RUNNING, flavor=flavor), {})
        connection.execute(_TABLE)
        connection.execute(_TRIGGER.format(what='INSERT', row='NEW', came=1))
        connection.execute(_TRIGGER.format(what='DELETE', row='OLD', came=0))
        connection.execute(_DELETIONS)
        connection.execute(_DELETED)
    store.StateStore(str(path), found).close()


@dataclasses.dataclass(frozen=True)
class Seen:
    """The observations of the witness.

    :ivar given: the number of hosts given to reservations.
    :ivar deleted: how many servers of tenants were deleted.
    :ivar doubled: what was given twice, and harm that was done to others, in words.
    :ivar lost: the servers of tenants that were deleted without an image, in words.
    """

    given: int
    deleted: int
    doubled: list
    lost: list


def testify(path):
    """Return the Seen of a cloud, by the path of its state."""
    connection = sqlite3.connect(path, timeout=60)
    try:
        rows = connection.execute('SELECT host, aggregate, whole, came FROM witness ORDER BY id')
        given, doubled = _doubles(rows.fetchall())
        images = [(server_id, count) for server_id, count in connection.execute(
            'SELECT server_id, images FROM deletions WHERE name = ?', (tenants.NAME,))]
        return Seen(given, len(images), doubled + _harmed(connection) + _left(connection), [
            f'Server {server_id} was deleted without an image.'
            for server_id, count in images if not count])
    finally:
        connection.close()


def _harmed(connection):
    """Return what is wrong with the servers of others, and with the hosts that were lent."""
    there = connection.execute(
        'SELECT count(*) FROM aggregate_hosts JOIN aggregates ON aggregate_id = id '
        'WHERE name = ?', (_LENT,)).fetchone()[0]
    running = connection.execute(
        'SELECT count(*) FROM servers WHERE project_id = ? AND status = ? AND host IS NOT NULL',
        (_OTHERS, _RUNNING)).fetchone()[0]
    wrong = [] if running == there else [f'Of {there} servers of others {running} run.']
    fences = connection.execute('SELECT name, reason FROM hosts WHERE NOT enabled').fetchall()
    return wrong + [f'{name} is disabled: {reason}' for name, reason in fences]


def _left(connection):
    """Return what leases have left in the cloud, which has only what was made for them."""
    return [f'{table} has {row} yet.' for table, where in things.TABLES.items()
            for row in connection.execute(f'SELECT * FROM {table} WHERE {where}')]


def _doubles(moves):
    """Return the number of hosts given, and the double uses, from moves of hosts in their order.

    :param moves: (host, aggregate, whether it has the whole host, whether it was added).

    A reservation of a whole host has a zone, and has the host alone; nodes of clusters share it.
    """
    having, given, wrong = collections.defaultdict(dict), 0, []
    for host, aggregate, whole, came in moves:
        if aggregate in (_FREEPOOL, _LENT):
            continue
        if came:
            given += 1
            if having[host] and (whole or any(having[host].values())):
                wrong.append(f'{host} was given to {aggregate} while {set(having[host])} had it.')
            having[host][aggregate] = whole
        else:
            having[host].pop(aggregate, None)
    return given, wrong
