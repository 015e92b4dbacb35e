# SPDX-License-Identifier: Apache-2.0
"""Statements: what is billed, once, in which month, whatever happens."""
import contextlib
import datetime
import decimal
import pathlib
import re

import acts
import pytest
import sqlalchemy as sa
from support import billing_cases as cases
from support import billing_truths
from support import builders
from support import thinning
import yaml

from climate import errors
from climate.db import engine
from climate.db import leases
from climate.db import migrate
from climate.db import reservations
from climate.db import tables
from climate.domain import prices
from climate.domain import records
from climate.manager.billing import biller
from climate.manager.billing import books
from climate.manager.usage import days

hours, NOON = builders.hours, builders.NOON
PAGES = pathlib.Path(__file__).parents[3] / 'doc' / 'source' / 'admin'


@pytest.fixture
def enrolled(manager):
    manager.enrol(2)
    return manager


def cut_off_until(moment, manager):
    """Yield a manager whose next transaction begins then, after another manager has billed."""
    def late():
        manager.run_until(moment)
        cases.bill(manager)
    return acts.meddling(manager, late)


def test_a_lease_that_has_ended_is_billed_once(enrolled):
    cases.book(enrolled)
    lease = enrolled.book(end=NOON + hours(10))
    enrolled.run_until(NOON + hours(11))
    assert cases.bill(enrolled) == 3
    assert cases.bill(enrolled) == 0
    assert cases.shown(cases.lines(enrolled, lease_id=lease.id)) == [
        ('2030-05', '2030-05', 'lease_fee', None, '2.00'),
        ('2030-05', '2030-05', 'resource_hours', '10.000000', '5.00'),
        ('2030-05', '2030-05', 'short_notice', '10.000000', '1.00')]


def test_the_price_of_the_dry_run_is_the_sum_of_the_statement(enrolled):
    cases.book(enrolled, rates=[{'rate': '0.333333'}])
    asked = builders.a_lease(builders.hosts(2), start=cases.day(5, 30), end=cases.day(7, 3, 7))
    price = enrolled.create(
        records.LeaseRequest(**{**vars(asked), 'dry_run': True})).price
    enrolled.create(asked)
    for moment in (cases.day(6, 2), cases.day(6, 20), cases.day(7, 2), cases.day(7, 9)):
        enrolled.run_until(moment)
        cases.bill(enrolled)
    found = cases.lines(enrolled)
    assert {each.month for each in found} == {'2030-05', '2030-06', '2030-07'}
    assert cases.total(found) == decimal.Decimal(price.amount)
    assert sum(decimal.Decimal(each.amount) for each in price.lines) == decimal.Decimal(
        price.amount)


def test_a_lease_that_never_started_costs_nothing(enrolled):
    cases.book(enrolled)
    lease = enrolled.book(start=NOON + hours(2), end=NOON + hours(5))
    enrolled.delete(lease)
    enrolled.run_until(NOON + hours(6))
    assert cases.bill(enrolled) == 0


@pytest.mark.proof
def test_a_lease_that_failed_to_start_costs_nothing(enrolled, conf):
    cases.book(enrolled)
    conf.set_override('event_max_retries', 0, group='manager')
    conf.set_override('heal_seconds', 0, group='manager')
    enrolled.cloud.faults.fail('nova.create_aggregate', 1000,
                               errors.CloudError(service='Nova', reason='no'))
    lease = enrolled.book()
    enrolled.run_until(NOON + hours(2))
    assert enrolled.lease(lease).reason is not None
    assert cases.bill(enrolled) == 0


def test_an_early_end_is_credited_as_the_book_says(enrolled):
    cases.book(enrolled)
    lease = enrolled.book(end=NOON + hours(10))
    enrolled.run_until(NOON + hours(4))
    price = enrolled.change(lease, end_now=True, dry_run=True).price
    enrolled.change(lease, end_now=True)
    enrolled.run_until(NOON + hours(5))
    cases.bill(enrolled)
    found = cases.lines(enrolled)
    assert cases.shown(found)[1:] == [
        ('2030-05', '2030-05', 'resource_hours', '4.000000', '2.00'),
        ('2030-05', '2030-05', 'short_notice', '4.000000', '0.40'),
        ('2030-05', '2030-05', 'unused_hours', '6.000000', '3.60'),
        ('2030-05', '2030-05', 'early_end_credit', '6.000000', '-2.88')]
    assert decimal.Decimal(price.amount) == cases.total(found)


