# SPDX-License-Identifier: Apache-2.0
"""Whether a lease is exempt from being called idle, as a change of the lease may say."""
from climate.db import events
from climate.db import journal
from climate.domain import lease_events

_UNMARKED = {'idle_since': None, 'reclaim_at': None}


def changed(lease, changes):
    """Return {column: new value} of a lease after LeaseChanges; {} if its exemption stays.

    An exempt lease is not idle.
    """
    if changes.idle_exempt in (None, lease.idle_exempt):
        return {}
    return {'idle_exempt': changes.idle_exempt, **(_UNMARKED if changes.idle_exempt else {})}


def tell(connection, context, lease, changes, now):
    """Close the event that takes an exempt lease back, and add the change to its history."""
    if not changed(lease, changes):
        return
    if changes.idle_exempt:
        events.change(connection, lease.id, lease_events.reclaimed(lease, None), now)
    journal.note_limited(connection, lease.id, now, context.user_id or 'climate',
                         'exempt from idle' if changes.idle_exempt else 'not exempt from idle')
