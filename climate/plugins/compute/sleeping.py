# SPDX-License-Identifier: Apache-2.0
"""Hypervisors that can sleep: Nova disables their compute service meanwhile."""
from climate.plugins import sleepable

REASON = sleepable.REASON


class SleepingHosts(sleepable.Sleepable):
    """The part of the host pool that knows how hosts sleep."""

    def close_for_sleep(self, cloud, resources):
        computes = cloud.as_service().computes
        return all(computes.disable(each, REASON) for each in _service_hosts(resources))

    def open_after_sleep(self, cloud, resources):
        for each in _service_hosts(resources):
            cloud.as_service().computes.enable(each, REASON)

    def in_use(self, cloud, resources):
        services = cloud.as_service()
        # All hypervisors of the service host would lose their service.
        servers = services.nova.servers_on(_service_hosts(resources))
        if servers:
            return f'servers run on it ({len(servers)})'
        held = {each for of_host in services.placement.held(
            [each.name for each in resources]).values() for each in of_host}
        return f'servers are coming to it or leaving it ({len(held)})' if held else None

    def works(self, cloud, resources):
        up = {each.host for each in cloud.as_service().computes.of_hosts(
            _service_hosts(resources)) if each.up}
        return {each.id for each in resources if each.facts['service_name'] in up}


def _service_hosts(resources):
    return sorted({each.facts['service_name'] for each in resources})
