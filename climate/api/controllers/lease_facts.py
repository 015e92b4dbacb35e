# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/leases/{id}/resources and /v1/leases/{id}/latest_end, from REST 1.1 on."""
import pecan

from climate.api import hooks
from climate.api import lease_permissions
from climate.api import operations
from climate.api import owner_or_operator_text
from climate.api import permissions
from climate.api import serializers
from climate.api import times
from climate.api.controllers import base
from climate.domain import timeline
from climate.policies import leases as rules

PATHS = {
    '/leases/{id}/resources': {
        'parameters': [operations.ID],
        'get': operations.operation('List the resources of a lease, with their health')},
    '/leases/{id}/latest_end': {
        'parameters': [operations.ID],
        'get': operations.operation('Show how far a lease can be extended, and why not further')},
}


class LeasedResourcesController(base.SubController):
    """Lists the resources that a lease has, with their health and planned maintenance."""

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        lease = self._visible(req, lease_id)
        base.refuse_lenient(req, 'The resources of a lease are served')
        caller = hooks.caller(req)
        named = lease_permissions.allows(self._parts, caller, rules.GET_RESOURCE_NAMES, lease)
        resources = self._resources(caller, lease)
        return {'resources': [
            {'reservation_id': reservation.id, 'resource_type': reservation.resource_type,
             'copies': reservation.resource_ids.count(key),
             **_shown(resources[key], named)}
            for reservation in lease.reservations
            for key in dict.fromkeys(reservation.resource_ids) if key in resources]}

    def _resources(self, caller, lease):
        """Return {id: Resource as the caller may see it} of a lease."""
        ids = {key for each in lease.reservations for key in each.resource_ids}
        return {each.id: each for pool, resources in _resources(self._parts, caller, lease, ids)
                for each in permissions.visible_resources(self._parts, caller, pool, resources)}


class LatestEndController(base.SubController):
    """Shows how far a lease can be extended, and what prevents a later end."""

    @pecan.expose('json')
    def get_all(self, req, resp, lease_id):
        lease = self._visible(req, lease_id)
        base.refuse_lenient(req, 'The latest end of a lease is served')
        caller, policy = hooks.caller(req), self._parts.policy
        lease_permissions.authorize(self._parts, caller, rules.PUT, lease)
        found = self._parts.manager.latest_end(caller, lease.id)
        named = lease_permissions.allows(self._parts, caller, rules.GET_RESOURCE_NAMES, lease)
        everybody = policy.allows(caller, rules.ALL_PROJECTS)
        ids = {each.resource_id for each in found.obstacles} if named else ()
        names = {each.id: each.name for _pool, resources in _resources(
            self._parts, caller, lease, ids) for each in resources}
        return {'latest_end': {
            'end': times.shown(found.end), 'limited': found.limited,
            'reason': owner_or_operator_text.of(
                found.reason, owner_or_operator_text.is_operator(policy, caller)),
            'rule': found.rule, 'opens_at': times.shown(found.opens_at),
            'obstacles': [_obstacle(each, names, everybody) for each in found.obstacles]}}


def _resources(parts, caller, lease, ids):
    """Return pairs (name of a pool, its Resources with some ids) for the pools of a lease."""
    pools = {pool.name for each in lease.reservations if each.resource_type in parts.plugins
             for pool in parts.plugins[each.resource_type].pools}
    return [(pool, parts.manager.get_resources(caller, pool, sorted(ids)))
            for pool in sorted(pools) if ids]


def _shown(resource, named):
    return {'id': str(resource.id), 'pool': resource.pool,
            'name': resource.name if named else None, 'reservable': resource.reservable,
            'properties': dict(resource.properties), **serializers.health_of(resource),
            **serializers.power(resource)}


def _obstacle(obstacle, names, everybody):
    """Render an ``latest_end.Obstacle``; leases of other projects have no name and no id."""
    visible = everybody or obstacle.kind == timeline.OWN
    return {'resource_id': str(obstacle.resource_id),
            'resource_name': names.get(obstacle.resource_id), 'kind': obstacle.kind,
            'start': times.shown(obstacle.start),
            'lease_id': obstacle.lease_id if visible else None,
            'lease_name': obstacle.lease_name if visible else None}
