# SPDX-License-Identifier: Apache-2.0
"""The requirements of a flavor: traits, and the units of each resource class."""
import collections
import math
import re

from climate import errors

#: JSON schema of the id or the name of a flavor.
FLAVOR_ID = {'type': 'string', 'minLength': 1, 'maxLength': 255}
#: The fields of a Flavor with its sizes.
SIZES = ('vcpus', 'ram', 'disk', 'ephemeral', 'swap')

_MB = 1024
# A description names at most this many extra specs.
_NAMED_SPECS = 3
# The ids that Nova accepts, without those that would be another path of its API, such as "..".
_ID = re.compile('[A-Za-z0-9_. -]*[A-Za-z0-9_-]', re.ASCII)
_RESOURCE = 'resources:'
_TRAIT = 'trait:'
# {extra spec that gives a server devices of its host: whether its value has numbers of devices}.
_DEVICES = {'pci_passthrough:alias': True, 'accel:device_profile': False}
# The prefixes of extra specs that request units of devices in Placement.
_COUNTING = ('resources:CUSTOM_', 'resources:PGPU', 'resources:VGPU')
_TRUE = ('1', 't', 'true', 'on', 'y', 'yes')
_NO_LETTER = re.compile('[^0-9A-Za-z_]+')
# Extra specs of numbered request groups in Placement, which Climate does not support.
_GRANULAR = re.compile(r'(resources|trait)[^:]+:')


def find(cloud, flavor_id, project_id):
    """Return the Flavor of that id, or else of that name.

    :raises BadField: there is no such flavor that the project may use, or several have that name.
    """
    flavors = cloud.as_service().flavors
    if _ID.fullmatch(flavor_id):
        flavor = flavors.flavor(flavor_id, project_id)
        if flavor is not None:
            return flavor
    named = [flavor for each in flavors.every() if each.name == flavor_id
             and (flavor := flavors.flavor(each.id, project_id)) is not None]
    if len(named) > 1:
        raise errors.BadField(field='flavor_id', reason=(
            f'several flavors are called "{flavor_id}": give the id of one, '
            f'{" or ".join(sorted(each.id for each in named))}.'))
    if not named:
        raise errors.BadField(field='flavor_id', reason=(
            f'there is no flavor "{flavor_id}" that this project may use; '
            '"openstack flavor list" has the ids and the names.'))
    return named[0]


def leasable(cloud, flavor_id, project_id, field='flavor_id'):
    """Return the flavor of that id or name, as `as_dict`, if it can be leased.

    :param field: the field that an error names.
    :raises BadField: the project may not use it, or it cannot be leased.
    """
    try:
        flavor = as_dict(find(cloud, flavor_id, project_id))
        refuse_uncountable(flavor, field)
    except errors.BadField as error:
        raise errors.BadField(field=field, reason=error.kwargs['reason']) from error
    return flavor


def as_dict(flavor):
    """Return a Flavor as a dict that can be stored."""
    return {'id': flavor.id, 'name': flavor.name, 'extra_specs': dict(flavor.extra_specs),
            **{name: getattr(flavor, name) for name in SIZES}}


def sizes(flavor):
    """Return the sizes of a flavor, a dict from `as_dict`, as reservations show them."""
    return {'vcpus': flavor['vcpus'], 'memory_mb': flavor['ram'],
            'disk_gb': flavor['disk'] + flavor['ephemeral']}


def sizes_and_specs(flavor):
    """Return (sizes, extra specs) of a flavor, a dict from `as_dict`, for a private copy of it."""
    return {name: flavor[name] for name in SIZES}, flavor['extra_specs']


def described(request):
    """Return the sizes of one server, from the fields of a reservation, as words for a user."""
    parts = [f'{request["vcpus"]} VCPU{"s" if request["vcpus"] > 1 else ""}',
             f'{request["memory_mb"]} MB of memory', f'{request["disk_gb"]} GB of disk']
    if request.get('ephemeral_gb'):
        parts.append(f'{request["ephemeral_gb"]} GB of ephemeral disk')
    specs = [f'{key}={value}' for key, value in sorted(request.get('extra_specs', {}).items())]
    parts += specs[:_NAMED_SPECS]
    if len(specs) > _NAMED_SPECS:
        parts.append('other extra specs')
    return f'{", ".join(parts[:-1])} and {parts[-1]}'


