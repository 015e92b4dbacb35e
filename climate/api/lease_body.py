# SPDX-License-Identifier: Apache-2.0
"""Parse the bodies of requests about leases into records."""
import dataclasses

from climate import errors
from climate import moments
from climate.api import body
from climate.api import hooks
from climate.api import idempotency
from climate.api import queries
from climate.api import rest_1_0
from climate.api import schemas
from climate.api import times
from climate.domain import event_kinds
from climate.domain import records

_RESERVED_EVENTS = {
    event_kinds.START, event_kinds.BEFORE_END, event_kinds.END, event_kinds.UPDATE,
    event_kinds.DELETE, event_kinds.DROP_TRUST}
# The offer sets these fields of a lease that is created from it.
_SET_BY_OFFER = ('reservations', 'start', 'end', 'duration', 'acquire')
_MOMENTS = ('start', 'end', 'before_end')
# Fields of reservations of every type, which REST 1.0 does not have.
_ORDER_FIELDS = ('label', 'depends_on')


def request_of(request, parts):
    """Parse the body of POST /v1/leases.

    :param parts: the ``Parts`` of the controllers.
    :returns: a LeaseRequest.
    :raises BadRequest: the error names the field.
    """
    sent = body.read(request, schemas.LEASE_CREATE, parts.conf.api.max_body_bytes)
    lenient = hooks.is_lenient(request)
    plugins = parts.plugins if lenient else None
    data = sent if lenient else _absolute(sent, parts.clock())
    if lenient:
        rest_1_0.refuse_later(sent)
    offer_id = None if lenient else _offer_id(data)
    start, end = _dates(data, lenient)
    if end == times.NOW:
        now = parts.clock()
        raise errors.BadPeriod(end=moments.plainly(now), start=moments.plainly(
            start if start not in (None, times.NOW) else now))
    seconds = None
    if not lenient:
        seconds = times.seconds('duration', data['duration']) if 'duration' in data else None
        if end is None and seconds is None and offer_id is None:
            raise errors.MissingFields(fields='end (or duration)')
        if start is not None and end is not None and seconds is not None:
            raise errors.BadField(field='duration', reason=(
                'start and end are given, too; leave one of the three out.'))
        if 'start' not in data and end is not None and seconds is None:
            start = times.NOW
    key = None if lenient else idempotency.key_of(request)
    return records.LeaseRequest(
        name=name_of(data['name']), start=None if start == times.NOW else start, end=end,
        duration_seconds=seconds, before_end=_before_end(data, lenient),
        reservations=tuple(_new(reservation(item, lenient), plugins)
                           for item in data.get('reservations', ())),
        notify_at=_notify_at(data, lenient),
        acquire=None if lenient else _acquire(data.get('acquire')), whole_minutes=lenient,
        dry_run=_dry_run(request), idempotency_key=key,
        request_hash=idempotency.hash_of(sent) if key else None, offer_id=offer_id,
        idle_exempt=not lenient and data.get('idle_exempt', False),
        while_free_seconds=None if lenient else _while_free(data) or None)


def changes_of(request, parts, lease):
    """Parse the body of PUT /v1/leases/{id}.

    :param parts: the ``Parts`` of the controllers.
    :param lease: the lease before the change.
    :returns: a LeaseChanges.
    :raises BadRequest: the error names the field.
    """
    data = body.read(request, schemas.LEASE_UPDATE, parts.conf.api.max_body_bytes)
    lenient, seconds = hooks.is_lenient(request), None
    plugins = parts.plugins if lenient else None
    data = data if lenient else _absolute(data, parts.clock())
    start, end = _dates(data, lenient)
    if not lenient and 'duration' in data:
        seconds = times.seconds('duration', data['duration'])
        if end is not None:
            raise errors.BadField(field='duration', reason=(
                'end is given, too; leave one of them out.'))
    return records.LeaseChanges(
        name=name_of(data['name']) if 'name' in data else None,
        start=None if start == times.NOW else start, start_now=start == times.NOW,
        end=None if end == times.NOW else end, end_now=end == times.NOW,
        duration_seconds=seconds, before_end=_before_end(data, lenient),
        reservations=tuple(_changed(reservation(item, lenient), lease, plugins)
                           for item in data.get('reservations', ())),
        notify_at=_notify_at(data, lenient), whole_minutes=lenient, dry_run=_dry_run(request),
        generation=None if lenient else generation(request),
        idle_exempt=None if lenient else data.get('idle_exempt'),
        while_free_seconds=None if lenient else _while_free(data))


def _while_free(data):
    """Return the step of a body in seconds; 0: it ends the steps; None: it has no such field."""
    if 'while_free' not in data:
        return None
    value = data['while_free']
    return 0 if value in (None, 0, '0') else times.seconds('while_free', value)


