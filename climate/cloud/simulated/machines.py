# SPDX-License-Identifier: Apache-2.0
"""The machines of the simulated cloud, which can be switched off, and their storage services."""
from climate import errors
from climate.cloud.simulated import hosts
from climate.cloud.simulated import storage_services


class Machines:
    """Switches machines and configures storage, as administrators do. No fault points.

    :param transaction: returns a context manager whose value is a connection.
    """

    def __init__(self, transaction):
        self._transaction = transaction

    def is_up(self, name):
        """Return whether a service on a machine is up.

        :raises ResourceNotFound: the cloud has no such machine.
        """
        with self._transaction() as connection:
            states = [bool(row['up']) for row in hosts.every(connection) if row['name'] == name]
            states += [service.up for service in self._storage(connection, name)]
        if not states:
            raise errors.ResourceNotFound(pool='machine', resource=name)
        return any(states)

    def switch(self, name, up):
        """Switch a machine, with all services on it."""
        with self._transaction() as connection:
            if any(row['name'] == name for row in hosts.every(connection)):
                hosts.mark(connection, name, up, None)
            for service in self._storage(connection, name):
                storage_services.mark(connection, service.host, up=up)

    def mark_storage(self, service_host, **values):
        """Set `up`, `enabled` (with a `reason`) or `frozen` of the service of a back end."""
        with self._transaction() as connection:
            storage_services.mark(connection, service_host, **values)

    def add_backend(self, name, backend_name, total_gb):
        """Add a storage back end."""
        with self._transaction() as connection:
            connection.execute('INSERT INTO backends VALUES (?, ?, ?)',
                               (name, backend_name, str(total_gb)))

    def put_in_zone(self, service_host, zone):
        """Set the availability zone of the service of a back end."""
        with self._transaction() as connection:
            connection.execute('INSERT OR REPLACE INTO storage_zones VALUES (?, ?)',
                               (service_host, zone))

    @staticmethod
    def _storage(connection, name):
        return [service for service in storage_services.every(connection)
                if service.binary == storage_services.BINARY
                and storage_services.machine(service.host) == name]
