# SPDX-License-Identifier: Apache-2.0
"""The policy of resources; each pool has its own rules."""
import dataclasses

from oslo_policy import policy

from climate.policies import base


@dataclasses.dataclass(frozen=True)
class Rules:
    """The names of the rules of one pool."""

    get: str
    create: str
    update: str
    delete: str
    get_properties: str
    update_properties: str
    get_allocations: str
    get_calendar: str


def of_pool(name):
    """Return the Rules of a pool."""
    return Rules(**{field.name: f'climate:resources:{name}:{field.name}'
                    for field in dataclasses.fields(Rules)})


def list_rules(pools):
    """Return the rules of some pools with their defaults.

    :param pools: the names of the pools.
    """
    return [rule for name in sorted(pools) for rule in _rules(name)]


def _rules(name):
    rules = of_pool(name)
    many, one = f'/v1/resources/{name}', f'/v1/resources/{name}/{{id}}'
    table = (
        (rules.get, f'List the resources of the pool "{name}", and show a resource.',
         (('GET', many), ('GET', one))),
        (rules.create, f'Enrol a resource in the pool "{name}".', (('POST', many),)),
        (rules.update, f'Change a resource of the pool "{name}".', (('PUT', one),)),
        (rules.delete, f'Withdraw a resource from the pool "{name}".', (('DELETE', one),)),
        (rules.get_properties,
         f'List the public properties of the pool "{name}", with their values.',
         (('GET', f'{many}/properties'),)),
        (rules.update_properties, f'Make a property of the pool "{name}" private or public.',
         (('PATCH', f'{many}/properties/{{name}}'),)),
        (rules.get_allocations, f'List the allocations of the pool "{name}".',
         (('GET', f'{many}/allocations'), ('GET', f'{one}/allocation'))),
        (rules.get_calendar, f'See how many resources of the pool "{name}" are free, and when, '
         'without names and leases.', (('GET', f'{many}/calendar'),)),
    )
    # All may know which properties criteria can use; private ones are left out of the list.
    return [policy.DocumentedRuleDefault(
        rule, base.READER_OR_ADMIN if rule == rules.get_properties else base.ADMIN, what,
        [{'path': path, 'method': method} for method, path in operations],
        scope_types=['project']) for rule, what, operations in table]
