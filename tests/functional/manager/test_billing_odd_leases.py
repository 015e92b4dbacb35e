# SPDX-License-Identifier: Apache-2.0
"""Leases whose life is odd: their statements are the price of their history, however often billed.

Each story runs several times: billed after other steps each time.
"""
import datetime
import decimal

import acts
import clearings
import hypothesis
from hypothesis import strategies
import pytest
from support import billing_cases as cases
from support import billing_truths
from support import builders

from climate import errors
from climate.domain import records

hours = builders.hours
BEGIN = cases.day(5, 31, 20)
DAY = datetime.timedelta(days=1)


class Life:
    """A manager with two versions of a price book, a lease, and steps of its life by the hour."""

    def __init__(self, conf, database):
        builders.clean(database)
        self.manager = builders.Manager(conf, database, builders.Clock())
        self.manager.clock.now = BEGIN
        cases.book(self.manager, best_effort={'percent': '50'}, priority={'percent': '10'})
        self.manager.client.create_price_book(builders.an_admin(), cases.day(6, 1, 10), {
            **cases.BOOK, 'rates': [{'rate': '0.777777'}], 'early_end': {'credit_percent': '25'}})

    def lease(self, *reservations, days=5, **fields):
        if not self.manager.client.list_resources(builders.an_admin(), 'host'):
            self.manager.enrol(4)
        self.begun = self.manager.book(*reservations, end=BEGIN + days * DAY, **fields)
        self.manager.run()

    def change(self, **fields):
        self.manager.change(self.begun, **fields)

    def resize(self, **request):
        [reservation] = self.manager.lease(self.begun).reservations
        self.change(reservations=acts.asked(reservation, **request))


def prolonged_after_the_month_was_closed(life):
    life.lease()
    yield 24 * 4
    life.change(end=BEGIN + 9 * DAY)
    yield 24 * 7


def ended_early_prolonged_and_ended_again(life):
    life.lease()
    yield 2
    life.change(end=BEGIN + 2 * DAY)
    yield 20
    life.change(end=BEGIN + 3 * DAY)
    yield 30
    life.change(end_now=True)


def changed_in_size(life):
    life.lease(builders.hosts(1))
    yield 3
    life.resize(min=3, max=3)
    yield 9
    life.resize(min=2, max=2)
    yield 40
    life.resize(min=4, max=4)


def instances_changed_in_number(life):
    life.lease(builders.instances(3, memory_mb=64))
    yield 5
    life.resize(amount=2)
    yield 9
    life.resize(amount=6)


def deleted_by_its_owner(life):
    life.lease()
    yield 7
    life.manager.delete(life.begun)


def deleted_by_an_administrator(life):
    life.lease()
    yield 7
    life.manager.client.delete_lease(builders.an_admin(), life.begun.id)


def whose_end_fails(life):
    life.lease(days=1)
    life.manager.cloud.faults.fail('nova.delete_aggregate', 10 ** 6, errors.CloudError(
        service='Nova', reason='no'))
    yield 30


def whose_start_fails_for_long(life):
    life.manager.enrol(4)
    life.manager.cloud.faults.fail('nova.create_aggregate', 40, errors.CloudError(
        service='Nova', reason='no'))
    life.lease(days=2)
    yield 12
    life.manager.cloud.faults.fail('nova.create_aggregate', 0, None)


def whose_host_fails(life):
    life.lease(builders.hosts(2))
    yield 6
    [first, *_] = life.manager.client.list_resources(builders.an_admin(), 'host')
    acts.disable(life.manager, first)
    yield 40


def of_best_effort_whose_hosts_are_cleared(life):
    clearings.lent_cloud(life.manager.core.conf, life.manager)
    life.begun = clearings.cleared(life.manager, life.manager.create(records.LeaseRequest(**{
        **vars(clearings.a_request()), 'duration_seconds': 30 * 3600})))
    yield 8
    life.change(end=life.manager.lease(life.begun).end + DAY)
    yield 30


STORIES = (prolonged_after_the_month_was_closed, ended_early_prolonged_and_ended_again,
           changed_in_size, instances_changed_in_number, deleted_by_its_owner,
           deleted_by_an_administrator, whose_end_fails, whose_start_fails_for_long,
           whose_host_fails, of_best_effort_whose_hosts_are_cleared)


def told(conf, database, story, billed):
    """The sum of the lines of a life that is billed at some hours; and the lines."""
    life = Life(conf, database)
    steps = story(life)
    following = next(steps)
    for hour in sorted({*billed, 24 * 20}):
        while following is not None and following <= hour:
            life.manager.run_until(BEGIN + hours(following))
            following = next(steps, None)
        life.manager.run_until(BEGIN + hours(hour))
        while cases.bill(life.manager):
            continue
    billing_truths.statements_are_right(database)
    return [each.line for each in cases.lines(life.manager, lease_id=life.begun.id)]


def by_kind(lines):
    found = {}
    for each in lines:
        key = each.kind, each.price_book
        found[key] = found.get(key, 0) + decimal.Decimal(each.amount)
    return found


@pytest.mark.proof
@pytest.mark.parametrize('story', STORIES, ids=lambda story: story.__name__)
def test_a_lease_costs_the_same_with_any_number_of_bills(conf, database, story):
    once = told(conf, database, story, set())
    assert once
    total = sum(decimal.Decimal(each.amount) for each in once)

    @hypothesis.settings(max_examples=6,
                         phases=(hypothesis.Phase.generate,))
    @hypothesis.given(strategies.sets(strategies.integers(1, 24 * 9), min_size=3, max_size=9))
    def again(billed):
        lines = told(conf, database, story, billed)
        assert sum(decimal.Decimal(each.amount) for each in lines) == total
    again()


def test_unused_hours_count_for_returned_copies_only(conf, database):
    lines = told(conf, database, instances_changed_in_number, set())
    # One of three, for the rest of five days; the growth gives nothing back.
    assert [(each.hours, each.kind) for each in lines if each.kind == 'unused_hours'] == [
        ('115.000000', 'unused_hours')]


def test_the_owner_pays_for_unused_hours_unless_an_administrator_deletes_the_lease(
        conf, database):
    assert ('unused_hours', 1) in by_kind(told(conf, database, deleted_by_its_owner, set()))
    assert set(by_kind(told(conf, database, deleted_by_an_administrator, set()))) == {
        ('lease_fee', 1), ('resource_hours', 1), ('short_notice', 1)}


@pytest.mark.parametrize('story', [
    ended_early_prolonged_and_ended_again, changed_in_size, instances_changed_in_number])
def test_the_dry_run_of_each_change_says_what_the_lease_will_cost(conf, database, story):
    life = Life(conf, database)
    said = []
    real = life.change

    def change(**fields):
        said.append(life.manager.change(life.begun, dry_run=True, **fields).price)
        real(**fields)
    life.change = change
    for hour in story(life):
        life.manager.run_until(BEGIN + hours(hour))
    life.manager.run_until(BEGIN + 20 * DAY)
    while cases.bill(life.manager):
        continue
    assert said[-1].amount == str(cases.total(cases.lines(life.manager)))
