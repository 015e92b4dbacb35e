# SPDX-License-Identifier: Apache-2.0
"""The rows of the services of Cinder in the simulated cloud. Pools of one host share a service."""
import dataclasses

from climate.cloud import volume_models as models
from climate.cloud.base import storage_hosts

TABLES = (
    # A back end without a row is served by a service that is up and enabled.
    """CREATE TABLE IF NOT EXISTS storage_services (
        host TEXT PRIMARY KEY, up INTEGER NOT NULL, enabled INTEGER NOT NULL, reason TEXT,
        frozen INTEGER NOT NULL)""",
    # A back end without a row is in the default zone.
    """CREATE TABLE IF NOT EXISTS storage_zones (
        host TEXT PRIMARY KEY, zone TEXT NOT NULL)""",
)
#: The availability zone of Cinder for new volumes if nothing says another one.
DEFAULT_ZONE = 'nova'
BINARY = storage_hosts.StorageHosts.BINARY
#: The one service that serves no back end.
_SCHEDULER = models.Service('cinder-scheduler', 'controller', enabled=True, up=True)


def every(connection):
    """Return all Services."""
    known = {row['host']: models.Service(
        BINARY, row['host'], bool(row['enabled']), bool(row['up']), row['reason'],
        bool(row['frozen'])) for row in connection.execute('SELECT * FROM storage_services')}
    hosts = sorted({service_host(row['name'])
                    for row in connection.execute('SELECT name FROM backends')})
    return [_SCHEDULER, *(dataclasses.replace(
        known.get(each, models.Service(BINARY, each, enabled=True, up=True)),
        zone=zone_of(connection, each)) for each in hosts)]


def find(connection, host):
    """Return the Service of back ends on that service host, or None."""
    return next((each for each in every(connection)
                 if (each.binary, each.host) == (BINARY, host)), None)


def taking(connection):
    """Return the service hosts that get new volumes."""
    return {each.host for each in every(connection)
            if each.binary == BINARY and each.up and each.enabled and not each.frozen}


def down(connection):
    """Return the service hosts on which nothing is done now."""
    return {each.host for each in every(connection) if not each.up}


def mark(connection, host, up=None, enabled=None, reason=None, frozen=None):
    """Set what is not None of the service of a back end, and the reason if it is disabled."""
    before = find(connection, host)
    after = models.Service(
        BINARY, host, before.enabled if enabled is None else enabled,
        before.up if up is None else up, before.reason if enabled is None else reason,
        before.frozen if frozen is None else frozen)
    connection.execute('INSERT OR REPLACE INTO storage_services VALUES (?, ?, ?, ?, ?)', (
        host, after.up, after.enabled, after.reason, after.frozen))


def zone_of(connection, host):
    """Return the availability zone of the service of a back end."""
    found = connection.execute('SELECT zone FROM storage_zones WHERE host = ?', (host,)).fetchone()
    return found['zone'] if found else DEFAULT_ZONE


def service_host(backend):
    """Return the service host of a back end: ``host@backend`` of ``host@backend#pool``."""
    return backend.partition('#')[0]


def is_on(backend, host):
    """Return whether a back end is on a host, as Cinder searches for it."""
    return host in (backend, service_host(backend), machine(backend))


def machine(name):
    """Return the host of a back end or of a service."""
    return name.partition('@')[0].partition('#')[0]
