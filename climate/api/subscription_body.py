# SPDX-License-Identifier: Apache-2.0
"""The schemas of the bodies of subscriptions, and the parsers that convert bodies to records."""
import hashlib
import secrets

from climate import errors
from climate.api import body
from climate.api import times
from climate.domain import notification_kinds
from climate.domain import subscriptions

_FIELDS = {
    'name': {'type': ['string', 'null'], 'maxLength': 80},
    'address': {'type': 'string', 'minLength': 1, 'maxLength': 2000,
                'description': 'A mail address, or the https:// address of a webhook.'},
    'events': {'type': 'array', 'maxItems': 20, 'uniqueItems': True,
               'items': {'type': 'string', 'maxLength': 32},
               'description': f'Some of {", ".join(notification_kinds.CHOSEN)}.'},
    'before_end': {'type': 'array', 'maxItems': subscriptions.MOST_REMINDERS,
                   'items': {'type': ['string', 'integer'], 'format': 'span'},
                   'description': 'Times before the end of each lease, such as ["1d", "1h"].'},
}
_CREATE = {
    'type': 'object',
    'required': ['transport'],
    'properties': {
        'transport': {'type': 'string', 'maxLength': 32,
                      'description': 'mail, webhook or calendar.'},
        'scope': {'enum': list(subscriptions.SCOPES), 'default': subscriptions.OWN,
                  'description': 'Your own leases, or all leases of the project.'},
        **_FIELDS,
    },
    'additionalProperties': False,
}
_UPDATE = {
    'type': 'object',
    'minProperties': 1,
    'properties': {
        **_FIELDS, 'enabled': {'type': 'boolean'},
        'renew_secret': {'type': 'boolean',
                         'description': 'Make a new secret; the old one becomes invalid.'},
    },
    'additionalProperties': False,
}
#: Schemas for REST 1.0, which does not serve them, and from 1.1 on.
CREATE = (_CREATE, _CREATE)
UPDATE = (_UPDATE, _UPDATE)


def new_secret(transport):
    """Make the secret of a subscription; return (the secret for the user, the text to store).

    For a calendar, the stored text is only the SHA-256 of the secret. Both are None for mail.
    """
    if transport == subscriptions.CALENDAR:
        secret = secrets.token_urlsafe(32)
        return secret, calendar_hash(secret)
    if transport == subscriptions.WEBHOOK:
        secret = secrets.token_urlsafe(32)
        return secret, secret
    return None, None


def calendar_hash(secret):
    """Return the SHA-256 of the secret of a calendar, which is stored in place of the secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def request_of(request, limit):
    """Read the body of a new subscription; return (SubscriptionRequest, the secret or None)."""
    data = body.read(request, CREATE, limit)
    transport = data['transport']
    is_calendar = transport == subscriptions.CALENDAR
    _refuse_misplaced(data, is_calendar)
    usual = () if is_calendar else notification_kinds.USUAL
    shown, kept = new_secret(transport)
    request_record = subscriptions.SubscriptionRequest(
        scope=data.get('scope', subscriptions.OWN), transport=transport,
        address=data.get('address'), name=_name(data), secret=kept,
        events=_kinds(data['events']) if 'events' in data else usual,
        before_end=_before_end(data.get('before_end', [])))
    _refuse_silent(transport, request_record.events, request_record.before_end)
    return request_record, shown


def changes_of(request, limit, before):
    """Read the body of a change; return (SubscriptionChanges, the new secret or None).

    :param before: the Subscription before the change.
    """
    data = body.read(request, UPDATE, limit)
    is_calendar = before.transport == subscriptions.CALENDAR
    _refuse_misplaced(data, is_calendar, new=False)
    shown, kept = new_secret(before.transport) if data.get('renew_secret') else (None, None)
    if data.get('renew_secret') and kept is None:
        raise errors.BadField(field='renew_secret', reason=(
            f'a subscription by {before.transport} has no secret.'))
    changes = subscriptions.SubscriptionChanges(
        address=data.get('address'), name=_name(data), enabled=data.get('enabled'),
        secret=kept, events=_kinds(data['events']) if 'events' in data else None,
        before_end=_before_end(data['before_end']) if 'before_end' in data else None)
    if not (changes.events is None and changes.before_end is None):
        _refuse_silent(before.transport,
                       before.events if changes.events is None else changes.events,
                       before.before_end if changes.before_end is None else changes.before_end)
    return changes, shown


def _refuse_misplaced(data, is_calendar, new=True):
    for name in ('address', 'events'):
        if is_calendar and name in data:
            raise errors.BadField(field=name, reason=(
                'a calendar has none: it shows all leases of its scope. Leave it out.'))
    if new and not is_calendar and 'address' not in data:
        raise errors.MissingFields(fields='address')


def _refuse_silent(transport, kinds, before_end):
    if transport != subscriptions.CALENDAR and not kinds and not before_end:
        raise errors.BadField(field='events', reason=(
            'it would never notify: name a kind of event, or a time in before_end.'))


def _name(data):
    name = data.get('name')
    if name is not None and any(character in name for character in '\t\r\n'):
        raise errors.BadField(field='name', reason='it must be one line without tabs.')
    return name


def _kinds(names):
    for kind in names:
        if kind == notification_kinds.BEFORE_END:
            raise errors.BadField(field='events', reason=(
                'say how long before the end instead: "before_end": ["1d", "1h"].'))
        if kind not in notification_kinds.CHOSEN:
            raise errors.BadField(field='events', reason=(
                f'"{kind}" is not one of {", ".join(notification_kinds.CHOSEN)}.'))
    return tuple(names)


def _before_end(values):
    durations = set()
    for value in values:
        seconds = times.seconds('before_end', value)
        if not subscriptions.SHORTEST_SECONDS <= seconds <= subscriptions.LONGEST_SECONDS:
            raise errors.BadField(field='before_end', reason=(
                f'"{value}" is not from one minute to 366 days.'))
        durations.add(seconds)
    return tuple(sorted(durations, reverse=True))
