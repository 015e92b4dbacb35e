# SPDX-License-Identifier: Apache-2.0
"""Nova's compute services."""
from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import nova_client
from climate.cloud import shared_reads

_BINARY = 'nova-compute'
# The status of a service whose cell does not answer.
_UNKNOWN = 'UNKNOWN'
# For more hosts than this, one call that lists all services is cheaper.
_MOST_SINGLE_CALLS = 3


class NovaComputes(nova_client.NovaInterface, base.Computes):
    """The compute services under one identity."""

    def __init__(self, connection):
        super().__init__(connection)
        self._shared = shared_reads.SharedRead(self._read)

    def every(self):
        return self._list()

    def of_hosts(self, service_hosts):
        names = set(service_hosts)
        return [compute for compute in self._shared.ask(*names) if compute.host in names]

    def disable(self, service_host, reason):
        service_id, compute = self._find(service_host)
        if compute is None:
            raise errors.ResourceNotFound(pool='host', resource=service_host)
        if not compute.enabled:
            return compute.reason == reason
        self._client.services.disable_log_reason(service_id, reason)
        return True

    def enable(self, service_host, reason):
        service_id, compute = self._find(service_host)
        if compute is None or (not compute.enabled and compute.reason != reason):
            return False
        if not compute.enabled:
            self._client.services.enable(service_id)
        return True

    def _read(self, service_hosts):
        if len(service_hosts) > _MOST_SINGLE_CALLS:
            return self._list()
        return [compute for host in sorted(service_hosts) for compute in self._list(host=host)]

    def _list(self, **filters):
        return [_compute(resource) for resource in self._client.services.list(
            binary=_BINARY, **filters)]

    def _find(self, service_host):
        """Return the id of the service of a host, and its ComputeService; (None, None): none."""
        listed = self._client.services.list(host=service_host, binary=_BINARY)
        return (listed[0].id, _compute(listed[0])) if listed else (None, None)


def _compute(resource):
    # A dict, because a service in a cell that is down has few attributes, and novaclient makes
    # another call for a missing one.
    shown = resource.to_dict()
    return models.ComputeService(
        host=shown['host'], enabled=shown.get('status') == 'enabled',
        up=shown.get('state') == 'up', reason=shown.get('disabled_reason') or None,
        answers=shown.get('status') != _UNKNOWN)
