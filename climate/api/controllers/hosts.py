# SPDX-License-Identifier: Apache-2.0
"""/v1/os-hosts, with the properties and allocations of hosts."""
import pecan

from climate.api import body
from climate.api import hooks
from climate.api import schemas
from climate.api import views
from climate.api.controllers import base
from climate.policies import allocations as allocation_rules
from climate.policies import base as base_rules
from climate.policies import hosts as rules

POOL = 'host'


class HostsController(base.Controller):
    """Enrol, list, show, describe and withdraw hosts."""

    def __init__(self, parts):
        self._parts = parts
        self._limit = parts.conf.api.max_body_bytes
        self.properties = PropertiesController(parts)
        self.allocations = AllocationsController(parts)
        self.allocation = AllocationController(parts)

    @pecan.expose('json')
    def get_all(self, req, resp):
        self._parts.policy.authorize(hooks.caller(req), rules.GET)
        if hooks.is_lenient(req):
            found = self._parts.manager.list_resources(hooks.caller(req), POOL)
            return {'hosts': [views.host(each, True) for each in found]}
        limit, marker = base.page(req, self._parts.conf.api.max_limit, base.resource_id)
        # One more than is shown says whether there is a next page.
        found = self._parts.manager.list_resources(hooks.caller(req), POOL, marker, limit + 1)
        answer = {'hosts': [views.host(each, False) for each in found[:limit]]}
        if len(found) > limit:
            answer['hosts_links'] = base.next_link(req, str(found[limit - 1].id))
        return answer

    @pecan.expose('json')
    def post(self, req, resp):
        self._parts.policy.authorize(hooks.caller(req), rules.POST)
        data = body.read(req, schemas.HOST_CREATE, self._limit)
        made = self._parts.manager.create_resource(
            hooks.caller(req), POOL, data['name'], _properties(data))
        resp.status = 201
        return {'host': views.host(made, hooks.is_lenient(req))}

    @pecan.expose('json')
    def get_one(self, req, resp, host_id):
        self._parts.policy.authorize(hooks.caller(req), rules.GET)
        found = self._parts.manager.get_resource(hooks.caller(req), POOL,
                                                 base.resource_id(host_id))
        return {'host': views.host(found, hooks.is_lenient(req))}

    @pecan.expose('json')
    def put(self, req, resp, host_id):
        self._parts.policy.authorize(hooks.caller(req), rules.PUT)
        properties, reservable = _changes(
            body.read(req, schemas.HOST_UPDATE, self._limit))
        changed = self._parts.manager.update_resource(
            hooks.caller(req), POOL, base.resource_id(host_id), properties, reservable)
        return {'host': views.host(changed, hooks.is_lenient(req))}

    @pecan.expose('json')
    def delete(self, req, resp, host_id):
        self._parts.policy.authorize(hooks.caller(req), rules.DELETE)
        self._parts.manager.delete_resource(hooks.caller(req), POOL, base.resource_id(host_id))
        resp.status = 204


class PropertiesController(base.Controller):
    """The names under which hosts have properties."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rules.GET_PROPERTIES)
        found = self._parts.manager.list_properties(caller, POOL)
        if not (_asked(req, 'all') and self._parts.policy.allows(caller, base_rules.ADMIN_RULE)):
            found = [each for each in found if not each.private]
        detail = _asked(req, 'detail')
        return {'resource_properties': [views.property_in_list(each, detail) for each in found]}

    @pecan.expose('json')
    def patch(self, req, resp, name):
        self._parts.policy.authorize(hooks.caller(req), rules.UPDATE_PROPERTIES)
        data = body.read(req, schemas.PROPERTY_UPDATE, self._parts.conf.api.max_body_bytes)
        changed = self._parts.manager.update_property(hooks.caller(req), POOL, name,
                                                      data['private'])
        return {'resource_property': views.property_changed(changed, hooks.is_lenient(req))}


class AllocationsController(base.Controller):
    """Which hosts are promised to whom."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        found = _allocations(self._parts, req)
        return {'allocations': [views.allocation(key, given, hooks.is_lenient(req))
                                for key, given in found]}


class AllocationController(base.Controller):
    """To whom one host is promised."""

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp, host_id):
        [(key, given)] = _allocations(self._parts, req, base.resource_id(host_id))
        return {'allocation': views.allocation(key, given, hooks.is_lenient(req))}


def _allocations(parts, req, resource_id=None):
    parts.policy.authorize(hooks.caller(req), allocation_rules.GET_HOSTS)
    return parts.manager.list_allocations(
        hooks.caller(req), POOL, resource_id=resource_id,
        lease_id=req.GET.get('lease_id'), reservation_id=req.GET.get('reservation_id'))


def _asked(req, name):
    """A yes or no of the query; REST 1.0 takes any text for yes, "False" excepted here."""
    if not hooks.is_lenient(req):
        return body.flag(req, name)
    return req.GET.get(name, '').lower() not in ('', 'false', '0', 'no')


def _properties(data):
    """{property name: text or None} of a host's body; True becomes "True"."""
    return {name: None if value is None else str(value) for name, value in data.items()
            if name != 'name'}


def _changes(data):
    """(properties, whether the host can be leased or None) of the body of a host's PUT."""
    changes = dict(data)
    reservable = changes.pop('reservable', None)
    return _properties(changes), None if reservable is None else str(reservable).lower() == 'true'
