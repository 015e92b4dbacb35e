# SPDX-License-Identifier: Apache-2.0
"""The paths /v1/what-if and /v1/forecast, from REST 1.1 on."""
import datetime

import pecan

from climate import errors
from climate.api import body
from climate.api import operations
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.api.controllers import base
from climate.domain import forecast
from climate.domain import what_if
from climate.policies import plans as rules

_AHEAD = datetime.timedelta(days=30)
_FIELDS = schemas.WHAT_IF[1]['properties']
_DIGITS = 3
_OF_HOUR = ('expected', 'low80', 'high80', 'low95', 'high95', 'allocated', 'missing')

PATHS = {
    '/what-if': {'post': operations.operation(
        'Simulate another pool or another demand; writes nothing', schemas.WHAT_IF[1])},
    '/forecast': {'get': operations.operation(
        'Forecast the demand for a pool by hour', query=operations.query_of(schemas.FORECAST))},
}


class WhatIfController(base.Controller):
    """Answers what-if questions; nothing is written."""

    since_1_1 = 'What-if is served'

    @pecan.expose('json')
    def post(self, req, resp):
        caller = self._authorized(req, rules.WHAT_IF)
        question = _question(req, self._parts.conf.api.max_body_bytes, self._parts.clock())
        return {'what_if': _answer(self._parts.manager.what_if(caller, question))}


class ForecastController(base.Controller):
    """Forecasts the demand for a pool by hour."""

    since_1_1 = 'Forecasts are served'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller = self._authorized(req, rules.FORECAST)
        query = _forecast_query(req, self._parts.clock())
        return {'forecast': _forecast(self._parts.manager.forecast(caller, query))}


def _question(request, limit, now):
    """Parse the body of POST /v1/what-if.

    :param limit: the maximum size of the body in bytes.
    :returns: a ``what_if.WhatIfQuestion``.
    :raises BadRequest: the body does not match the schema; the error names the field.
    """
    data = body.read(request, schemas.WHAT_IF, limit)
    start = times.asked('start', data.get('start', times.NOW), now)
    return what_if.WhatIfQuestion(
        pool=data.get('pool', _FIELDS['pool']['default']), start=start,
        end=times.asked('end', data['end'], now) if 'end' in data else _later(start),
        add=tuple(what_if.Added(item['count'], item['like']) for item in data.get('add', ())),
        remove=tuple(data.get('remove', ())),
        out=tuple(_outage(place, item, now) for place, item in enumerate(data.get('out', ()))),
        demand_factor=data.get('demand_factor', 1.0),
        limit=data.get('limit', _FIELDS['limit']['default']))


def _forecast_query(request, now):
    """Parse the query of GET /v1/forecast into a ``forecast.ForecastQuery``.

    :raises BadRequest: a field is unknown, repeated or malformed; the error names it.
    """
    queries.check(request, schemas.FORECAST)
    parameters = request.GET
    return forecast.ForecastQuery(
        pool=parameters.get('pool', _FIELDS['pool']['default']),
        end=times.asked('end', parameters['end'], now) if 'end' in parameters else None,
        criteria=parameters.get('criteria', ''))


def _outage(place, item, now):
    start, end = (times.asked(f'out.{place}.{name}', item[name], now) for name in ('start', 'end'))
    return what_if.Outage(tuple(dict.fromkeys(item['resources'])), start, end)


def _later(start):
    try:
        return start + _AHEAD
    except OverflowError as error:
        raise errors.BadField(field='start', reason='it is too far away.') from error


def _answer(answer):
    """Render a ``what_if.WhatIfAnswer``."""
    return {
        'pool': answer.pool, 'start': times.shown(answer.start), 'end': times.shown(answer.end),
        'resources': {'now': answer.resources, 'then': answer.new_resources},
        'leases': {
            'looked_at': answer.leases, 'left_out': answer.dropped,
            **{kind: {outcome: answer.counts.get(kind, {}).get(outcome, 0)
                      for outcome in what_if.OUTCOMES}
               for kind in (what_if.DISPLACED, what_if.QUEUED, what_if.EXTRA)}},
        'changes': [_fate(fate) for fate in answer.fates],
        'utilisation': {
            'now': _share(sum(step.allocated for step in answer.steps),
                          sum(step.capacity for step in answer.steps)),
            'then': _share(sum(step.new_allocated for step in answer.steps),
                           sum(step.new_capacity for step in answer.steps)),
            'days': [_step(step) for step in answer.steps]},
    }


def _forecast(answer):
    """Render a ``forecast.ForecastAnswer``."""
    return {
        'pool': answer.pool, 'method': answer.method,
        'learned_from': times.shown(answer.learned_from), 'capacity': answer.capacity,
        'past_error': _rounded(answer.past_error), 'refused_hours': _rounded(answer.refused),
        'short_at': times.shown(answer.short_at),
        'may_be_short_at': times.shown(answer.may_be_short_at),
        'hours': [{'start': times.shown(hour.start),
                   **{name: _rounded(getattr(hour, name)) for name in _OF_HOUR}}
                  for hour in answer.hours]}


def _fate(fate):
    return {
        'lease_id': fate.lease_id, 'kind': fate.kind, 'outcome': fate.outcome,
        'start': times.shown(fate.start), 'end': times.shown(fate.end),
        'new_start': times.shown(fate.new_start), 'resources': list(fate.resources),
        'new_resources': list(fate.new_resources)}


def _step(step):
    return {
        'start': times.shown(step.start), 'end': times.shown(step.end),
        'now': {'capacity_hours': _rounded(step.capacity),
                'allocated_hours': _rounded(step.allocated),
                'utilisation': _share(step.allocated, step.capacity)},
        'then': {'capacity_hours': _rounded(step.new_capacity),
                 'allocated_hours': _rounded(step.new_allocated),
                 'utilisation': _share(step.new_allocated, step.new_capacity)}}


def _share(part, whole):
    """Return part / whole, rounded; None if the whole is 0."""
    return _rounded(part / whole) if whole > 0 else None


def _rounded(number):
    """Round a number to _DIGITS digits; None stays None."""
    return None if number is None else round(number, _DIGITS)
