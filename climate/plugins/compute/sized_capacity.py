# SPDX-License-Identifier: Apache-2.0
"""Capacity for instances of given sizes, one form of virtual:instance."""
from climate import errors
from climate.domain import extra_specs
from climate.domain import requirement
from climate.plugins import request_fields
from climate.plugins.compute import capacity
from climate.plugins.compute import capacity_plugin
from climate.plugins.compute import requirements

#: JSON schemas of the fields of a request.
PROPERTIES = {
    'vcpus': {'description': 'The VCPUs of one instance.', 'type': 'integer', 'minimum': 1,
              'maximum': 1000000},
    'memory_mb': {'description': 'The memory of one instance.', 'type': 'integer', 'minimum': 1,
                  'maximum': 1000000000},
    'disk_gb': {'description': 'The disk of one instance.', 'type': 'integer', 'minimum': 0,
                'maximum': 1000000000},
    'ephemeral_gb': {'description': 'The ephemeral disk of one instance, in addition to disk_gb.',
                     'type': ['integer', 'null'], 'minimum': 0, 'maximum': 1000000000},
    'extra_specs': {
        'description': 'Extra specs of the flavor of the reservation: traits, further resource '
                       'classes, and the CPU and memory settings of an instance.',
        'type': ['object', 'null'], 'maxProperties': 100,
        'propertyNames': {'maxLength': 255, 'pattern': '^[A-Za-z0-9_. :-]+$'},
        'additionalProperties': {'type': 'string', 'maxLength': 255}},
    'amount': capacity.AMOUNT,
    'affinity': capacity.AFFINITY,
    'resource_properties': request_fields.CRITERIA,
}
_KEPT_WHILE_IT_RUNS = ('vcpus', 'memory_mb', 'disk_gb', 'ephemeral_gb', 'extra_specs', 'affinity',
                       'resource_properties')
# Members may choose extra specs with these scopes, except for the uncounted prefixes. All other
# extra specs give an instance rights or devices that Climate cannot count.
_SCOPES = ('trait', 'resources', 'hw', 'os', 'hw_rng', 'hw_video')
_UNCOUNTED = ('hw:pci', 'hw:mem_encryption', 'hw:emulator_threads_policy', 'hw:locked_memory')
_SIZED = frozenset({'VCPU', 'PCPU', 'MEMORY_MB', 'DISK_GB'})


class SizedCapacity(capacity_plugin.CapacityPlugin):
    resource_type = 'virtual:instance'

    def resolve(self, cloud, request, occasion):
        resolved = {'affinity': None, **request,
                    'resource_properties': request_fields.criteria_text(
                        request.get('resource_properties'))}
        requirement.parse(resolved['resource_properties'])
        for name in ('ephemeral_gb', 'extra_specs'):
            if not resolved.get(name):
                resolved.pop(name, None)
        _refuse_specs(resolved.get('extra_specs', {}))
        requirements.refuse_uncountable(_flavor(resolved), 'extra_specs')
        request_fields.refuse_while_it_runs(occasion.before, resolved, _KEPT_WHILE_IT_RUNS)
        return resolved

    def needs(self, request):
        flavor = _flavor(request)
        criteria = requirement.conjunction(
            requirement.parse(request['resource_properties']),
            extra_specs.from_extra_specs(requirements.traits(flavor)))
        return [capacity.need(request, requirements.units(flavor), criteria,
                              f'server with {requirements.described(request)}')]

    def lacks(self, observed, lease, reservation, resources):
        return super().lacks(observed.capacity, lease, reservation, resources)

    def sizes_and_specs(self, reservation):
        return requirements.sizes_and_specs(_flavor(reservation.request))


def _flavor(request):
    """Return the flavor of a reservation, in the format of ``requirements.as_dict``."""
    return {'id': None, 'name': 'of the reservation', 'vcpus': request['vcpus'],
            'ram': request['memory_mb'], 'disk': request['disk_gb'],
            'ephemeral': request.get('ephemeral_gb', 0), 'swap': 0,
            'extra_specs': dict(request.get('extra_specs', {}))}


def _refuse_specs(specs):
    """Refuse extra specs that would give an instance more than Climate counts.

    :raises BadField: the error names the extra spec.
    """
    for key, text in sorted(specs.items()):
        scope, _, name = key.partition(':')
        if scope not in _SCOPES or key.startswith(_UNCOUNTED):
            raise errors.BadField(field='extra_specs', reason=(
                f'"{key}" cannot be leased; leave it out, or ask your operator for a flavor with '
                'it, and lease the flavor (flavor:instance).'))
        if scope == 'resources' and (name in _SIZED or name.startswith('CUSTOM_RESERVATION_')):
            raise errors.BadField(field='extra_specs', reason=(
                f'"{key}" would change how Climate counts an instance: leave it out, and send '
                'vcpus, memory_mb, disk_gb and ephemeral_gb.'))
        if scope == 'trait' and text not in ('required', 'forbidden'):
            raise errors.BadField(field='extra_specs', reason=(
                f'"{key}" is "{text}": write "required" or "forbidden".'))
