# SPDX-License-Identifier: Apache-2.0
"""The quotas of the owner's project that the parts of a stack use."""
import collections

from climate import errors
from climate.plugins import quotas

_VOLUME = 'OS::Cinder::Volume'
# {type of a part: the name of its quota in Neutron}.
_OF_NEUTRON = {'OS::Neutron::FloatingIP': 'floatingip', 'OS::Nova::FloatingIP': 'floatingip',
               'OS::Neutron::Net': 'network'}


def used_by(parts, flavors):
    """Return the quotas that a stack uses, as {service: {name of a quota: units}}.

    :param parts: its StackParts.
    :param flavors: the Flavor of each of its servers.
    """
    nova, neutron, cinder = (collections.Counter() for _ in range(3))
    for flavor in flavors:
        nova.update({'instances': 1, 'cores': flavor.vcpus, 'ram': flavor.ram})
    for part in parts:
        if part.kind in _OF_NEUTRON:
            neutron[_OF_NEUTRON[part.kind]] += 1
        elif part.kind == _VOLUME:
            cinder.update({'volumes': 1, 'gigabytes': _size(part)})
    uses = {'Nova': nova, 'Neutron': neutron, 'Cinder': cinder}
    return {service: dict(units) for service, units in uses.items() if units}


def refuse_at_request(cloud, occasion, uses):
    """Refuse a stack that exceeds the quotas of the project.

    The present use is counted only if the lease starts at once.

    :param uses: {service: {name of a quota: units}}.
    :raises LimitReached: a quota is too small.
    """
    for service, name, problem in _problems(cloud, occasion.project_id, uses,
                                            counts_used=occasion.starts_now):
        raise errors.LimitReached(limit=f'{service.lower()}.{name}', reason=problem)


def refuse_at_start(cloud, lease, uses):
    """Refuse to create a stack that exceeds the quotas of the project now.

    :raises CloudError: the error names the quota.
    """
    for service, _, problem in _problems(cloud, lease.project_id, uses, counts_used=True):
        raise errors.CloudError.plain(service, problem)


def _problems(cloud, project_id, uses, counts_used):
    """Yield (service, name of a quota that is too small, the problem)."""
    for service, units in sorted(uses.items()):
        problem = quotas.problem(service, _read(cloud.as_service(), service, project_id, units),
                                 units, counts_used)
        if problem is not None:
            yield service, *problem


def _read(services, service, project_id, names):
    """Return {name: Quota} of a project in a service."""
    if service == 'Nova':
        return services.nova.quotas(project_id)
    if service == 'Cinder':
        return services.volumes.quotas(project_id)
    return {name: services.networks.quota(project_id, name) for name in names}


def _size(part):
    """Return the size of a volume in GB; 0 if it follows from the source of the volume."""
    size = str(part.properties.get('size') or '')
    return int(size) if size.isdecimal() else 0
