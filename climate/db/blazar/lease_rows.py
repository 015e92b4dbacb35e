# SPDX-License-Identifier: Apache-2.0
"""The rows that Blazar would have of a lease of Climate. Pure."""
import collections
import datetime

from climate.db.blazar import reservation_rows
from climate.db.blazar import row_changes
from climate.domain import event_kinds
from climate.domain import lifecycle

_EVENTS = (event_kinds.START, event_kinds.BEFORE_END, event_kinds.END)
_MINUTE = datetime.timedelta(minutes=1)


class LeaseRows:
    """The present rows of leases in a ``source.Source``, and the wanted ones.

    :param blazar_ids: {id of a resource in Climate: its id in Blazar}.
    :param bindings: {reservation id: the binding with the objects that were created for an export}.
    """

    def __init__(self, source, blazar_ids, bindings):
        self._leases = {row['id']: row for row in source.rows('leases')}
        self._events = source.grouped('events', 'lease_id')
        self._reservations = source.grouped('reservations', 'lease_id')
        self._details = reservation_rows.ReservationRows(source, blazar_ids, bindings)

    def present(self, lease_id):
        """Return {table: the rows of a lease that Blazar has}."""
        rows = collections.defaultdict(list)
        if lease_id in self._leases:
            rows['leases'].append(self._leases[lease_id])
        rows['events'] += self._events[lease_id]
        for reservation in self._reservations[lease_id]:
            rows['reservations'].append(reservation)
            self._details.add_present(reservation['id'], rows)
        return rows

    def wanted(self, lease):
        """Return {table: the rows that Blazar would have of a Lease}."""
        rows = collections.defaultdict(list)
        is_over = lease.state == lifecycle.TERMINATED
        start, end = whole_minutes(lease)
        rows['leases'].append({
            'id': lease.id, 'name': lease.name, 'project_id': lease.project_id,
            'user_id': lease.user_id, 'start_date': start, 'end_date': end,
            # Climate deletes the trust of a lease that is over. Without a trust, Blazar acts as its
            # own service user, which can delete such a lease.
            'trust_id': None if is_over else lease.trust_id, 'status': lease.state,
            'degraded': lease.degraded, 'created_at': lease.created_at})
        rows['events'] += self._wanted_events(lease, start, end)
        for reservation in lease.reservations if is_over else lease.open_reservations:
            self._details.add_wanted(lease, reservation, rows)
        return rows

    def _wanted_events(self, lease, start, end):
        """Yield the rows of the events of a lease. Blazar needs a start and an end."""
        moments = {event_kinds.START: start, event_kinds.END: end}
        present = self._events[lease.id]
        for kind in _EVENTS:
            event = lease.event(kind)
            if event is None and kind not in moments:
                continue
            known = [row['id'] for row in present if row['event_type'] == kind]
            key = event.id if event is not None else row_changes.new_id('events', lease.id, kind)
            yield {'id': known[0] if known and key not in known else key, 'lease_id': lease.id,
                   'event_type': kind, 'status': _event_status(lease, kind, event),
                   'time': moments.get(kind) or _floor(event.at)}
        yield from ({'id': row['id']} for row in present if row['event_type'] not in _EVENTS)


def whole_minutes(lease):
    """Return (start, end) of a lease for Blazar, which counts in minutes.

    Blazar refuses to change a running lease whose start has seconds.
    """
    start = _floor(lease.start)
    return start, max(_floor(lease.end), start + _MINUTE)


def _floor(moment):
    return moment.replace(second=0, microsecond=0)


def _event_status(lease, kind, event):
    """Return the status with which Blazar continues a lease in this state."""
    if lease.state == lifecycle.TERMINATED:
        return lifecycle.EVENT_DONE
    if kind == event_kinds.END or lease.state == lifecycle.PENDING:
        return lifecycle.EVENT_UNDONE
    is_done = event is not None and event.status == lifecycle.EVENT_DONE
    if kind == event_kinds.START:
        return (lifecycle.EVENT_DONE if is_done or lease.state == lifecycle.ACTIVE
                else lifecycle.EVENT_ERROR)
    return lifecycle.EVENT_DONE if is_done else lifecycle.EVENT_UNDONE
