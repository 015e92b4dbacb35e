# SPDX-License-Identifier: Apache-2.0
"""The hint ``reservation`` and the other facts of a request that the scheduler filter reads."""
import math

from climate.nova import host_rules

#: The hint that names existing reservations.
RESERVATION = 'reservation'
_MB = 1024
_RESOURCE = 'resources:'


def read(spec_obj):
    """Return the PlacementRequest of a RequestSpec of Nova's scheduler."""
    hinted = ids(spec_obj.get_scheduler_hint(RESERVATION))
    of_flavor = _of_flavor(spec_obj.flavor)
    server = {'server_id': _set(spec_obj, 'instance_uuid'), 'exists': _exists(spec_obj),
              'size': size_of(spec_obj.flavor)}
    if hinted is None:
        return host_rules.PlacementRequest(
            of_flavor, spec_obj.project_id, of_flavor is not None, **server)
    return host_rules.PlacementRequest(
        hinted, spec_obj.project_id, of_flavor=tuple(of_flavor or ()), **server)


def demands_host(spec_obj):
    """Return whether the request demands one host, such as an unshelve or migration to a host."""
    return _of_destination(spec_obj, 'host') is not None


def ids(value):
    """Return the ids of reservations that a hint names, as a list; None: no hint."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [str(item) for item in value]
    return [str(value)]


def size_of(flavor):
    """Return the resources of a server, {resource class: units}, as Nova requests them.

    :param flavor: Nova's Flavor object of the server, or the new Flavor of a resize.
    :returns: None if some fields of the flavor are not loaded.
    """
    names = ('vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb', 'swap')
    if not flavor or not all(flavor.obj_attr_is_set(name) for name in names):
        return None
    specs = _set(flavor, 'extra_specs') or {}
    processor = 'PCPU' if specs.get('hw:cpu_policy') == 'dedicated' else 'VCPU'
    return {
        processor: flavor.vcpus, 'MEMORY_MB': flavor.memory_mb,
        'DISK_GB': flavor.root_gb + flavor.ephemeral_gb + math.ceil(flavor.swap / _MB),
        **{key.removeprefix(_RESOURCE): int(text) for key, text in specs.items()
           if key.startswith(_RESOURCE) and text.isdecimal()}}


def _of_flavor(flavor):
    if not flavor:
        return None
    return ids((_set(flavor, 'extra_specs') or {}).get(host_rules.FLAVOR_KEY))


def _exists(spec_obj):
    """Return whether the server is moved or unshelved. Only such a request has a cell."""
    return _of_destination(spec_obj, 'cell') is not None


def _of_destination(spec_obj, name):
    destination = _set(spec_obj, 'requested_destination')
    return None if destination is None else _set(destination, name)


def _set(nova_object, name):
    """Return a field of a Nova object, or None if it is not set."""
    return getattr(nova_object, name) if nova_object.obj_attr_is_set(name) else None
