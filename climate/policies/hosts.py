# SPDX-License-Identifier: Apache-2.0
"""The policy of enrolled hosts and their properties."""
from oslo_policy import policy

from climate.policies import allocations
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

#: The rules of /v1/os-hosts, under the names that every pool has for them.
OF_VIEW = resources.Rules(
    get=GET, create=POST, update=PUT, delete=DELETE, get_properties=GET_PROPERTIES,
    update_properties=UPDATE_PROPERTIES, get_allocations=allocations.GET_HOSTS,
    get_calendar=GET_CALENDAR, set_power=SET_POWER)

_ALL, _ONE = '/v1/os-hosts', '/v1/os-hosts/{host_id}'
_RULES = [
    policy.DocumentedRuleDefault(
        GET, base.ADMIN, 'List enrolled hosts and show one.',
        [{'path': _ALL, 'method': 'GET'}, {'path': _ONE, 'method': 'GET'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        POST, base.ADMIN, 'Enrol a host.', [{'path': _ALL, 'method': 'POST'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        PUT, base.ADMIN, 'Change the properties of a host.', [{'path': _ONE, 'method': 'PUT'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        DELETE, base.ADMIN, 'Withdraw a host.', [{'path': _ONE, 'method': 'DELETE'}],
        scope_types=['project']),
    policy.DocumentedRuleDefault(
        GET_PROPERTIES, base.READER_OR_ADMIN,
        'List the public properties of hosts, with their values. Administrators see private ones.',
        [{'path': _ALL + '/properties', 'method': 'GET'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        UPDATE_PROPERTIES, base.ADMIN, 'Make a property private or public.',
        [{'path': _ALL + '/properties/{name}', 'method': 'PATCH'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        GET_CALENDAR, base.ADMIN,
        'See how many hosts are free, and when, without names and leases.',
        [{'path': _ALL + '/calendar', 'method': 'GET'}], scope_types=['project']),
    policy.DocumentedRuleDefault(
        SET_POWER, base.ADMIN, 'Wake a host, or put it to sleep.',
        [{'path': _ONE + '/power', 'method': 'POST'}], scope_types=['project']),
]


def list_rules():
    return _RULES
