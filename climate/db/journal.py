# SPDX-License-Identifier: Apache-2.0
"""The history of leases and the outbox of notifications, written in the transaction of a change."""
import re

import sqlalchemy as sa

from climate.db import engine
from climate.db import pages
from climate.db import tables
from climate.db import wakeups
from climate.domain import event_kinds
from climate.domain import records
from climate.domain import texts

HISTORY = tables.HISTORY
OUTBOX = tables.OUTBOX

# Frequent statements are built once. They use inline(), because the ids of new rows are not needed.
_NOTE = sa.insert(HISTORY).inline()
_PUBLISH = sa.insert(OUTBOX).inline()
_IDS = OUTBOX.c.id.in_(sa.bindparam('ids'))
_FREE = sa.or_(OUTBOX.c.claimed_until.is_(None), OUTBOX.c.claimed_until <= sa.bindparam('now'))
# The key is whether the database can skip locked rows.
_OLDEST = {skips: sa.select(OUTBOX.c.id).where(_FREE, OUTBOX.c.fanned_out).order_by(OUTBOX.c.id)
           .limit(sa.bindparam('limit', type_=sa.Integer)).with_for_update(skip_locked=skips)
           for skips in (False, True)}
_NOT_FANNED_OUT = {
    skips: sa.select(OUTBOX.c.id).where(sa.not_(OUTBOX.c.fanned_out)).order_by(OUTBOX.c.id)
    .limit(sa.bindparam('limit', type_=sa.Integer)).with_for_update(skip_locked=skips)
    for skips in (False, True)}
_CONTENTS = (sa.select(OUTBOX.c.id, OUTBOX.c.at, OUTBOX.c.event_type, OUTBOX.c.payload)
             .where(_IDS).order_by(OUTBOX.c.id))
_ANY_NOT_FANNED_OUT = sa.select(OUTBOX.c.id).where(sa.not_(OUTBOX.c.fanned_out)).limit(1)
_COUNT_NOT_FANNED_OUT = sa.select(sa.func.count()).where(
    sa.not_(OUTBOX.c.fanned_out), OUTBOX.c.id <= sa.bindparam('last'))
_FANNED_OUT = sa.update(OUTBOX).where(_IDS).values(fanned_out=True)
_CLAIM = sa.update(OUTBOX).where(_IDS, _FREE)
_CLAIMED = (
    sa.select(OUTBOX.c.id, OUTBOX.c.event_type, OUTBOX.c.payload)
    .where(_IDS, OUTBOX.c.claim_owner == sa.bindparam('owner'),
           OUTBOX.c.claimed_until == sa.bindparam('until'))
    .order_by(OUTBOX.c.id))
_SENT = sa.delete(OUTBOX).where(_IDS)
_ANY = sa.select(OUTBOX.c.id).limit(1)
_LAST = (
    sa.select(HISTORY.c.id, HISTORY.c.at, HISTORY.c.who, HISTORY.c.why)
    .where(HISTORY.c.lease_id == sa.bindparam('of_lease'), HISTORY.c.what == sa.bindparam('kind'))
    .order_by(HISTORY.c.id.desc()).limit(1))
_SINCE = (sa.select(HISTORY.c.what, HISTORY.c.why)
          .where(HISTORY.c.lease_id == sa.bindparam('of_lease'),
                 HISTORY.c.at >= sa.bindparam('earliest'), HISTORY.c.why.is_not(None)))
#: The maximum number of entries of one kind in a history, for kinds that users can repeat.
MOST_OF_A_KIND = 1_000
_OF_KIND = sa.and_(HISTORY.c.lease_id == sa.bindparam('of_lease'),
                   HISTORY.c.what == sa.bindparam('kind'))
_BEYOND = (sa.select(HISTORY.c.id).where(_OF_KIND).order_by(HISTORY.c.id.desc())
           .offset(sa.bindparam('most', type_=sa.Integer)).limit(1))