def test_an_end_at_the_moment_of_the_first_price_book_costs_the_unused_hours(enrolled):
    lease = enrolled.book(end=NOON + hours(10))
    enrolled.run_until(NOON + hours(4))
    enrolled.change(lease, end_now=True)
    cases.book(enrolled)
    enrolled.run_until(NOON + hours(5))
    cases.bill(enrolled)
    assert [each.line.kind for each in cases.lines(enrolled)] == [
        'unused_hours', 'early_end_credit']
    billing_truths.statements_are_right(enrolled.database)


def test_a_deleted_lease_is_billed_to_the_cut_where_the_book_has_no_early_end(enrolled):
    cases.book(enrolled, early_end={'credit_percent': '100'}, short_notice={
        'hours': '1', 'percent': '0'})
    lease = enrolled.book(end=NOON + hours(10))
    enrolled.run_until(NOON + hours(4))
    enrolled.delete(lease)
    enrolled.run_until(NOON + hours(5))
    cases.bill(enrolled)
    assert cases.total(cases.lines(enrolled)) == decimal.Decimal('4.00')


def test_a_deletion_that_is_cut_off_until_after_the_end_takes_no_hours_back(enrolled):
    cases.book(enrolled)
    lease = enrolled.book(start=NOON + hours(1), end=NOON + hours(3))
    with cut_off_until(NOON + hours(4), enrolled) as late:
        late.delete(lease)
    assert enrolled.lease(lease).deleted_at is not None
    cases.bill(enrolled)
    assert 'resource_hours' in {each.line.kind for each in cases.lines(enrolled)}
    billing_truths.statements_are_right(enrolled.database)


def test_a_manager_that_lags_behind_takes_nothing_back(enrolled, monkeypatch):
    cases.book(enrolled)
    lease = enrolled.book(builders.hosts(2), end=NOON + hours(10))
    enrolled.run_until(NOON + hours(1))
    [reservation] = enrolled.lease(lease).reservations
    enrolled.change(lease, reservations=acts.asked(reservation, min=1, max=1))
    enrolled.run_until(NOON + hours(2))
    find = biller.bills.unbilled

    def meanwhile(*arguments):
        found = find(*arguments)
        monkeypatch.undo()
        # Another manager bills the end of the lease, too.
        enrolled.run_until(NOON + hours(11))
        cases.bill(enrolled)
        return found
    monkeypatch.setattr(biller.bills, 'unbilled', meanwhile)
    assert biller.Biller(enrolled.core).bill(NOON + hours(2)) == 0
    assert not any(each.correction for each in cases.lines(enrolled))
    billing_truths.statements_are_right(enrolled.database)


def test_a_month_that_another_manager_has_closed_gets_no_line_of_one_that_lags_behind(
        enrolled, monkeypatch):
    cases.book(enrolled)
    enrolled.book(end=NOON + hours(1))
    enrolled.run_until(NOON + hours(2))
    make = biller.statement_lines.open_months

    def meanwhile(database, months):
        make(database, months)
        with database.writer() as connection:
            biller.statement_lines.close(connection, '2030-05', cases.day(6, 9))
    monkeypatch.setattr(biller.statement_lines, 'open_months', meanwhile)
    assert biller.Biller(enrolled.core).bill(enrolled.clock()) == 0
    assert cases.lines(enrolled) == []


def test_a_price_book_that_is_cut_off_does_not_change_what_was_billed_meanwhile(enrolled):
    cases.book(enrolled)
    lease = enrolled.book(end=NOON + hours(1))
    with cut_off_until(NOON + hours(2), enrolled) as late:
        made = late.client.create_price_book(builders.an_admin(), None, cases.BOOK)
    assert made.valid_from == NOON + hours(2)
    enrolled.change(lease, name='new')
    assert cases.bill(enrolled) == 0
    billing_truths.statements_are_right(enrolled.database)


