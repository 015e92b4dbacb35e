# SPDX-License-Identifier: Apache-2.0
"""Offers hold resources for a project for a while, and a lease is made of one."""
import decimal

import acts
import pytest
from support import billing_cases as cases
from support import builders
from support import db_rows

from climate import errors
from climate.db import migrate
from climate.db import tables
from climate.domain import interval
from climate.domain import lifecycle
from climate.domain import records

NOON, hours, minutes, seconds = builders.NOON, builders.hours, builders.minutes, builders.seconds
EVE = builders.a_member('eve', 'other')


def ids(offer):
    """The ids of the resources that an offer holds, each once for each copy."""
    return sorted(given.resource_id for given in offer.allocations for _ in range(given.copies))


def given(lease):
    return sorted(key for each in lease.reservations for key in each.resource_ids)


def is_free(manager, count=1):
    """Return whether another project could book that number of hosts at this moment."""
    try:
        manager.create(builders.a_lease(builders.hosts(count), end=manager.clock() + hours(1),
                                        dry_run=True), EVE)
    except errors.NotEnough:
        return False
    return True


@pytest.fixture
def rows(manager):
    """Ask for all rows of a table."""
    def ask(table):
        with manager.database.reader() as connection:
            return connection.execute(table.select()).all()
    return ask


def test_a_lease_gets_the_resources_of_its_offer(manager):
    manager.enrol(4)
    offer = manager.hold(builders.a_lease(builders.hosts(2)))
    assert offer.held_until == NOON + minutes(2)
    manager.clock.advance(seconds(100))
    lease = manager.take(offer)
    assert given(lease) == ids(offer)
    assert (lease.start, lease.end) == (NOON + seconds(100), offer.end)
    assert [each.id for each in lease.reservations] == [each.id for each in offer.request]
    manager.expect(lease, lifecycle.ACTIVE)
    manager.run_until(NOON + hours(2))
    assert acts.is_clean(manager, 4)


def test_nobody_else_gets_what_is_held_for_a_project(manager):
    manager.enrol(2)
    manager.hold(builders.a_lease(builders.hosts(2)))
    with pytest.raises(errors.NotEnough):
        manager.create(builders.a_lease(), EVE)
    with pytest.raises(errors.NotEnough):
        manager.hold(builders.a_lease(), EVE)
    assert manager.create(builders.a_lease(start=NOON + hours(1), end=NOON + hours(2)), EVE)


def test_nobody_else_gets_room_that_is_held(manager):
    manager.enrol(1)
    size = {'vcpus': 1, 'memory_mb': 30000, 'disk_gb': 10, 'amount': 1, 'affinity': None}
    wanted = builders.a_lease(records.ReservationRequest('virtual:instance', size))
    offer = manager.hold(wanted)
    manager.hold(wanted)
    with pytest.raises(errors.NotEnough):
        manager.create(wanted, EVE)
    assert given(manager.take(offer)) == ids(offer)


def test_an_offer_whose_time_is_over_stands_in_nobodys_way_at_once(manager, rows):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease(), seconds=30)
    manager.clock.advance(seconds(30))
    lease = manager.create(builders.a_lease(), EVE)
    assert given(lease) == ids(offer)
    assert len(rows(tables.ALLOCATIONS)) == 1


def test_an_expired_offer_is_released_and_forgotten_an_hour_later(manager, rows):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease(end=NOON + hours(9)))
    manager.clock.advance(minutes(2))
    assert manager.expire() == 1
    assert manager.expire() == 0
    assert rows(tables.ALLOCATIONS) == []
    with pytest.raises(errors.OfferExpired, match='Ask for availability again'):
        manager.take(offer)
    manager.clock.advance(hours(1))
    assert manager.expire() == 0
    assert rows(tables.OFFERS) == []
    with pytest.raises(errors.OfferNotFound):
        manager.take(offer)


def test_an_offer_cannot_be_taken_at_the_very_moment_at_which_it_expires(manager):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease())
    manager.clock.now = offer.held_until
    with pytest.raises(errors.OfferExpired):
        manager.take(offer)
    assert manager.expire() == 1
    second = manager.hold(builders.a_lease())
    manager.clock.now = second.held_until - interval.RESOLUTION
    assert manager.expire() == 0
    assert given(manager.take(second)) == ids(second)


def test_an_offer_is_never_held_beyond_its_own_end(manager):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease(end=NOON + seconds(50)))
    assert offer.held_until == NOON + seconds(50)


def test_an_offer_for_later_is_taken_as_a_lease_that_is_scheduled(manager):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease(start=NOON + hours(3), end=NOON + hours(4)))
    lease = manager.take(offer, before_end=NOON + hours(3.5), notify_at=(NOON + hours(3.2),))
    assert (lease.start, lease.end) == (offer.start, offer.end)
    assert lease.acquire_type == 'scheduled'
    assert lease.before_end == NOON + hours(3.5)
    assert 'notify' in {each.kind for each in lease.events}


