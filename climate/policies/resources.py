# SPDX-License-Identifier: Apache-2.0
"""The policy of resources; each pool has its own rules."""
import dataclasses

from climate.policies import base

# {pool: other paths with all requests of the pool, guarded by the same rules}
_OTHER_PLACES = {'segment': ('/v1/networks',)}
# {pool: other routes to its allocations}
_OTHER_ROUTES = {'address': [('GET', '/v1/floatingips/allocations')]}


@dataclasses.dataclass(frozen=True)
class PoolRules:
    """The names of the rules of one pool."""

    get: str
    create: str
    update: str
    delete: str
    get_properties: str
    update_properties: str
    get_allocations: str
    get_calendar: str
    set_power: str


def of_pool(name):
    """Return the PoolRules of a pool."""
    return PoolRules(**{field.name: f'climate:resources:{name}:{field.name}'
                        for field in dataclasses.fields(PoolRules)})


def of_view(path):
    """Return the PoolRules of a path of its own; actions that it lacks are as in `of_pool`."""
    names = {'get': 'get', 'create': 'post', 'delete': 'delete'}
    return dataclasses.replace(of_pool(path), **{
        name: f'climate:{path}:{word}' for name, word in names.items()})


def list_rules(pools, views=()):
    """Return the rules of some pools with their defaults.

    :param pools: the names of the pools.
    :param views: the paths of those that have a path of their own.
    """
    return [*(rule for name in sorted(pools) for rule in _rules(name)),
            *(rule for path in sorted(views) for rule in _rules_of_view(path))]


def _rules_of_view(path):
    rules = of_view(path)
    many, one = f'/v1/{path}', f'/v1/{path}/{{id}}'
    return [
        base.rule(rules.get, base.READER_OR_ADMIN, f'List {path}, and show one.',
                  ('GET', many), ('GET', one)),
        base.rule(rules.create, base.ADMIN, f'Add a resource to {path}.', ('POST', many)),
        base.rule(rules.delete, base.ADMIN, f'Remove a resource from {path}.', ('DELETE', one)),
    ]


def _rules(name):
    rules = of_pool(name)
    table = (
        (rules.get, f'List the resources of the pool "{name}", and show a resource.',
         (('GET', ''), ('GET', '/{id}'))),
        (rules.create, f'Enrol a resource in the pool "{name}".', (('POST', ''),)),
        (rules.update, f'Change a resource of the pool "{name}".', (('PUT', '/{id}'),)),
        (rules.delete, f'Withdraw a resource from the pool "{name}".', (('DELETE', '/{id}'),)),
        (rules.get_properties,
         f'List the public properties of the pool "{name}", with their values, and count its free '
         'resources by them. Refusals of leases also list values of public properties.',
         (('GET', '/properties'), ('GET', '/facets'))),
        (rules.update_properties, f'Make a property of the pool "{name}" private or public.',
         (('PATCH', '/properties/{name}'),)),
        (rules.get_allocations, f'List the allocations of the pool "{name}".',
         (('GET', '/allocations'), ('GET', '/{id}/allocation'))),
        (rules.get_calendar, f'See how many resources of the pool "{name}" are free, and when, '
         'without names and leases.', (('GET', '/calendar'),)),
        (rules.set_power, f'Wake a resource of the pool "{name}", or put it to sleep.',
         (('POST', '/{id}/power'),)),
    )
    # Everybody may know which properties criteria can use; the list leaves out private ones.
    return [base.rule(rule, base.READER_OR_ADMIN if rule == rules.get_properties else base.ADMIN,
                      description, *_operations(name, routes))
            for rule, description, routes in table]


def _operations(name, routes):
    """Return pairs (method, path) of the routes of a pool, (method, rest of the path)."""
    places = [f'/v1/resources/{name}', *_OTHER_PLACES.get(name, ())]
    return [(method, place + rest) for place in places for method, rest in routes] + [
        route for route in _OTHER_ROUTES.get(name, ()) if ('GET', '/allocations') in routes]
