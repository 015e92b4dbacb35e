# SPDX-License-Identifier: Apache-2.0
"""The request that a refusal suggests is within the limit, and nothing more is."""
import dataclasses
import random

import pytest
from support import builders
from support import limit_cases

from climate.domain.limits import fitting
from climate.domain.limits import holdings
from climate.domain.limits import limit_texts
from climate.domain.limits import measures
from climate.domain.limits import rules

SECOND = limit_cases.MINUTE / 60


def broken_request(number, limit_of):
    """A random (Limit, Request, Breach) of a new lease that breaks the limit."""
    draw = random.Random(number)
    while True:
        after = limit_cases.random_holding(draw, 'subject')
        request = holdings.Request(
            min(held.start for held in after.resources), None, after, tuple(
                limit_cases.random_holding(draw, f'other {each}') for each in range(3)))
        limit = limit_of(draw)
        breach = measures.breach(limit, request)
        if breach is not None:
            return limit, request, breach


def fits(limit, request, after):
    return measures.breach(limit, dataclasses.replace(request, after=after)) is None


@pytest.mark.parametrize('number', range(60))
def test_the_latest_end_within_a_limit_of_resource_hours_is_exact(number):
    limit, request, breach = broken_request(number, lambda draw: limit_cases.limit(
        'resource_hours', draw.randint(0, 90), window=draw.randint(1, 40) * limit_cases.HOUR))
    end = fitting.fit(breach, request).latest_end
    if end is None:
        assert not fits(limit, request, fitting.ending(
            request.after, request.after.start + SECOND))
        return
    assert fits(limit, request, fitting.ending(request.after, end))
    assert not fits(limit, request, fitting.ending(request.after, end + SECOND))


@pytest.mark.parametrize('number', range(60))
def test_the_number_of_resources_that_are_left_is_exact(number):
    limit, request, breach = broken_request(
        number, lambda draw: limit_cases.limit('resources', draw.randint(0, 8)))
    fit = fitting.fit(breach, request)
    start, end = breach.span

    def holding(copies):
        return dataclasses.replace(request.after, resources=(dataclasses.replace(
            request.after.resources[0], start=start, end=end, copies=copies),))
    if fit.units:
        assert fits(limit, request, holding(fit.units))
    assert not fits(limit, request, holding(fit.units + 1))
    if fit.earliest_start is not None:
        assert fits(limit, request, fitting.moved(request.after, fit.earliest_start))


@pytest.mark.parametrize('number', range(40))
def test_the_start_after_a_pause_is_exact(number):
    limit, request, breach = broken_request(number, lambda draw: limit_cases.limit(
        'pause', duration=draw.randint(1, 20) * limit_cases.HOUR))
    fit = fitting.fit(breach, request)
    alone = dataclasses.replace(request, others=(breach.other,))
    if fit.earliest_start is not None:
        assert fits(limit, alone, fitting.moved(request.after, fit.earliest_start))
        assert not fits(limit, alone, fitting.moved(request.after, fit.earliest_start - SECOND))
    if fit.latest_end is not None:
        assert fits(limit, alone, fitting.ending(request.after, fit.latest_end))


@pytest.mark.parametrize('number', range(20))
def test_a_lease_that_breaks_a_limit_alone_is_recognized(number):
    limit, request, breach = broken_request(
        number, lambda draw: limit_cases.limit('resources', draw.randint(0, 8)))
    most = max(step.after for step in measures.steps_of(
        limit, dataclasses.replace(request, others=())))
    assert fitting.alone(breach, request) == (most > limit.most)


def test_figures_are_rounded_so_that_they_promise_nothing():
    assert limit_texts.figure(rules.decimal.Decimal('1.239')) == 1.23
    assert limit_texts.figure(rules.decimal.Decimal('1.231'), up=True) == 1.24
    assert limit_texts.figure(3) == 3
    assert limit_texts.shown(12345) == '12,345'


def test_a_lease_that_grows_is_told_how_much_it_may_hold_in_all():
    limit = limit_cases.limit('resources', 5)
    before, after = (limit_cases.holding('subject', limit_cases.held(0, 2, copies))
                     for copies in (3, 6))
    other = limit_cases.holding('other', limit_cases.held(1, 3))
    request = holdings.Request(builders.NOON, before, after, (other,))
    assert fitting.fit(measures.breach(limit, request), request).units == 4


def test_no_start_after_a_pause_is_named_that_is_too_near_the_next_lease():
    limit = limit_cases.limit('pause', duration=24 * limit_cases.HOUR)
    subject = limit_cases.holding('subject', limit_cases.held(21, 25))
    others = [limit_cases.holding(str(start), limit_cases.held(start, start + 10))
              for start in (10, 60)]
    request = holdings.Request(builders.NOON, after=subject, others=tuple(others))
    assert fitting.fit(measures.breach(limit, request), request) == fitting.Fit()
    alone = holdings.Request(builders.NOON, after=subject, others=tuple(others[:1]))
    assert fitting.fit(measures.breach(limit, alone), alone) == fitting.Fit(
        earliest_start=builders.at(44))


@pytest.mark.parametrize('count, is_named', [(100, True), (101, False)])
def test_a_later_start_is_searched_among_the_first_100_ends_only(count, is_named):
    limit = limit_cases.limit('resources', count)
    request = holdings.Request(
        builders.NOON, after=limit_cases.holding('subject', limit_cases.held(0, 1, count)),
        others=tuple(limit_cases.holding(str(number), limit_cases.held(0, number + 1))
                     for number in range(count)))
    fit = fitting.fit(measures.breach(limit, request), request)
    assert fit.earliest_start == (builders.at(count) if is_named else None)
