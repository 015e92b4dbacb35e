# SPDX-License-Identifier: Apache-2.0
"""The services of the simulated Cinder. The pools of one host share a service."""
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
#: The default availability zone of new volumes.
DEFAULT_ZONE = 'nova'
BINARY = storage_hosts.StorageHosts.BINARY
#: The one service that serves no back end.
_SCHEDULER = models.StorageService('cinder-scheduler', 'controller', enabled=True, up=True)


def every(connection):
    """Return all StorageServices."""
    known = {row['host']: models.StorageService(
        BINARY, row['host'], bool(row['enabled']), bool(row['up']), row['reason'],
        bool(row['frozen'])) for row in connection.execute('SELECT * FROM storage_services')}
    hosts = sorted({service_host(row['name'])
                    for row in connection.execute('SELECT name FROM backends')})
    return [_SCHEDULER, *(dataclasses.replace(
        known.get(host, models.StorageService(BINARY, host, enabled=True, up=True)),
        zone=zone_of(connection, host)) for host in hosts)]


def find(connection, host):
    """Return the StorageService of back ends on that service host, or None."""
    return next((service for service in every(connection)
                 if (service.binary, service.host) == (BINARY, host)), None)


def open_hosts(connection):
    """Return the service hosts that get new volumes."""
    return {service.host for service in every(connection)
            if service.binary == BINARY and service.up and service.enabled and not service.frozen}


def down(connection):
    """Return the service hosts whose service is down."""
    return {service.host for service in every(connection) if not service.up}


def mark(connection, host, up=None, enabled=None, reason=None, frozen=None):
    """Set the values that are not None, and the reason if the service is disabled."""
    before = find(connection, host)
    after = models.StorageService(
        BINARY, host, before.enabled if enabled is None else enabled,
        before.up if up is None else up, before.reason if enabled is None else reason,
        before.frozen if frozen is None else frozen)
    connection.execute('INSERT OR REPLACE INTO storage_services VALUES (?, ?, ?, ?, ?)', (
        host, after.up, after.enabled, after.reason, after.frozen))


def zone_of(connection, host):
    """Return the availability zone of the service of a back end."""
    row = connection.execute('SELECT zone FROM storage_zones WHERE host = ?', (host,)).fetchone()
    return row['zone'] if row else DEFAULT_ZONE


def service_host(backend):
    """Return the service host of a back end: ``host@backend`` of ``host@backend#pool``."""
    return backend.partition('#')[0]


def is_on(backend, host):
    """Return whether a back end is on a host, as Cinder searches for it."""
    return host in (backend, service_host(backend), machine(backend))


def machine(name):
    """Return the host of a back end or of a service."""
    return name.partition('@')[0].partition('#')[0]
