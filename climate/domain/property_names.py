# SPDX-License-Identifier: Apache-2.0
"""The rules for the names of the properties that operators give to resources."""
from collections.abc import Iterable
from typing import Any
import unicodedata

from climate import errors
from climate.domain import requirement

_LONGEST_NAME = 64
# The fields of every resource in API responses. No property may have one of these names.
_OWN_NAMES = ('id', 'name', 'region', 'reservable', 'status', 'trust_id', 'created_at',
              'updated_at', 'health', 'maintenances', 'out_of_order', 'power_state', 'power_since')


def check(pool: Any, properties: Iterable[str]) -> None:
    """Refuse names that no property of a Pool may have.

    :param pool: the Pool.
    :param properties: the names of properties to set or to remove.
    :raises BadField: a name is reserved, or is not readable; the error names it.
    :raises PropertyNameTooLong: a name is too long.
    """
    reserved = {*pool.own_names(), *_OWN_NAMES, *requirement.ALIASES}
    for name in properties:
        if len(name) > _LONGEST_NAME:
            raise errors.PropertyNameTooLong(name=name[:80], length=len(name))
        if name in reserved or name.startswith(('capabilities:', 'trait:',
                                                *pool.fact_prefixes)):
            raise errors.BadField(field=name, reason=(
                f'each {pool.name} has a value of this name already; choose another property '
                'name.'))
        if not name or not name.isprintable() or any(character.isspace() for character in name):
            raise errors.BadField(field=name or 'properties', reason=(
                'a property name has one or more printable characters and no spaces.'))
        if not unicodedata.is_normalized('NFC', name):
            raise errors.BadField(field=name, reason=(
                'a property name must have the composed form of Unicode (NFC), so that no two '
                f'names look the same. Write it as "{unicodedata.normalize("NFC", name)}".'))
