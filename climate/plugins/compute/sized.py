# SPDX-License-Identifier: Apache-2.0
"""Capacity for instances of given sizes, the first form of virtual:instance."""
from climate.domain import requirement
from climate.plugins import criteria
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_plugin
from climate.plugins.compute import requirements

#: JSON schemas of the fields of a request.
PROPERTIES = {
    'vcpus': {'description': 'Of one instance.', 'type': 'integer', 'minimum': 1,
              'maximum': 1000000},
    'memory_mb': {'description': 'Of one instance.', 'type': 'integer', 'minimum': 1,
                  'maximum': 1000000000},
    'disk_gb': {'description': 'Of one instance.', 'type': 'integer', 'minimum': 0,
                'maximum': 1000000000},
    'amount': capacity.AMOUNT,
    'affinity': capacity.AFFINITY,
    'resource_properties': criteria.SCHEMA,
}
_KEPT_WHILE_IT_RUNS = ('vcpus', 'memory_mb', 'disk_gb', 'affinity', 'resource_properties')


class SizedCapacity(capacity_plugin.CapacityPlugin):
    resource_type = 'virtual:instance'

    def resolve(self, cloud, request, occasion):
        found = {'affinity': None, **request,
                 'resource_properties': criteria.as_text(request.get('resource_properties'))}
        requirement.parse(found['resource_properties'])
        capacity.refuse_while_it_runs(occasion.before, found, _KEPT_WHILE_IT_RUNS)
        return found

    def needs(self, request):
        units = {'VCPU': request['vcpus'], 'MEMORY_MB': request['memory_mb'],
                 'DISK_GB': request['disk_gb']}
        return [capacity.need(request, units, requirement.parse(request['resource_properties']),
                              f'server with {requirements.described(request)}')]

    @classmethod
    def fields(cls, reservation):
        return capacity.fields(reservation)

    def sizes_and_specs(self, reservation):
        request = reservation.request
        return {'vcpus': request['vcpus'], 'ram': request['memory_mb'],
                'disk': request['disk_gb'], 'ephemeral': 0, 'swap': 0}, {}
