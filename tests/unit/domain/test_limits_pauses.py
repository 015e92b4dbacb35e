# SPDX-License-Identifier: Apache-2.0
"""An owner leaves a pool for the pause, whatever they do with their leases."""
import datetime
import random

import pytest
from support import builders
from support import limit_cases

from climate.domain.limits import fitting
from climate.domain.limits import holdings
from climate.domain.limits import limit_texts
from climate.domain.limits import measures

_LONGEST, _PAUSE = 10, 6


def limit(hours=24):
    return limit_cases.limit('pause', duration=datetime.timedelta(hours=hours))


def holding(key, span):
    return limit_cases.holding(key, limit_cases.held(*span))


def request(after, before=None, others=((10, 20),)):
    return holdings.Request(
        builders.NOON, None if before is None else holding('subject', before),
        holding('subject', after),
        tuple(holding(f'other {number}', span) for number, span in enumerate(others)))


def is_chain(after, before=None, others=((10, 20),)):
    return measures.breach(limit(), request(after, before, others)) is not None


@pytest.mark.parametrize('span, broken', [
    ((19, 30), True), ((20, 30), True), ((43, 50), True), ((44, 50), False), ((0, 11), True),
    ((10, 20), False), ((12, 18), False), ((10, 21), False), ((9, 20), False), ((5, 25), False),
    ((-20, -14), False), ((-20, -13), True)])
def test_a_lease_that_overlaps_another_one_and_ends_after_it_is_a_chain(span, broken):
    assert is_chain(span) == broken


@pytest.mark.parametrize('before, after, broken', [
    ((15, 25), (16, 25), False), ((15, 25), (15, 24), False), ((15, 25), (15, 26), True),
    ((15, 25), (21, 31), True), ((21, 25), (22, 26), False), ((21, 25), (20, 24), True),
    ((21, 25), (22, 27), True), ((21, 25), (21, 26), True), ((21, 25), (44, 60), False),
    ((12, 18), (12, 21), True)])
def test_a_lease_that_is_too_near_another_one_may_become_shorter_or_move_away(
        before, after, broken):
    assert is_chain(after, before) == broken


@pytest.mark.parametrize('after, others, fit', [
    ((15, 25), ((10, 20),), {'latest_end': 20, 'earliest_start': 44}),
    ((15, 25), ((10, 20), (60, 70)), {'latest_end': 20}),
    ((20, 25), ((10, 20),), {'earliest_start': 44}),
    ((0, 25), ((1, 26),), {}), ((-30, 11), ((10, 20),), {'latest_end': -14})])
def test_the_refusal_names_an_end_or_a_start_that_is_allowed(after, others, fit):
    wanted = request(after, others=others)
    found = fitting.fit(measures.breach(limit(), wanted), wanted)
    assert found == fitting.Fit(**{name: builders.at(hour) for name, hour in fit.items()})


def test_the_refusal_of_a_lease_that_overlaps_another_one_says_so():
    wanted = request((15, 25))
    breach = measures.breach(limit(), wanted)
    assert limit_texts.sentence(breach, wanted, fitting.fit(breach, wanted)) == (
        'Limit "rule" (a pause of at least 1d between two leases): this lease overlaps other 0, '
        'and neither is within the time of the other. Ask for an end until 2030-05-02 08:00 UTC, '
        'or for a start from 2030-05-03 08:00 UTC.')


def test_a_running_lease_is_not_offered_another_start():
    wanted = request((-1, 25), before=(-1, 8), others=((-5, 10),))
    assert fitting.fit(measures.breach(limit(), wanted), wanted) == fitting.Fit(
        latest_end=builders.at(10))


def most_held(spans):
    """Return the most hours in any window of the longest lease and the pause."""
    held = {hour for start, end in spans for hour in range(start, end)}
    return max((len([hour for hour in held if first <= hour < first + _LONGEST + _PAUSE])
                for first in held), default=0)


def changed(draw, span):
    """Return a random span, or a random change of a span."""
    start, end = span or (draw.randint(0, 60), 0)
    match 'new' if span is None else draw.choice(['shrink', 'move', 'extend', 'both']):
        case 'new':
            return start, start + draw.randint(1, _LONGEST)
        case 'shrink':
            return tuple(sorted(draw.sample(range(start, end + 1), 2)))
        case 'move':
            by = draw.randint(-20, 20)
            return start + by, end + by
        case 'extend':
            return start, start + draw.randint(1, _LONGEST)
        case _:
            return changed(draw, None)


def obeys(seed):
    """Make random changes; return the number of those that were allowed."""
    draw, spans, allowed = random.Random(seed), [], 0
    for _ in range(60):
        subject = draw.choice([None, *spans])
        others = list(spans)
        if subject is not None:
            others.remove(subject)
        after = changed(draw, subject)
        if measures.breach(limit(_PAUSE), request(after, subject, others)) is None:
            spans = [*others, after]
            allowed += 1
        assert most_held(spans) <= _LONGEST, (seed, spans)
    return allowed


@pytest.mark.parametrize('seed', range(30))
def test_no_sequence_of_changes_evades_the_pause(seed):
    assert obeys(seed) > 5


@pytest.mark.proof
@pytest.mark.parametrize('seed', range(100, 1100))
def test_no_long_search_evades_the_pause(seed):
    obeys(seed)
