# SPDX-License-Identifier: Apache-2.0
"""Parsing of availability requests: the query of a GET, the body of a POST."""
import dataclasses

from climate import errors
from climate.api import body
from climate.api import lease_body
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.domain import availability

_NUMBERS = ('limit',)


def from_query(request, now):
    """Parse the query of GET /v1/availability; its field ``reservations`` is JSON text.

    :returns: an ``availability.Query``.
    :raises BadRequest: the query does not match the schema; the error names the field.
    """
    queries.refuse_unknown(request, schemas.AVAILABILITY['properties'])
    data = {name: _value(name, text) for name, text in request.GET.items()}
    body.check(data, schemas.AVAILABILITY)
    return _query(data, now)


def from_body(request, conf, now):
    """Parse the body of POST /v1/availability, which also says how many offers to hold.

    :returns: an ``availability.Query``.
    :raises BadRequest: the body does not match the schema; the error names the field.
    """
    data = body.read(request, schemas.AVAILABILITY_HOLD, conf.max_body_bytes)
    hold = schemas.AVAILABILITY_HOLD[1]['properties']['hold']['default']
    return dataclasses.replace(
        _query(data, now), hold=data.get('hold', hold), hold_seconds=conf.offer_seconds,
        hold_most=conf.offers_per_project)


def _value(name, text):
    """Convert a text of the query to the JSON value that the schema checks."""
    if name in _NUMBERS and text.isascii() and text.isdigit():
        return int(text[:10])
    if name != 'reservations':
        body.refuse_unprintable(text, name, 1)
        return text
    try:
        return body.load(text, name)
    except ValueError as error:
        raise errors.BadField(field=name, reason=(
            f'it is not JSON: {error}. Write a list as in the body of a lease: '
            '[{"resource_type": "physical:host", "min": 1, "max": 1}].')) from error


def _query(data, now):
    return availability.Query(
        reservations=tuple(lease_body.reservation(item) for item in data['reservations']),
        duration_seconds=times.seconds('duration', data['duration']),
        earliest=_moment(data, 'earliest', now), latest=_moment(data, 'latest', now),
        limit=data.get('limit', schemas.AVAILABILITY['properties']['limit']['default']))


def _moment(data, name, now):
    found = times.moment(name, times.absolute(data[name], now)) if name in data else None
    if found != times.NOW:
        return found
    if name == 'latest':
        raise errors.BadDate(value='now', field=name, reason='it must be in the future')
    return None
