# SPDX-License-Identifier: Apache-2.0
"""Records and errors cross the bus and arrive unchanged."""
from collections import abc
import dataclasses
import datetime
import inspect
import json
import string
import sys
import types
import typing

import hypothesis
from hypothesis import strategies
from oslo_messaging._drivers import common
import pytest
from support import builders

from climate import errors
from climate.domain import event_kinds
from climate.domain import records
from climate.domain import usability
from climate.rpc import transport
from climate.rpc import wire

NOON = builders.NOON
RESERVATION = records.Reservation(
    id='r', lease_id='l', resource_type='physical:host', request={'min': 1}, created_at=NOON,
    allocated={'hosts': (1, 2)})
EVENT = records.Event(id='e', lease_id='l', kind=event_kinds.START, at=NOON, due_at=NOON)
LEASE = records.Lease(
    id='l', name='a lease', project_id='p', user_id='u', start=NOON,
    end=NOON + builders.hours(1), reservations=(RESERVATION,), events=(EVENT,))
SENT = [
    LEASE,
    records.Resource(id=1, pool='host', name='compute-1', capacity={'vcpus': 4}),
    records.Property(id=1, pool='host', name='gpu', values=('a', 'b')),
    records.Allocation('r', 1, NOON, NOON + builders.hours(1), lease_id='l'),
    records.LeaseRequest(name='n', start=None, end=NOON, notify_at=(NOON,), reservations=(
        records.ReservationRequest('physical:host', {'min': 1}),)),
    records.LeaseChanges(end_now=True),
    records.LeaseQuery(sort=(('end', False), ('name', True)), ends_after=NOON),
]


@pytest.mark.parametrize('record', SENT, ids=lambda record: type(record).__name__)
def test_a_record_arrives_as_it_left(record):
    carried = json.loads(json.dumps(wire.pack(record)))
    assert wire.unpack(type(record), carried) == record


@pytest.mark.parametrize('record', SENT, ids=lambda record: type(record).__name__)
def test_a_record_that_was_not_packed_is_returned_itself(record):
    assert wire.unpack(type(record), record) is record


def test_a_packed_record_is_a_copy():
    packed = wire.pack(LEASE)
    packed['name'] = 'another'
    packed['reservations'][0]['state'] = 'another'
    assert (LEASE.name, LEASE.reservations[0].state) == ('a lease', RESERVATION.state)


def test_secrets_stay_in_the_process_and_no_text_of_a_record_has_them():
    secret = dataclasses.replace(RESERVATION, secrets=records.Secrets(key='canary'))
    assert 'canary' not in f'{secret} {secret!r} {secret.secrets} {wire.pack(secret)}'
    assert wire.unpack(records.Reservation, wire.pack(secret)) == RESERVATION


def plainly_packed(value):
    """Return the result of `wire.pack`, field by field."""
    if dataclasses.is_dataclass(value):
        return {field.name: plainly_packed(getattr(value, field.name))
                for field in dataclasses.fields(value) if field.name != 'secrets'}
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return [plainly_packed(each) for each in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize('klass', [
    klass for klass in (*vars(records).values(), usability.Usability)
    if inspect.isclass(klass) and dataclasses.is_dataclass(klass)])
@hypothesis.given(data=strategies.data())
@hypothesis.settings(max_examples=15)
def test_any_record_is_packed_as_field_by_field_and_arrives_as_it_left(klass, data):
    record = data.draw(strategies.builds(klass, **fields_of(klass)))
    carried = json.loads(json.dumps(wire.pack(record)))
    assert carried == json.loads(json.dumps(plainly_packed(record)))
    assert wire.unpack(klass, carried) == record


def fields_of(klass):
    """A strategy for each field of a class of records that crosses the bus."""
    hints = typing.get_type_hints(klass)
    return {field.name: values_of(hints[field.name]) for field in dataclasses.fields(klass)
            if field.name != 'secrets'}


def values_of(hint):
    """A strategy for what a field of that type may hold."""
    parts = typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        return strategies.one_of([values_of(part) for part in parts])
    if typing.get_origin(hint) is tuple:
        if parts[-1] is Ellipsis:
            return strategies.lists(values_of(parts[0]), max_size=2).map(tuple)
        return strategies.tuples(*map(values_of, parts))
    if typing.get_origin(hint) is abc.Mapping:
        held = strategies.integers() if parts[1] in (typing.Any, int) else values_of(parts[1])
        return strategies.dictionaries(strategies.text(), held, max_size=2)
    if dataclasses.is_dataclass(hint):
        return strategies.builds(hint, **fields_of(hint))
    if hint is datetime.datetime:
        return strategies.datetimes(timezones=strategies.just(datetime.UTC))
    return strategies.from_type(hint)


def test_fields_of_a_newer_sender_are_dropped():
    carried = {**wire.pack(EVENT), 'colour': 'green'}
    assert wire.unpack(records.Event, carried) == EVENT


def below(klass):
    yield klass
    for each in klass.__subclasses__():
        yield from below(each)


def an_example(klass):
    """An error of a class, with a value for whatever its template names."""
    names = [name for _, name, _, _ in string.Formatter().parse(klass.template) if name]
    return klass(**dict.fromkeys(names, 'x'))


@pytest.mark.parametrize('klass', sorted(set(below(errors.ClimateError)), key=str))
def test_an_error_keeps_its_class_message_and_details_over_a_real_driver(klass):
    error = an_example(klass)
    try:
        raise error
    except errors.ClimateError:
        carried = common.serialize_remote_exception(sys.exc_info())
    rebuilt = common.deserialize_remote_exception(carried, transport.ALLOWED_ERRORS)
    assert isinstance(rebuilt, klass)
    assert rebuilt.message == error.message
    assert rebuilt.details == error.details
    assert 'Traceback' not in rebuilt.message


def test_every_field_of_every_record_can_be_read_back():
    for klass in vars(records).values():
        if inspect.isclass(klass) and dataclasses.is_dataclass(klass):
            assert wire.unpack(klass, None) is None
            wire._readers(klass)
