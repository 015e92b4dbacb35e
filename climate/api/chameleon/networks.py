# SPDX-License-Identifier: Apache-2.0
"""Serialization of segments for /v1/networks."""
import re

from climate import errors
from climate.api import schemas
from climate.api import serializers
from climate.plugins.network import segment_pool

_SEGMENT = {
    'type': 'object',
    'required': ['network_type', 'physical_network', 'segment_id'],
    'properties': {
        'network_type': {'description': 'The type of the segment.', 'enum': [segment_pool.VLAN]},
        'physical_network': {'description': 'The name of the physical network in Neutron.',
                             'type': 'string', 'pattern': r'^[^\s:]{1,64}$'},
        'segment_id': {'description': 'The id of the VLAN; existing clients send it as text.',
                       'type': ['integer', 'string'], 'pattern': '^[0-9]{1,4}$',
                       'minimum': segment_pool.FIRST, 'maximum': segment_pool.LAST},
    },
    'additionalProperties': schemas.PROPERTY_VALUE,
}
# The form of an id. Commands of Chameleon's client accept an id only if it is a UUID.
_UUID = re.compile('00000000-0000-4000-([0-9]{4})-([0-9]{12})')


class NetworkSerializer(serializers.FlatSerializer):
    """Renders a segment as a network; its properties are among the fields."""

    one, many = 'network', 'networks'
    resource_type = 'network'
    create_schemas = (_SEGMENT, _SEGMENT)

    def __init__(self):
        super().__init__(segment_pool.SegmentPool)

    def enrolment(self, data):
        name = segment_pool.text((data['physical_network'], data['network_type'],
                                  int(data['segment_id'])))
        return name, serializers.as_text({
            key: value for key, value in data.items() if key not in _SEGMENT['properties']}), {}

    def number(self, text):
        found = _UUID.fullmatch(text)
        return str(int(found[1] + found[2])) if found else text

    def shown_id(self, number):
        digits = f'{number:016}'
        return f'00000000-0000-4000-{digits[:4]}-{digits[4:]}'

    def renamed(self, error):
        if error.kwargs.get('field') != 'name':
            return error
        return errors.BadField(**{**error.kwargs, 'field': 'physical_network, segment_id'})

    def is_range(self, name, fields):
        return False

    def resource(self, resource, lenient):
        physical, kind, number = segment_pool.parse('name', resource.name)
        return {**resource.properties, 'id': self.shown_id(resource.id), 'network_type': kind,
                'physical_network': physical, 'segment_id': number,
                'reservable': resource.reservable, **self._state(resource, lenient)}
