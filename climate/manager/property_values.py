# SPDX-License-Identifier: Apache-2.0
"""The values of a resource that criteria compare."""


def compared(pool, region, resource_name, capacity, stored):
    """Return {name: value} of a resource of a Pool.

    :param stored: {name: text} of its properties and facts.
    """
    values = {'region': region, **stored, pool.name_fact: resource_name}
    for name, unit in pool.capacity_names.items():
        values[name] = capacity.get(unit, 0)
    if 'traits' in values:
        values['traits'] = frozenset(values['traits'].split())
    return values
