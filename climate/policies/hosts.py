# SPDX-License-Identifier: Apache-2.0
"""The policy of enrolled hosts and their properties."""
from climate.policies import base
from climate.policies import resources

GET = 'climate:oshosts:get'
POST = 'climate:oshosts:post'
PUT = 'climate:oshosts:put'
DELETE = 'climate:oshosts:delete'
GET_PROPERTIES = 'climate:oshosts:get_resource_properties'
UPDATE_PROPERTIES = 'climate:oshosts:update_resource_properties'
GET_CALENDAR = 'climate:oshosts:get_calendar'
SET_POWER = 'climate:oshosts:set_power'
GET_ALLOCATIONS = 'climate:oshosts:get_allocations'

#: The rules of /v1/os-hosts, under the names that every pool has for them.
OF_VIEW = resources.PoolRules(
    get=GET, create=POST, update=PUT, delete=DELETE, get_properties=GET_PROPERTIES,
    update_properties=UPDATE_PROPERTIES, get_allocations=GET_ALLOCATIONS,
    get_calendar=GET_CALENDAR, set_power=SET_POWER)

_ALL, _ONE = '/v1/os-hosts', '/v1/os-hosts/{host_id}'
RULES = [
    base.rule(GET, base.ADMIN, 'List enrolled hosts, or those of a lease, and show one.',
              ('GET', _ALL), ('GET', _ONE), ('GET', '/v1/leases/{lease_id}/hosts')),
    base.rule(POST, base.ADMIN, 'Enrol a host.', ('POST', _ALL)),
    base.rule(PUT, base.ADMIN, 'Change the properties of a host.', ('PUT', _ONE)),
    base.rule(DELETE, base.ADMIN, 'Withdraw a host.', ('DELETE', _ONE)),
    base.rule(
        GET_PROPERTIES, base.READER_OR_ADMIN,
        'List the public properties of hosts, with their values, and count free hosts by them. '
        'Administrators see private ones. Refusals of leases also list values of public ones.',
        ('GET', _ALL + '/properties'), ('GET', _ALL + '/facets')),
    base.rule(
        UPDATE_PROPERTIES, base.ADMIN, 'Make a property private or public.',
        ('PATCH', _ALL + '/properties/{name}')),
    base.rule(
        GET_CALENDAR, base.ADMIN,
        'See how many hosts are free, and when, without names and leases.',
        ('GET', _ALL + '/calendar')),
    base.rule(SET_POWER, base.ADMIN, 'Wake a host, or put it to sleep.', ('POST', _ONE + '/power')),
    base.rule(
        GET_ALLOCATIONS, base.ADMIN,
        'List the allocations of hosts, and swap a host of a lease if the lease may be swapped.',
        ('GET', '/v1/os-hosts/allocations'), ('GET', '/v1/os-hosts/{host_id}/allocation'),
        ('PUT', '/v1/os-hosts/{host_id}/allocation')),
]
