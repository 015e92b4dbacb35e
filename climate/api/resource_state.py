# SPDX-License-Identifier: Apache-2.0
"""Render the state of a resource, and the leases that have it now."""
from climate.api import times
from climate.domain import resource_states


def render(resource, now):
    """Render the state and the leases of a Resource; {} if its leases were not read."""
    if resource.leases is None:
        return {}
    return {'state': resource_states.of(resource, now), 'leases': [
        {'id': lease.id, 'name': lease.name, 'project_id': lease.project_id,
         'user_id': lease.user_id, 'end': times.shown(lease.end)} for lease in resource.leases]}
