# SPDX-License-Identifier: Apache-2.0
"""Records and errors cross the bus and arrive as they left."""
import dataclasses
import inspect
import json
import string
import sys

import builders
from oslo_messaging._drivers import common
import pytest

from climate import errors
from climate.domain import agenda
from climate.domain import records
from climate.rpc import transport
from climate.rpc import wire

NOON = builders.NOON
RESERVATION = records.Reservation(
    id='r', lease_id='l', resource_type='physical:host', request={'min': 1}, created_at=NOON,
    resource_ids=(1, 2))
EVENT = records.Event(id='e', lease_id='l', kind=agenda.START, at=NOON, due_at=NOON)
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


def test_what_a_newer_sender_adds_is_dropped():
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
