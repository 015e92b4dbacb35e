# SPDX-License-Identifier: Apache-2.0
"""The cost of cancelling a lease, or a part of it, shortly before its start."""
import dataclasses
import datetime
import decimal
import random

import pytest

from climate import errors
from climate.domain import late_cancels
from climate.domain import lease_pricing
from climate.domain import price_books
from climate.domain import prices

NOON = datetime.datetime(2030, 5, 1, 12, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
DOCUMENT = {
    'currency': 'EUR', 'lease_fee': '2', 'rates': [
        {'rate': '1'}, {'rate': '3', 'properties': {'gpu': 'a100'}}],
    'short_notice': {'hours': '48', 'percent': '20'},
    'late_cancel': {'hours': '24', 'percent': '50'}}


def book(version=1, valid_from=NOON - 100 * HOUR, **changes):
    document = {**DOCUMENT, **changes}
    return price_books.read(prices.StoredBook(
        version, 'EUR', valid_from, document, valid_from, ''), lambda name: datetime.UTC)


def item(start, hours, resource_id=1, **changes):
    return lease_pricing.PricedItem('r1', 'physical:host', 'host', start, start + hours * HOUR,
                                    resource_id=resource_id, whole=True, **changes)


def lease(*items, asked_before=72):
    start = min(each.start for each in items)
    return lease_pricing.Subject(start, start - asked_before * HOUR, items)


def cents(cancel):
    return 0 if cancel is None else lease_pricing.rounded(cancel.atoms, 2)


def test_a_late_deletion_costs_a_share_of_the_whole_price_with_the_fee():
    start = NOON + 10 * HOUR
    cancel = late_cancels.of_deletion(lease(item(start, 4), item(start, 4, 2)), [book()], NOON)
    assert cents(cancel) == 500
    assert (cancel.percent, cancel.book, cancel.cancelled_at) == ('50', 1, NOON)
    assert lease_pricing.hours(cancel.microseconds) == 8


@pytest.mark.parametrize(('ahead', 'costs'), [
    (24 * HOUR, False), (24 * HOUR - datetime.timedelta(microseconds=1), True),
    (datetime.timedelta(microseconds=1), True), (datetime.timedelta(0), False), (-HOUR, False)])
def test_a_deletion_is_late_within_the_hours_before_the_start(ahead, costs):
    cancel = late_cancels.of_deletion(lease(item(NOON + ahead, 4)), [book()], NOON)
    assert (cancel is not None) is costs


def test_surcharges_belong_to_the_price_of_which_a_share_is_charged():
    late_request = lease(item(NOON + 10 * HOUR, 10), asked_before=24)
    assert cents(late_cancels.of_deletion(late_request, [book()], NOON)) == 700


def test_a_book_without_the_rule_and_a_free_lease_charge_nothing():
    planned = lease(item(NOON + HOUR, 4))
    without = dataclasses.replace(book(), late_cancel=None)
    assert late_cancels.of_deletion(planned, [without], NOON) is None
    assert late_cancels.of_deletion(planned, [book(lease_fee='0', rates=[])], NOON) is None
    assert late_cancels.of_deletion(planned, [book(valid_from=NOON + HOUR)], NOON) is None


def test_the_rule_of_the_version_at_the_cancellation_counts():
    versions = [book(), book(2, NOON + HOUR, late_cancel={'hours': '24', 'percent': '100'})]
    cancel = late_cancels.of_deletion(lease(item(NOON + 2 * HOUR, 4)), versions, NOON)
    assert (cancel.percent, cents(cancel)) == ('50', 300)


def test_a_lease_that_is_moved_away_costs_the_hours_that_it_gives_up():
    start = NOON + 10 * HOUR
    before = lease(item(start, 4))
    for later, expected in ((4, 200), (1, 50), (100, 200), (0, 0)):
        after = [item(start + later * HOUR, 4)]
        assert cents(late_cancels.of_change(before, after, [book()], NOON)) == expected


def test_a_smaller_or_shorter_lease_costs_the_resources_and_hours_that_it_gives_up():
    start = NOON + 10 * HOUR
    before = lease(item(start, 4), item(start, 4, 2))
    assert cents(late_cancels.of_change(before, [item(start, 4)], [book()], NOON)) == 200
    assert cents(late_cancels.of_change(
        before, [item(start, 3), item(start, 3, 2)], [book()], NOON)) == 100
    assert late_cancels.of_change(
        before, [item(start, 6), item(start, 6, 2)], [book()], NOON) is None


def test_another_resource_at_the_same_time_compensates_up_to_its_price():
    start, gpu = NOON + 10 * HOUR, (('gpu', 'a100'),)
    cheap, dear = [item(start, 4, 1)], [item(start, 4, 2, properties=gpu)]
    assert late_cancels.of_change(lease(*cheap), [item(start, 4, 3)], [book()], NOON) is None
    assert late_cancels.of_change(lease(*cheap), dear, [book()], NOON) is None
    assert cents(late_cancels.of_change(lease(*dear), cheap, [book()], NOON)) == 400


def test_a_surcharge_that_a_change_adds_compensates_for_nothing():
    start = NOON + 10 * HOUR
    before = lease(*(item(start, 4, number) for number in range(12)))
    after = [item(start, 4, number) for number in range(10)]
    # The change counts as a new request, so the remaining hosts get the surcharge.
    assert cents(late_cancels.of_change(before, after, [book()], NOON)) == 400


def test_changes_cost_what_brute_force_finds():
    """Compare each hour of random leases before and after a change."""
    chance = random.Random(38)
    for _ in range(200):
        start = NOON + chance.randint(1, 20) * HOUR
        before = lease(*(item(start, 6, number) for number in range(chance.randint(1, 4))))
        moved = start + chance.randint(-3, 8) * HOUR
        after = [item(moved, chance.choice([3, 6, 9]), number)
                 for number in range(chance.randint(1, 4))]
        given_up = 0
        for hour in range(48):
            moment = NOON + hour * HOUR
            had, has = (sum(each.start <= moment < each.end for each in items)
                        for items in (before.items, after))
            given_up += max(0, had - has)
        assert cents(late_cancels.of_change(before, after, [book()], NOON)) == 50 * given_up


def test_charges_of_late_cancellations_add_up_over_time():
    cancels = tuple(lease_pricing.LateCancel(NOON + hours * HOUR, 1, '50', lease_pricing.ATOMS, 0)
                    for hours in (0, 5))
    subject = lease_pricing.Subject(NOON + 40 * HOUR, NOON, (), late_cancels=cancels)
    first, second, whole = (
        lease_pricing.total(lease_pricing.charges(subject, [book()], start, end))
        for start, end in (
            (NOON, NOON + HOUR), (NOON + HOUR, NOON + 6 * HOUR), (NOON, NOON + 99 * HOUR)))
    assert (first, first + second) == (lease_pricing.ATOMS, whole)


@pytest.mark.parametrize(('rule', 'field'), [
    ({'hours': '0', 'percent': '50'}, 'late_cancel.hours'),
    ({'hours': '8785', 'percent': '50'}, 'late_cancel.hours'),
    ({'hours': '1.5', 'percent': '50'}, 'late_cancel.hours'),
    ({'hours': '24', 'percent': '100.01'}, 'late_cancel.percent'),
    ({'hours': '24', 'percent': '-1'}, 'late_cancel.percent')])
def test_a_wrong_rule_is_refused_with_its_field(rule, field):
    with pytest.raises(errors.BadField) as refused:
        book(late_cancel=rule)
    assert refused.value.kwargs['field'] == field


def test_a_percentage_of_a_fractional_rate_is_exact():
    odd = book(lease_fee='0', rates=[{'rate': '0.333333'}],
               late_cancel={'hours': '24', 'percent': '33.33'})
    cancel = late_cancels.of_deletion(lease(item(NOON + HOUR, 3)), [odd], NOON)
    assert decimal.Decimal(cancel.atoms) / lease_pricing.ATOMS == (
        3 * decimal.Decimal('0.333333') * decimal.Decimal('0.3333'))
