# SPDX-License-Identifier: Apache-2.0
"""Rendering of the health of resources and of their maintenance, from REST 1.1 on."""
from climate.api import times
from climate.domain import health


def of_resource(resource):
    """Render the health of a Resource, and the windows of its maintenance."""
    verdict = resource.verdict or health.Verdict()
    return {'health': {'state': verdict.state, 'since': times.shown(verdict.since),
                       'reason': verdict.reason, 'source': verdict.source,
                       'until': times.shown(verdict.until)},
            'maintenances': [window(each) for each in resource.maintenances]}


def window(found):
    """Render a window of maintenance with its reason."""
    return {'id': found.maintenance_id, 'start': times.shown(found.start),
            'end': times.shown(found.end), 'state': found.state, 'reason': found.reason}


def maintenance(found, with_leases=False):
    """Render a Maintenance.

    :param with_leases: whether the answer has the leases in its way.
    """
    view = {
        'id': found.id, 'pool': found.pool, 'start': times.shown(found.start),
        'end': times.shown(found.end), 'reason': found.reason, 'running': found.running,
        'notice_minutes': found.notice_minutes, 'rrule': found.rule, 'deleting': found.closing,
        'created_at': times.shown(found.created_at),
        'resources': [{'id': str(key), 'name': name}
                      for key, name in zip(found.resource_ids, found.names, strict=True)],
        'windows': [{'start': times.shown(each.start), 'end': times.shown(each.end),
                     'state': each.state} for each in found.windows]}
    if with_leases:
        view['leases'] = [{
            'lease_id': each.lease_id, 'project_id': each.project_id, 'what': each.what,
            'why': each.why, 'window_start': times.shown(each.window_start),
            'resources': [str(key) for key in each.resource_ids]} for each in found.affected]
    return view