def test_an_offer_whose_start_has_come_since_starts_at_once(manager):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease(start=NOON + seconds(60), end=NOON + hours(4)))
    manager.clock.advance(seconds(90))
    lease = manager.take(offer)
    assert (lease.start, lease.end) == (NOON + seconds(90), NOON + hours(4))
    manager.expect(lease, lifecycle.ACTIVE)


def test_an_offer_is_taken_once(manager, rows):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease())
    manager.take(offer)
    with pytest.raises(errors.OfferNotFound):
        manager.take(offer)
    assert len(rows(tables.LEASES)) == 1
    assert rows(tables.OFFERS) == []


def test_the_offer_of_another_project_is_as_one_that_is_not_there(manager):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease())
    for caller in (EVE, builders.an_admin()):
        with pytest.raises(errors.OfferNotFound):
            manager.take(offer, caller)
        for use in (manager.client.get_offer, manager.client.delete_offer):
            with pytest.raises(errors.OfferNotFound):
                use(caller, offer.id)
    assert manager.client.list_offers(EVE) == []
    assert manager.client.get_offer(builders.a_member(), offer.id) == offer


def test_a_repeated_request_takes_an_offer_once_and_returns_the_same_lease(manager):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease())
    first = manager.take(offer, idempotency_key='a', request_hash='h')
    assert manager.take(offer, idempotency_key='a', request_hash='h').id == first.id
    with pytest.raises(errors.KeyReused):
        manager.take(offer, idempotency_key='a', request_hash='another')


def test_a_dry_run_shows_the_lease_of_an_offer_without_taking_it(manager, rows):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease())
    assert given(manager.take(offer, dry_run=True)) == ids(offer)
    assert rows(tables.LEASES) == []
    assert given(manager.take(offer)) == ids(offer)


def test_a_lease_that_is_refused_leaves_the_offer_and_no_trust(manager):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease())
    with pytest.raises(errors.BadDate):
        manager.take(offer, before_end=NOON + hours(5))
    assert not acts.trusts(manager)
    [host] = manager.client.list_resources(builders.an_admin(), 'host')
    acts.disable(manager, host)
    with pytest.raises(errors.OfferExpired, match='holds resources that were changed or withdrawn'):
        manager.take(offer)
    assert not acts.trusts(manager)


def test_a_host_that_is_offered_can_be_withdrawn_and_the_offer_holds_nothing_then(manager, rows):
    [host] = manager.enrol(1)
    offer = manager.hold(builders.a_lease())
    manager.client.delete_resource(builders.an_admin(), 'host', host.id)
    with pytest.raises(errors.OfferExpired):
        manager.take(offer)
    manager.clock.advance(minutes(2))
    assert manager.expire() == 1
    assert rows(tables.ALLOCATIONS) == []


def test_a_property_that_an_offer_was_made_for_can_change_and_the_offer_is_void_then(manager):
    [host] = manager.enrol(1, gpu='A100')
    offer = manager.hold(builders.a_lease(builders.hosts(1, criteria='["=", "$gpu", "A100"]')))
    manager.client.update_resource(builders.an_admin(), 'host', host.id, {'gpu': 'H100'})
    with pytest.raises(errors.OfferExpired):
        manager.take(offer)


def test_offers_are_shown_in_no_list_of_what_leases_have(manager):
    [host] = manager.enrol(1)
    manager.hold(builders.a_lease())
    admin = builders.an_admin()
    assert manager.client.list_allocations(admin, 'host') == [(host.id, [])]
    assert manager.client.list_leases(admin, records.LeaseQuery()) == []
    assert manager.client.list_leases(admin, records.LeaseQuery(resource_id=host.id)) == []


def test_an_offer_that_is_given_back_is_free_and_gone(manager, rows):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease())
    manager.client.delete_offer(builders.a_member(), offer.id)
    assert is_free(manager)
    assert rows(tables.OFFERS) == []
    with pytest.raises(errors.OfferNotFound):
        manager.client.delete_offer(builders.a_member(), offer.id)


def test_a_project_holds_so_many_offers_at_a_time_and_no_more(manager):
    manager.enrol(4)
    first, _ = (manager.hold(builders.a_lease(), most=2) for _ in range(2))
    with pytest.raises(errors.TooManyOffers, match='until 2030-05-01 12:02:00 UTC'):
        manager.hold(builders.a_lease(), most=2)
    assert manager.hold(builders.a_lease(), EVE, most=2)
    manager.take(first)
    assert len(manager.client.list_offers(builders.a_member())) == 1
    assert manager.hold(builders.a_lease(), most=2)