def test_hours_that_do_not_count_any_more_are_corrected(enrolled):
    cases.book(enrolled)
    lease = enrolled.book(end=NOON + hours(3))
    enrolled.run_until(NOON + hours(4))
    cases.bill(enrolled)
    with enrolled.database.writer() as connection:
        connection.execute(sa.update(tables.ALLOCATIONS).values(released_at=NOON))
        leases.change(connection, leases.get(connection, lease.id), enrolled.clock())
    cases.bill(enrolled)
    assert cases.total(cases.lines(enrolled)) == 0
    billing_truths.statements_are_right(enrolled.database)


def test_a_closed_month_does_not_change_and_a_late_correction_names_it(enrolled):
    cases.book(enrolled)
    lease = enrolled.book(end=cases.day(6, 20))
    enrolled.run_until(cases.day(6, 1, 1))
    cases.bill(enrolled)
    enrolled.run_until(cases.day(6, 5))
    cases.bill(enrolled)
    [statement] = enrolled.client.list_statements(
        builders.an_admin(), prices.StatementQuery(month='2030-05'))
    assert statement.closed
    before = cases.lines(enrolled, month='2030-05')
    # The lease ends without a start after all: its charges are wrong.
    with enrolled.database.writer() as connection:
        found = leases.get(connection, lease.id)
        reservations.change(connection, [each.id for each in found.reservations],
                            enrolled.clock(), started_at=None)
        leases.change(connection, found, enrolled.clock(), name='never started')
    cases.bill(enrolled)
    assert cases.lines(enrolled, month='2030-05') == before
    late = cases.lines(enrolled, month='2030-06')
    assert {(each.for_month, each.correction) for each in late} == {('2030-05', True)}
    assert cases.total(before + late) == 0


def test_a_month_before_a_closed_one_is_closed_though_it_had_no_statement(enrolled):
    cases.book(enrolled)
    enrolled.book(end=cases.day(7, 1, 12))
    with enrolled.database.writer() as connection:
        connection.execute(sa.insert(tables.BILLING_MONTHS).values(
            month='2030-06', closed_at=cases.day(7, 1)))
    enrolled.run_until(cases.day(7, 2))
    cases.bill(enrolled)
    assert {(each.month, each.for_month) for each in cases.lines(enrolled)} == {
        ('2030-07', month) for month in ('2030-05', '2030-06', '2030-07')}


def test_a_purge_keeps_what_is_not_billed_and_lines_survive_it(enrolled):
    cases.book(enrolled)
    lease = enrolled.book()
    enrolled.run_until(cases.day(5, 20))
    days.close(enrolled.database, enrolled.clock(), most=None)
    assert migrate.purge(enrolled.database, cases.day(5, 19)) == 0
    cases.bill(enrolled)
    before = cases.lines(enrolled)
    assert migrate.purge(enrolled.database, cases.day(5, 19)) == 1
    assert cases.lines(enrolled, lease_id=lease.id) == before != []


def test_the_property_of_the_first_bill_counts_for_later_ones(enrolled):
    host, other = enrolled.client.list_resources(builders.an_admin(), 'host')
    enrolled.client.update_resource(builders.an_admin(), 'host', host.id, {'gpu': 'a100'})
    cases.book(enrolled, rates=[*cases.BOOK['rates'], cases.GPU])
    enrolled.book(builders.hosts(2), end=cases.day(6, 2))
    enrolled.run_until(cases.day(6, 1, 1))
    cases.bill(enrolled)
    enrolled.client.update_resource(builders.an_admin(), 'host', host.id, {'gpu': None})
    enrolled.client.update_resource(builders.an_admin(), 'host', other.id, {'gpu': 'a100'})
    enrolled.run_until(cases.day(6, 2, 1))
    cases.bill(enrolled)
    rates = {(each.month, each.line.rate) for each in cases.lines(enrolled)
             if each.line.kind == 'resource_hours'}
    assert rates == {(month, rate) for month in ('2030-05', '2030-06')
                     for rate in ('3.20', '0.50')}


