# SPDX-License-Identifier: Apache-2.0
"""Several hypervisors under one service host, as Ironic has them.

Aggregates name service hosts, so whoever leases one of these hypervisors has all of them. None is
enrolled, none is leased any more once it comes to that, and no server of the others is touched.
"""
import collections

from climate import errors

#: A fact of a hypervisor that shares its service host: how many there are. Others have none.
FACT = 'hypervisors_of_service'


def sharing(hypervisors):
    """{service host: the names of its hypervisors, sorted}, of those that have several."""
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
    """That a hypervisor shares its service host with others, in words."""
    more = f' and {len(others) - 3} more' if len(others) > 3 else ''
    return f'it shares the service host {service_host} with {", ".join(others[:3])}{more}'


def why_failing(resource):
    """Why nothing can be started on a Resource that shares its service host; None: it does not."""
    count = resource.facts.get(FACT)
    return None if count is None else (
        f'its service host has {count} hypervisors, and a lease would take them all')


def of_others(nova, servers, resources):
    """Those of the Servers that are on other hypervisors than those of these Resources.

    Of a service host of which no Resource is here, the only hypervisor counts as one of them.
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
