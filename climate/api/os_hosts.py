# SPDX-License-Identifier: Apache-2.0
"""Serialization of hosts for /v1/os-hosts, the path that clients of REST 1.0 use."""
from climate import errors
from climate import moments
from climate.api import schemas
from climate.api import serializers
from climate.api import times
from climate.api import views
from climate.domain import lease_1_0
from climate.plugins.compute import host_pool
from climate.policies import hosts as rules


class HostSerializer(serializers.ResourceSerializer):
    """Has properties among the fields of a host, in request bodies and in responses."""

    one, many = 'host', 'hosts'
    since_1_1 = False
    create_schemas = schemas.HOST_CREATE
    update_schemas = schemas.HOST_UPDATE

    def __init__(self):
        super().__init__(host_pool.HostPool)
        self.rules = rules.OF_VIEW

    def enrolment(self, data):
        properties = dict(data)
        name = properties.pop('name', '')
        # The schema of REST 1.1 demands the name.
        fields = {} if name else _place_in_nova(properties)
        return name, serializers.as_text(properties), fields

    def changes(self, data):
        properties = {name: value for name, value in data.items() if name != 'out_of_order'}
        reservable = properties.pop('reservable', None)
        return (serializers.as_text(properties),
                None if reservable is None else str(reservable).lower() == 'true')

    def resource(self, resource, lenient):
        view = {**resource.properties, 'id': str(resource.id),
                'hypervisor_hostname': resource.name, **self._pool.shown(resource),
                'reservable': resource.reservable}
        if lenient:
            del view['traits']
            return {**view, 'trust_id': None, 'status': None, **lease_1_0.stamps(resource)}
        return {**view, **serializers.health_of(resource), **serializers.power(resource),
                **views.stamps_1_1(resource)}

    def property(self, prop, lenient):
        # REST 1.0 shows these times in the form that leases have.
        show = moments.exactly if lenient else times.shown
        return {'id': str(prop.id), 'resource_type': 'physical:host',
                'property_name': prop.name, 'private': prop.private,
                'created_at': show(prop.created_at), 'updated_at': show(prop.updated_at)}


def _place_in_nova(properties):
    """Take the id out of `properties` of a host without a name.

    :returns: {'id': the id in Nova, as text}.
    :raises Forbidden: the id is missing; existing clients expect 403.
    """
    if 'id' not in properties:
        raise errors.Forbidden('Name the host: send "name", its hypervisor hostname, or "id".')
    return {'id': str(properties.pop('id'))}
