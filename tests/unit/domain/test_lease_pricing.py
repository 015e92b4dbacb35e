# SPDX-License-Identifier: Apache-2.0
"""Prices are exact, never negative, additive over time, and the same again from history."""
import collections
import datetime
import decimal
import itertools
import zoneinfo

import hypothesis
from hypothesis import strategies
import pytest

from climate.domain import interval
from climate.domain import lease_pricing
from climate.domain import ledger
from climate.domain import peak_hours
from climate.domain import price_books

BEGIN = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
BERLIN = zoneinfo.ZoneInfo('Europe/Berlin')

_moments = strategies.integers(0, 200 * 86_400_000_000).map(
    lambda count: BEGIN + datetime.timedelta(microseconds=count))
_rates = strategies.decimals(0, 10 ** 6, places=6)
_percents = strategies.decimals(0, 200, places=2)


@strategies.composite
def _books(draw):
    starts = sorted(draw(strategies.sets(_moments, max_size=3)) | {BEGIN})
    found = []
    for number, start in enumerate(starts, 1):
        begin = draw(strategies.integers(0, 1439))
        end = draw(strategies.integers(begin + 1, 1440))
        windows = (peak_hours.PeakWindow(frozenset(draw(strategies.sets(
            strategies.integers(0, 6), min_size=1))), begin, end, draw(_percents)),)
        found.append(price_books.PriceBook(
            number, 'EUR', start, draw(_rates),
            (price_books.Rate(draw(_rates), properties={'gpu': 'a100'}),
             price_books.Rate(draw(_rates))),
            short_notice=(24, draw(_percents)),
            peaks=draw(strategies.sampled_from(
                [None, peak_hours.PeakHours(BERLIN, windows)])),
            priority=draw(_percents), best_effort=draw(_percents), idle=draw(_percents),
            early_end_credit=draw(strategies.decimals(0, 100, places=2))))
    return found


@strategies.composite
def _subjects(draw):
    items = []
    for number in range(draw(strategies.integers(1, 3))):
        start, end = sorted(draw(strategies.lists(_moments, min_size=2, max_size=2, unique=True)))
        idle = sorted(draw(strategies.lists(_moments, min_size=2, max_size=2, unique=True)))
        items.append(lease_pricing.PricedItem(
            f'r{number}', 'physical:host', 'host', start, end,
            draw(strategies.integers(1, 1000)),
            draw(strategies.sampled_from([(), (('gpu', 'a100'),)])),
            draw(strategies.none() | _moments), (interval.Interval(*idle),)))
    start = min(each.start for each in items)
    return lease_pricing.Subject(
        start, start - datetime.timedelta(hours=draw(strategies.integers(0, 48))), tuple(items),
        draw(strategies.integers(-1, 1)), draw(strategies.booleans()))


@hypothesis.given(_subjects(), _books(), strategies.lists(_moments, min_size=3, max_size=3))
def test_the_price_of_a_span_is_the_sum_of_the_prices_of_its_parts(subject, books, moments):
    first, middle, last = sorted(moments)
    parts = [lease_pricing.charges(subject, books, first, middle),
             lease_pricing.charges(subject, books, middle, last)]
    whole = lease_pricing.charges(subject, books, first, last)
    for key in {key for each in (*parts, whole) for key in each}:
        assert whole.get(key, lease_pricing.NOTHING) == parts[0].get(
            key, lease_pricing.NOTHING) + parts[1].get(key, lease_pricing.NOTHING)


@hypothesis.given(_subjects(), _books(), strategies.lists(_moments, min_size=2, max_size=2))
def test_a_price_is_never_negative(subject, books, moments):
    found = lease_pricing.charges(subject, books, *sorted(moments))
    assert lease_pricing.total(found) >= 0
    amounts = lease_pricing.amounts(list(found.values()), 2)
    assert sum(amounts) == lease_pricing.rounded(lease_pricing.total(found), 2) >= 0
    for (key, _), amount in zip(found.items(), amounts, strict=True):
        assert amount <= 0 if key.kind == lease_pricing.CREDIT else amount >= 0


@hypothesis.given(_subjects(), _books(), strategies.lists(_moments, max_size=4))
def test_the_lines_are_the_same_however_often_and_whenever_they_are_written(subject, books, looks):
    end = BEGIN + datetime.timedelta(days=400)
    posted = []
    for now in [*sorted(looks), end, end]:
        known = [each for each in books if each.valid_from <= now]
        missing = ledger.missing_lines(ledger.charges_by_month(subject, known, now), posted)
        posted += [ledger.PostedLine(each.for_month, each.key, each.charge) for each in missing]
    assert ledger.missing_lines(ledger.charges_by_month(subject, books, end), posted) == []
    again = ledger.missing_lines(ledger.charges_by_month(subject, books, end), [])
    assert sum(each.charge.atoms for each in posted) == sum(each.charge.atoms for each in again)


