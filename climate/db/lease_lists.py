# SPDX-License-Identifier: Apache-2.0
"""Lists of leases: the filters, the order and the page of a LeaseQuery."""
import sqlalchemy as sa

from climate import errors
from climate.db import leases
from climate.db import owner_names
from climate.db import pages
from climate.db import shares
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import status_words

ALLOCATIONS = tables.ALLOCATIONS
LEASES = tables.LEASES
RESERVATIONS = tables.RESERVATIONS
RESOURCES = tables.RESOURCES
# The bytes of a lease in a list, which has no secret fields.
_SIZE = (pages.length(LEASES.c.reason, LEASES.c.owner_reason)
         + pages.of_others(tables.RESERVATIONS.c.lease_id, LEASES.c.id, 256 + pages.length(
             tables.RESERVATIONS.c.request, tables.RESERVATIONS.c.binding))
         + pages.of_others(tables.EVENTS.c.lease_id, LEASES.c.id, 128)
         + pages.of_others(tables.ACQUISITIONS.c.lease_id, LEASES.c.id, pages.length(
             tables.ACQUISITIONS.c.plan, tables.ACQUISITIONS.c.notify_at)))


def find(connection, query, now):
    """Return the leases that a LeaseQuery selects, in its order, with the events that are shown.

    The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.

    :raises LeaseNotFound: the marker is not the id of a lease.
    """
    visible = _visible(connection, query, now)
    statement = _paged(connection, query, visible, [*visible, *_conditions(query, now)])
    rows, end = pages.read(connection, statement, _SIZE, query.most_bytes)
    return leases.whole(connection, rows, shown=True) + end


def has_resource(connection, name):
    """Return whether a pool has, or had, a resource with this name."""
    return connection.execute(
        sa.select(RESOURCES.c.id).where(RESOURCES.c.name == name).limit(1)).first() is not None


def _visible(connection, query, now):
    """Return the conditions that the project owns a lease, or that it is shared with the caller."""
    if query.project_id is None:
        return []
    own = LEASES.c.project_id == query.project_id
    # Most callers have no shares, so that an index on the project has the order of their leases.
    if query.receiver is None or not shares.any_for(connection, query.receiver, now):
        return [own]
    return [sa.or_(own, LEASES.c.id.in_(shares.leases_for(query.receiver, now)))]


def _conditions(query, now):
    columns = LEASES.c
    if not query.deleted:
        yield columns.deleted_at.is_(None)
    if query.name is not None:
        # The length is compared too, because MariaDB's = ignores spaces at the end.
        yield columns.name == query.name
        yield sa.func.char_length(columns.name) == len(query.name)
    if query.search is not None:
        yield _contains(query.search)
    if query.series_id is not None:
        yield columns.series_id == query.series_id
    if query.starts_before is not None:
        yield columns.start < query.starts_before
    if query.ends_after is not None:
        yield columns.end > query.ends_after
    if query.status is not None:
        yield sa.or_(*(sa.and_(*_status_conditions(*each, now))
                       for each in status_words.all_selected(query.status)))
    if query.idle:
        yield sa.and_(columns.idle_since.is_not(None), columns.state == lifecycle.ACTIVE)
    yield from _owner_conditions(query)
    yield from _reservation_conditions(query)


def _contains(text):
    """Return the condition that the name has a text in it, or the id begins with it."""
    # SQLite changes only ASCII letters to lower case, so the text itself is searched too.
    return sa.or_(sa.func.lower(LEASES.c.name).contains(text.lower(), autoescape=True),
                  LEASES.c.name.contains(text, autoescape=True),
                  LEASES.c.id.startswith(text.lower(), autoescape=True))


def _owner_conditions(query):
    for kind, wanted, column in ((owner_names.USER, query.owner, LEASES.c.user_id),
                                 (owner_names.PROJECT, query.project, LEASES.c.project_id)):
        if wanted is not None:
            yield (owner_names.called(kind, wanted, column) if query.by_names
                   else column == wanted)


