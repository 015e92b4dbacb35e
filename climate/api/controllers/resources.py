# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/resources/{pool} and /v1/os-hosts, with their properties and allocations."""
import contextlib

import pecan
from pecan import routing

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import schemas
from climate.api import serializers
from climate.api import times
from climate.api import views
from climate.api import visible_resources
from climate.api.controllers import base
from climate.domain import sleep
from climate.plugins import registry
from climate.policies import base as base_rules


class ResourcesController(base.Controller):
    """Routes to one controller for each enabled pool."""

    def __init__(self, parts):
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


class PoolPartController(base.Controller):
    """The base class of the controllers of one pool.

    :param serializer: a ``serializers.ResourceSerializer``.
    """

    def __init__(self, parts, serializer):
        self._parts = parts
        self._serializer = serializer
        self._manager = parts.manager
        self._limit = parts.conf.api.max_body_bytes

    def _authorized(self, req, rule):
        """Return the caller if policy allows the request.

        :raises NotFound: the REST version of the request does not have this path.
        :raises Forbidden: policy says no.
        """
        if self._serializer.since_1_1:
            base.refuse_lenient(req, 'Pools are served')
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rule)
        return caller

    def _id(self, text):
        return base.resource_id(text, self._serializer.pool)

    def _views(self, req, found):
        """Render Resources, each with what the caller may read of it."""
        found = visible_resources.of(self._parts, hooks.caller(req), self._serializer.pool, found)
        return [self._serializer.resource(each, hooks.is_lenient(req)) for each in found]

    def _shown(self, req, resource):
        return {self._serializer.one: self._views(req, [resource])[0]}


class ViewController(PoolPartController):
    """Enrols, lists, shows and removes the resources of one pool."""

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller, serializer = self._authorized(req, self._serializer.rules.get), self._serializer
        if hooks.is_lenient(req):
            found = self._manager.list_resources(caller, serializer.pool)
            return {serializer.many: self._views(req, found)}
        limit, marker = base.page(req, self._parts.conf.api.max_limit, self._id)
        # One more than is shown tells whether there is a next page.
        found, more = base.shown(self._manager.list_resources(
            caller, serializer.pool, marker, limit + 1, self._parts.conf.api.max_page_bytes), limit)
        answer = {serializer.many: self._views(req, found)}
        if more:
            answer[f'{serializer.many}_links'] = base.next_link(req, str(found[-1].id))
        return answer

    @pecan.expose('json')
    def post(self, req, resp):
        caller, serializer = self._authorized(req, self._serializer.rules.create), self._serializer
        name, properties, fields = serializer.enrolment(
            body.read(req, serializer.create_schemas, self._limit))
        enrolled = caller, serializer.pool, name, properties, fields
        try:
            if serializer.is_range(name, fields):
                made = self._manager.create_resources(*enrolled)
                answer = {serializer.many: self._views(req, made)}
            else:
                answer = self._shown(req, self._manager.create_resource(*enrolled))
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
        self._manager.delete_resource(caller, self._serializer.pool, self._id(resource_id))
        resp.status = 204


class PoolController(ViewController):
    """Does the same, and changes resources; below it are all other paths of a pool."""

    def __init__(self, parts, serializer):
        super().__init__(parts, serializer)
        self.properties = PropertiesController(parts, serializer)
        self.allocations = AllocationsController(parts, serializer)
        self.allocation = AllocationController(parts, serializer)
        self.calendar = CalendarController(parts, serializer)
        self.power = PowerController(parts, serializer)

    @pecan.expose()
    def _route(self, args, request=None):
        if args and vars(self).get(args[0]) is self.properties:
            # A property may have the name of a path.
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


class PropertiesController(PoolPartController):
    """Lists the properties of a pool, and makes them private or public."""

    @pecan.expose()
    def _route(self, args, request=None):
        # WSGI shows the slashes in a name as those between parts of the path.
        return super()._route(['/'.join(args)] if args else [], request)

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, self._serializer.rules.get_properties)
        found = self._manager.list_properties(caller, self._serializer.pool)
        if not (_asked(req, 'all') and self._parts.policy.allows(caller, base_rules.ADMIN_RULE)):
            found = [each for each in found if not each.private]
        detail = _asked(req, 'detail')
        return {'resource_properties': [views.property_in_list(each, detail) for each in found]}

    @pecan.expose('json')
    def patch(self, req, resp, name):
        caller = self._authorized(req, self._serializer.rules.update_properties)
        data = body.read(req, schemas.PROPERTY_UPDATE, self._limit)
        changed = self._change(caller, name, data['private'], req.environ[hooks.TWIN])
        return {'resource_property': self._serializer.property(changed, hooks.is_lenient(req))}

    def _change(self, caller, name, private, is_twin):
        """Change the property whose name, or the beginning of it before ".json", is in the path."""
        if is_twin:
            with contextlib.suppress(errors.PropertyNotFound):
                return self._manager.update_property(
                    caller, self._serializer.pool, f'{name}.json', private)
        return self._manager.update_property(caller, self._serializer.pool, name, private)


