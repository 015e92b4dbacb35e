# SPDX-License-Identifier: Apache-2.0
"""Sleep of hypervisors: their compute service is disabled in Nova meanwhile."""
from climate.plugins import sleepable


class SleepingHosts(sleepable.Sleepable):
    """The methods of the host pool for the sleep of hosts."""

    def close_for_sleep(self, cloud, resources):
        computes = cloud.as_service().computes
        return all(computes.disable(host, sleepable.REASON) for host in _service_hosts(resources))

    def open_after_sleep(self, cloud, resources):
        for host in _service_hosts(resources):
            cloud.as_service().computes.enable(host, sleepable.REASON)

    def in_use(self, cloud, resources):
        services = cloud.as_service()
        # Include the servers on other hypervisors of the service host.
        servers = services.nova.servers_on(_service_hosts(resources))
        if servers:
            return f'servers run on it ({len(servers)})'
        moving = {server_id for server_ids in services.placement.held(
            [resource.name for resource in resources]).values() for server_id in server_ids}
        return f'servers are coming to it or leaving it ({len(moving)})' if moving else None

    def works(self, cloud, resources):
        up = {compute.host for compute in cloud.as_service().computes.of_hosts(
            _service_hosts(resources)) if compute.up}
        return {each.id for each in resources if each.facts['service_name'] in up}


def _service_hosts(resources):
    return sorted({each.facts['service_name'] for each in resources})
