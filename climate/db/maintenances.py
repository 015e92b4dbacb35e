# SPDX-License-Identifier: Apache-2.0
"""Maintenances in the database, with their windows and resources."""
import collections
import dataclasses

from oslo_utils import uuidutils
import sqlalchemy as sa

from climate import errors
from climate.db import pages
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import maintenance_windows

ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
MAINTENANCES = tables.MAINTENANCES
OF = tables.MAINTENANCE_RESOURCES
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
WINDOWS = tables.MAINTENANCE_WINDOWS
_WINDOW = (WINDOWS.c.id, WINDOWS.c.maintenance_id, WINDOWS.c.start, WINDOWS.c.end,
           WINDOWS.c.state, WINDOWS.c.claim_no)
_OWN = ('id', 'pool', 'start', 'end', 'reason', 'running', 'notice_minutes', 'rule', 'expanded_to',
        'user_id', 'created_at', 'closing')
# In a list, each window repeats the reason of its maintenance.
_SIZE = (256 + pages.length(MAINTENANCES.c.reason, MAINTENANCES.c.rule)
         + pages.of_others(OF.c.maintenance_id, MAINTENANCES.c.id, 64)
         + pages.of_others(WINDOWS.c.maintenance_id, MAINTENANCES.c.id, 1)
         * (128 + pages.length(MAINTENANCES.c.reason)))
_CLOSED = (maintenance_windows.CLOSING, maintenance_windows.RUNNING)
_OPEN = WINDOWS.c.state.in_(maintenance_windows.OPEN)


def add(connection, planned):
    """Insert a Maintenance with its resources and windows."""
    connection.execute(sa.insert(MAINTENANCES).values(
        **{name: getattr(planned, name) for name in _OWN}))
    connection.execute(sa.insert(OF), [
        {'maintenance_id': planned.id, 'resource_id': key} for key in planned.resource_ids])
    add_windows(connection, planned.windows)


def add_windows(connection, windows):
    """Insert MaintenanceWindows.

    :raises Duplicate: another manager added one of the windows at the same time.
    """
    if windows:
        connection.execute(sa.insert(WINDOWS), [
            {'id': window.id, 'maintenance_id': window.maintenance_id, 'start': window.start,
             'end': window.end, 'state': window.state, 'claim_no': 0} for window in windows])


def new_window(maintenance_id, span):
    """Return the record of a new window; nothing is written."""
    return maintenance_windows.MaintenanceWindow(
        uuidutils.generate_uuid(), maintenance_id, span.start, span.end)


def get(connection, maintenance_id, locked=False):
    """Return a Maintenance that is not over.

    :param locked: whether to lock its row until the transaction ends.
    :raises MaintenanceNotFound: there is none with that id, or it is over.
    """
    statement = sa.select(MAINTENANCES).where(MAINTENANCES.c.id == maintenance_id,
                                              MAINTENANCES.c.over.is_(False))
    rows = connection.execute(statement.with_for_update() if locked else statement).all()
    if not rows:
        raise errors.MaintenanceNotFound(maintenance_id=maintenance_id)
    return _whole(connection, rows)[0]


def find(connection, after=None, limit=None, most_bytes=None):
    """Return the Maintenances that are not over, by start and id.

    The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.

    :param after: the list begins after this Maintenance; None: with the first.
    """
    statement = (sa.select(MAINTENANCES).where(MAINTENANCES.c.over.is_(False))
                 .order_by(MAINTENANCES.c.start, MAINTENANCES.c.id).limit(limit))
    if after is not None:
        statement = statement.where(sa.or_(
            MAINTENANCES.c.start > after.start,
            sa.and_(MAINTENANCES.c.start == after.start, MAINTENANCES.c.id > after.id)))
    rows, end = pages.read(connection, statement, _SIZE, most_bytes)
    return _whole(connection, rows) + end


def touched(connection):
    """Return the ids of the resources that may be disabled for a maintenance now."""
    return frozenset(connection.execute(
        sa.select(OF.c.resource_id)
        .join_from(WINDOWS, OF, OF.c.maintenance_id == WINDOWS.c.maintenance_id)
        .where(WINDOWS.c.state.in_(maintenance_windows.TOUCHED))).scalars())


def under_way(connection, resource_ids, now):
    """Return {resource id: the beginning of its last window that is under way}.

    A window is under way until its resources are open again.
    """
    return _began(connection, resource_ids, now, _OPEN, sa.or_(
        WINDOWS.c.end > now, WINDOWS.c.state != maintenance_windows.PLANNED))


