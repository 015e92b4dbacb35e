# SPDX-License-Identifier: Apache-2.0
"""The path /v1/availability, from REST 1.1 on."""
import dataclasses

import pecan

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import lease_body
from climate.api import operations
from climate.api import permissions
from climate.api import price_view
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.api.controllers import base
from climate.domain import availability
from climate.policies import availability as rules

_NUMBERS = ('limit',)


def _parameters():
    """Return the parameters of the query, in which the reservations are JSON text."""
    schema = schemas.AVAILABILITY
    return [
        {'name': name, 'in': 'query', 'required': name in schema['required'],
         **({'content': {'application/json': {'schema': field}}} if name == 'reservations'
            else {'schema': field})}
        for name, field in schema['properties'].items()]


PATHS = {'/availability': {
    'get': operations.operation('Find times at which reservations fit', query=_parameters()),
    'post': operations.operation('Find times at which reservations fit, and hold them',
                                 schemas.AVAILABILITY_HOLD[1], 201)}}


class AvailabilityController(base.Controller):
    """Finds times at which reservations fit, and holds offers."""

    ignored = tuple(schemas.AVAILABILITY['properties'])
    since_1_1 = 'Availability is served'
    version_first = True

    @pecan.expose('json')
    def get_all(self, req, resp):
        self._authorized(req, rules.GET)
        return self._answer(req, _from_query(req, self._parts.clock()))

    @pecan.expose('json')
    def post(self, req, resp):
        self._authorized(req, rules.POST)
        answer = self._answer(req, _from_body(req, self._parts.conf.api, self._parts.clock()))
        if any(offer['id'] is not None for offer in answer['offers']):
            resp.status = 201
        return answer

    def _answer(self, req, query):
        caller, policy = hooks.caller(req), self._parts.policy
        query = dataclasses.replace(query, hidden_criteria=permissions.may_use_hidden_criteria(
            policy, caller, hooks.is_lenient(req)))
        return _shown(self._parts.manager.find_availability(caller, query),
                      policy.allows(caller, rules.GET_NAMES))


def _from_query(request, now):
    """Parse the query of GET /v1/availability, in which ``reservations`` is JSON text.

    :returns: an ``availability.AvailabilityQuery``.
    :raises BadRequest: the query does not match the schema; the error names the field.
    """
    queries.refuse_unknown(request, schemas.AVAILABILITY['properties'])
    data = {name: _value(name, text) for name, text in request.GET.items()}
    body.check(data, schemas.AVAILABILITY)
    return _query(data, now)


def _from_body(request, conf, now):
    """Parse the body of POST /v1/availability, which has the number of offers to hold.

    :returns: an ``availability.AvailabilityQuery``.
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
    return availability.AvailabilityQuery(
        reservations=tuple(lease_body.reservation(item) for item in data['reservations']),
        duration_seconds=times.seconds('duration', data['duration']),
        earliest=_moment(data, 'earliest', now), latest=_moment(data, 'latest', now),
        limit=data.get('limit', schemas.AVAILABILITY['properties']['limit']['default']))


def _moment(data, name, now):
    moment = times.moment(name, times.absolute(data[name], now)) if name in data else None
    if moment != times.NOW:
        return moment
    if name == 'latest':
        raise errors.BadDate(value='now', field=name, reason='it must be in the future')
    return None


def _shown(answer, names):
    """Render an ``availability.AvailabilityAnswer``.

    :param names: whether to show the names of the resources.
    """
    return {
        'earliest': times.shown(answer.earliest), 'latest': times.shown(answer.latest),
        'duration': answer.duration_seconds, 'complete': answer.complete,
        'offers': [_offer(opening, names) for opening in answer.openings],
        'considered': [_considered(share) for share in answer.considered],
        'reasons': [] if answer.openings else [share.sentence for share in answer.considered],
        'alternatives': [{
            'kind': other.kind, 'start': times.shown(other.start), 'end': times.shown(other.end),
            'duration': int((other.end - other.start).total_seconds()),
            'counts': list(other.counts)} for other in answer.alternatives],
    }


def _offer(opening, names):
    return {
        'id': opening.id, 'held_until': times.shown(opening.held_until),
        'start': times.shown(opening.start), 'end': times.shown(opening.end),
        'last_start': times.shown(opening.last_start),
        'reservations': [{
            'resource_type': share.resource_type, 'count': share.count,
            'resources': [_group(group, names) for group in share.groups],
        } for share in opening.shares],
        **price_view.price(opening.price),
    }


def _group(group, names):
    view = {'count': group.count, 'properties': dict(group.properties)}
    return {**view, 'names': list(group.names)} if names else view


def _considered(share):
    return {
        'resource_type': share.resource_type, 'pool': share.pool, 'wanted': share.wanted,
        'enrolled': share.enrolled, 'matching': share.matching, 'free': share.free,
        'free_at_earliest': share.free_at_earliest,
        'values': dict(share.values),
        'criteria': [{'criterion': criterion.criterion, 'met_by': criterion.met_by,
                      'remaining': criterion.remaining} for criterion in share.criteria],
    }