_FORGET = sa.delete(HISTORY).where(_OF_KIND, HISTORY.c.id <= sa.bindparam('last'))

# Entries that managers add after a change of a lease.
_FOLLOWING = {'update': (event_kinds.UPDATE, event_kinds.NOTIFY)}

# The maximum number of characters of a list in one entry.
_PAGE = 4_000

_LINE = tables.columns(HISTORY, records.HistoryLine)
# The parts of a text that differ between repetitions of a problem: moments, and ids of requests to
# other services.
_VARYING = re.compile(r'\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?|req-[0-9a-f-]{36}')


def note(connection, lease_id, now, who, what, why=None):
    """Add an entry to the history of a lease.

    :param why: a ``texts.Text``, or None.
    """
    note_all(connection, [lease_id], now, who, what, why)


def note_limited(connection, lease_id, now, who, what, why=None):
    """Add an entry for something that a user may do any number of times.

    If there are more than `MOST_OF_A_KIND` entries of this kind, or of a kind that managers add
    after it, the oldest are deleted.
    """
    note(connection, lease_id, now, who, what, why)
    for kind in (what, *_FOLLOWING.get(what, ())):
        last = connection.execute(_BEYOND, {'of_lease': lease_id, 'kind': kind,
                                            'most': MOST_OF_A_KIND}).scalar()
        if last is not None:
            connection.execute(_FORGET, {'of_lease': lease_id, 'kind': kind, 'last': last})


def note_all(connection, lease_ids, now, who, what, why=None):
    """Add the same entry to the history of several leases."""
    _insert_notes(connection, now, who, what, [(lease_id, why) for lease_id in lease_ids])


def note_each(connection, lease_id, now, who, what, reasons):
    """Add an entry for each reason, a ``texts.Text``, to the history of a lease."""
    _insert_notes(connection, now, who, what, [(lease_id, why) for why in reasons])


def note_by_lease(connection, now, who, what, reasons):
    """Add an entry to the history of each lease of {lease id: its reason, a ``texts.Text``}."""
    _insert_notes(connection, now, who, what, reasons.items())


def note_list(connection, lease_id, now, who, what, because, items):
    """Add a list of items to the history, in entries of limited length.

    :param items: texts that the owner may read.
    """
    pages = [[]]
    for text in items:
        if pages[-1] and sum(map(len, pages[-1])) + len(text) > _PAGE:
            pages.append([])
        pages[-1].append(text)
    note_each(connection, lease_id, now, who, what,
              [texts.same(f'{because}: {"; ".join(page)}') for page in pages])


def since(connection, lease_id, earliest):
    """Return {what: [why]} of the entries of a lease from the moment `earliest` on."""
    by_kind = {}
    for what, why in connection.execute(_SINCE, {'of_lease': lease_id, 'earliest': earliest}):
        by_kind.setdefault(what, []).append(why)
    return by_kind


def last(connection, lease_id, what):
    """Return the last entry of the kind `what` of a lease, with id, at, who and why; or None."""
    return connection.execute(_LAST, {'of_lease': lease_id, 'kind': what}).one_or_none()


def note_if_new(connection, lease_id, now, who, what, why):
    """Add an entry unless the last entry of the kind `what` has the same text.

    So a lasting problem is recorded only once. Dates and ids of requests in the text are ignored in
    the comparison.
    """
    entry = last(connection, lease_id, what)
    if entry is None or _constant(entry.why) != _constant(why and why.operator):
        note(connection, lease_id, now, who, what, why)


def replace(connection, lease_id, earliest, what, before, after):
    """Replace the text of the last entry of the kind `what`, if it is `before`, with `after`.

    Dates and ids of requests are ignored in the comparison, as in `note_if_new`. The texts are
    ``texts.Text``.

    :param earliest: an older entry is not replaced.
    :returns: whether the text was replaced.
    """
    entry = last(connection, lease_id, what)
    if entry is None or entry.at < earliest or _constant(entry.why) != _constant(before.operator):
        return False
    connection.execute(sa.update(HISTORY).where(HISTORY.c.id == entry.id)
                       .values(**texts.columns('why', after)))
    return True


