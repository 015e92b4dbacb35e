# SPDX-License-Identifier: Apache-2.0
"""flavor:instance, capacity for instances of a flavor, booted with the reservation's copy of it."""
import json

from climate.domain import extra_specs
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_plugin
from climate.plugins.compute import host_pool
from climate.plugins.compute import requirements


class FlavorPlugin(capacity_plugin.CapacityPlugin):
    resource_type = 'flavor:instance'
    pools = (host_pool.HostPool,)
    services = ('nova', 'placement')
    schema = {
        'type': 'object',
        'properties': {
            'flavor_id': {'description': 'The id or the name of a flavor that the project may use.',
                          **requirements.FLAVOR_ID},
            'amount': capacity.AMOUNT,
            'affinity': capacity.AFFINITY,
            'resource_properties': {
                'description': 'In answers, the flavor as it was when it was leased. In requests '
                               'it is passed over.', 'type': ['string', 'null']},
        },
        'required': ['flavor_id', 'amount'],
        'additionalProperties': False,
    }
    example = {'flavor_id': '2', 'amount': 2, 'affinity': False}

    def resolve(self, cloud, request, occasion):
        before = occasion.before
        found = {'affinity': None, **request}
        if before is not None and found['flavor_id'] in self._words_for(before):
            # The leased sizes stay as they are, even if an administrator changes the flavor.
            found['flavor_id'] = before.request['flavor_id']
            found['resource_properties'] = before.request['resource_properties']
        else:
            flavor = self._read(cloud, found['flavor_id'], occasion.project_id)
            found['flavor_id'] = flavor['id']
            found['resource_properties'] = json.dumps(flavor, sort_keys=True)
        capacity.refuse_while_it_runs(before, found, ('flavor_id', 'affinity'))
        return found

    def needs(self, request):
        flavor = json.loads(request['resource_properties'])
        return [capacity.need(request, requirements.units(flavor),
                              extra_specs.from_extra_specs(requirements.traits(flavor)),
                              f'server of flavor {flavor["name"]}')]

    @classmethod
    def fields(cls, reservation):
        flavor = json.loads(reservation.request['resource_properties'])
        return {**requirements.sizes(flavor), **capacity.fields(reservation)}

    def sizes_and_specs(self, reservation):
        flavor = json.loads(reservation.request['resource_properties'])
        return {name: flavor[name] for name in requirements.SIZES}, flavor['extra_specs']

    @staticmethod
    def _words_for(reservation):
        """Return the words by which a client may name the flavor of a stored reservation."""
        flavor = json.loads(reservation.request['resource_properties'])
        return reservation.id, reservation.request['flavor_id'], flavor['name']

    @staticmethod
    def _read(cloud, flavor_id, project_id):
        """Read a flavor from the cloud, by id or name; returns a dict.

        :raises BadField: the project may not use it, or it cannot be leased.
        """
        flavor = requirements.as_dict(requirements.find(cloud, flavor_id, project_id))
        # Called only for its errors: it refuses a flavor that cannot be leased.
        requirements.refuse_uncountable(flavor)
        return flavor
