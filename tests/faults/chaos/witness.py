# SPDX-License-Identifier: Apache-2.0
"""The simulated cloud as its own witness: which reservation had which host, one after another."""
import collections
import sqlite3

from climate.cloud.simulated import flavors
from climate.cloud.simulated import hosts
from climate.cloud.simulated import store

_FREEPOOL = 'freepool'
# Written by the database itself, in the transaction of the change: nobody can forget it.
_TABLE = ('CREATE TABLE witness (id INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, '
          'aggregate TEXT NOT NULL, came INTEGER NOT NULL)')
_TRIGGER = ('CREATE TRIGGER witness_{what} AFTER {what} ON aggregate_hosts BEGIN '
            'INSERT INTO witness (host, aggregate, came) '
            'SELECT {row}.host, name, {came} FROM aggregates WHERE id = {row}.aggregate_id; END')


def appear(path, count):
    """Make the state of a cloud of so many hosts that writes down who had each of them."""
    def found(connection):
        hosts.found(connection, count)
        flavors.found(connection)
        connection.execute(_TABLE)
        connection.execute(_TRIGGER.format(what='INSERT', row='NEW', came=1))
        connection.execute(_TRIGGER.format(what='DELETE', row='OLD', came=0))
    store.Store(str(path), found).close()


def testify(path):
    """(how often a reservation was given a host, [what was wrong, in words])."""
    connection = sqlite3.connect(path, timeout=60)
    try:
        rows = connection.execute('SELECT host, aggregate, came FROM witness ORDER BY id')
        return _doubles(rows.fetchall())
    finally:
        connection.close()


def _doubles(moves):
    """The same of (host, aggregate, came in or went out), in order."""
    having, given, wrong = collections.defaultdict(set), 0, []
    for host, aggregate, came in moves:
        if aggregate == _FREEPOOL:
            continue
        if came:
            given += 1
            if having[host]:
                wrong.append(f'{host} was given to {aggregate} while {having[host]} had it.')
            having[host].add(aggregate)
        else:
            having[host].discard(aggregate)
    return given, wrong
