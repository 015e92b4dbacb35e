# SPDX-License-Identifier: Apache-2.0
"""Render the state of a resource, and the leases that have it now."""
from climate.api import times
from climate.domain import resource_states


def render(resource, now, visible):
    """Render the state and the leases of a Resource; {} if its leases were not read.

    :param visible: the ``lease_permissions.LeasePermissions`` of the caller.
    """
    if resource.leases is None:
        return {}
    return {'state': resource_states.of(resource, now), 'leases': [
        {'id': lease.id, 'name': lease.name, **visible.owner(lease),
         'end': times.shown(lease.end)} for lease in resource.leases]}
