# SPDX-License-Identifier: Apache-2.0
"""Parsing of the requests of plans: what-if and forecasts."""
import datetime

from climate import errors
from climate.api import body
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.domain import forecast
from climate.domain import what_if

_AHEAD = datetime.timedelta(days=30)
_FIELDS = schemas.WHAT_IF[1]['properties']


def question(request, limit, now):
    """Parse the body of POST /v1/what-if.

    :param limit: the maximum size of the body in bytes.
    :returns: a ``what_if.Question``.
    :raises BadRequest: the body does not match the schema; the error names the field.
    """
    data = body.read(request, schemas.WHAT_IF, limit)
    start = times.asked('start', data.get('start', times.NOW), now)
    return what_if.Question(
        pool=data.get('pool', _FIELDS['pool']['default']), start=start,
        end=times.asked('end', data['end'], now) if 'end' in data else _later(start),
        add=tuple(what_if.Added(each['count'], each['like']) for each in data.get('add', ())),
        remove=tuple(data.get('remove', ())),
        out=tuple(_outage(place, each, now) for place, each in enumerate(data.get('out', ()))),
        demand_factor=data.get('demand_factor', 1.0),
        limit=data.get('limit', _FIELDS['limit']['default']))


def forecast_query(request, now):
    """Parse the query of GET /v1/forecast into a ``forecast.Query``.

    :raises BadRequest: a field is unknown, repeated or malformed; the error names it.
    """
    queries.check(request, schemas.FORECAST)
    asked = request.GET
    return forecast.Query(
        pool=asked.get('pool', _FIELDS['pool']['default']),
        end=times.asked('end', asked['end'], now) if 'end' in asked else None,
        criteria=asked.get('criteria', ''))


def _outage(place, each, now):
    start, end = (times.asked(f'out.{place}.{name}', each[name], now) for name in ('start', 'end'))
    return what_if.Outage(tuple(dict.fromkeys(each['resources'])), start, end)


def _later(start):
    try:
        return start + _AHEAD
    except OverflowError as error:
        raise errors.BadField(field='start', reason='it is too far away.') from error
