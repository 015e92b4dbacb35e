# SPDX-License-Identifier: Apache-2.0
"""Conversion of reservations in bodies of REST 1.0 into the form of REST 1.1.

Clients of REST 1.0 send numbers and booleans as text, unknown fields, and every field of an
earlier response. All tolerance for that is here; the manager and the plugins get what a client of
REST 1.1 would send.
"""
import re

from climate import errors
from climate.plugins.compute.servers import parsing

_WHOLE_NUMBER = re.compile(r'\s*-?\d{1,18}\s*')
_WORDS = {'': None, 'none': None, 'null': None, 'true': True, 'yes': True, 'on': True,
          '1': True, 'false': False, 'no': False, 'off': False, '0': False}
# The only type with two forms; its responses have the fields of both.
_TWO_FORMS = 'virtual:instance'
# Fields of flavors, and of variants of REST 1.0, by which a client asks for other instances than
# the type gives. All other unknown fields are dropped.
_OF_INSTANCES = frozenset({
    'ephemeral_gb', 'extra_specs', 'swap', 'swap_gb', 'swap_mb', 'root_gb', 'pcpus', 'vgpus',
    'traits', 'availability_zone'})
_INSTANCES = ('virtual:instance', 'flavor:instance')


def request(plugin, sent):
    """Convert the request of a new reservation: drop unknown keys, make "2" 2 and "None" null.

    :param plugin: the plugin class of the type; None if the type is not enabled.
    :raises BadField: an unknown key asks for more than the type gives.
    """
    if plugin is None:
        return sent
    if plugin.resource_type == _TWO_FORMS:
        sent = _one_form(sent)
    known = plugin.schema['properties']
    for name in sorted(_OF_INSTANCES - known.keys()):
        if plugin.resource_type in _INSTANCES and sent.get(name) not in (None, '', 0, '0', {}, []):
            raise errors.BadField(field=f'reservations.{name}', reason=(
                f'{plugin.resource_type} does not have it, so that you would get less than you ask '
                'for: leave it out.'))
    return {name: _as_wanted(name, value, known[name]) for name, value in sent.items()
            if name in known}


def changes(plugin, reservation, sent):
    """Convert the changes of a stored Reservation.

    A null does not change a field that the stored request has: clients send it back from a
    response.

    :param plugin: the plugin class of the type; None if the type is not enabled.
    """
    if plugin is None:
        return sent
    meant = {name: value for name, value in sent.items()
             if value is not None or name not in reservation.request}
    whole = request(plugin, {**plugin.asked(reservation.request), **meant})
    return {name: whole[name] for name in meant if name in whole}


def _one_form(sent):
    """Select the fields of one form of virtual:instance; only reserved capacity has an amount."""
    other = parsing.SIZED_FIELDS
    if 'resource_id' not in sent or sent.get('amount') is not None:
        other = parsing.FIELDS
    elif sent['resource_id'] is not None:
        other = (*parsing.SIZED_FIELDS, 'flavor_id')
    return {name: value for name, value in sent.items() if name not in other}


def _as_wanted(name, value, schema):
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
    # Existing command line clients send every value that looks like a number as a number.
    if type(value) is int and name.endswith('_id') and 'string' in kinds:
        return str(value)
    return value