def begun(connection, resource_ids, now):
    """Return {resource id: the beginning of its last window that has begun, even if it is over}."""
    return _began(connection, resource_ids, now)


def _began(connection, resource_ids, now, *conditions):
    return dict(map(tuple, connection.execute(
        sa.select(OF.c.resource_id, sa.func.max(WINDOWS.c.start))
        .join_from(WINDOWS, OF, OF.c.maintenance_id == WINDOWS.c.maintenance_id)
        .where(OF.c.resource_id.in_(list(resource_ids)), WINDOWS.c.start <= now, *conditions)
        .group_by(OF.c.resource_id))))


def of_resources(connection, resource_ids):
    """Return {resource id: its open MaintenanceWindows with their reasons, by start}."""
    rows = connection.execute(
        sa.select(OF.c.resource_id, *_WINDOW, MAINTENANCES.c.reason)
        .join_from(OF, MAINTENANCES, MAINTENANCES.c.id == OF.c.maintenance_id)
        .join(WINDOWS, WINDOWS.c.maintenance_id == OF.c.maintenance_id)
        .where(OF.c.resource_id.in_(list(resource_ids)), _OPEN)
        .order_by(WINDOWS.c.start, WINDOWS.c.id))
    by_resource = collections.defaultdict(tuple)
    for resource_id, *values in rows:
        by_resource[resource_id] += (maintenance_windows.MaintenanceWindow(*values),)
    return by_resource


def expand(connection, locked, windows, expanded_to):
    """Add windows of a locked Maintenance that recurs.

    :param expanded_to: the moment up to which windows exist now; None: all windows exist.
    """
    add_windows(connection, windows)
    connection.execute(sa.update(MAINTENANCES).where(MAINTENANCES.c.id == locked.id)
                       .values(expanded_to=expanded_to))


def close(connection, locked):
    """Mark a locked Maintenance as being deleted; delete the windows that have not begun.

    Windows that have begun are over now. A manager that has claimed such a window notices this when
    its work on the window is done.
    """
    connection.execute(sa.delete(WINDOWS).where(WINDOWS.c.maintenance_id == locked.id,
                                                WINDOWS.c.state == maintenance_windows.PLANNED))
    connection.execute(sa.update(MAINTENANCES).where(MAINTENANCES.c.id == locked.id)
                       .values(closing=True))


def close_again(connection, window, now):
    """Order other running windows to close the resources that `window` has opened."""
    opened = sa.select(OF.c.resource_id).where(OF.c.maintenance_id == window.maintenance_id)
    _close_again(connection, now, OF.c.resource_id.in_(opened), WINDOWS.c.id != window.id)


def close_awake(connection, resource_id, now):
    """Order running windows to close a resource that was opened because it woke up."""
    _close_again(connection, now, OF.c.resource_id == resource_id)


def _close_again(connection, now, *conditions):
    window_ids = list(connection.execute(
        sa.select(WINDOWS.c.id).distinct()
        .join_from(WINDOWS, OF, OF.c.maintenance_id == WINDOWS.c.maintenance_id)
        .where(WINDOWS.c.state.in_(_CLOSED), WINDOWS.c.end > now, *conditions)).scalars())
    if window_ids:
        # A manager that is closing resources of a window may have passed this resource already. So
        # its claim is withdrawn, and the window is closed again from the start.
        connection.execute(sa.update(WINDOWS).where(
            WINDOWS.c.id.in_(window_ids), WINDOWS.c.state.in_(_CLOSED))
            .values(state=maintenance_windows.CLOSING, claim_no=WINDOWS.c.claim_no + 1))


def finish(connection, maintenance_id):
    """Mark a Maintenance as over if none of its windows is open and no further window follows."""
    still = sa.exists().where(WINDOWS.c.maintenance_id == MAINTENANCES.c.id, _OPEN)
    connection.execute(
        sa.update(MAINTENANCES)
        .where(MAINTENANCES.c.id == maintenance_id, ~still,
               sa.or_(MAINTENANCES.c.closing.is_(True), MAINTENANCES.c.expanded_to.is_(None)))
        .values(over=True))