@hypothesis.given(
    strategies.lists(strategies.integers(0, 3 * lease_pricing.ATOMS // 100), max_size=50),
    strategies.sampled_from([0, 2, 3]))
def test_no_lease_saves_more_than_half_of_the_smallest_unit_by_rounding(prices_of_leases, decimals):
    billed = sum(lease_pricing.rounded(each, decimals) for each in prices_of_leases)
    off = abs(billed * lease_pricing.ATOMS - sum(prices_of_leases) * 10 ** decimals)
    assert 2 * off <= len(prices_of_leases) * lease_pricing.ATOMS


def test_money_is_exact():
    book = price_books.PriceBook(1, 'EUR', BEGIN, rates=(
        price_books.Rate(decimal.Decimal('0.1')),))
    item = lease_pricing.PricedItem('r', 't', 'p', BEGIN, BEGIN + datetime.timedelta(hours=3))
    found = lease_pricing.charges(
        lease_pricing.Subject(BEGIN, BEGIN, (item,)), [book], BEGIN, item.end)
    assert lease_pricing.total(found) * 10 == 3 * lease_pricing.ATOMS


def test_peak_hours_follow_the_clocks_of_their_time_zone():
    window = peak_hours.PeakWindow(frozenset({6}), 60, 300, decimal.Decimal(10))
    peaks = peak_hours.PeakHours(BERLIN, (window,))
    # On the last Sunday of March the clocks go from 2:00 to 3:00, in October from 3:00 to 2:00.
    lengths = [[(last - first) for first, last, _ in peaks.spans(day, day + datetime.timedelta(2))]
               for day in (datetime.datetime(2030, 3, 30, tzinfo=datetime.UTC),
                           datetime.datetime(2030, 10, 26, tzinfo=datetime.UTC))]
    assert lengths == [[datetime.timedelta(hours=3)], [datetime.timedelta(hours=5)]]


def test_the_most_specific_rate_wins():
    book = price_books.PriceBook(1, 'EUR', BEGIN, rates=tuple(sorted((
        price_books.Rate(decimal.Decimal(1)),
        price_books.Rate(decimal.Decimal(2), resource_type='physical:host'),
        price_books.Rate(decimal.Decimal(3), pool='host'),
        price_books.Rate(decimal.Decimal(4), properties={'gpu': 'a100'}),
    ), key=lambda each: each.rank, reverse=True)))

    def rate(*resource):
        return book.rates[book.rate_of(*resource)].amount
    assert rate('virtual:volume', 'backend', {}) == 1
    assert rate('physical:host', 'other', {}) == 2
    assert rate('physical:host', 'host', {'gpu': 'h100'}) == 3
    assert rate('physical:host', 'host', {'gpu': 'a100'}) == 4


_ZONES = [zoneinfo.ZoneInfo(name) for name in (
    'UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Africa/Casablanca',
    'Pacific/Apia', 'America/Havana')]


@hypothesis.given(strategies.data())
def test_lengths_are_the_sums_of_the_spans(data):
    edges = sorted(data.draw(strategies.sets(strategies.integers(0, 1440), min_size=2, max_size=6)))
    windows = tuple(peak_hours.PeakWindow(
        data.draw(strategies.frozensets(strategies.integers(0, 6), min_size=1)), begin, end,
        decimal.Decimal(data.draw(strategies.integers(1, 3))))
        for begin, end in itertools.pairwise(edges))
    peaks = peak_hours.PeakHours(data.draw(strategies.sampled_from(_ZONES)), windows)
    start = BEGIN + datetime.timedelta(seconds=data.draw(strategies.integers(0, 9 ** 8)))
    end = start + datetime.timedelta(seconds=data.draw(
        strategies.integers(1, 2 * 86_400) | strategies.integers(1, 400 * 86_400)))
    wanted = collections.defaultdict(datetime.timedelta)
    for first, last, percent in peaks.spans(start, end):
        wanted[percent] += last - first
    assert dict(peaks.lengths(start, end)) == wanted


@pytest.mark.proof
def test_seven_thousand_years_are_added_up_by_weeks():
    windows = tuple(peak_hours.PeakWindow(frozenset(range(5)), 60 * hour, 60 * hour + 30,
                                          decimal.Decimal(25)) for hour in range(20))
    peaks = peak_hours.PeakHours(BERLIN, windows)
    seen = []

    class Counting(datetime.tzinfo):
        def utcoffset(self, moment):
            seen.append(moment)
            return moment.replace(tzinfo=BERLIN).utcoffset()

        def dst(self, moment):
            return None

        def fromutc(self, moment):
            return moment + moment.replace(tzinfo=datetime.UTC).astimezone(BERLIN).utcoffset()
    end = BEGIN + datetime.timedelta(days=400 * 365)
    found = peak_hours.PeakHours(Counting(), windows).lengths(BEGIN, end)
    assert found == peaks.lengths(BEGIN, end)
    # There are twenty windows on each of the days, of which each would ask for two offsets.
    assert len(seen) < 400 * 365
