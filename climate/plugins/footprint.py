# SPDX-License-Identifier: Apache-2.0
"""What a server of a flavor takes of its host, and what the host must be like."""
import math
import re

from climate import errors

#: Schema of the id of a flavor.
FLAVOR_ID = {'type': 'string', 'minLength': 1, 'maxLength': 255,
             'pattern': '^[A-Za-z0-9_. -]*[A-Za-z0-9_-]$'}
#: What Nova says of the size of a flavor.
SIZES = ('vcpus', 'ram', 'disk', 'ephemeral', 'swap')

_MB = 1024
_RESOURCE = 'resources:'
_TRAIT = 'trait:'
# Of groups of their own in Placement; the accounts know one group for an instance.
_GRANULAR = re.compile(r'(resources|trait)[^:]+:')


def lenient(request):
    """A request of REST 1.0 with the id of its flavor as the schema wants it: 2 made "2"."""
    # The command line of existing clients sends whatever looks like a number as one.
    if type(request.get('flavor_id')) is int:
        return {**request, 'flavor_id': str(request['flavor_id'])}
    return request


def find(cloud, flavor_id, project_id):
    """The Flavor of that id.

    :raises BadField: there is none that the project may use.
    """
    found = cloud.as_service().flavors.flavor(flavor_id, project_id)
    if found is None:
        raise errors.BadField(field='flavor_id', reason=(
            f'there is no flavor "{flavor_id}" that this project may use; '
            '"openstack flavor list" has the ids.'))
    return found


def as_dict(flavor):
    """A Flavor as a dict that can be stored."""
    return {'id': flavor.id, 'name': flavor.name, 'extra_specs': dict(flavor.extra_specs),
            **{name: getattr(flavor, name) for name in SIZES}}


def sizes(flavor):
    """The size of a flavor, a dict as `as_dict` makes it, as reservations show it."""
    return {'vcpus': flavor['vcpus'], 'memory_mb': flavor['ram'],
            'disk_gb': flavor['disk'] + flavor['ephemeral']}


def units(flavor, field='flavor_id'):
    """{class of Placement: what a server of this flavor takes}, as Nova works it out.

    :param flavor: a dict as `as_dict` makes it.
    :param field: what an error names as its field.
    :raises BadField: the accounts have no words for what it needs.
    """
    specs = flavor['extra_specs']
    name = flavor['id'] or flavor['name']
    _refuse_granular(name, specs, field)
    policy = specs.get('hw:cpu_policy')
    if policy == 'mixed':
        raise errors.BadField(field=field, reason=(
            f'flavor "{name}" mixes dedicated and shared CPUs (hw:cpu_policy=mixed) and '
            'cannot be leased.'))
    found = {
        'PCPU' if policy == 'dedicated' else 'VCPU': flavor['vcpus'],
        'MEMORY_MB': flavor['ram'],
        'DISK_GB': flavor['disk'] + flavor['ephemeral'] + math.ceil(flavor['swap'] / _MB),
    }
    for key, text in specs.items():
        if key.startswith(_RESOURCE):
            if not text.isdecimal():
                raise errors.BadField(field=field, reason=(
                    f'its extra spec {key}={text} is not a whole number.'))
            found[key.removeprefix(_RESOURCE)] = int(text)
    if not any(found.values()):
        raise errors.BadField(field=field, reason=(
            f'flavor "{name}" needs nothing of a host, so that there is nothing to lease.'))
    return found


def traits(flavor):
    """Those of the extra specs of a flavor, a dict, that speak of traits."""
    return {key: value for key, value in flavor['extra_specs'].items()
            if key.startswith(_TRAIT)}


def _refuse_granular(name, specs, field):
    for key in specs:
        if _GRANULAR.match(key):
            raise errors.BadField(field=field, reason=(
                f'flavor "{name}" has the extra spec {key}; a flavor whose resources or '
                'traits are in numbered groups cannot be leased.'))
