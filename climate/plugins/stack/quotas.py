# SPDX-License-Identifier: Apache-2.0
"""The quotas of the owner that the parts of a stack use."""
import collections

from climate import errors
from climate.plugins.compute import requirements

_VOLUME = 'OS::Cinder::Volume'
# {type of a part: the name of its quota in Neutron}.
_OF_NEUTRON = {'OS::Neutron::FloatingIP': 'floatingip', 'OS::Nova::FloatingIP': 'floatingip',
               'OS::Neutron::Net': 'network'}


def used_by(parts, flavors):
    """Return what a stack uses, as {service: {name of a quota: units}}.

    :param parts: its StackParts.
    :param flavors: the Flavor of each of its servers.
    """
    nova, neutron, cinder = (collections.Counter() for _ in range(3))
    for each in map(requirements.as_dict, flavors):
        nova.update({'instances': 1, 'cores': each['vcpus'], 'ram': each['ram']})
    for each in parts:
        if each.kind in _OF_NEUTRON:
            neutron[_OF_NEUTRON[each.kind]] += 1
        elif each.kind == _VOLUME:
            cinder.update({'volumes': 1, 'gigabytes': _size(each)})
    found = {'Nova': nova, 'Neutron': neutron, 'Cinder': cinder}
    return {service: dict(units) for service, units in found.items() if units}


def refuse_at_request(cloud, occasion, uses):
    """Refuse a stack that does not fit into the quotas of the project.

    What is used now counts only if the lease starts now.

    :param uses: {service: {name of a quota: units}}.
    :raises LimitReached: a quota is too small.
    """
    for service, name, problem in _problems(cloud, occasion.project_id, uses,
                                            with_used=occasion.starts_now):
        raise errors.LimitReached(limit=f'{service.lower()}.{name}',
                                  reason=f'{problem[0].upper()}{problem[1:]}')


def refuse_at_start(cloud, lease, uses):
    """Refuse to create a stack that does not fit into the quotas of the project now.

    :raises CloudError: the error names the quota.
    """
    for service, _, problem in _problems(cloud, lease.project_id, uses, with_used=True):
        raise errors.CloudError.plain(service, problem)


def _problems(cloud, project_id, uses, with_used):
    """Yield (service, which of its quotas is too small, the same in words)."""
    for service, wanted in sorted(uses.items()):
        quotas = _read(cloud.as_service(), service, project_id, wanted)
        for name, units in sorted(wanted.items()):
            quota = quotas.get(name)
            used = quota.used if with_used and quota is not None else 0
            if quota is not None and quota.limit is not None and used + units > quota.limit:
                now = f', of which {used} are used' if with_used else ''
                yield service, name, (
                    f'the stack needs {units} of the quota "{name}" in {service}, and your '
                    f'project has {quota.limit}{now}: make the stack smaller, delete what you do '
                    'not need, or ask for a larger quota.')


def _read(services, service, project_id, names):
    """Return {name: Quota} of a project in a service."""
    if service == 'Nova':
        return services.nova.quotas(project_id)
    if service == 'Cinder':
        return services.volumes.quotas(project_id)
    return {name: services.networks.quota(project_id, name) for name in names}


def _size(part):
    """Return the size of a volume in GB; 0 if only its source knows it."""
    said = str(part.properties.get('size') or '')
    return int(said) if said.isdecimal() else 0
