# SPDX-License-Identifier: Apache-2.0
"""Hypervisors that can sleep: Nova disables their compute service meanwhile."""
from climate.plugins import sleepable

#: The reason with which Climate disables the compute service of a host that sleeps.
REASON = 'climate: asleep to save energy'


class SleepingHosts(sleepable.Sleepable):
    """The part of the host pool that knows how hosts sleep."""

    def close_for_sleep(self, cloud, resource):
        return cloud.as_service().computes.disable(resource.facts['service_name'], REASON)

    def open_after_sleep(self, cloud, resource):
        cloud.as_service().computes.enable(resource.facts['service_name'], REASON)

    def in_use(self, cloud, resource):
        services = cloud.as_service()
        # All hypervisors of the service host would lose their service.
        servers = services.nova.servers_on([resource.facts['service_name']])
        if servers:
            return f'servers run on it ({len(servers)})'
        held = services.placement.held([resource.name]).get(resource.name, ())
        return f'servers are coming to it or leaving it ({len(held)})' if held else None

    def works(self, cloud, resources):
        hosts = {each.id: each.facts['service_name'] for each in resources}
        up = {each.host for each in cloud.as_service().computes.of_hosts(sorted(hosts.values()))
              if each.up}
        return {key for key, host in hosts.items() if host in up}