@pytest.mark.parametrize('had', ['before', 'after', 'never'])
@pytest.mark.parametrize('first', [[{'rate': '0.50'}], [
    {'rate': '0.50'}, {'rate': '7', 'properties': {'rack': 'r1'}}]])
def test_a_later_price_book_charges_by_properties_that_an_earlier_one_did_not_name(
        enrolled, had, first):
    cases.known(enrolled, 'gpu', 'rack')
    free = {**cases.BOOK, 'lease_fee': '0', 'short_notice': {'hours': '1', 'percent': '0'}}
    enrolled.client.create_price_book(builders.an_admin(), None, {**free, 'rates': first})
    host = enrolled.client.list_resources(builders.an_admin(), 'host')[0]

    def equip():
        enrolled.client.update_resource(builders.an_admin(), 'host', host.id, {'gpu': 'a100'})
    if had == 'before':
        equip()
    lease = enrolled.book(builders.hosts(2), end=cases.day(6, 22))
    enrolled.run_until(cases.day(6, 1))
    cases.bill(enrolled)
    if had == 'after':
        equip()
    enrolled.client.create_price_book(builders.an_admin(), None, {
        **free, 'rates': [{'rate': '0.50'}, {'rate': '3.20', 'properties': {'gpu': 'a100'}}]})
    expected = enrolled.change(lease, end=cases.day(6, 23), dry_run=True).price
    enrolled.run_until(cases.day(6, 22))
    cases.bill(enrolled)
    rates = decimal.Decimal('0.50') + decimal.Decimal('0.50' if had == 'never' else '3.20')
    assert cases.total(cases.lines(enrolled, month='2030-06')) == 504 * rates
    assert decimal.Decimal(expected.amount) == cases.total(cases.lines(enrolled)) + 24 * rates
    billing_truths.statements_are_right(enrolled.database)


@pytest.mark.parametrize(('has', 'asked', 'meets'), [
    ('True', 'true', True), ('true', 'TRUE', True), ('4', '4.0', True), (' 4', '4', True),
    ('A100', 'a100', False), ('True', '1', False)])
def test_properties_of_rates_are_compared_as_criteria_do(enrolled, has, asked, meets):
    [host] = enrolled.client.list_resources(builders.an_admin(), 'host')[:1]
    enrolled.client.update_resource(builders.an_admin(), 'host', host.id, {'gpu': has})
    cases.book(enrolled, rates=[{'rate': '1'}, {'rate': '5', 'properties': {'gpu': asked}}])
    enrolled.book(builders.hosts(2), end=NOON + hours(1))
    enrolled.run_until(NOON + hours(2))
    cases.bill(enrolled)
    assert {each.line.rate for each in cases.lines(enrolled)
            if each.line.rate} == ({'1', '5'} if meets else {'1'})


def test_two_rates_by_two_spellings_of_a_value_are_refused(enrolled):
    cases.known(enrolled, 'gpu')
    with pytest.raises(errors.BadField) as caught:
        cases.book(enrolled, rates=[{'rate': '1'}, *(
            {'rate': '5', 'properties': {'gpu': text}} for text in ('true', 'True'))])
    assert caught.value.kwargs['field'] == 'rates.2'


@pytest.mark.parametrize(('rate', 'field'), [
    ({'properties': {'gpus': 'x'}}, 'rates.1.properties'),
    ({'properties': {'$gpu': 'x'}}, 'rates.1.properties'),
    ({'properties': {'vcpus': '4'}}, 'rates.1.properties'),
    ({'properties': {'gpu': 'x'}, 'resource_type': 'virtual:floatingip'}, 'rates.1.properties'),
    ({'pool': 'host', 'resource_type': 'virtual:floatingip'}, 'rates.1.pool')])
