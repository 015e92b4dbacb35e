# SPDX-License-Identifier: Apache-2.0
"""Room for instances of given sizes, the first form of virtual:instance."""
from climate.domain import requirement
from climate.plugins import base
from climate.plugins import criteria
from climate.plugins import room
from climate.plugins import room_audit

#: JSON schemas of the fields of a request.
PROPERTIES = {
    'vcpus': {'description': 'Of one instance.', 'type': 'integer', 'minimum': 1,
              'maximum': 1000000},
    'memory_mb': {'description': 'Of one instance.', 'type': 'integer', 'minimum': 1,
                  'maximum': 1000000000},
    'disk_gb': {'description': 'Of one instance.', 'type': 'integer', 'minimum': 0,
                'maximum': 1000000000},
    'amount': room.AMOUNT,
    'affinity': room.AFFINITY,
    'resource_properties': criteria.SCHEMA,
}
_KEPT_WHILE_IT_RUNS = ('vcpus', 'memory_mb', 'disk_gb', 'affinity', 'resource_properties')


class SizedRoom(base.ResourcePlugin):
    resource_type = 'virtual:instance'

    def resolve(self, cloud, request, occasion):
        found = {'affinity': None, **request,
                 'resource_properties': criteria.as_text(request.get('resource_properties'))}
        requirement.parse(found['resource_properties'])
        room.refuse_while_it_runs(occasion.before, found, _KEPT_WHILE_IT_RUNS)
        return found

    def needs(self, request):
        units = {'VCPU': request['vcpus'], 'MEMORY_MB': request['memory_mb'],
                 'DISK_GB': request['disk_gb']}
        return [room.need(request, units, requirement.parse(request['resource_properties']))]

    def start(self, cloud, lease, reservation, resources):
        return room.start(self.conf, cloud, lease, reservation, resources,
                          _sizes(reservation), {})

    def end(self, cloud, lease, reservation, resources):
        room.end(cloud, lease, reservation)

    def traces(self, picture):
        return room_audit.traces(self.conf, picture, self.resource_type)

    def lacks(self, picture, lease, reservation, resources):
        return room_audit.lacks(self.conf, picture, lease, reservation, resources)

    def complete(self, cloud, lease, reservation, resources):
        return room.complete(self.conf, cloud, lease, reservation, resources,
                             _sizes(reservation), {})

    def clear(self, cloud, made_for, resources):
        room.clear(cloud, made_for)

    @classmethod
    def fields(cls, reservation):
        return room.fields(reservation)


def _sizes(reservation):
    request = reservation.request
    return {'vcpus': request['vcpus'], 'ram': request['memory_mb'], 'disk': request['disk_gb'],
            'ephemeral': 0, 'swap': 0}