def history(connection, lease_id, marker=None, limit=None, most_bytes=None):
    """Return the history of a lease in order, as HistoryLines.

    The last item is ``pages.EARLY_END`` if the limit of bytes ends the page early.

    :param marker: only entries after the entry with this id.
    """
    statement = sa.select(*_LINE).where(HISTORY.c.lease_id == lease_id)
    if marker is not None:
        statement = statement.where(HISTORY.c.id > marker)
    rows, end = pages.read(
        connection, statement.order_by(HISTORY.c.id).limit(limit),
        256 + pages.length(HISTORY.c.why, HISTORY.c.owner_why), most_bytes)
    return [records.HistoryLine(**row._mapping) for row in rows] + end


def publish(connection, now, event_type, payloads):
    """Write notifications of a type to the outbox. Each notification is sent at least once."""
    connection.execute(_PUBLISH, [{'at': now, 'event_type': event_type, 'payload': payload}
                                  for payload in payloads])
    wakeups.after_commit(connection, wakeups.OUTBOX)


def lock_not_fanned_out(connection, limit):
    """Lock the oldest notifications that are not copied to the subscriptions; return their ids.

    Return no id if another transaction has locked one of them: if two transactions copied
    notifications at the same time, those of one lease could change their order.
    """
    ids = list(connection.execute(
        _NOT_FANNED_OUT[engine.skips_locked(connection)], {'limit': limit}).scalars())
    if ids and connection.execute(_COUNT_NOT_FANNED_OUT, {'last': ids[-1]}).scalar() > len(ids):
        return []
    return ids


def contents(connection, ids):
    """Return [(id, at, event_type, payload)] of notifications of the outbox, by id."""
    return [tuple(row) for row in connection.execute(_CONTENTS, {'ids': list(ids)})]


def any_not_fanned_out(connection):
    """Return whether a notification of the outbox waits to be copied to the subscriptions."""
    return connection.execute(_ANY_NOT_FANNED_OUT).scalar() is not None


def fanned_out(connection, ids):
    """Record that these notifications are copied to the subscriptions."""
    connection.execute(_FANNED_OUT, {'ids': list(ids)})
    wakeups.after_commit(connection, wakeups.COPIED)


def unsent(connection, owner, now, until, limit):
    """Claim the oldest notifications without a claim; return [(id, event_type, payload)].

    Only notifications that are copied to the subscriptions are claimed, because a notification is
    deleted once it is sent.
    """
    ids = list(connection.execute(_OLDEST[engine.skips_locked(connection)],
                                  {'now': now, 'limit': limit}).scalars())
    if not ids:
        return []
    connection.execute(_CLAIM, {'ids': ids, 'now': now, 'claim_owner': owner,
                                'claimed_until': until})
    rows = connection.execute(_CLAIMED, {'ids': ids, 'owner': owner, 'until': until})
    return [tuple(row) for row in rows]


def leave(connection, owner, ids):
    """Release the claims of `owner` on notifications that it could not send."""
    if ids:
        connection.execute(sa.update(OUTBOX)
                           .where(OUTBOX.c.id.in_(list(ids)), OUTBOX.c.claim_owner == owner)
                           .values(claim_owner=None, claimed_until=None))


def has_unsent(connection):
    """Return whether the outbox has a notification."""
    return connection.execute(_ANY).scalar() is not None


def _constant(text):
    return text and _VARYING.sub('', text)


def _insert_notes(connection, now, who, what, lease_ids_and_reasons):
    connection.execute(_NOTE, [
        {'lease_id': lease_id, 'at': now, 'who': who, 'what': what, **texts.columns('why', why)}
        for lease_id, why in lease_ids_and_reasons])


def sent(connection, ids):
    """Delete notifications that were sent."""
    if ids:
        connection.execute(_SENT, {'ids': list(ids)})