def test_offers_that_have_expired_do_not_count_among_those_of_a_project(manager):
    manager.enrol(4)
    for _ in range(2):
        manager.hold(builders.a_lease(), most=2)
    manager.clock.advance(minutes(2))
    assert manager.client.list_offers(builders.a_member()) == []
    assert manager.hold(builders.a_lease(end=NOON + hours(2)), most=2)


@pytest.mark.parametrize('how', ['expires', 'is deleted'])
def test_a_waiting_lease_is_tried_when_an_offer_is_deleted(manager, how):
    manager.enrol(1)
    offer = manager.hold(builders.a_lease(end=NOON + hours(9)))
    waiting = acts.sought(manager, 'wait', builders.hosts(1), caller=EVE, not_after=NOON + hours(9))
    manager.expect(waiting, lifecycle.ACQUIRING)
    manager.clock.advance(minutes(2))
    if how == 'expires':
        manager.expire()
    else:
        manager.client.delete_offer(builders.a_member(), offer.id)
    manager.expect(waiting, lifecycle.ACTIVE)


def test_a_lease_whose_host_fails_is_healed_when_an_offer_goes(manager):
    manager.enrol(2)
    lease = manager.book(builders.hosts(1), start=NOON + hours(1), end=NOON + hours(4))
    acts.disable(manager, manager.client.get_resource(builders.an_admin(), 'host',
                                                      given(lease)[0]))
    manager.clock.now = NOON + minutes(59)
    manager.hold(builders.a_lease(builders.hosts(1), end=NOON + hours(5)), EVE, seconds=600)
    manager.run_until(NOON + minutes(65))
    assert manager.lease(lease).state != lifecycle.ACTIVE
    manager.clock.advance(minutes(10))
    assert manager.expire() == 1
    manager.expect(lease, lifecycle.ACTIVE, NOON + hours(2))


def test_a_purge_forgets_what_nobody_took(manager, rows):
    manager.enrol(1)
    manager.hold(builders.a_lease())
    assert migrate.purge(manager.database, NOON + minutes(1)) == 0
    assert len(rows(tables.ALLOCATIONS)) == 1
    migrate.purge(manager.database, NOON + hours(3))
    assert rows(tables.ALLOCATIONS) == rows(tables.OFFERS) == []


def test_a_purge_leaves_no_allocations_behind(manager, rows):
    manager.enrol(1)
    manager.take(manager.hold(builders.a_lease()))
    manager.run_until(NOON + hours(3))
    db_rows.closed(manager.database)
    assert migrate.purge(manager.database, NOON + hours(4)) == 1
    assert rows(tables.ALLOCATIONS) == []


def test_an_offer_has_the_price_that_a_lease_has_if_it_takes_the_offer_now(manager):
    manager.enrol(1)
    cases.book(manager)
    offer = manager.hold(builders.a_lease(start=NOON + seconds(60), end=NOON + hours(10)))
    [found] = manager.client.list_offers(builders.a_member())
    # Two euros, and a price of 0.60 with the surcharge of short notice for each hour but a minute.
    assert found.price.amount == '7.99'
    manager.clock.advance(seconds(90))
    # Half a minute of what was held is over.
    now = manager.client.get_offer(builders.a_member(), offer.id)
    hours_left = decimal.Decimal(now.price.lines[1].hours)
    assert hours_left == decimal.Decimal('9.975')
    lease = manager.take(offer)
    manager.run_until(lease.end + hours(1))
    cases.bill(manager)
    assert str(cases.total(cases.lines(manager, lease_id=lease.id))) == now.price.amount


def test_the_prices_of_a_list_of_offers_cost_a_constant_number_of_statements(manager):
    manager.enrol(6, gpu='a100')

    def asked():
        with builders.statements() as found:
            assert all(each.price for each in manager.client.list_offers(builders.a_member()))
        return len(found)
    cases.book(manager, rates=[{'rate': '1'}, {'rate': '2', 'properties': {'gpu': 'a100'}}])
    manager.hold(builders.a_lease(start=NOON + hours(1), end=NOON + hours(2)))
    asked()
    few = asked()
    for _ in range(4):
        manager.hold(builders.a_lease(start=NOON + hours(1), end=NOON + hours(2)))
    assert asked() == few


def test_without_a_price_book_offers_are_listed_with_one_statement_and_have_no_price(manager):
    manager.enrol(1)
    manager.hold(builders.a_lease(start=NOON + hours(1), end=NOON + hours(2)))
    # The manager remembers for some seconds that there is no price book.
    manager.client.list_offers(builders.a_member())
    with builders.statements() as found:
        [offer] = manager.client.list_offers(builders.a_member())
    assert offer.price is None
    assert len(found) == 1
