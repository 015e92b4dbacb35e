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