class AllocationsController(PoolPartController):
    """Lists the allocations of the resources of a pool."""

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, self._serializer.rules.get_allocations)
        pool, filters = self._serializer.pool, self._filters(req, caller)
        if hooks.is_lenient(req):
            found = self._manager.list_allocations(caller, pool, **filters)
            return {'allocations': [self._view(req, *each) for each in found]}
        limit, marker = base.page(req, self._parts.conf.api.max_limit, _place)
        found, following = self._manager.page_of_allocations(caller, pool, limit, marker, **filters)
        answer = {'allocations': [self._view(req, *each) for each in found]}
        if following is not None:
            answer['allocations_links'] = base.next_link(req, '.'.join(map(str, following)))
        return answer

    def _filters(self, req, caller):
        """Return the filters of the query, {name: id or None}.

        :raises NotFound: there is no such lease or reservation. REST 1.0 does not ask.
        """
        filters = {name: req.GET.get(name) for name in ('lease_id', 'reservation_id')}
        if not hooks.is_lenient(req):
            if filters['lease_id'] is not None:
                self._manager.get_lease(caller, filters['lease_id'])
            if filters['reservation_id'] is not None:
                self._manager.get_lease_of_reservation(caller, filters['reservation_id'])
        return filters

    @staticmethod
    def _view(req, resource_id, bookings):
        return views.allocation(resource_id, bookings, hooks.is_lenient(req))


class AllocationController(AllocationsController):
    """Shows the allocations of one resource."""

    @pecan.expose('json')
    def get_all(self, req, resp, resource_id):
        caller = self._authorized(req, self._serializer.rules.get_allocations)
        [found] = self._manager.list_allocations(
            caller, self._serializer.pool, resource_id=self._id(resource_id),
            **self._filters(req, caller))
        return {'allocation': self._view(req, *found)}


class CalendarController(PoolPartController):
    """Shows how many resources of a pool are free, and when, from REST 1.1 on."""

    @pecan.expose('json')
    def get_all(self, req, resp):
        base.refuse_lenient(req, 'Calendars are served')
        caller = self._authorized(req, self._serializer.rules.get_calendar)
        now = self._parts.clock()
        limit, marker = base.page(req, self._parts.conf.api.max_limit,
                                  lambda text: times.asked('marker', text, now))
        start, end = (times.asked(name, req.GET[name], now) if name in req.GET else None
                      for name in ('start', 'end'))
        # One more than is shown tells whether there is a next page.
        found = self._manager.pool_calendar(caller, self._serializer.pool, marker or start, end,
                                            limit + 1)
        answer = {'calendar': [views.calendar_span(each) for each in found[:limit]]}
        if len(found) > limit:
            last = found[limit - 1]
            answer['calendar_links'] = base.next_link(req, times.shown(last.end))
        return answer


class PowerController(PoolPartController):
    """Wakes a resource, or puts it to sleep, from REST 1.1 on."""

    @pecan.expose('json')
    def post(self, req, resp, resource_id):
        base.refuse_lenient(req, 'The power of resources is changed')
        caller = self._authorized(req, self._serializer.rules.set_power)
        data = body.read(req, schemas.POWER, self._limit)
        found = self._manager.set_power(caller, self._serializer.pool, self._id(resource_id),
                                        data['state'] == sleep.AWAKE)
        resp.status = 202
        return self._shown(req, found)


def _place(text):
    """Parse the marker of a list of allocations into a list of one or three numbers.

    :raises BadField: no page ends there.
    """
    numbers = [base.row_number(part) for part in text.split('.')]
    if len(numbers) not in (1, 3) or None in numbers:
        raise errors.BadField(field='marker', reason=(
            f'"{text[:40]}" is not the marker of a page; take it from the link to the next page.'))
    return numbers


def _asked(req, name):
    """Read a boolean of the query; at REST 1.0 all but "", "false", "0" and "no" is True."""
    if not hooks.is_lenient(req):
        return body.flag(req, name)
    return req.GET.get(name, '').lower() not in ('', 'false', '0', 'no')