def to_do(connection, now):
    """Return pairs (MaintenanceWindow, whether it is over) of windows that need a manager now.

    These windows have begun or are over, and no manager has a claim on them.
    """
    over = sa.or_(WINDOWS.c.end <= now, WINDOWS.c.state == maintenance_windows.OPENING,
                  MAINTENANCES.c.closing.is_(True))
    rows = connection.execute(
        sa.select(*_WINDOW, MAINTENANCES.c.reason, sa.case((over, 1), else_=0))
        .join_from(WINDOWS, MAINTENANCES, MAINTENANCES.c.id == WINDOWS.c.maintenance_id)
        .where(WINDOWS.c.start <= now, _OPEN,
               sa.or_(WINDOWS.c.state != maintenance_windows.RUNNING, over),
               sa.or_(WINDOWS.c.claimed_until.is_(None), WINDOWS.c.claimed_until <= now))
        .order_by(WINDOWS.c.start, WINDOWS.c.id))
    return [(maintenance_windows.MaintenanceWindow(*values), bool(is_over))
            for *values, is_over in rows]


def claim(connection, window, state, owner, until):
    """Claim a MaintenanceWindow for `owner` in a new state; return the claimed window.

    :raises LostRace: another manager has claimed it.
    """
    done = connection.execute(
        sa.update(WINDOWS)
        .where(WINDOWS.c.id == window.id, WINDOWS.c.claim_no == window.claim_no)
        .values(state=state, claim_owner=owner, claimed_until=until,
                claim_no=window.claim_no + 1))
    if done.rowcount != 1:
        raise errors.LostRace()
    return dataclasses.replace(window, state=state, claim_no=window.claim_no + 1)


def record(connection, window, state):
    """Write the next state of a claimed MaintenanceWindow, and release the claim.

    :raises LostRace: the claim was lost; nothing is written.
    """
    done = connection.execute(
        sa.update(WINDOWS)
        .where(WINDOWS.c.id == window.id, WINDOWS.c.claim_no == window.claim_no)
        .values(state=state, claim_owner=None, claimed_until=None))
    if done.rowcount != 1:
        raise errors.LostRace()


def resource_ids(connection, maintenance_id):
    """Return the ids of the resources of a maintenance, in order."""
    return list(connection.execute(sa.select(OF.c.resource_id).where(
        OF.c.maintenance_id == maintenance_id).order_by(OF.c.resource_id)).scalars())


def taken(connection, resource_ids, start, end):
    """Return the allocations of resources to future and running leases between two moments.

    :returns: rows (lease id, resource id, start, end), by the start of the lease.
    """
    return [tuple(row) for row in connection.execute(
        sa.select(LEASES.c.id, ALLOCATIONS.c.resource_id, ALLOCATIONS.c.start, ALLOCATIONS.c.end)
        .join_from(ALLOCATIONS, RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
        .where(ALLOCATIONS.c.resource_id.in_(list(resource_ids)),
               ALLOCATIONS.c.released_at.is_(None), ALLOCATIONS.c.end > start,
               ALLOCATIONS.c.start < end,
               LEASES.c.state.in_((lifecycle.PENDING, lifecycle.ACTIVE)),
               RESERVATIONS.c.state != lifecycle.RESERVATION_DELETED)
        .order_by(LEASES.c.start, LEASES.c.id, ALLOCATIONS.c.resource_id))]


def _whole(connection, rows):
    ids = [row.id for row in rows]
    if not ids:
        return []
    resources, windows = collections.defaultdict(list), collections.defaultdict(list)
    for key, resource_id, name in connection.execute(
            sa.select(OF.c.maintenance_id, OF.c.resource_id, RESOURCES.c.name)
            .join_from(OF, RESOURCES, RESOURCES.c.id == OF.c.resource_id)
            .where(OF.c.maintenance_id.in_(ids)).order_by(OF.c.resource_id)):
        resources[key].append((resource_id, name))
    reasons = {row.id: row.reason for row in rows}
    for row in connection.execute(
            sa.select(*_WINDOW).where(WINDOWS.c.maintenance_id.in_(ids), _OPEN)
            .order_by(WINDOWS.c.start)):
        windows[row.maintenance_id].append(
            maintenance_windows.MaintenanceWindow(*row, reason=reasons[row.maintenance_id]))
    return [maintenance_windows.Maintenance(
        **{name: row._mapping[name] for name in _OWN},
        resource_ids=tuple(key for key, _ in resources[row.id]),
        names=tuple(name for _, name in resources[row.id]), windows=tuple(windows[row.id]))
        for row in rows]
