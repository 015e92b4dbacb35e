# SPDX-License-Identifier: Apache-2.0
"""The path /v1/maintenances, from REST 1.1 on."""
import json

import pecan

from climate import errors
from climate.api import body
from climate.api import lease_permissions
from climate.api import operations
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.api.controllers import base
from climate.domain import maintenance_windows
from climate.policies import maintenances as rules

_FILTERS = ('limit', 'marker')
PATHS = {
    '/maintenances': {
        'get': operations.operation('List the maintenances that are not over',
                                    query=operations.paging()),
        'post': operations.operation('Plan a maintenance, or preview it',
                                     schemas.MAINTENANCE_CREATE[1], 201,
                                     [operations.flag('dry_run')])},
    '/maintenances/{id}': {
        'parameters': [operations.ID],
        'get': operations.operation('Show a maintenance and the leases that it affects'),
        'delete': operations.operation('Delete a maintenance', status=204)},
}


class MaintenancesController(base.Controller):
    """Plans, previews, lists, shows and deletes maintenances."""

    dry_runs = ('post',)
    since_1_1 = 'Maintenances are served'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.GET)
        queries.refuse_unknown(req, _FILTERS)

        def fetch(marker, limit):
            base.refuse_long(marker or '', errors.MaintenanceNotFound, 'maintenance_id')
            return self._parts.manager.list_maintenances(
                caller, marker, limit, self._parts.conf.api.max_page_bytes)

        return self._page(req, 'maintenances', fetch,
                          lambda planned: [_shown(maintenance) for maintenance in planned])

    @pecan.expose('json')
    def post(self, req, resp):
        caller = self._authorized(req, rules.POST)
        request = _request(body.read(req, schemas.MAINTENANCE_CREATE,
                                     self._parts.conf.api.max_body_bytes),
                           queries.flag(req, 'dry_run'), self._parts.clock())
        planned = self._parts.manager.create_maintenance(caller, request)
        if not request.dry_run:
            base.created(req, resp, f'maintenances/{planned.id}')
        return {'maintenance': _shown(planned, self._visible(caller))}

    @pecan.expose('json')
    def get_one(self, req, resp, maintenance_id):
        caller = self._authorized(req, rules.GET)
        base.refuse_long(maintenance_id, errors.MaintenanceNotFound, 'maintenance_id')
        return {'maintenance': _shown(
            self._parts.manager.get_maintenance(caller, maintenance_id), self._visible(caller))}

    @pecan.expose('json')
    def delete(self, req, resp, maintenance_id):
        caller = self._authorized(req, rules.DELETE)
        base.refuse_long(maintenance_id, errors.MaintenanceNotFound, 'maintenance_id')
        self._parts.manager.delete_maintenance(caller, maintenance_id)
        resp.status = 204

    def _visible(self, caller):
        return lease_permissions.LeasePermissions(self._parts, caller)


def _request(data, dry_run, now):
    """Return the ``maintenance.MaintenanceRequest`` of a body.

    :raises BadField: not exactly one of "hosts", "resources" and "criteria" is given.
    """
    ways = [name for name in ('hosts', 'resources', 'criteria') if name in data]
    if len(ways) != 1:
        raise errors.BadField(field=ways[1] if ways else 'hosts', reason=(
            'name the resources in one way: "hosts" or "resources" by names or ids, or '
            '"criteria".'))
    if 'hosts' in data and data.get('pool', 'host') != 'host':
        raise errors.BadField(field='hosts', reason=(
            'write "resources" for those of another pool.'))
    notice = times.seconds('notice', data['notice']) if data.get('notice') else 0
    criteria = data.get('criteria')
    return maintenance_windows.MaintenanceRequest(
        pool=data.get('pool', 'host'), start=times.asked('start', data['start'], now),
        end=times.asked('end', data['end'], now), reason=data['reason'],
        resources=tuple(data.get('hosts') or data.get('resources') or ()),
        criteria=criteria if criteria is None or isinstance(criteria, str)
        else json.dumps(criteria),
        running=data.get('running', maintenance_windows.LEFT), notice_minutes=-(-notice // 60),
        rule=data.get('rrule'), dry_run=dry_run)


def _shown(planned, visible=None):
    """Render a Maintenance.

    :param visible: the ``lease_permissions.LeasePermissions`` of the caller on the leases that the
        maintenance affects; None: the leases are not shown.
    """
    view = {
        'id': planned.id, 'pool': planned.pool, 'start': times.shown(planned.start),
        'end': times.shown(planned.end), 'reason': planned.reason, 'running': planned.running,
        'notice_minutes': planned.notice_minutes, 'rrule': planned.rule,
        'deleting': planned.closing,
        'created_at': times.shown(planned.created_at),
        'resources': [{'id': str(key), 'name': name}
                      for key, name in zip(planned.resource_ids, planned.names, strict=True)],
        'windows': [{'start': times.shown(window.start), 'end': times.shown(window.end),
                     'state': window.state} for window in planned.windows]}
    if visible is not None:
        view['leases'] = [{
            'lease_id': lease.lease_id, 'lease_name': lease.name, **visible.owner(lease),
            'what': lease.what,
            'why': lease.why, 'window_start': times.shown(lease.window_start),
            'resources': [str(key) for key in lease.resource_ids]} for lease in planned.affected]
    return view
