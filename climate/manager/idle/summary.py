# SPDX-License-Identifier: Apache-2.0
"""The weekly notification that tells owners which of their leases are idle."""
from climate.db import engine
from climate.db import idle_leases
from climate.db import journal
from climate.db import managers
from climate.domain import idle
from climate.rpc import wire

# The event type of the notification, which each owner gets once for each project.
_EVENT_TYPE = 'project.idle_summary'
_WORK = 'idle summary'
_FIELDS = ('id', 'name', 'idle_since', 'reclaim_at', 'end')


def publish(core, now):
    """Write the notifications of this week into the outbox, once; return their number.

    The transaction that writes the notifications also claims the week.
    """
    week = idle.week_of(now)
    with core.database.reader() as connection:
        last = managers.last_slot(connection, _WORK)
    if last is not None and last >= week:
        return 0
    try:
        with core.database.writer() as connection:
            if not managers.take_slot(connection, _WORK, week):
                return 0
            payloads = [_payload(owner, rows, week)
                        for owner, rows in idle_leases.by_owner(connection).items()]
            if payloads:
                journal.publish(connection, now, _EVENT_TYPE, payloads)
    except engine.Duplicate:
        return 0
    return len(payloads)


def _payload(owner, rows, week):
    project_id, user_id = owner
    return {'project_id': project_id, 'user_id': user_id, 'week': wire.pack(week),
            'leases': [{name: wire.pack(getattr(row, name)) for name in _FIELDS}
                       for row in rows]}
