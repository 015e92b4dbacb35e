# SPDX-License-Identifier: Apache-2.0
"""The payloads of notifications on the bus: the lease objects of REST 1.0, which consumers know."""
from climate import moments
from climate.domain import lease_1_0
from climate.domain import records
from climate.domain import status_words
from climate.rpc import wire

# The moments of a lease that REST 1.0 does not show.
_MOMENTS = ('before_end', 'ended_at', 'idle_since', 'reclaim_at')
# What consumers of these event types expect, whatever the state of the lease is.
_STATUS = {'lease.update': 'UPDATING', 'lease.delete': 'DELETING'}


def of(plugins, event_type, stored):
    """Return the payload that the bus gets, made from the one in the outbox.

    :param plugins: {resource type: plugin}; a reservation of another type has the common fields.
    """
    if 'lease_id' not in stored:
        return stored
    lease = wire.unpack(records.Lease, stored)
    status = _STATUS.get(event_type) or status_words.word_1_0(lease.state, None)

    def own_fields(reservation):
        plugin = plugins.get(reservation.resource_type)
        return {} if plugin is None else plugin.shown(reservation)

    return {'lease_id': lease.id, **lease_1_0.lease(lease, status, own_fields),
            'reason': lease.reason,
            **{name: moments.exactly(getattr(lease, name)) for name in _MOMENTS}}
