# SPDX-License-Identifier: Apache-2.0
"""The pool of segments of physical networks, which only leases may use."""
import itertools
import re

from climate import errors
from climate.domain import audit
from climate.plugins import base

#: The most segments that one request can enrol.
MOST = 1024
#: The type of segments that a physical network has, and the first and the last id.
VLAN = 'vlan'
FIRST, LAST = 1, 4094
_NAME = re.compile(r'(?P<physical>[^\s:]{1,64}):(?P<kind>[a-z]+):(?P<first>[0-9]{1,9})'
                   r'(-(?P<last>[0-9]{1,9}))?')


class SegmentPool(base.Pool):
    """The segments that an administrator enrolled, such as ``physnet1:vlan:3000``.

    Neutron lets one network be on a segment. It gives users segments of its own ranges only, and
    only an administrator can name others. So nothing must be done to admit one.
    """

    name = 'segment'
    services = ('neutron',)
    fact_names = ('physical_network', 'network_type', 'segmentation_id')
    enrol_schema = {
        'type': 'object',
        'required': ['name'],
        'properties': {
            'name': {'description': 'A segment such as physnet1:vlan:3000 (physical network, type, '
                                    'id), or a range such as physnet1:vlan:3000-3099, of at most '
                                    f'{MOST} segments.',
                     'type': 'string', 'minLength': 1, 'maxLength': 100},
        },
        'additionalProperties': False,
    }

    def discover(self, cloud, name):
        return _found(parse('name', name))

    def identify(self, cloud, name, fields):
        [found] = self._identified(cloud, [parse('name', name)])
        return found

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
        found = {}
        for each in resources:
            shared = _shared(ranges, *[parse('name', each.name)] * 2)
            if shared is not None:
                found[each.name] = f'it is in {shared}, from which Neutron gives it to everybody'
        return found

    def observe(self, cloud):
        return tuple(cloud.as_service().segments.every())

    def audit(self, observed, resources, enrolled):
        there = {each.segment: each for each in observed}
        return [audit.Drift('unfit', f'segment {each.name}', (
            f'network {there[segment].id} is on it in Neutron, and no lease has it'))
            for each in resources
            if each.held_by is None and (segment := parse('name', each.name)) in there]

    def disturbed(self, cloud, held):
        there = {each.segment: each for each in cloud.as_service().segments.every()}
        found = {}
        for each in held:
            network = there.get(parse('name', each.resource.name))
            if network is not None and network.project_id != each.project_id:
                found[each.resource.id] = f'network {network.id} of another project is on it'
        return found

    def _identified(self, cloud, wanted):
        """Return the Founds of segments of one physical network, which nothing may use."""
        neutron = cloud.as_service().segments
        physical = wanted[0][0]
        if not neutron.knows(physical):
            raise errors.BadField(field='name', reason=(
                f'Neutron knows no physical network "{physical}" for VLANs; its name is in '
                'network_vlan_ranges of the configuration of Neutron.'))
        shared = _shared(neutron.shared_ranges(), wanted[0], wanted[-1])
        if shared is not None:
            raise errors.BadField(field='name', reason=(
                f'some of it is in {shared}, from which Neutron gives segments to everybody: take '
                'the segments out of it first.'))
        used = {each.segment: each for each in neutron.every()}
        for each in wanted:
            if each in used:
                raise errors.ResourceInUse(pool=self.name, resource=text(each), reason=(
                    f'network {used[each].id} is on it in Neutron. Delete that first.'))
        return [_found(each) for each in wanted]


def parse(field, name):
    """Return the segment of a name: (physical network, type, id).

    :param field: the field of the request that the error names.
    :raises BadField: it is no segment.
    """
    found = _parsed(field, name)
    if len(found) != 1:
        raise errors.BadField(field=field, reason=(
            f'"{name[:100]}" is a range; give one segment, such as physnet1:vlan:3000.'))
    return found[0]


def segments(name):
    """Return the segments of a range such as "physnet1:vlan:3000-3099", in order.

    :raises BadField: the range is malformed or too long.
    """
    return _parsed('name', name)


def text(segment):
    """Return a segment as the name of its resource."""
    return ':'.join(map(str, segment))


def _parsed(field, name):
    match = _NAME.fullmatch(name.strip())
    if match is None:
        raise errors.BadField(field=field, reason=(
            f'"{name[:100]}" is not a segment such as physnet1:vlan:3000, nor a range such as '
            'physnet1:vlan:3000-3099.'))
    if match['kind'] != VLAN:
        raise errors.BadField(field=field, reason=(
            f'the type "{match["kind"][:20]}" is not served; segments of a physical network have '
            f'the type {VLAN}.'))
    first = int(match['first'])
    last = first if match['last'] is None else int(match['last'])
    if not FIRST <= first <= last <= LAST:
        raise errors.BadField(field=field, reason=(
            f'the ids of {VLAN} go from {FIRST} to {LAST}, and those of a range from a lower to a '
            f'higher one; "{name[:100]}" does not.'))
    if last - first + 1 > MOST:
        raise errors.BadField(field=field, reason=(
            f'the range "{name[:100]}" has {last - first + 1} segments; one request can enrol '
            f'{MOST}.'))
    return list(zip(itertools.repeat(match['physical']), itertools.repeat(VLAN),
                    range(first, last + 1), strict=False))


def _shared(ranges, first, last):
    """Return a shared range of Neutron that has some of these segments, in words; or None."""
    for (physical, kind, begin), end in ranges:
        if (physical, kind) == first[:2] and begin <= last[2] and first[2] <= end:
            return f'the shared range {physical}:{kind}:{begin}-{end}'
    return None


def _found(segment):
    physical, kind, segmentation_id = segment
    return base.Found(name=text(segment), capacity={}, facts={
        'physical_network': physical, 'network_type': kind,
        'segmentation_id': str(segmentation_id)})
