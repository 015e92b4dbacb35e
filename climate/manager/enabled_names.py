# SPDX-License-Identifier: Apache-2.0
"""The checks of the names in price books and limit books: types, pools and properties.

A rule with a name that does not exist would never apply, and nobody would notice it.
"""
import difflib

from climate import errors
from climate.db import resource_properties

# The maximum number of names that an error lists.
_MOST_NAMES = 12


def refuse_unknown(registry, field, document):
    """Refuse a `resource_type` or `pool` that is not enabled.

    :param field: the field of the rule, such as "rates.3".
    :raises BadField: the error lists the enabled types or pools.
    """
    for name, enabled in (('resource_type', registry.plugins), ('pool', registry.pools)):
        value = document.get(name)
        if value is not None and value not in enabled:
            raise errors.BadField(field=f'{field}.{name}', reason=(
                f'"{value[:80]}" is not enabled; choose from {", ".join(sorted(enabled))}.'))


def pools_of(registry, field, document):
    """Return the names of the pools that a rule with an enabled type and pool is about.

    :raises BadField: the type has no resources of the pool.
    """
    resource_type, pool = document.get('resource_type'), document.get('pool')
    pools = ({each.name for each in registry.plugins[resource_type].pools}
             if resource_type is not None else set(registry.pools))
    if pool is None:
        return pools
    if pool not in pools:
        raise errors.BadField(field=f'{field}.pool', reason=(
            f'{resource_type} has no resources of "{pool}"; it has resources of '
            f'{", ".join(sorted(pools)) or "no pool"}.'))
    return {pool}


def properties_of(registry, connection):
    """Return {name of a pool: names of the properties and facts of its resources}."""
    return {name: frozenset().union(*resource_properties.names(connection, name))
            for name in registry.pools}


def refuse_unknown_properties(field, wanted, known, rule='rule'):
    """Refuse a rule about a property that no resource has.

    :raises BadField: the error lists similar names.
    """
    known = sorted(known)
    for name in sorted(set(wanted) - set(known)):
        similar = difflib.get_close_matches(name, known, n=5) or known[:_MOST_NAMES]
        raise errors.BadField(field=field, reason=(
            f'no resource has the property "{name[:80]}", so the {rule} would never apply; the '
            f'properties are {", ".join(similar) or "none"}. Set it first.'))
