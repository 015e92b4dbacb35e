# SPDX-License-Identifier: Apache-2.0
"""Several hypervisors under one service host, as for Ironic.

Such hypervisors cannot be enrolled. Aggregates contain service hosts, so a lease of one of the
hypervisors would get all of them. If another hypervisor appears under the service host of an
enrolled one, no new lease starts there, and Climate deletes no servers on the other hypervisor.
"""
import collections

from climate import errors

#: The fact with the number of hypervisors of a service host that has several.
FACT = 'hypervisors_of_service'


def sharing(hypervisors):
    """Return {service host: sorted names of its hypervisors} of hosts that have several."""
    by_host = collections.defaultdict(list)
    for hypervisor in hypervisors:
        by_host[hypervisor.service_host].append(hypervisor.name)
    return {host: sorted(names) for host, names in by_host.items() if len(names) > 1}


def refuse(nova, pool, name, service_host):
    """Refuse to enrol a hypervisor that shares its service host.

    :raises ResourceInUse: the service host has other hypervisors, which the error names.
    """
    names = sharing(nova.hypervisors()).get(service_host)
    if names:
        others = [other for other in names if other != name]
        raise errors.ResourceInUse(pool=pool, resource=name, reason=(
            f'{described(service_host, others)}. A lease takes a service host with all of its '
            'hypervisors. Give each hypervisor its own nova-compute first.'))


def described(service_host, others):
    """Return the sentence that a hypervisor shares its service host with the others."""
    omitted = f' and {len(others) - 3} more' if len(others) > 3 else ''
    return f'it shares the service host {service_host} with {", ".join(others[:3])}{omitted}'


def why_failing(resource):
    """Return why no lease can start on a Resource that shares its service host, else None."""
    count = resource.facts.get(FACT)
    return None if count is None else (
        f'its service host has {count} hypervisors, and a lease would take them all')


def of_others(nova, servers, resources):
    """Return the Servers on other hypervisors than these Resources.

    If Nova does not show the hypervisor of a server, or the service host has none of these
    Resources, the server is returned if its service host has several hypervisors.
    """
    names = collections.defaultdict(set)
    for resource in resources:
        names[resource.facts['service_name']].add(resource.name)
    comparable, unknown = [], []
    for server in servers:
        is_comparable = server.host in names and server.hypervisor is not None
        (comparable if is_comparable else unknown).append(server)
    shared = sharing(nova.hypervisors()) if unknown else ()
    return [*(server for server in comparable if server.hypervisor not in names[server.host]),
            *(server for server in unknown if server.host in shared)]
