# SPDX-License-Identifier: Apache-2.0
"""The acquisition types: defaults, pauses, and when a lease is given up."""
import dataclasses

import pytest
from support import builders

from climate.domain import acquire
from climate.domain import records
from climate.domain import retry_pauses

NOON, hours, seconds = builders.NOON, builders.hours, builders.seconds


def test_a_lease_that_starts_now_is_acquired_at_once_and_one_of_later_is_scheduled():
    assert acquire.type_of(NOON, NOON) == acquire.IMMEDIATE
    assert acquire.type_of(NOON + seconds(1), NOON) == acquire.SCHEDULED


@pytest.mark.parametrize(('attempts', 'least'), [
    (0, 30), (1, 30), (2, 60), (3, 120), (5, 480), (6, 600), (10 ** 9, 600)])
def test_pauses_double_up_to_the_longest_and_are_longer_by_up_to_a_fifth(attempts, least):
    assert retry_pauses.with_jitter(30, 600, attempts, 0) == seconds(least)
    assert retry_pauses.with_jitter(30, 600, attempts, 1) == seconds(least * 1.2)


def a_lease(**fields):
    return records.Lease(
        id='x', name='x', project_id='p', user_id='u', start=NOON, end=NOON + hours(2),
        acquisition=records.Acquisition(lease_id='x', type='wait', **fields))


@pytest.mark.parametrize(('fields', 'moment'), [
    ({}, NOON + hours(2)),
    ({'duration_seconds': 7200}, None),
    ({'not_after': NOON + hours(1)}, NOON + hours(1)),
    ({'not_after': NOON + hours(3)}, NOON + hours(2)),
    ({'not_after': NOON + hours(3), 'duration_seconds': 7200}, NOON + hours(3)),
])
def test_a_lease_is_given_up_at_its_limit_or_at_a_fixed_end_whichever_comes_first(fields, moment):
    assert a_lease(**fields).given_up_at == moment


def test_a_lease_without_acquisition_is_never_given_up():
    assert dataclasses.replace(a_lease(), acquisition=None).given_up_at is None


def test_every_type_has_its_fields_in_a_request_and_no_field_is_of_none():
    of_types = {name for fields in acquire.FIELDS.values() for name in fields}
    assert of_types == {field.name for field in dataclasses.fields(records.AcquireRequest)} - {
        'type'}
    assert set(acquire.QUEUED) < set(acquire.LASTING) < set(acquire.FIELDS)
