# SPDX-License-Identifier: Apache-2.0
"""An installation for schemathesis, with leases, hosts and servers that cases can name."""
import itertools
import shutil
import sqlite3

import openapi_secrets
import sqlalchemy as sa
from support import builders

from climate.api import app
from climate.db import engine
from climate.db import tables
from climate.domain import records

_HOSTS = 5
# What each accepted request leaves behind makes the next ones slower.
_MOST_CHANGES = 60


class World:
    """The REST service over a manager, renewed when a world has had many changes.

    :ivar manager: the builders.Manager of the world of this moment.
    """

    def __init__(self, conf, migrated, folder):
        self._conf = conf
        self._migrated = migrated
        self._folder = folder
        self._changes = 0
        self.manager = None
        self.renew()

    def __call__(self, environ, start_response):
        return self._app(environ, start_response)

    def accepted(self):
        """A request was; the world that has had too many of them is replaced."""
        self._changes += 1
        if self._changes >= _MOST_CHANGES:
            self.renew()
        self.remember()

    def secrets(self, token):
        """Return the secrets that no answer to the holder of a token may contain."""
        return self._secrets.get(token, ())

    def remember(self):
        """Compare with the present state in `is_changed` from now on."""
        self._version = self._written()
        self._picture = self._of_database()
        self._cloud = self._of_cloud()

    def is_changed(self):
        """Return whether a row of any table, or the cloud, was changed."""
        if self._of_cloud() != self._cloud:
            return True
        return self._written() != self._version and self._of_database() != self._picture

    def renew(self):
        """Leave this world for a new one."""
        self.close()
        self._changes = 0
        path = self._folder / 'climate.sqlite'
        shutil.copy(self._migrated, path)
        self.manager = builders.Manager(self._conf, engine.Database(f'sqlite:///{path}'),
                                        builders.Clock(builders.NOON - openapi_secrets.BEFORE))
        self._app = app.build(self._conf, self.manager.client,
                              builders.manager_plugins(self._conf), clock=self.manager.clock)
        secretive = openapi_secrets.furnish(self.manager)
        self._furnish(secretive)
        self._secrets = openapi_secrets.secrets(self.manager)
        openapi_secrets.refuse_a_trust(self.manager)
        self._look = sqlite3.connect(path)
        self.remember()

    def close(self):
        """Forget the database of this world."""
        if self.manager is not None:
            self._look.close()
            self.manager.database.dispose()
            for path in self._folder.glob('climate.sqlite*'):
                path.unlink()

    def _written(self):
        """A number that is another one after anybody else has written to the file."""
        return self._look.execute('PRAGMA data_version').fetchone()

    def _of_database(self):
        with self.manager.database.reader() as connection:
            return {table.name: [tuple(row) for row in connection.execute(sa.select(table))]
                    # A refusal is written down where nothing else is.
                    for table in tables.METADATA.sorted_tables if table is not tables.REFUSALS}

    def _of_cloud(self):
        services = self.manager.cloud.as_service()
        return services.nova.aggregates(), services.keystone.trusts(), self.manager.cloud.servers()

    def _furnish(self, secretive):
        manager, known = self.manager, len(secretive)
        names = sorted(self.manager.cloud.host_names())
        hosts = [manager.client.create_resource(builders.an_admin(), 'host', name, {'gpu': 'A100'})
                 for name in names[known:known + _HOSTS]]
        later = builders.at(2)
        server = manager.cloud.boot('demo', 'vm', {}, flavor='2')
        leases = [
            *secretive,
            manager.book(builders.hosts(1)),
            manager.book(builders.hosts(1, 2), start=later,
                         end=later + builders.hours(2)),
            manager.book(
                _wish('virtual:instance', vcpus=1, memory_mb=512, disk_gb=1, amount=2),
                _wish('virtual:dummy')),
            manager.book(_wish('flavor:instance', flavor_id='2', amount=1)),
            manager.book(
                _wish('virtual:instance', resource_id=None, flavor_id='2')),
            manager.book(
                _wish('virtual:instance', resource_id=server.id)),
            manager.create(builders.a_lease(_wish('virtual:dummy')),
                           builders.a_member('eve', 'other')),
        ]
        manager.run()
        self.ids = {
            'leases': [lease.id for lease in leases],
            'reservations': [each.id for lease in leases for each in lease.reservations],
            'servers': [server.id, manager.cloud.boot('demo', 'other vm', {}, flavor='2').id],
            'os-hosts': [str(host.id) for host in hosts],
            'resources/host': [str(host.id) for host in hosts],
            'new hosts': itertools.cycle(names[known + _HOSTS:]),
            'properties': ['gpu', 'vcpus'],
        }


def _wish(resource_type, **request):
    return records.ReservationRequest(resource_type, request)
