# SPDX-License-Identifier: Apache-2.0
"""flavor:instance, room for instances of a flavor, booted with the reservation's copy of it."""
import json

from climate.domain import extra_specs
from climate.plugins import footprint
from climate.plugins import pools
from climate.plugins import room
from climate.plugins import room_plugin


class FlavorPlugin(room_plugin.RoomPlugin):
    resource_type = 'flavor:instance'
    pools = (pools.HostPool,)
    schema = {
        'type': 'object',
        'properties': {
            'flavor_id': {'description': 'The id of a flavor that the project may use.',
                          **footprint.FLAVOR_ID},
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
        return super().lenient(room.lenient(footprint.lenient(request)))

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
        return [room.need(request, footprint.units(flavor),
                          extra_specs.from_extra_specs(footprint.traits(flavor)))]

    @classmethod
    def fields(cls, reservation):
        flavor = json.loads(reservation.request['resource_properties'])
        return {**footprint.sizes(flavor), **room.fields(reservation)}

    def sizes_and_specs(self, reservation):
        flavor = json.loads(reservation.request['resource_properties'])
        return {name: flavor[name] for name in footprint.SIZES}, flavor['extra_specs']

    @staticmethod
    def _read(cloud, flavor_id, project_id):
        """The flavor as JSON text."""
        flavor = footprint.as_dict(footprint.find(cloud, flavor_id, project_id))
        # Refuses here what cannot be leased.
        footprint.units(flavor)
        return json.dumps(flavor, sort_keys=True)
