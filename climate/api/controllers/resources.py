# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/resources/{pool} and /v1/os-hosts, with their properties and allocations."""
import contextlib

import pecan
from pecan import routing

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import lease_permissions
from climate.api import queries
from climate.api import resource_filters
from climate.api import schemas
from climate.api import serializers
from climate.api import times
from climate.api import views
from climate.api.controllers import base
from climate.api.controllers import facets
from climate.api.controllers import pool_part
from climate.domain import sleep
from climate.plugins import registry
from climate.policies import base as base_rules


class ResourcesController(base.Controller):
    """Routes to one controller for each enabled pool."""

    def __init__(self, parts):
        # The Parts are not stored, because every attribute must be the controller of a pool.
        vars(self).update({name: PoolController(parts, serializers.ResourceSerializer(pool))
                           for name, pool in parts.pools.items()})

    @pecan.expose()
    def _route(self, args, request=None):
        steps, pools = list(filter(None, args)), vars(self)
        if not steps:
            raise errors.NotFound(f'Name a pool: /v1/resources/POOL. Enabled are: '
                                  f'{", ".join(sorted(pools))}.')
        if steps[0] not in pools:
            raise registry.unknown_pool(steps[0], pools)
        return routing.lookup_controller(pools[steps[0]], args[1:], request)


class ViewController(pool_part.PoolPartController):
    """Enrols, lists, shows and removes the resources of one pool."""

    dry_runs = ('delete',)

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller, serializer = self._authorized(req, self._serializer.rules.get), self._serializer
        if hooks.is_lenient(req):
            limit, marker = resource_filters.page(req, self._parts.conf.api.max_limit, self._id)
            found = resource_filters.matching(req, self._views(
                req, self._manager.list_resources(caller, serializer.pool, marker)))
            return {serializer.many: found[:limit]}
        query = resource_filters.query(req, self._parts.policy, caller)
        return self._page(
            req, serializer.many, lambda marker, limit: self._manager.list_resources(
                caller, serializer.pool, marker, limit, self._parts.conf.api.max_page_bytes, query),
            lambda resources: self._views(req, resources), self._id)

    @pecan.expose('json')
    def post(self, req, resp):
        caller, serializer = self._authorized(req, self._serializer.rules.create), self._serializer
        name, properties, fields = serializer.enrolment(
            body.read(req, serializer.create_schemas, self._limit))
        arguments = caller, serializer.pool, name, properties, fields
        try:
            if serializer.is_range(name, fields):
                answer = {serializer.many: self._views(
                    req, self._manager.create_resources(*arguments))}
            else:
                answer = self._shown(req, self._manager.create_resource(*arguments))
        except errors.BadField as error:
            raise serializer.renamed(error) from error
        resp.status = 201
        return answer

    @pecan.expose('json')
    def get_one(self, req, resp, resource_id):
        caller = self._authorized(req, self._serializer.rules.get)
        return self._shown(req, self._manager.get_resource(
            caller, self._serializer.pool, self._id(resource_id)))

    @pecan.expose('json')
    def delete(self, req, resp, resource_id):
        caller = self._authorized(req, self._serializer.rules.delete)
        arguments = caller, self._serializer.pool, self._id(resource_id)
        if not hooks.is_lenient(req) and queries.flag(req, 'dry_run'):
            self._manager.preview_withdrawal(*arguments)
            # A resource that is in use is refused, so a withdrawal deletes nothing.
            return {'losses': []}
        self._manager.delete_resource(*arguments)
        resp.status = 204
        return None


class PoolController(ViewController):
    """Adds changes of resources to a ViewController, and routes to the other paths of a pool."""

    def __init__(self, parts, serializer):
        super().__init__(parts, serializer)
        self.properties = PropertiesController(parts, serializer)
        self.allocations = AllocationsController(parts, serializer)
        self.allocation = AllocationController(parts, serializer)
        self.calendar = CalendarController(parts, serializer)
        self.facets = facets.FacetsController(parts, serializer)
        self.power = PowerController(parts, serializer)

    @pecan.expose()
    def _route(self, args, request=None):
        if args and vars(self).get(args[0]) is self.properties:
            # The name of a property may be equal to the name of a path.
            return routing.lookup_controller(self.properties, args[1:], request)
        return super()._route(args, request)

    @pecan.expose('json')
    def put(self, req, resp, resource_id):
        caller, serializer = self._authorized(req, self._serializer.rules.update), self._serializer
        data, number = body.read(req, serializer.update_schemas, self._limit), self._id(resource_id)
        properties, reservable = serializer.changes(data)
        reason = None if hooks.is_lenient(req) else serializer.out_of_order(data)
        return self._shown(req, self._manager.update_resource(
            caller, serializer.pool, number, properties, reservable, reason))


