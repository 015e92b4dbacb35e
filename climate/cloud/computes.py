# SPDX-License-Identifier: Apache-2.0
"""Nova's compute services."""
from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import nova
from climate.cloud import sharing

_BINARY = 'nova-compute'
# The status of a service whose cell does not answer.
_UNKNOWN = 'UNKNOWN'
# For more hosts than this, one call that lists all services is cheaper.
_FEW = 3


class Computes(base.Computes):
    """The compute services under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._client = nova.connected(link, nova.VERSION)
        self._some = sharing.Shared(self._read)

    def every(self):
        return [_compute(each) for each in self._client.services.list(binary=_BINARY)]

    def of_hosts(self, service_hosts):
        wanted = set(service_hosts)
        return [each for each in self._some.ask(*wanted) if each.host in wanted]

    def disable(self, service_host, reason):
        found = self._find(service_host)
        if found is None:
            raise errors.ResourceNotFound(pool='host', resource=service_host)
        if _compute(found).enabled:
            self._client.services.disable_log_reason(found.id, reason)
            return True
        return _compute(found).reason == reason

    def enable(self, service_host, reason):
        found = self._find(service_host)
        if found is None:
            return False
        if _compute(found).enabled:
            return True
        if _compute(found).reason != reason:
            return False
        self._client.services.enable(found.id)
        return True

    def _read(self, service_hosts):
        if len(service_hosts) > _FEW:
            return self.every()
        return [_compute(each) for host in sorted(service_hosts)
                for each in self._client.services.list(host=host, binary=_BINARY)]

    def _find(self, service_host):
        return next(iter(self._client.services.list(host=service_host, binary=_BINARY)), None)


def _compute(found):
    # A dict, because a service in a cell that is down has few attributes, and novaclient makes
    # another call for a missing one.
    told = found.to_dict()
    return models.Compute(host=told['host'], enabled=told.get('status') == 'enabled',
                          up=told.get('state') == 'up', reason=told.get('disabled_reason') or None,
                          answers=told.get('status') != _UNKNOWN)
