# SPDX-License-Identifier: Apache-2.0
"""flavor:instance, room for instances of a flavor, booted with the reservation's copy of it."""
import json
import math
import re

from climate import errors
from climate.domain import extra_specs
from climate.plugins import base
from climate.plugins import pools
from climate.plugins import room
from climate.plugins import room_audit

_MB = 1024
_SIZES = ('vcpus', 'ram', 'disk', 'ephemeral', 'swap')
_RESOURCE = 'resources:'
_TRAIT = 'trait:'
# Of groups of their own in Placement; the accounts know one group for an instance.
_GRANULAR = re.compile(r'(resources|trait)[^:]+:')


class FlavorPlugin(base.ResourcePlugin):
    resource_type = 'flavor:instance'
    pools = (pools.HostPool,)
    schema = {
        'type': 'object',
        'properties': {
            'flavor_id': {
                'description': 'The id of a flavor that the project may use.', 'type': 'string',
                'minLength': 1, 'maxLength': 255, 'pattern': '^[A-Za-z0-9_. -]*[A-Za-z0-9_-]$'},
            'amount': room.AMOUNT,
            'affinity': room.AFFINITY,
            'resource_properties': {
                'description': 'In answers, the flavor as it was when it was leased. In requests '
                               'it is passed over.', 'type': ['string', 'null']},
        },
        'required': ['flavor_id', 'amount'],
        'additionalProperties': False,
    }
    example = {'flavor_id': '2', 'amount': 2, 'affinity': False}

    @classmethod
    def lenient(cls, request):
        found = super().lenient(room.lenient(request))
        if type(found.get('flavor_id')) is int:
            # The command line of existing clients sends whatever looks like a number as one.
            found['flavor_id'] = str(found['flavor_id'])
        return found

    def resolve(self, cloud, request, occasion):
        before = occasion.before
        found = {'affinity': None, **request}
        if before is not None and found['flavor_id'] in (before.id, before.request['flavor_id']):
            # What was leased stays, also when an administrator changes the flavor.
            found['flavor_id'] = before.request['flavor_id']
            found['resource_properties'] = before.request['resource_properties']
        else:
            found['resource_properties'] = self._read(cloud, found['flavor_id'],
                                                      occasion.project_id)
        room.refuse_while_it_runs(before, found, ('flavor_id', 'affinity'))
        return found

    def needs(self, request):
        flavor = json.loads(request['resource_properties'])
        traits = {key: value for key, value in flavor['extra_specs'].items()
                  if key.startswith(_TRAIT)}
        return [room.need(request, _units(flavor), extra_specs.from_extra_specs(traits))]

    def start(self, cloud, lease, reservation, resources):
        return room.start(self.conf, cloud, lease, reservation, resources,
                          *_sizes_and_specs(reservation))

    def end(self, cloud, lease, reservation, resources):
        room.end(cloud, lease, reservation)

    def traces(self, picture):
        return room_audit.traces(self.conf, picture, self.resource_type)

    def lacks(self, picture, lease, reservation, resources):
        return room_audit.lacks(self.conf, picture, lease, reservation, resources)

    def complete(self, cloud, lease, reservation, resources):
        return room.complete(self.conf, cloud, lease, reservation, resources,
                             *_sizes_and_specs(reservation))

    def clear(self, cloud, reservation_id, resources):
        room.clear(cloud, reservation_id)

    @classmethod
    def fields(cls, reservation):
        flavor = json.loads(reservation.request['resource_properties'])
        return {'vcpus': flavor['vcpus'], 'memory_mb': flavor['ram'],
                'disk_gb': flavor['disk'] + flavor['ephemeral'], **room.fields(reservation)}

    @staticmethod
    def _read(cloud, flavor_id, project_id):
        """The flavor as JSON text."""
        found = cloud.as_service().flavors.flavor(flavor_id, project_id)
        if found is None:
            raise errors.BadField(field='flavor_id', reason=(
                f'there is no flavor "{flavor_id}" that this project may use; '
                '"openstack flavor list" has the ids.'))
        flavor = {'id': found.id, 'name': found.name, 'extra_specs': found.extra_specs,
                  **{name: getattr(found, name) for name in _SIZES}}
        for key in found.extra_specs:
            if _GRANULAR.match(key):
                raise errors.BadField(field='flavor_id', reason=(
                    f'flavor "{flavor_id}" has the extra spec {key}; a flavor whose resources or '
                    'traits are in numbered groups cannot be leased.'))
        if not any(_units(flavor).values()):
            raise errors.BadField(field='flavor_id', reason=(
                f'flavor "{flavor_id}" needs nothing of a host, so that there is nothing to '
                'lease.'))
        return json.dumps(flavor, sort_keys=True)


def _sizes_and_specs(reservation):
    flavor = json.loads(reservation.request['resource_properties'])
    return {name: flavor[name] for name in _SIZES}, flavor['extra_specs']


def _units(flavor):
    """{class of Placement: what a server of this flavor takes}, as Nova works it out."""
    specs = flavor['extra_specs']
    policy = specs.get('hw:cpu_policy')
    if policy == 'mixed':
        raise errors.BadField(field='flavor_id', reason=(
            f'flavor "{flavor["id"]}" mixes dedicated and shared CPUs (hw:cpu_policy=mixed) and '
            'cannot be leased.'))
    units = {
        'PCPU' if policy == 'dedicated' else 'VCPU': flavor['vcpus'],
        'MEMORY_MB': flavor['ram'],
        'DISK_GB': flavor['disk'] + flavor['ephemeral'] + math.ceil(flavor['swap'] / _MB),
    }
    for key, text in specs.items():
        if key.startswith(_RESOURCE):
            if not text.isdecimal():
                raise errors.BadField(field='flavor_id', reason=(
                    f'its extra spec {key}={text} is not a whole number.'))
            units[key.removeprefix(_RESOURCE)] = int(text)
    return units
