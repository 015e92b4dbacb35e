# SPDX-License-Identifier: Apache-2.0
"""Serialization of hosts for /v1/os-hosts, the path that clients of REST 1.0 use."""
from climate import errors
from climate.api import schemas
from climate.api import serializers
from climate.plugins.compute import host_pool
from climate.policies import hosts as rules


class HostSerializer(serializers.FlatSerializer):
    """Mixes properties with the other fields of a host, in request bodies and in responses."""

    one, many = 'host', 'hosts'
    resource_type = 'physical:host'
    create_schemas = schemas.HOST_CREATE

    def __init__(self):
        super().__init__(host_pool.HostPool)
        self.rules = rules.OF_VIEW

    def enrolment(self, data):
        properties = dict(data)
        name = properties.pop('name', '')
        # Only REST 1.0 accepts a host without a name.
        fields = {} if name else _place_in_nova(properties)
        return name, serializers.as_text(properties), fields

    def resource(self, resource, lenient):
        view = {**resource.properties, 'id': str(resource.id),
                'hypervisor_hostname': resource.name, **self._pool.shown(resource),
                'reservable': resource.reservable}
        if lenient:
            del view['traits']
            view |= {'trust_id': None, 'status': None}
        return {**view, **self._state(resource, lenient)}


def _place_in_nova(properties):
    """Remove the id of a host without a name from `properties`.

    :returns: {'id': the id in Nova, as text}.
    :raises Forbidden: the id is missing; existing clients expect 403.
    """
    if 'id' not in properties:
        raise errors.Forbidden('Name the host: send "name", its hypervisor hostname, or "id".')
    return {'id': str(properties.pop('id'))}