def test_a_rate_that_can_never_count_is_refused(enrolled, rate, field):
    cases.known(enrolled, 'gpu')
    with pytest.raises(errors.BadField) as caught:
        cases.book(enrolled, rates=[{'rate': '1'}, {'rate': '2', **rate}])
    assert caught.value.kwargs['field'] == field


def test_two_managers_never_write_a_line_twice(enrolled, monkeypatch):
    cases.book(enrolled)
    enrolled.book()
    enrolled.run_until(NOON + hours(2))
    one, two = biller.Biller(enrolled.core), biller.Biller(enrolled.core)
    real = biller.statement_lines.open_months
    raced = []

    def race(database, months):
        # The other manager writes between the look and the lines of this one.
        if not raced:
            raced.append(True)
            assert two.bill(enrolled.clock()) == 3
        real(database, months)
    monkeypatch.setattr(biller.statement_lines, 'open_months', race)
    assert one.bill(enrolled.clock()) == 0
    assert len(cases.lines(enrolled)) == 3


def test_without_a_price_book_a_pass_is_one_statement_and_a_dry_run_shows_no_price(enrolled):
    enrolled.book()
    enrolled.run_until(NOON + hours(2))
    with builders.statements() as found:
        assert cases.bill(enrolled) == 0
    assert len(found) == 1
    asked = builders.a_lease(start=NOON + hours(3), end=NOON + hours(4), dry_run=True)
    assert enrolled.create(asked).price is None
    with builders.statements() as first:
        enrolled.create(asked)
    assert not [each for each in first if 'price_books' in each]


def test_the_worked_example_of_the_page_is_right(enrolled):
    cases.known(enrolled, 'gpu')
    text = (PAGES / 'billing-book.yaml').read_text()
    enrolled.client.create_price_book(
        builders.an_admin(), None, yaml.load(text, Loader=yaml.BaseLoader))
    lease = enrolled.book(end=NOON + hours(10))
    enrolled.run_until(NOON + hours(6))
    enrolled.change(lease, end_now=True)
    enrolled.run_until(NOON + hours(7))
    cases.bill(enrolled)
    found = cases.lines(enrolled)
    page = (PAGES / 'billing.rst').read_text().partition('A worked example')[2]
    written = re.findall(r'     - (-?[0-9]+\.[0-9]{2})$', page, re.M)
    assert [each.line.amount for each in found] + [str(cases.total(found))] == written


class _CrashError(BaseException):
    """The process dies here."""


@pytest.mark.parametrize('crash_at', thinning.few(range(1, 16), 5))
def test_a_crash_between_any_two_commits_loses_and_doubles_no_line(
        enrolled, monkeypatch, crash_at):
    cases.book(enrolled)
    enrolled.book(end=cases.day(6, 2))
    enrolled.book(end=NOON + hours(3))
    enrolled.run_until(cases.day(6, 4))
    reached = []
    real = engine.Database.writer

    @contextlib.contextmanager
    def fragile(self):
        with real(self) as connection:
            yield connection
            _reach(reached, crash_at)
        _reach(reached, crash_at)
    with monkeypatch.context() as patched:
        patched.setattr(engine.Database, 'writer', fragile)
        with contextlib.suppress(_CrashError):
            cases.bill(enrolled)
    cases.bill(enrolled)
    found = cases.lines(enrolled)
    hours_of_first = (cases.day(6, 2) - NOON) / datetime.timedelta(hours=1)
    # A fee, hours and short notice for each; the longer one in two months.
    assert len(found) == 3 + 5
    assert cases.total(found) == 2 * 2 + decimal.Decimal('0.6') * int(hours_of_first + 3)
    assert all(not each.correction for each in found)
    [may, _] = enrolled.client.list_statements(builders.an_admin(), prices.StatementQuery())
    assert may.closed


def _reach(reached, crash_at):
    reached.append(True)
    if len(reached) == crash_at:
        raise _CrashError


def test_a_version_of_the_price_book_is_parsed_once(enrolled):
    cases.book(enrolled)
    with enrolled.database.reader() as connection:
        [first], [second] = books.read_all(connection), books.read_all(connection)
    assert first is second
