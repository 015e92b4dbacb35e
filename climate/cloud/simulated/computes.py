# SPDX-License-Identifier: Apache-2.0
"""The compute services of the simulated cloud."""
from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud.simulated import hosts


class Computes(base.Computes):
    """Compute services under one identity.

    :param link: the Link of that identity. Its Lifecycle counts the changes whose trait is lost.
    """

    def __init__(self, link):
        super().__init__(link.calls.trust_id)
        self._calls = link.calls
        self._lifecycle = link.lifecycle

    def every(self):
        return self._calls.make('nova.services',
                                lambda connection, project_id: self._told(
                                    everything(connection)))

    def of_hosts(self, service_hosts):
        def work(connection, project_id):
            rows = (_find(connection, each) for each in service_hosts)
            return self._told([_compute(row) for row in rows if row is not None])
        return self._calls.make('nova.services', work)

    def disable(self, service_host, reason):
        def work(connection, project_id):
            row = _find(connection, service_host)
            if row is None:
                raise errors.ResourceNotFound(pool='host', resource=service_host)
            if row['enabled']:
                self._set(connection, service_host, False, reason)
                return True
            return row['reason'] == reason
        return self._calls.make('nova.disable_service', work)

    def enable(self, service_host, reason):
        def work(connection, project_id):
            row = _find(connection, service_host)
            if row is None or (not row['enabled'] and row['reason'] != reason):
                return False
            if not row['enabled']:
                self._set(connection, service_host, True, None)
            return True
        return self._calls.make('nova.enable_service', work)

    def _told(self, found):
        """Return Computes as Nova tells them: next to nothing of a cell that does not answer."""
        silent = self._lifecycle.silent
        return [each if each.host not in silent else
                models.Compute(each.host, enabled=False, up=False, answers=False)
                for each in found]

    def _set(self, connection, service_host, enabled, reason):
        connection.execute('UPDATE hosts SET enabled = ?, reason = ? WHERE service_host = ?',
                           (enabled, reason, service_host))
        if self._lifecycle.traits_to_lose:
            self._lifecycle.traits_to_lose -= 1
        else:
            connection.execute('UPDATE hosts SET barred = NOT enabled WHERE service_host = ?',
                               (service_host,))


def everything(connection):
    """Return all Computes."""
    return list({row['service_host']: _compute(row) for row in hosts.every(connection)}.values())


def _compute(row):
    return models.Compute(host=row['service_host'], enabled=bool(row['enabled']),
                          up=bool(row['up']), reason=row['reason'])


def _find(connection, service_host):
    return connection.execute('SELECT * FROM hosts WHERE service_host = ?',
                              (service_host,)).fetchone()
