# SPDX-License-Identifier: Apache-2.0
"""The compute services of the simulated cloud."""
from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud.simulated import hosts
from climate.cloud.simulated import interface


class SimulatedComputes(interface.SimulatedInterface, base.Computes):
    """Compute services under one identity."""

    def every(self):
        return self._admin_call('services', lambda connection: self._shown(
            everything(connection)))

    def of_hosts(self, service_hosts):
        def work(connection):
            rows = (_find(connection, host) for host in service_hosts)
            return self._shown([_compute(row) for row in rows if row is not None])
        return self._admin_call('services', work)

    def disable(self, service_host, reason):
        def work(connection):
            row = _find(connection, service_host)
            if row is None:
                raise errors.ResourceNotFound(pool='host', resource=service_host)
            if row['enabled']:
                self._set(connection, service_host, False, reason)
                return True
            return row['reason'] == reason
        return self._admin_call('disable_service', work)

    def enable(self, service_host, reason):
        def work(connection):
            row = _find(connection, service_host)
            if row is None or (not row['enabled'] and row['reason'] != reason):
                return False
            if not row['enabled']:
                self._set(connection, service_host, True, None)
            return True
        return self._admin_call('enable_service', work)

    def _shown(self, computes):
        """Return ComputeServices as Nova shows them: without the state in silent cells."""
        return [models.ComputeService(compute.host, enabled=False, up=False, answers=False)
                if compute.host in self._lifecycle.silent else compute for compute in computes]

    def _set(self, connection, service_host, enabled, reason):
        connection.execute('UPDATE hosts SET enabled = ?, reason = ? WHERE service_host = ?',
                           (enabled, reason, service_host))
        if self._lifecycle.traits_to_lose:
            self._lifecycle.traits_to_lose -= 1
        else:
            connection.execute('UPDATE hosts SET barred = NOT enabled WHERE service_host = ?',
                               (service_host,))


def everything(connection):
    """Return all ComputeServices."""
    return list({row['service_host']: _compute(row) for row in hosts.every(connection)}.values())


def _compute(row):
    return models.ComputeService(host=row['service_host'], enabled=bool(row['enabled']),
                                 up=bool(row['up']), reason=row['reason'])


def _find(connection, service_host):
    return connection.execute('SELECT * FROM hosts WHERE service_host = ?',
                              (service_host,)).fetchone()
