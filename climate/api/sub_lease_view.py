# SPDX-License-Identifier: Apache-2.0
"""Render sub-leases in their parent, from REST 1.1 on."""
from climate.api import times
from climate.domain import status_words


def of_lease(lease, is_receiver, now):
    """Return the fields of a lease about its parent and its sub-leases.

    :param is_receiver: whether the sub-leases are hidden from the caller.
    """
    return {'parent_id': lease.parent_id,
            'parent_name': None if lease.parent is None else lease.parent.name,
            'sub_leases': None if is_receiver else many(lease, now)}


def many(lease, now):
    """Render the sub-leases of a Lease that are not over."""
    return [{
        'id': each.id, 'name': each.name, 'project_id': each.project_id,
        'project_name': each.project_name, 'start': times.shown(each.start),
        'end': times.shown(each.end),
        'status': status_words.words(each.state, None, each.start, now)[1],
        'resources': [str(key) for key in each.resource_ids]} for each in lease.sub_leases]


def hosts(free, named):
    """Render FreeHosts.

    :param named: whether the caller may see the names of hosts.
    """
    return [{'id': str(each.resource_id), 'name': each.name if named else None,
             'reservation_id': each.reservation_id, 'in_use': each.in_use} for each in free]