def _absolute(data, now):
    """Return a body of REST 1.1 with absolute moments instead of relative ones."""
    body = {name: times.absolute(value, now) if name in _MOMENTS else value
            for name, value in data.items()}
    if 'events' in body:
        body['events'] = [{**event, 'time': times.absolute(event['time'], now)}
                          for event in body['events']]
    if 'not_after' in body.get('acquire', ()):
        body['acquire'] = {**body['acquire'], 'not_after': times.absolute(
            body['acquire']['not_after'], now)}
    return body


def _dry_run(request):
    return False if hooks.is_lenient(request) else queries.flag(request, 'dry_run')


def name_of(text):
    """Return the name of a lease or series.

    :raises BadField: the name is not one line, or has no visible character.
    """
    if any(character in text for character in '\t\r\n'):
        raise errors.BadField(field='name', reason='it must be one line without tabs.')
    if not text.strip():
        raise errors.BadField(field='name', reason='it must have at least one visible character.')
    return text


def _moment(field, text, lenient):
    return times.minute(field, text) if lenient else times.moment(field, text)


def _dates(data, lenient):
    """Parse (start, end) of a body: each a moment, times.NOW, or None."""
    names = ('start_date', 'end_date') if lenient else ('start', 'end')
    return tuple(_moment(name, data[name], lenient) if name in data else None for name in names)


def _before_end(data, lenient):
    name = 'before_end_date' if lenient else 'before_end'
    if data.get(name) is None:
        return None
    moment = _moment(name, data[name], lenient)
    if moment == times.NOW:
        raise errors.BadDate(value='now', field=name, reason='it must be before the end')
    return moment


def reservation(item, lenient=False):
    """Convert an item of a list of reservations to a ReservationRequest."""
    common = ('id', 'resource_type', *(() if lenient else _ORDER_FIELDS))
    request = records.ReservationRequest(
        resource_type=item.get('resource_type'), id=item.get('id'),
        request={key: value for key, value in item.items() if key not in common})
    if lenient:
        return request
    depends_on = item.get('depends_on')
    return dataclasses.replace(
        request, label=item['label'] or '' if 'label' in item else None,
        depends_on=None if depends_on is None else tuple(depends_on))


def _new(request, plugins):
    """Return a new ReservationRequest; with `plugins`, converted from REST 1.0 to 1.1."""
    if plugins is None:
        return request
    resource_type = rest_1_0.own_type(request.resource_type, plugins)
    return dataclasses.replace(request, resource_type=resource_type, request=rest_1_0.request(
        plugins.get(resource_type), request.request))


def _changed(request, lease, plugins):
    """Return a changed ReservationRequest; with `plugins`, converted from REST 1.0 to 1.1."""
    for stored in lease.reservations if plugins is not None else ():
        if stored.id == request.id:
            return dataclasses.replace(
                request, resource_type=rest_1_0.own_type(request.resource_type, plugins),
                request=rest_1_0.changes(
                    plugins.get(stored.resource_type), stored, request.request))
    # The manager refuses ids of reservations that are not in this lease.
    return request


def _notify_at(data, lenient):
    moments = []
    for event in data.get('events', ()):
        kind = event.get('type', event.get('event_type'))
        if kind in _RESERVED_EVENTS:
            raise errors.BadField(field='events', reason=(
                f'Climate adds "{kind}" events itself; add events of the type "notify".'))
        written = event.get('time', event.get('event_date'))
        if written is not None:
            moment = _moment('events.time', written, lenient)
            if moment == times.NOW:
                raise errors.BadDate(value='now', field='events.time',
                                     reason='it must be in the future')
            moments.append(moment)
    return tuple(moments)


def _offer_id(data):
    """Return the id of the offer that a body takes, or None.

    :raises BadField: the body also has fields that the offer sets.
    """
    conflicting = [name for name in _SET_BY_OFFER if name in data]
    if 'offer' in data and conflicting:
        raise errors.BadField(field='offer', reason=(
            'the offer sets the dates and the resources of the lease; leave out '
            f'{", ".join(conflicting)}, or the offer.'))
    return data.get('offer')


def _acquire(acquire):
    """Parse the field "acquire" of a body into an Acquire; None stays None."""
    if acquire is None:
        return None
    values = dict(acquire)
    # Responses show null for a request that waits without a limit.
    if values.get('not_after') is not None:
        values['not_after'] = times.moment('acquire.not_after', values['not_after'])
        if values['not_after'] == times.NOW:
            raise errors.BadField(field='acquire.not_after', reason='it must be in the future.')
    return records.AcquireRequest(**values)


def refuse_stale(request, lease):
    """Refuse a request whose If-Match does not name the present version of a lease.

    :raises StalePrecondition: the request names another version.
    """
    known = None if hooks.is_lenient(request) else generation(request)
    if known not in (None, lease.generation):
        raise errors.StalePrecondition(lease_id=lease.id)


def generation(request):
    """Return the generation of a lease that If-Match names; None: it names none."""
    text = request.headers.get('If-Match')
    if text is None or text.strip() == '*':
        return None
    number = text.strip().removeprefix('W/').strip('"')
    # An ETag that is not from Climate matches no generation of a lease.
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else -1
