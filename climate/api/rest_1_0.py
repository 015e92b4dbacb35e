# SPDX-License-Identifier: Apache-2.0
"""Conversion of reservations in bodies of REST 1.0 to the format of REST 1.1.

Clients of REST 1.0 send numbers and booleans as text, unknown fields, and every field of an
earlier response. The manager and the plugins get requests in the format of REST 1.1.
"""
import re

from climate import errors
from climate.plugins.compute.servers import parsing

_WHOLE_NUMBER = re.compile(r'\s*-?\d{1,18}\s*')
_WORDS = {'': None, 'none': None, 'null': None, 'true': True, 'yes': True, 'on': True,
          '1': True, 'false': False, 'no': False, 'off': False, '0': False}
# The only type with two kinds of requests: a leased server, or capacity of a given size. Its
# responses have the fields of both.
_TWO_FORMS = 'virtual:instance'
# Fields that change which resources are requested, or what happens at the end. A type refuses those
# that it does not have. Other unknown fields are dropped.
_REQUESTING = frozenset({
    'min', 'max', 'amount', 'count', 'affinity', 'hypervisor_properties', 'resource_properties',
    'network_properties', 'availability_zone', 'traits', 'network_id', 'required_floatingips',
    'before_end', 'on_end'})
# Fields of flavors, and of variants of REST 1.0, that instance types also refuse.
_OF_INSTANCES = frozenset({
    'ephemeral_gb', 'extra_specs', 'swap', 'swap_gb', 'swap_mb', 'root_gb', 'pcpus', 'vgpus'})
_INSTANCES = ('virtual:instance', 'flavor:instance')
# Fields of later REST versions that change the result, so that they are refused. Other fields of
# later versions, such as labels, are dropped.
_LATER = ('acquire', 'offer')
_LATER_OF_RESERVATIONS = ('depends_on',)
# {type as clients of Chameleon write it: the type of Climate}
_TYPES_OF_CHAMELEON = {'network': 'virtual:network'}
# Texts that mean "no value" for existing clients.
_EMPTY_WORDS = ('', '0', 'none', 'null', 'false', 'default')


def refuse_later(sent):
    """Refuse the body of a new lease with a field that only later versions have.

    :raises BadField: the error names the field.
    """
    later = [(name, sent.get(name)) for name in _LATER]
    later += [(f'reservations.{name}', item.get(name)) for item in sent.get('reservations', ())
              for name in _LATER_OF_RESERVATIONS]
    for name, value in later:
        if not _is_empty(value):
            raise errors.BadField(field=name, reason=(
                'REST 1.0 has no such field, so the lease would differ from your request: send the '
                'header "OpenStack-API-Version: reservation 1.1", or leave the field out.'))


def own_type(resource_type, plugins):
    """Return the type of Climate for a type that a client wrote, such as Chameleon's "network".

    :param plugins: {resource type: plugin class}; an enabled type of that name has precedence.
    """
    if resource_type in plugins:
        return resource_type
    return _TYPES_OF_CHAMELEON.get(resource_type, resource_type)


def shown_type(resource_type):
    """Return the type that clients of REST 1.0 read."""
    return {own: shown for shown, own in _TYPES_OF_CHAMELEON.items()}.get(
        resource_type, resource_type)


def request(plugin, sent):
    """Convert the request of a new reservation: drop unknown keys, make "2" 2 and "None" null.

    :param plugin: the plugin class of the type; None if the type is not enabled.
    :raises BadField: an unknown key requests something that the type does not have.
    """
    if plugin is None:
        return sent
    if plugin.resource_type == _TWO_FORMS:
        sent = _one_form(sent)
    known = plugin.schema['properties']
    asking = _REQUESTING | _OF_INSTANCES if plugin.resource_type in _INSTANCES else _REQUESTING
    for name in sorted(asking - known.keys()):
        if not _is_empty(sent.get(name)):
            raise errors.BadField(field=f'reservations.{name}', reason=(
                f'{plugin.resource_type} has no such field, so the lease would differ from the '
                'request: leave it out.'))
    return {name: _converted(name, value, known[name]) for name, value in sent.items()
            if name in known}


def changes(plugin, reservation, sent):
    """Convert the changes of a stored Reservation.

    Clients send a whole response back. So fields that are only in responses are dropped, and null
    does not change a field of the stored request.

    :param plugin: the plugin class of the type; None if the type is not enabled.
    :raises BadField: see `request`.
    """
    if plugin is None:
        return sent
    only_shown = plugin.shown(reservation).keys() - plugin.schema['properties'].keys()
    meant = {name: value for name, value in sent.items()
             if name not in only_shown and (value is not None or name not in reservation.request)}
    whole = request(plugin, {**plugin.asked(reservation.request), **meant})
    return {name: whole[name] for name in meant if name in whole}


def _is_empty(value):
    """Return whether a value means "no value": null, zero, an empty text or list, or "None"."""
    if isinstance(value, str):
        return value.strip().lower() in _EMPTY_WORDS
    return not value


def _one_form(sent):
    """Select the fields of one kind of virtual:instance; only capacity has an amount."""
    other = parsing.SIZED_FIELDS
    if 'resource_id' not in sent or sent.get('amount') is not None:
        other = parsing.FIELDS
    elif sent['resource_id'] is not None:
        other = (*parsing.SIZED_FIELDS, 'flavor_id')
    return {name: value for name, value in sent.items() if name not in other}


def _converted(name, value, schema):
    kinds = schema.get('type', ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(value, dict) and 'object' in kinds:
        return {key: str(text) if type(text) is int else text for key, text in value.items()}
    if isinstance(value, str):
        word = value.strip().lower()
        if not word and 'null' in kinds and ('integer' in kinds or 'object' in kinds):
            return None
        if 'integer' in kinds and _WHOLE_NUMBER.fullmatch(value):
            return int(value)
        if 'boolean' in kinds and word in _WORDS:
            return _WORDS[word]
    # Existing command line clients send a value that has only digits as a number.
    if type(value) is int and name.endswith('_id') and 'string' in kinds:
        return str(value)
    return value
