# SPDX-License-Identifier: Apache-2.0
"""The path /v1/maintenances, from REST 1.1 on."""
import json

import pecan

from climate import errors
from climate.api import body
from climate.api import health_view
from climate.api import hooks
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.api.controllers import base
from climate.domain import maintenance
from climate.policies import maintenances as rules

_FILTERS = ('limit', 'marker')


class MaintenancesController(base.Controller):
    """Plans, previews, lists, shows and deletes maintenances."""

    dry_runs = ('post',)

    def __init__(self, parts):
        self._parts = parts

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, _FILTERS)
        limit, marker = base.page(req, self._parts.conf.api.max_limit)
        if marker is not None:
            base.refuse_long(marker, errors.MaintenanceNotFound, 'maintenance_id')
        # One more than is shown tells whether there is a next page.
        found, more = base.shown(self._parts.manager.list_maintenances(
            caller, marker, limit + 1, self._parts.conf.api.max_page_bytes), limit)
        answer = {'maintenances': [health_view.maintenance(each) for each in found]}
        if more:
            answer['maintenances_links'] = base.next_link(req, found[-1].id)
        return answer

    @pecan.expose('json')
    def post(self, req, resp):
        caller = self._authorized(req, rules.POST)
        asked = _request(body.read(req, schemas.MAINTENANCE_CREATE,
                                   self._parts.conf.api.max_body_bytes),
                         body.flag(req, 'dry_run'), self._parts.clock())
        made = self._parts.manager.create_maintenance(caller, asked)
        if not asked.dry_run:
            resp.status = 201
            resp.headers['Location'] = f'{req.application_url}/v1/maintenances/{made.id}'
        return {'maintenance': health_view.maintenance(made, with_leases=True)}

    @pecan.expose('json')
    def get_one(self, req, resp, maintenance_id):
        caller = self._authorized(req, rules.GET)
        base.refuse_long(maintenance_id, errors.MaintenanceNotFound, 'maintenance_id')
        return {'maintenance': health_view.maintenance(
            self._parts.manager.get_maintenance(caller, maintenance_id), with_leases=True)}

    @pecan.expose('json')
    def delete(self, req, resp, maintenance_id):
        caller = self._authorized(req, rules.DELETE)
        base.refuse_long(maintenance_id, errors.MaintenanceNotFound, 'maintenance_id')
        self._parts.manager.delete_maintenance(caller, maintenance_id)
        resp.status = 204

    def _authorized(self, req, rule):
        caller = hooks.caller(req)
        self._parts.policy.authorize(caller, rule)
        base.refuse_lenient(req, 'Maintenances are served')
        return caller


def _request(data, dry_run, now):
    """Return the maintenance.Request of a body.

    :raises BadField: it names its resources in no way, or in several.
    """
    ways = [name for name in ('hosts', 'resources', 'criteria') if name in data]
    if len(ways) != 1:
        raise errors.BadField(field=ways[1] if ways else 'hosts', reason=(
            'say in one way what is maintained: "hosts" or "resources" by their names or ids, or '
            '"criteria".'))
    if 'hosts' in data and data.get('pool', 'host') != 'host':
        raise errors.BadField(field='hosts', reason=(
            'write "resources" for those of another pool.'))
    notice = times.seconds('notice', data['notice']) if data.get('notice') else 0
    criteria = data.get('criteria')
    return maintenance.Request(
        pool=data.get('pool', 'host'), start=times.asked('start', data['start'], now),
        end=times.asked('end', data['end'], now), reason=data['reason'],
        resources=tuple(data.get('hosts') or data.get('resources') or ()),
        criteria=criteria if criteria is None or isinstance(criteria, str)
        else json.dumps(criteria),
        running=data.get('running', maintenance.LEFT), notice_minutes=-(-notice // 60),
        rule=data.get('rrule'), dry_run=dry_run)
