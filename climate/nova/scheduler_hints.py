# SPDX-License-Identifier: Apache-2.0
"""The hint ``reservation`` as the scheduler filter reads it, and what else a request tells it."""
from climate.nova import rules
from climate.nova import sizes

#: The hint that names existing reservations.
RESERVATION = 'reservation'


def read(spec_obj):
    """Return the rules.Request that a request of Nova's scheduler, a RequestSpec, stands for."""
    hinted = ids(spec_obj.get_scheduler_hint(RESERVATION))
    of_flavor = _of_flavor(spec_obj.flavor)
    server = {'server_id': _set(spec_obj, 'instance_uuid'), 'exists': _exists(spec_obj),
              'size': sizes.of(spec_obj.flavor)}
    if hinted is None:
        return rules.Request(of_flavor, spec_obj.project_id, of_flavor is not None, **server)
    return rules.Request(hinted, spec_obj.project_id, of_flavor=tuple(of_flavor or ()), **server)


def demands_host(spec_obj):
    """Return whether the request demands one host, as an unshelve or migration to it does."""
    return _of_destination(spec_obj, 'host') is not None


def ids(value):
    """Return the ids of reservations that a hint names, as a list; None: no hint."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [str(each) for each in value]
    return [str(value)]


def _of_flavor(flavor):
    if not flavor:
        return None
    return ids((_set(flavor, 'extra_specs') or {}).get(rules.FLAVOR_KEY))


def _exists(spec_obj):
    """Return whether the server is moved or unshelved: only then the request has its cell."""
    return _of_destination(spec_obj, 'cell') is not None


def _of_destination(spec_obj, name):
    destination = _set(spec_obj, 'requested_destination')
    return None if destination is None else _set(destination, name)


def _set(thing, name):
    """Return a field of a Nova object, or None if it is not set."""
    return getattr(thing, name) if thing.obj_attr_is_set(name) else None
