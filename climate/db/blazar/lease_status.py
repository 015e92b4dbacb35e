# SPDX-License-Identifier: Apache-2.0
"""The states of Blazar's leases, and the reasons to leave one out. Pure."""
from climate.db.blazar import times
from climate.domain import lifecycle

#: States of leases: {Blazar's status: Climate's state}. Statuses such as STARTING remain only after
#: a crash of Blazar. The events that are still open then repeat the interrupted work.
STATES = {
    'PENDING': lifecycle.PENDING, 'ACTIVE': lifecycle.ACTIVE,
    'TERMINATED': lifecycle.TERMINATED, 'ERROR': lifecycle.ERROR,
    'CREATING': lifecycle.PENDING, 'STARTING': lifecycle.PENDING,
    'TERMINATING': lifecycle.ACTIVE, 'DELETING': lifecycle.ACTIVE,
}


def state(row, reservation_rows):
    """Return Climate's state of a lease, or None if its status is unknown."""
    if row['status'] == 'UPDATING':
        active = any(reservation['status'] == 'active' for reservation in reservation_rows)
        return lifecycle.ACTIVE if active else lifecycle.PENDING
    return STATES.get(row['status'])


def why_not(row, reservation_rows, state):
    """Return why a lease is left out, as a sentence; None if it is imported."""
    if state is None:
        return f'Its status is {row["status"]}.'
    if not row['project_id'] or not row['user_id']:
        return 'It has no owner.'
    if not (row['project_id'] + row['user_id']).isprintable():
        return 'The id of its owner has characters that cannot be printed.'
    start, end = times.moment(row['start_date']), times.moment(row['end_date'])
    if start is None or end is None:
        return f'Its dates are {row["start_date"]} and {row["end_date"]}.'
    return None if reservation_rows else 'It has no reservations.'
