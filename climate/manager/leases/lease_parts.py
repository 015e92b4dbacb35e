# SPDX-License-Identifier: Apache-2.0
"""The split of a lease of hosts into two parts, for a transfer or to give hosts back."""
from climate import errors


def split(core, lease, hosts):
    """Return (the reservation that is split, the request for `hosts`, the request that stays).

    :raises BadField: the lease cannot be split like this; the error says what is possible.
    """
    found = []
    for reservation in lease.open_reservations:
        plugin, count = core.registry.plugin(reservation.resource_type), len(
            reservation.resource_ids)
        requests = plugin.split(dict(reservation.request), hosts, count - hosts)
        if requests is not None:
            found.append((reservation, *requests))
    if len(found) != 1 or len(lease.open_reservations) != 1:
        raise errors.BadField(field='hosts', reason=(
            'only a lease with one reservation, of hosts, has parts: leave the field out for the '
            'whole lease.'))
    count = len(found[0][0].resource_ids)
    if hosts >= count:
        raise errors.BadField(field='hosts', reason=(
            f'the lease has {count}, and at least one must stay: choose at most {count - 1}, or '
            'leave the field out for the whole lease.' if count > 1 else
            'the lease has one: leave the field out for the whole lease.'))
    return found[0]