def _reservation_conditions(query):
    """Yield the conditions about the reservations, and about the resources that they have.

    The times of a query with a resource are those of the allocation: a lease may have had the
    resource only for a part of its time.
    """
    if query.resource_type is not None:
        yield sa.exists().where(RESERVATIONS.c.lease_id == LEASES.c.id,
                                RESERVATIONS.c.resource_type == query.resource_type)
    if query.resource_id is None and query.resource is None:
        return
    wanted = (ALLOCATIONS.c.resource_id == query.resource_id if query.resource is None
              else ALLOCATIONS.c.resource_id.in_(
                  sa.select(RESOURCES.c.id).where(RESOURCES.c.name == query.resource)))
    allocated = sa.select(RESERVATIONS.c.lease_id).join_from(
        ALLOCATIONS, RESERVATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id).where(wanted)
    released = ALLOCATIONS.c.released_at
    if query.starts_before is not None or query.ends_after is not None:
        # An allocation that was released before it began never counts.
        allocated = allocated.where(sa.or_(released.is_(None), released > ALLOCATIONS.c.start))
    if query.starts_before is not None:
        allocated = allocated.where(ALLOCATIONS.c.start < query.starts_before)
    if query.ends_after is not None:
        allocated = allocated.where(ALLOCATIONS.c.end > query.ends_after)
    yield LEASES.c.id.in_(allocated)


def _status_conditions(status, state, task, now):
    if task is not None:
        yield LEASES.c.task == task
        return
    yield LEASES.c.state == state
    yield LEASES.c.task.is_(None)
    if status == status_words.TO_BE_STARTED:
        yield LEASES.c.start <= now
    elif state == lifecycle.PENDING and status != status_words.word_1_0(state, None):
        # REST 1.1 has two words for this state; the one of REST 1.0 means both.
        yield LEASES.c.start > now


def _sort_key(name, query):
    """Return the expression for a key of the order."""
    columns = LEASES.c
    if name == 'status':
        return sa.case(
            *((columns.task == task, rank) for task, rank in status_words.TASK_RANKS.items()),
            *((columns.state == state, rank) for state, rank in status_words.STATE_RANKS.items()))
    if name == 'owner':
        return owner_names.shown(owner_names.USER, columns.user_id) if query.by_names else (
            columns.user_id)
    if name == 'project':
        return owner_names.shown(owner_names.PROJECT, columns.project_id) if query.by_names else (
            columns.project_id)
    return columns[name]


def _paged(connection, query, visible, conditions):
    """Return the statement that reads the page of a query of the leases that meet conditions.

    :param visible: the conditions that the caller may see a lease, for the marker.
    """
    # The id makes the order total, so that a marker names exactly one position. It has the
    # direction of the last key, so that an index can be read backwards.
    keys = [(_sort_key(name, query), up) for name, up in query.sort]
    keys.append((LEASES.c.id, keys[-1][1] if keys else True))
    # deleted_at is NULL for all leases that are not deleted. It is a sort key only because
    # PostgreSQL then recognizes the order of an index.
    first = [] if query.deleted else [(LEASES.c.deleted_at, keys[0][1])]
    order = [key.asc() if up else key.desc() for key, up in first + keys]
    if query.marker is not None:
        conditions += _beyond(connection, query, keys, visible)
    if query.limit is None:
        return leases.SELECT.where(*conditions).order_by(*order)
    # Only ids are sorted. SQLite would compute and sort the columns of all leases that meet the
    # conditions, if no index has the order.
    page = sa.select(LEASES.c.id).where(*conditions).order_by(*order).limit(query.limit).subquery()
    return leases.SELECT.join(page, page.c.id == LEASES.c.id).order_by(*order)


def _beyond(connection, query, keys, visible):
    """Return the conditions that a lease comes after the marker of a query.

    :raises LeaseNotFound: the marker is not the id of a lease.
    """
    marker = connection.execute(
        sa.select(*(key for key, _ in keys)).where(
            LEASES.c.id == query.marker, *visible)).one_or_none()
    if marker is None:
        raise errors.LeaseNotFound(lease_id=query.marker)
    beyond, same = [], []
    for (key, up), value in zip(keys, marker, strict=True):
        beyond.append(sa.and_(*same, key > value if up else key < value))
        same.append(key == value)
    # The condition on the first key is redundant, but lets an index find the position.
    (key, up), value = keys[0], marker[0]
    return key >= value if up else key <= value, sa.or_(*beyond)
