# SPDX-License-Identifier: Apache-2.0
"""Bodies of requests: read, checked against their schema, handed on as records."""
import hashlib
import json
import math
import unicodedata

import jsonschema

from climate import errors
from climate.api import hooks
from climate.api import times
from climate.domain import agenda
from climate.domain import records

_RESERVED_EVENTS = {agenda.START, agenda.BEFORE_END, agenda.END, agenda.UPDATE, agenda.DELETE,
                    agenda.DROP_TRUST}
# What cannot be chosen for a lease that is made of an offer.
_SAID_BY_OFFER = ('reservations', 'start', 'end', 'duration', 'acquire')
_LONGEST_KEY = 255
# Criteria may be nested 16 deep; nothing else is nested as deep as they are.
_DEEPEST = 32
# By the id of the schema, as a dict is no key; the schemas are constants, and each validator keeps
# its own.
_VALIDATORS = {}


def read(request, schemas, limit):
    """The JSON object of a request, as its schema wants it.

    :param schemas: the pair of schemas for REST 1.0 and from 1.1.
    :param limit: how many bytes it may have.
    :raises UnsupportedMediaType: it says that it is not JSON.
    :raises BodyTooLarge: it has more bytes.
    :raises BadRequest: it is not a JSON object that fits; the error names the field.
    """
    content_type = request.content_type
    if content_type and content_type.split(';')[0].strip().lower() != 'application/json':
        raise errors.UnsupportedMediaType(content_type=content_type[:80])
    if (request.content_length or 0) > limit:
        raise errors.BodyTooLarge(limit=limit)
    raw = request.body_file.read(limit + 1)
    if len(raw) > limit:
        raise errors.BodyTooLarge(limit=limit)
    try:
        data = load(raw.decode('utf-8'), 'body')
    except ValueError as error:
        raise errors.BadRequest(reason=f'The body is not JSON: {error}.') from error
    if not isinstance(data, dict):
        raise errors.BadRequest(reason='The body must be a JSON object: {"name": …}.')
    check(data, schemas[0] if hooks.is_lenient(request) else schemas[1])
    return data


def lease_request(request, limit, schemas):
    """The LeaseRequest of POST /v1/leases."""
    data = read(request, schemas, limit)
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


def lease_changes(request, limit, schemas):
    """The LeaseChanges of PUT /v1/leases/{id}."""
    data = read(request, schemas, limit)
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


def properties(data):
    """{property name: text or None} of a host's body; True becomes "True"."""
    return {name: None if value is None else str(value) for name, value in data.items()
            if name != 'name'}


def host_changes(data):
    """(properties, whether the host can be leased or None) of the body of a host's PUT."""
    changes = dict(data)
    reservable = changes.pop('reservable', None)
    return properties(changes), None if reservable is None else str(reservable).lower() == 'true'


def flag(request, name):
    """A yes or no of the query.

    :raises BadField: it is neither.
    """
    value = request.GET.get(name, 'false').lower()
    if value not in ('true', 'false', '1', '0', 'yes', 'no', ''):
        raise errors.BadField(field=name, reason=f'"{value[:40]}" is neither true nor false.')
    return value in ('true', '1', 'yes')


def load(text, field):
    """What a JSON text says.

    :raises ValueError: it is no JSON.
    :raises BadField: it says what cannot be kept.
    """
    try:
        data = json.loads(text, parse_constant=_no_constant, parse_float=_number)
    except RecursionError as error:
        raise ValueError(error) from error
    refuse_unprintable(data, field, _DEEPEST)
    return data


def _dry_run(request):
    return False if hooks.is_lenient(request) else flag(request, 'dry_run')


def _no_constant(name):
    raise ValueError(f'{name} is no JSON number')


def _number(text):
    """A number with a point or an exponent; 2.0 is the whole number 2, as for JSON itself."""
    found = float(text)
    if not math.isfinite(found):
        raise ValueError(f'{text[:40]} is too large')
    return int(found) if found.is_integer() and abs(found) < 2 ** 53 else found


def check(data, schema):
    """Nothing, where the data are as the schema wants them.

    :raises BadRequest: they are not; the error names the field.
    """
    problem = min(_validator(schema).iter_errors(data),
                  key=lambda error: (error.validator != 'required', str(error.absolute_path)),
                  default=None)
    if problem is None:
        return
    path = '.'.join(str(step) for step in problem.absolute_path)
    if problem.validator == 'required':
        missing = [name for name in problem.validator_value if name not in problem.instance]
        raise errors.MissingFields(fields=', '.join(missing) + (f' (in {path})' if path else ''))
    if problem.validator == 'additionalProperties':
        # Of the object in which it stands, which may lie deep in the body.
        known = ', '.join(problem.schema['properties'])
        raise errors.BadField(field=path or 'body', reason=(
            f'{problem.message[:300]}. Known are: {known}.'))
    raise errors.BadField(field=path or 'body', reason=problem.message[:300] + '.')


def _validator(schema):
    """The validator of a schema, made once: to make one costs more than to check a body with it."""
    if id(schema) not in _VALIDATORS:
        _VALIDATORS[id(schema)] = jsonschema.Draft202012Validator(schema)
    return _VALIDATORS[id(schema)]


def refuse_unprintable(value, path, deeper):
    """Refuse text that no database and no terminal keeps as it is.

    :param deeper: how deep `value` may be nested.
    :raises BadField: a text has a control character or half a surrogate pair, or it is nested
        too deep.
    """
    if isinstance(value, str):
        for each in value:
            if unicodedata.category(each) in ('Cc', 'Cs') and each not in '\t\r\n':
                raise errors.BadField(field=path, reason=(
                    f'the character U+{ord(each):04X} is not allowed in text.'))
        return
    if deeper == 0:
        raise errors.BadField(field=path, reason='it is nested too deep.')
    if isinstance(value, dict):
        for key, item in value.items():
            refuse_unprintable(key, path, deeper - 1)
            refuse_unprintable(item, key, deeper - 1)
    elif isinstance(value, list):
        for item in value:
            refuse_unprintable(item, path, deeper - 1)


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
