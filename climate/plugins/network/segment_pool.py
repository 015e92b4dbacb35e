# SPDX-License-Identifier: Apache-2.0
"""The pool of segments of physical networks for networks of leases."""
import itertools
import re

from climate import errors
from climate.domain import audit
from climate.plugins import base

#: The greatest number of segments that one request can enrol.
MOST = 1024
#: The only supported type of segments, and its first and last id.
VLAN = 'vlan'
FIRST, LAST = 1, 4094
_NAME = re.compile(r'(?P<physical>[^\s:]{1,64}):(?P<kind>[a-z]+):(?P<first>[0-9]{1,9})'
                   r'(-(?P<last>[0-9]{1,9}))?')


class SegmentPool(base.Pool):
    """The segments that an administrator enrolled, such as ``physnet1:vlan:3000``.

    Neutron allows only one network on a segment. Enrolled segments are outside Neutron's shared
    ranges, where only administrators can use them. Therefore `admit` changes nothing.
    """

    name = 'segment'
    services = ('neutron',)
    fact_names = ('physical_network', 'network_type', 'segmentation_id')
    enrol_schema = base.name_schema(
        'A segment such as physnet1:vlan:3000 (physical network, type, id), or a range such as '
        f'physnet1:vlan:3000-3099, of at most {MOST} segments.', longest=100)

    def discover(self, cloud, name):
        return _found(parse('name', name))

    def identify(self, cloud, name, fields):
        return self._identified(cloud, [parse('name', name)])[0]

    @classmethod
    def is_range(cls, name, fields):
        match = _NAME.fullmatch(name.strip())
        return match is not None and match['last'] is not None

    def identify_range(self, cloud, name, fields):
        return self._identified(cloud, segments(name))

    def survey(self, cloud, resources):
        return {each.name: _found(parse('name', each.name)) for each in resources}

    def unfit(self, cloud, resources):
        ranges = cloud.as_service().segments.shared_ranges()
        reasons = {}
        for resource in resources:
            shared = _shared(ranges, *[parse('name', resource.name)] * 2)
            if shared is not None:
                reasons[resource.name] = (
                    f'it is in {shared}, from which Neutron assigns segments to all projects')
        return reasons

    def observe(self, cloud):
        return tuple(cloud.as_service().segments.every())

    def audit(self, observed, resources, enrolled):
        networks = {network.segment: network for network in observed}
        return [audit.Drift('unfit', f'segment {each.name}', (
            f'network {networks[segment].id} is on it in Neutron, and no lease has it'))
            for each in resources
            if each.held_by is None and (segment := parse('name', each.name)) in networks]

    def disturbed(self, cloud, held):
        networks = {network.segment: network for network in cloud.as_service().segments.every()}
        reasons = {}
        for record in held:
            network = networks.get(parse('name', record.resource.name))
            if network is not None and network.project_id != record.project_id:
                reasons[record.resource.id] = f'network {network.id} of another project is on it'
        return reasons

    def _identified(self, cloud, names):
        """Return the Founds of segments of one physical network; refuse segments in use."""
        neutron = cloud.as_service().segments
        physical = names[0][0]
        if not neutron.knows(physical):
            raise errors.BadField(field='name', reason=(
                f'Neutron knows no physical network "{physical}" for VLANs; its name is in '
                'network_vlan_ranges of the configuration of Neutron.'))
        shared = _shared(neutron.shared_ranges(), names[0], names[-1])
        if shared is not None:
            raise errors.BadField(field='name', reason=(
                f'some segments are in {shared}, from which Neutron assigns segments to all '
                'projects: take them out of that range first.'))
        used = {network.segment: network for network in neutron.every()}
        for segment in names:
            if segment in used:
                raise errors.ResourceInUse(pool=self.name, resource=text(segment), reason=(
                    f'network {used[segment].id} is on it in Neutron. Delete that first.'))
        return [_found(segment) for segment in names]


def parse(field, name):
    """Return the segment of a name: (physical network, type, id).

    :param field: the field of the request that the error names.
    :raises BadField: the name is malformed, or names a range.
    """
    parsed = _parsed(field, name)
    if len(parsed) != 1:
        raise errors.BadField(field=field, reason=(
            f'"{name[:100]}" is a range; give one segment, such as physnet1:vlan:3000.'))
    return parsed[0]


def segments(name):
    """Return the segments of a range such as "physnet1:vlan:3000-3099", in order.

    :raises BadField: the range is malformed or too long.
    """
    return _parsed('name', name)


def text(segment):
    """Return the name of the resource of a segment."""
    return ':'.join(map(str, segment))


def _parsed(field, name):
    match = _NAME.fullmatch(name.strip())
    if match is None:
        raise errors.BadField(field=field, reason=(
            f'"{name[:100]}" is not a segment such as physnet1:vlan:3000, nor a range such as '
            'physnet1:vlan:3000-3099.'))
    if match['kind'] != VLAN:
        raise errors.BadField(field=field, reason=(
            f'the type "{match["kind"][:20]}" is not supported; give a segment of the type '
            f'{VLAN}.'))
    first = int(match['first'])
    last = first if match['last'] is None else int(match['last'])
    if not FIRST <= first <= last <= LAST:
        raise errors.BadField(field=field, reason=(
            f'"{name[:100]}" has a wrong id: ids of {VLAN} are from {FIRST} to {LAST}, and a range '
            'goes from a lower to a higher id.'))
    if last - first + 1 > MOST:
        raise errors.BadField(field=field, reason=(
            f'the range "{name[:100]}" has {last - first + 1} segments; one request can enrol '
            f'{MOST}.'))
    return list(zip(itertools.repeat(match['physical']), itertools.repeat(VLAN),
                    range(first, last + 1), strict=False))


def _shared(ranges, first, last):
    """Return a shared range of Neutron with some of these segments, in words, or None."""
    for (physical, kind, begin), end in ranges:
        if (physical, kind) == first[:2] and begin <= last[2] and first[2] <= end:
            return f'the shared range {physical}:{kind}:{begin}-{end}'
    return None


def _found(segment):
    physical, kind, segmentation_id = segment
    return base.Found(name=text(segment), capacity={}, facts={
        'physical_network': physical, 'network_type': kind,
        'segmentation_id': str(segmentation_id)})