def refuse_uncountable(flavor, field='flavor_id'):
    """Refuse a flavor, a dict from `as_dict`, that cannot be leased.

    `units` accepts devices that are not counted, because reservations of older releases may have
    them.

    :param field: the field that an error names.
    :raises BadField: `units` refuses it, or no resource class counts its devices.
    """
    units(flavor, field)
    specs, name = flavor['extra_specs'], flavor['id'] or flavor['name']
    counted = sum(int(text) for key, text in specs.items() if key.startswith(_COUNTING))
    for key in sorted(specs.keys() & _DEVICES.keys()):
        counted -= _devices(specs[key]) if _DEVICES[key] else 1
        if counted < 0:
            raise errors.BadField(field=field, reason=(
                f'flavor "{name}" has devices of a host ({key}={specs[key]}), but no resource '
                'class counts all of them. Choose another flavor, or ask your operator to add '
                'resources:CUSTOM_… to this flavor, and an inventory of that class to the hosts.'))


def units(flavor, field='flavor_id'):
    """Return {resource class of Placement: units of one server}, calculated as Nova does.

    :param flavor: a dict from `as_dict`.
    :param field: the field that an error names.
    :raises BadField: the units cannot be calculated, or they are all 0.
    """
    specs = flavor['extra_specs']
    name = flavor['id'] or flavor['name']
    _refuse_granular(name, specs, field)
    policy = specs.get('hw:cpu_policy')
    if policy == 'mixed':
        raise errors.BadField(field=field, reason=(
            f'flavor "{name}" mixes dedicated and shared CPUs (hw:cpu_policy=mixed) and '
            'cannot be leased; choose another flavor.'))
    amounts = {
        'PCPU' if policy == 'dedicated' else 'VCPU': flavor['vcpus'],
        'MEMORY_MB': flavor['ram'],
        'DISK_GB': flavor['disk'] + flavor['ephemeral'] + math.ceil(flavor['swap'] / _MB),
    }
    if policy == 'dedicated' and specs.get('hw:emulator_threads_policy') == 'isolate':
        # The emulator gets an additional CPU.
        amounts['PCPU'] += 1
    for key, text in specs.items():
        if key.startswith(_RESOURCE):
            if not text.isdecimal():
                raise errors.BadField(field=field, reason=(
                    f'flavor "{name}" has the extra spec {key}={text}, which is not a whole '
                    'number; choose another flavor.'))
            amounts[key.removeprefix(_RESOURCE)] = int(text)
    if specs.get('hw:mem_encryption', '').strip().lower() in _TRUE:
        amounts['MEM_ENCRYPTION_CONTEXT'] = 1
    amounts |= collections.Counter(
        'CUSTOM_PMEM_NAMESPACE_' + _NO_LETTER.sub('_', label.strip()).upper()
        for label in specs.get('hw:pmem', '').split(',') if label.strip())
    if not any(amounts.values()):
        raise errors.BadField(field=field, reason=(
            f'flavor "{name}" needs nothing of a host, so that there is nothing to lease; choose '
            'another flavor.'))
    return amounts


def traits(flavor):
    """Return the extra specs of a flavor, a dict from `as_dict`, that concern traits."""
    return {key: value for key, value in flavor['extra_specs'].items()
            if key.startswith(_TRAIT)}


def _devices(aliases):
    """Return the number of PCI devices that a text such as "gpu:2, nic:1" requests."""
    counts = [alias.rpartition(':')[2].strip() for alias in aliases.split(',')]
    # Count a malformed number as 1, because Nova refuses to boot such a flavor.
    return sum(int(count) if count.isdecimal() else 1 for count in counts)


def _refuse_granular(name, specs, field):
    for key in specs:
        if _GRANULAR.match(key):
            raise errors.BadField(field=field, reason=(
                f'flavor "{name}" has the extra spec {key}; a flavor whose resources or '
                'traits are in numbered groups cannot be leased; choose another flavor.'))
