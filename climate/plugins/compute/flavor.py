# SPDX-License-Identifier: Apache-2.0
"""The plugin flavor:instance: capacity for instances, booted with the reservation's flavor."""
import contextlib
import json

from climate import errors
from climate.domain import extra_specs
from climate.plugins import request_fields
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_plugin
from climate.plugins.compute import host_pool
from climate.plugins.compute import requirements
from climate.plugins.compute import use


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
                'description': 'In responses, the flavor as it was when the lease was created. In '
                               'requests it is ignored.', 'type': ['string', 'null']},
        },
        'required': ['flavor_id', 'amount'],
        'additionalProperties': False,
    }
    example = {'flavor_id': '2', 'amount': 2, 'affinity': False}

    def resolve(self, cloud, request, occasion):
        before = occasion.before
        resolved = {'affinity': None, **request}
        if before is not None and resolved['flavor_id'] in self._names_of_flavor(before):
            # The leased sizes stay as they are, even if an administrator changes the flavor.
            resolved['flavor_id'] = before.request['flavor_id']
            resolved['resource_properties'] = before.request['resource_properties']
        else:
            flavor = requirements.leasable(cloud, resolved['flavor_id'], occasion.project_id)
            resolved['flavor_id'] = flavor['id']
            resolved['resource_properties'] = json.dumps(flavor, sort_keys=True)
        request_fields.refuse_while_it_runs(before, resolved, ('flavor_id', 'affinity'))
        return resolved

    def kinds(self, services):
        kinds = {}
        for flavor in map(requirements.as_dict, services.flavors.usable()):
            if use.FLAVOR_KEY in flavor['extra_specs']:
                # It belongs to a reservation.
                continue
            with contextlib.suppress(errors.BadField):
                requirements.refuse_uncountable(flavor)
                kinds[flavor['id']] = {
                    'flavor_id': flavor['id'], 'amount': 1, 'affinity': None,
                    'resource_properties': json.dumps(flavor, sort_keys=True)}
        return kinds

    def needs(self, request):
        flavor = json.loads(request['resource_properties'])
        return [capacity.need(request, requirements.units(flavor),
                              extra_specs.from_extra_specs(requirements.traits(flavor)),
                              f'server of flavor {flavor["name"]}')]

    @classmethod
    def fields(cls, reservation):
        flavor = json.loads(reservation.request['resource_properties'])
        return {**requirements.sizes(flavor), **super().fields(reservation)}

    def sizes_and_specs(self, reservation):
        return requirements.sizes_and_specs(
            json.loads(reservation.request['resource_properties']))

    @staticmethod
    def _names_of_flavor(reservation):
        """Return the texts by which a client may name the flavor of a stored reservation."""
        flavor = json.loads(reservation.request['resource_properties'])
        return reservation.id, reservation.request['flavor_id'], flavor['name']
