# SPDX-License-Identifier: Apache-2.0
"""Several hypervisors under one service host, as Ironic has them.

Aggregates name service hosts, so a lease of one of these hypervisors gets all of them. They are
therefore not enrolled. If an enrolled hypervisor comes to share its service host, no new lease
starts on it, and servers on the other hypervisors are left alone.
"""
import collections

from climate import errors

#: A fact of a hypervisor that shares its service host: the number of hypervisors there.
FACT = 'hypervisors_of_service'


def sharing(hypervisors):
    """Return {service host: sorted names of its hypervisors} of hosts that have several."""
    found = collections.defaultdict(list)
    for each in hypervisors:
        found[each.service_host].append(each.name)
    return {host: sorted(names) for host, names in found.items() if len(names) > 1}


def refuse(nova, pool, name, service_host):
    """Refuse to enrol a hypervisor that shares its service host.

    :raises ResourceInUse: it does; the error names the others.
    """
    names = sharing(nova.hypervisors()).get(service_host)
    if names:
        others = [each for each in names if each != name]
        raise errors.ResourceInUse(pool=pool, resource=name, reason=(
            f'{told(service_host, others)}. A lease takes a service host with all of its '
            'hypervisors. Give each of them a nova-compute of its own first.'))


def told(service_host, others):
    """Return a text that a hypervisor shares its service host with others."""
    more = f' and {len(others) - 3} more' if len(others) > 3 else ''
    return f'it shares the service host {service_host} with {", ".join(others[:3])}{more}'


def why_failing(resource):
    """Return why nothing can be started on a Resource; None if it shares its host with no other."""
    count = resource.facts.get(FACT)
    return None if count is None else (
        f'its service host has {count} hypervisors, and a lease would take them all')


def of_others(nova, servers, resources):
    """Return the Servers that are on other hypervisors than these Resources.

    A server whose hypervisor cannot be compared counts if its service host has several.
    """
    names = collections.defaultdict(set)
    for each in resources:
        names[each.facts['service_name']].add(each.name)
    told_by_name, unknown = [], []
    for each in servers:
        known = each.host in names and each.hypervisor is not None
        (told_by_name if known else unknown).append(each)
    shared = sharing(nova.hypervisors()) if unknown else ()
    return [*(each for each in told_by_name if each.hypervisor not in names[each.host]),
            *(each for each in unknown if each.host in shared)]
