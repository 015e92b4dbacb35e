# SPDX-License-Identifier: Apache-2.0
"""Offers in the database. An offer holds resources for a project for a short time."""
import collections
import dataclasses

import sqlalchemy as sa

from climate import errors
from climate.db import allocations
from climate.db import tables
from climate.domain import records
from climate.domain import request_sizes

OFFERS = tables.OFFERS
_COLUMNS = tuple(column for column in OFFERS.c if column.name not in (
    'place', 'secrets', 'request_bytes'))

_NOW = sa.bindparam('now', type_=tables.UtcDateTime)
_HELD = OFFERS.c.place.is_not(None)
# The statement is built once, because it runs each second.
_OVER = (
    sa.select(OFFERS.c.id)
    .where(sa.or_(sa.and_(OFFERS.c.held_until <= _NOW, _HELD),
                  OFFERS.c.held_until <= sa.bindparam('forgotten', type_=tables.UtcDateTime)))
    .order_by(OFFERS.c.id))


def add(connection, offer, place):
    """Insert an offer.

    :param place: the number of the offer among those of its project.
    :raises Duplicate: an offer of the project has this place.
    """
    values = {column.name: getattr(offer, column.name) for column in _COLUMNS}
    values['request'] = [_part(request) for request in offer.request]
    values['secrets'] = {request.id: request.secrets
                         for request in offer.request if request.secrets}
    connection.execute(sa.insert(OFFERS).values(
        place=place, request_bytes=request_sizes.of_requests(offer.request), **values))
    connection.execute(sa.insert(tables.OFFER_RESERVATIONS), [
        {'offer_id': offer.id, 'reservation_id': request.id, 'resource_type': request.resource_type}
        for request in offer.request])


def get(connection, project_id, offer_id, locked=False):
    """Return an Offer of a project, with its allocations.

    :param locked: whether to lock its row until the transaction ends.
    :raises OfferNotFound: the project has no offer with that id.
    """
    statement = sa.select(OFFERS).where(OFFERS.c.id == offer_id,
                                        OFFERS.c.project_id == project_id)
    rows = connection.execute(statement.with_for_update() if locked else statement).all()
    if not rows:
        raise errors.OfferNotFound(offer_id=offer_id)
    return _whole(connection, rows)[0]


def held(connection, project_id):
    """Return {place: Offer without allocations} of the offers of a project that hold resources."""
    rows = connection.execute(sa.select(OFFERS).where(OFFERS.c.project_id == project_id, _HELD)
                              .order_by(OFFERS.c.held_until, OFFERS.c.id))
    return {row.place: _record(row) for row in rows}


def is_held(connection, offer_id):
    """Return whether the offer is still held, by any project."""
    return connection.execute(
        sa.select(OFFERS.c.id).where(OFFERS.c.id == offer_id, _HELD)).first() is not None


def expired(connection, now, forgotten):
    """Return the ids of the offers that have expired at `now` and still hold resources.

    Offers that expired before `forgotten` are listed even if they hold nothing.
    """
    return list(connection.execute(_OVER, {'now': now, 'forgotten': forgotten}).scalars())


def any_expired(connection, since, until):
    """Return whether an offer expired between two moments."""
    return connection.execute(
        sa.select(OFFERS.c.id).where(OFFERS.c.held_until > since, OFFERS.c.held_until <= until)
        .limit(1)).first() is not None


def lock(connection, ids):
    """Lock the offers with these ids that exist; return them with their allocations."""
    rows = connection.execute(sa.select(OFFERS).where(OFFERS.c.id.in_(list(ids)))
                              .order_by(OFFERS.c.id).with_for_update()).all()
    return _whole(connection, rows)


def release(connection, offers):
    """Release the resources that locked offers hold; the offers themselves stay."""
    _delete_allocations(connection, offers)
    connection.execute(sa.update(OFFERS).where(OFFERS.c.id.in_([offer.id for offer in offers]))
                       .values(place=None, secrets=None))


def delete(connection, offers):
    """Delete locked offers with their allocations."""
    _delete_allocations(connection, offers)
    connection.execute(sa.delete(OFFERS).where(OFFERS.c.id.in_([offer.id for offer in offers])))


def _delete_allocations(connection, offers):
    ids = [request.id for offer in offers if offer.allocations for request in offer.request]
    if ids:
        allocations.delete(connection, ids)


def allocations_of(connection, offers):
    """Return {offer id: tuple of its Allocations, in the order of its reservations}."""
    by_reservation = collections.defaultdict(tuple)
    for allocation in allocations.of_reservations(
            connection, [request.id for offer in offers for request in offer.request]):
        by_reservation[allocation.reservation_id] += (allocation,)
    return {offer.id: tuple(allocation for request in offer.request
                            for allocation in by_reservation[request.id])
            for offer in offers}


def _whole(connection, rows):
    offers = [_record(row) for row in rows]
    by_offer = allocations_of(connection, offers)
    return [dataclasses.replace(offer, allocations=by_offer[offer.id]) for offer in offers]


def _part(request):
    """Return a ReservationRequest as JSON, with labels only if it has any.

    Managers of an older release know no labels.
    """
    part = {'id': request.id, 'resource_type': request.resource_type,
            'request': dict(request.request)}
    if request.label:
        part['label'] = request.label
    if request.depends_on:
        part['depends_on'] = list(request.depends_on)
    return part


def _record(row):
    values = {column.name: row._mapping[column.name] for column in _COLUMNS}
    values['request'] = tuple(
        records.ReservationRequest(**{**part, 'depends_on': tuple(part.get('depends_on', ())),
                                      'secrets': records.Secrets(row.secrets.get(part['id'], {}))})
        for part in row.request)
    return records.Offer(**values, held=row.place is not None)
