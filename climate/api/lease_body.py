# SPDX-License-Identifier: Apache-2.0
"""What the body of a request about a lease asks for, as records."""
import hashlib
import json

from climate import errors
from climate.api import body
from climate.api import hooks
from climate.api import times
from climate.domain import agenda
from climate.domain import records

_RESERVED_EVENTS = {agenda.START, agenda.BEFORE_END, agenda.END, agenda.UPDATE, agenda.DELETE,
                    agenda.DROP_TRUST}
# What cannot be chosen for a lease that is made of an offer.
_SAID_BY_OFFER = ('reservations', 'start', 'end', 'duration', 'acquire')
_LONGEST_KEY = 255


def request_of(request, limit, schemas):
    """The LeaseRequest of POST /v1/leases."""
    data = body.read(request, schemas, limit)
    lenient = hooks.is_lenient(request)
    offer_id = None if lenient else _offer_id(data)
    start, end = _dates(data, lenient)
    if end == times.NOW:
        raise errors.BadPeriod(start='later', end='now')
    seconds = None
    if not lenient:
        seconds = times.seconds('duration', data['duration']) if 'duration' in data else None
        if end is None and seconds is None and offer_id is None:
            raise errors.MissingFields(fields='end (or duration)')
        if start is not None and end is not None and seconds is not None:
            raise errors.BadField(field='duration', reason=(
                'start and end are given too; leave one of the three out.'))
        if 'start' not in data and end is not None and seconds is None:
            start = times.NOW
    key = None if lenient else request.headers.get('Idempotency-Key')
    return records.LeaseRequest(
        name=_name(data['name']), start=None if start == times.NOW else start, end=end,
        duration_seconds=seconds, before_end=_before_end(data, lenient),
        reservations=tuple(reservation(item) for item in data.get('reservations', ())),
        notify_at=_notify_at(data, lenient),
        acquire=None if lenient else _acquire(data.get('acquire')), lenient=lenient,
        dry_run=_dry_run(request), idempotency_key=_key(key),
        request_hash=_hash(data) if key else None, offer_id=offer_id)


def changes_of(request, limit, schemas):
    """The LeaseChanges of PUT /v1/leases/{id}."""
    data = body.read(request, schemas, limit)
    lenient = hooks.is_lenient(request)
    start, end = _dates(data, lenient)
    seconds = None
    if not lenient and 'duration' in data:
        seconds = times.seconds('duration', data['duration'])
        if end is not None:
            raise errors.BadField(field='duration', reason=(
                'end is given too; leave one of them out.'))
    return records.LeaseChanges(
        name=_name(data['name']) if 'name' in data else None,
        start=None if start == times.NOW else start, start_now=start == times.NOW,
        end=None if end == times.NOW else end, end_now=end == times.NOW,
        duration_seconds=seconds, before_end=_before_end(data, lenient),
        reservations=tuple(reservation(item) for item in data.get('reservations', ())),
        notify_at=_notify_at(data, lenient), lenient=lenient, dry_run=_dry_run(request),
        generation=None if lenient else _generation(request))


def _dry_run(request):
    return False if hooks.is_lenient(request) else body.flag(request, 'dry_run')


def _name(text):
    if any(each in text for each in '\t\r\n'):
        raise errors.BadField(field='name', reason='it must be one line without tabs.')
    if not text.strip():
        raise errors.BadField(field='name', reason='it must have a letter or another visible sign.')
    return text


def _moment(field, text, lenient):
    return times.minute(field, text) if lenient else times.moment(field, text)


def _dates(data, lenient):
    """(start, end) as the body says them: each a moment, times.NOW, or None."""
    names = ('start_date', 'end_date') if lenient else ('start', 'end')
    return tuple(_moment(name, data[name], lenient) if name in data else None for name in names)


def _before_end(data, lenient):
    name = 'before_end_date' if lenient else 'before_end'
    if data.get(name) is None:
        return None
    found = _moment(name, data[name], lenient)
    if found == times.NOW:
        raise errors.BadDate(value='now', field=name, reason='it must lie before the end')
    return found


def reservation(item):
    """The ReservationRequest that an item of a list of reservations is."""
    rest = {key: value for key, value in item.items() if key not in ('id', 'resource_type')}
    return records.ReservationRequest(resource_type=item.get('resource_type'), request=rest,
                                      id=item.get('id'))


def _notify_at(data, lenient):
    found = []
    for event in data.get('events', ()):
        kind = event.get('type', event.get('event_type'))
        if kind in _RESERVED_EVENTS:
            raise errors.BadField(field='events', reason=(
                f'"{kind}" events are Climate\'s own; add events of the type "notify".'))
        written = event.get('time', event.get('event_date'))
        if written is not None:
            moment = _moment('events.time', written, lenient)
            if moment == times.NOW:
                raise errors.BadDate(value='now', field='events.time',
                                     reason='it must be a moment to come')
            found.append(moment)
    return tuple(found)


def _offer_id(data):
    """The id of the offer that a body takes, or None.

    :raises BadField: the body says also what the offer says.
    """
    said = [name for name in _SAID_BY_OFFER if name in data]
    if 'offer' in data and said:
        raise errors.BadField(field='offer', reason=(
            f'an offer says what the lease has and when; leave out {", ".join(said)}, or the '
            'offer.'))
    return data.get('offer')


def _acquire(asked):
    """The Acquire that a body asks for, or None."""
    if asked is None:
        return None
    values = dict(asked)
    # Answers show null for one that waits without a limit.
    if values.get('not_after') is not None:
        values['not_after'] = times.moment('acquire.not_after', values['not_after'])
        if values['not_after'] == times.NOW:
            raise errors.BadField(field='acquire.not_after', reason='it must be a moment to come.')
    return records.Acquire(**values)


def _key(key):
    if key is not None and not (key.isascii() and key.isprintable()
                                and 0 < len(key) <= _LONGEST_KEY):
        raise errors.BadField(field='Idempotency-Key', reason=(
            f'it has 1 to {_LONGEST_KEY} printable ASCII characters, such as a UUID.'))
    return key


def _hash(data):
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _generation(request):
    text = request.headers.get('If-Match')
    if text is None or text.strip() == '*':
        return None
    number = text.strip().removeprefix('W/').strip('"')
    # An ETag that is none of ours matches no version of the lease.
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else -1
