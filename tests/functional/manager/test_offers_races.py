# SPDX-License-Identifier: Apache-2.0
"""Several actions on one offer, or for one project, at the same moment.

CLIMATE_RACE_ROUNDS says how often it is tried; a few times by default.
"""
import collections
import functools
import os

import acts
import pytest
import sqlalchemy as sa
from support import builders
from support import simultaneous

from climate import errors
from climate.db import tables
from climate.domain import records

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
_ROUNDS = int(os.environ.get('CLIMATE_RACE_ROUNDS') or 3)
_CALLERS = 6


at_once = functools.partial(simultaneous.at_once, caught=errors.ClimateError)


def owners(manager):
    """Return the owners of the allocations: [(resource id, 'offer' or 'lease')].

    It fails for an allocation of neither an offer nor a lease, and for two of one resource.
    """
    with manager.database.reader() as connection:
        offered = {each['id'] for row in connection.execute(sa.select(tables.OFFERS))
                   if row.place is not None for each in row.request}
        leased = set(connection.execute(sa.select(tables.RESERVATIONS.c.id)).scalars())
        given = connection.execute(sa.select(tables.ALLOCATIONS).where(
            tables.ALLOCATIONS.c.released_at.is_(None))).all()
    assert not offered & leased
    assert {row.reservation_id for row in given} <= offered | leased
    found = sorted((row.resource_id, 'offer' if row.reservation_id in offered else 'lease')
                   for row in given)
    assert len({key for key, _ in found}) == len(found)
    return found


def leases(outcomes):
    return [each for each in outcomes if isinstance(each, records.Lease)]


def clear(manager):
    """Delete all leases and offers, so that all hosts are free."""
    with manager.database.writer() as connection:
        for table in (tables.ALLOCATIONS, tables.OFFERS, tables.LEASES):
            connection.execute(sa.delete(table))


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_one_of_several_concurrent_requests_gets_an_offer(manager):
    manager.enrol(2)
    for _ in range(_ROUNDS):
        offer = manager.hold(builders.a_lease(builders.hosts(2)))
        outcomes = at_once(*[lambda offer=offer: manager.take(offer)] * _CALLERS)
        [lease] = leases(outcomes)
        assert outcomes.count(errors.OfferNotFound) == _CALLERS - 1
        assert {kind for _, kind in owners(manager)} == {'lease'}
        assert len(acts.trusts(manager)) == 1
        manager.delete(lease)
        manager.run()
        clear(manager)


def test_concurrent_copies_of_a_request_get_the_same_lease(manager):
    manager.enrol(1)
    for number in range(_ROUNDS):
        offer = manager.hold(builders.a_lease())
        outcomes = at_once(*[lambda offer=offer, key=str(number): manager.take(
            offer, idempotency_key=key, request_hash='h')] * _CALLERS)
        assert len({each.id for each in leases(outcomes)}) == 1
        assert len(leases(outcomes)) == _CALLERS
        clear(manager)


def test_an_offer_that_is_taken_given_back_and_expires_at_once_has_one_fate(manager):
    manager.enrol(1)
    member = builders.a_member()
    other = acts.Second(manager)
    for _ in range(_ROUNDS):
        offer = manager.hold(builders.a_lease(end=NOON + hours(9)))
        # By the clock of that manager its time is over.
        other.clock = lambda moment=offer.held_until: moment
        taken, given_back, *expired = at_once(
            lambda offer=offer: manager.take(offer),
            lambda offer=offer: manager.client.delete_offer(member, offer.id),
            other.expire, other.expire)
        assert (taken in [errors.OfferExpired, errors.OfferNotFound]) == (owners(manager) == [])
        fates = [bool(leases([taken])), sum(each for each in expired) == 1]
        assert sum(fates) <= 1
        assert any(fates) or given_back is None
        clear(manager)


def test_an_offer_that_expires_while_others_want_its_host_is_followed_by_one_of_them(manager):
    manager.enrol(1)
    others = builders.a_member('eve', 'other')
    for _ in range(_ROUNDS):
        manager.hold(builders.a_lease(end=NOON + hours(9)))
        manager.clock.advance(minutes(2))
        wanted = builders.a_lease(start=manager.clock() + hours(1),
                                  end=manager.clock() + hours(2))
        outcomes = at_once(manager.expire, *[lambda wanted=wanted: manager.create(
            wanted, others)] * 3)
        assert len(leases(outcomes)) == 1
        assert [kind for _, kind in owners(manager)] == ['lease']
        clear(manager)


def test_one_host_is_offered_once_or_leased_once(manager):
    manager.enrol(1)
    wanted = builders.a_lease()
    for _ in range(_ROUNDS):
        outcomes = at_once(*[lambda: manager.hold(wanted)] * 3,
                           *[lambda: manager.create(wanted)] * 3)
        assert len([each for each in outcomes if not isinstance(each, type)]) == 1
        assert len(owners(manager)) == 1
        clear(manager)


def test_a_project_that_asks_several_times_at_once_holds_no_more_than_it_may(manager):
    manager.enrol(8)
    for _ in range(_ROUNDS):
        outcomes = at_once(*[lambda: manager.hold(builders.a_lease(), most=3)] * _CALLERS)
        found = collections.Counter(each if isinstance(each, type) else 'held'
                                    for each in outcomes)
        assert found == {'held': 3, errors.TooManyOffers: _CALLERS - 3}
        assert len(owners(manager)) == 3
        clear(manager)


@pytest.mark.usefixtures('each_lease_has_a_trust')
@pytest.mark.parametrize('deed', ['hold', 'take', 'expire', 'delete'])
def test_a_transaction_that_the_database_broke_is_repeated(manager, conf, database, deed):
    manager.enrol(1)
    breaking = acts.Breaking(database.engine.url.render_as_string(hide_password=False))
    # Of a lease, the trust is recorded first.
    breaking.spares = int(deed == 'take')
    other = builders.Manager(conf, breaking, manager.clock, manager.cloud)
    offer = None if deed == 'hold' else manager.hold(builders.a_lease(end=NOON + hours(2)))
    if deed == 'hold':
        assert other.hold(builders.a_lease()).allocations
    elif deed == 'take':
        assert other.take(offer).reservations[0].resource_ids
    elif deed == 'expire':
        manager.clock.advance(minutes(2))
        assert other.expire() == 1
    else:
        other.client.delete_offer(builders.a_member(), offer.id)
    assert breaking.breaks == 0
    assert owners(manager) == {'hold': [(1, 'offer')], 'take': [(1, 'lease')]}.get(deed, [])
    breaking.dispose()