class PropertiesController(pool_part.PoolPartController):
    """Lists the properties of a pool, and makes them private or public."""

    @pecan.expose()
    def _route(self, args, request=None):
        # WSGI decodes slashes in a name, so a name may be in several parts of the path.
        return super()._route(['/'.join(args)] if args else [], request)

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, self._serializer.rules.get_properties)
        properties = self._manager.list_properties(caller, self._serializer.pool)
        if not (_flag(req, 'all') and self._parts.policy.allows(caller, base_rules.ADMIN_RULE)):
            properties = [prop for prop in properties if not prop.private]
        detail = _flag(req, 'detail')
        return {'resource_properties': [views.property_in_list(
            prop, detail, hooks.is_lenient(req)) for prop in properties]}

    @pecan.expose('json')
    def patch(self, req, resp, name):
        caller = self._authorized(req, self._serializer.rules.update_properties)
        data = body.read(req, schemas.PROPERTY_UPDATE, self._limit)
        changed = self._change(caller, name, data['private'], req.environ[hooks.JSON_SUFFIX])
        return {'resource_property': self._serializer.property(changed, hooks.is_lenient(req))}

    def _change(self, caller, name, private, has_suffix):
        """Change the property `name`; with `has_suffix`, preferably the property `name`.json."""
        if has_suffix:
            with contextlib.suppress(errors.PropertyNotFound):
                return self._manager.update_property(
                    caller, self._serializer.pool, f'{name}.json', private)
        return self._manager.update_property(caller, self._serializer.pool, name, private)


class AllocationsController(pool_part.PoolPartController):
    """Lists the allocations of the resources of a pool."""

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, self._serializer.rules.get_allocations)
        pool, filters = self._serializer.pool, self._filters(req, caller)
        if hooks.is_lenient(req):
            return self._views(req, self._manager.list_allocations(caller, pool, **filters))
        limit, marker = queries.page(req, self._parts.conf.api.max_limit, _place)
        pairs, following = self._manager.page_of_allocations(caller, pool, limit, marker, **filters)
        answer = self._views(req, pairs)
        if following is not None:
            answer['allocations_links'] = queries.next_link(req, '.'.join(map(str, following)))
        return answer

    def _filters(self, req, caller):
        """Return the filters of the query, {name: id or None}.

        :raises NotFound: the lease or reservation does not exist. REST 1.0 does not check this.
        """
        filters = {name: req.GET.get(name) for name in ('lease_id', 'reservation_id')}
        if not hooks.is_lenient(req):
            if filters['lease_id'] is not None:
                self._manager.get_lease(caller, filters['lease_id'])
            if filters['reservation_id'] is not None:
                self._manager.get_lease_of_reservation(caller, filters['reservation_id'])
        return filters

    def _views(self, req, pairs):
        lease_of = lease_permissions.LeasePermissions(self._parts, hooks.caller(req)).label
        return {'allocations': [
            views.allocation(self._serializer.shown_id(resource_id), bookings,
                             hooks.is_lenient(req), lease_of) for resource_id, bookings in pairs]}


class AllocationController(AllocationsController):
    """Shows the allocations of one resource."""

    @pecan.expose('json')
    def get_all(self, req, resp, resource_id):
        caller = self._authorized(req, self._serializer.rules.get_allocations)
        pairs = self._manager.list_allocations(
            caller, self._serializer.pool, resource_id=self._id(resource_id),
            **self._filters(req, caller))
        return {'allocation': self._views(req, pairs)['allocations'][0]}


class CalendarController(pool_part.PoolPartController):
    """Shows how many resources of a pool are free, and when, from REST 1.1 on."""

    @pecan.expose('json')
    def get_all(self, req, resp):
        base.refuse_lenient(req, 'Calendars are served')
        caller = self._authorized(req, self._serializer.rules.get_calendar)
        now = self._parts.clock()
        start, end = (times.asked(name, req.GET[name], now) if name in req.GET else None
                      for name in ('start', 'end'))
        return self._page(
            req, 'calendar', lambda marker, limit: self._manager.pool_calendar(
                caller, self._serializer.pool, marker or start, end, limit),
            lambda spans: list(map(views.calendar_span, spans)),
            lambda text: times.asked('marker', text, now), lambda last: times.shown(last.end))


class PowerController(pool_part.PoolPartController):
    """Wakes a resource, or puts it to sleep, from REST 1.1 on."""

    @pecan.expose('json')
    def post(self, req, resp, resource_id):
        base.refuse_lenient(req, 'The power of resources is changed')
        caller = self._authorized(req, self._serializer.rules.set_power)
        data = body.read(req, schemas.POWER, self._limit)
        resource = self._manager.set_power(caller, self._serializer.pool, self._id(resource_id),
                                           data['state'] == sleep.AWAKE)
        resp.status = 202
        return self._shown(req, resource)


def _place(text):
    """Parse the marker of a list of allocations into a list of one or three numbers.

    :raises BadField: the text is not such a marker.
    """
    numbers = [queries.row_number(part) for part in text.split('.')]
    if len(numbers) not in (1, 3) or None in numbers:
        raise errors.BadField(field='marker', reason=(
            f'"{text[:40]}" is not the marker of a page; take it from the link to the next page.'))
    return numbers


def _flag(req, name):
    """Read a boolean of the query; at REST 1.0 only "", "false", "0" and "no" are False."""
    if not hooks.is_lenient(req):
        return queries.flag(req, name)
    return req.GET.get(name, '').lower() not in ('', 'false', '0', 'no')
