# SPDX-License-Identifier: Apache-2.0
"""Offers in the database: what is held for a project until it takes it, for a short while."""
import collections

import sqlalchemy as sa

from climate import errors
from climate.db import allocations
from climate.db import tables
from climate.domain import records

OFFERS = tables.OFFERS
_COLUMNS = tuple(column for column in OFFERS.c if column.name != 'place')

_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
_HELD = OFFERS.c.place.is_not(None)
# Asked each second, so it is built once.
_OVER = (
    sa.select(OFFERS.c.id)
    .where(sa.or_(sa.and_(OFFERS.c.held_until <= _NOW, _HELD),
                  OFFERS.c.held_until <= sa.bindparam('forgotten', type_=tables.UtcDateTime)))
    .order_by(OFFERS.c.id))


def add(connection, offer, place):
    """Write a new offer at a place of its project; a place that another has is a duplicate."""
    values = {column.name: getattr(offer, column.name) for column in _COLUMNS}
    values['request'] = [{'id': each.id, 'resource_type': each.resource_type,
                          'request': dict(each.request)} for each in offer.request]
    connection.execute(sa.insert(OFFERS).values(place=place, **values))


def get(connection, project_id, offer_id, locked=False):
    """The Offer of a project, with what is held.

    :param locked: lock its row until the transaction ends.
    :raises OfferNotFound: the project has none of that id.
    """
    statement = sa.select(OFFERS).where(OFFERS.c.id == offer_id,
                                        OFFERS.c.project_id == project_id)
    rows = connection.execute(statement.with_for_update() if locked else statement).all()
    if not rows:
        raise errors.OfferNotFound(offer_id=offer_id)
    return _whole(connection, rows)[0]


def held(connection, project_id):
    """{place: the Offer without what is held} of those that a project holds."""
    rows = connection.execute(sa.select(OFFERS).where(OFFERS.c.project_id == project_id, _HELD)
                              .order_by(OFFERS.c.held_until, OFFERS.c.id))
    return {row.place: _record(row) for row in rows}


def over(connection, now, forgotten):
    """The ids of those whose time is over at `now` and that hold something yet.

    And of all those whose time was over at `forgotten` already.
    """
    return list(connection.execute(_OVER, {'now': now, 'forgotten': forgotten}).scalars())


def were_over(connection, since, until):
    """True where the time of an offer was over between two moments, whatever it holds."""
    return connection.execute(
        sa.select(OFFERS.c.id).where(OFFERS.c.held_until > since, OFFERS.c.held_until <= until)
        .limit(1)).first() is not None


def lock(connection, ids):
    """Those of the offers that are there, whole and locked."""
    rows = connection.execute(sa.select(OFFERS).where(OFFERS.c.id.in_(list(ids)))
                              .order_by(OFFERS.c.id).with_for_update()).all()
    return _whole(connection, rows)


def let_go(connection, offers):
    """Hold what locked offers hold no more; their rows stay."""
    _forget_promises(connection, offers)
    connection.execute(sa.update(OFFERS).where(OFFERS.c.id.in_([each.id for each in offers]))
                       .values(place=None))


def delete(connection, offers):
    """Forget locked offers, with what they hold."""
    _forget_promises(connection, offers)
    connection.execute(sa.delete(OFFERS).where(OFFERS.c.id.in_([each.id for each in offers])))


def _forget_promises(connection, offers):
    ids = [each.id for offer in offers if offer.promises for each in offer.request]
    if ids:
        allocations.delete(connection, ids)


def _whole(connection, rows):
    offers = [_record(row) for row in rows]
    promised = collections.defaultdict(tuple)
    for given in allocations.of_reservations(
            connection, [each.id for offer in offers for each in offer.request]):
        promised[given.reservation_id] += (given,)
    return [records.Offer(**{**vars(offer), 'promises': tuple(
        given for each in offer.request for given in promised[each.id])}) for offer in offers]


def _record(row):
    values = {column.name: row._mapping[column.name] for column in _COLUMNS}
    values['request'] = tuple(records.ReservationRequest(**each) for each in row.request)
    return records.Offer(**values, held=row.place is not None)
