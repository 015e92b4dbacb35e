# SPDX-License-Identifier: Apache-2.0
"""Rendering of subscriptions, their logs and their calendars."""
import datetime

import icalendar

from climate import moments
from climate import version
from climate.api import times
from climate.domain import lifecycle
from climate.domain import status_words

# The shortest interval between two requests of a calendar program.
_REFRESH = datetime.timedelta(minutes=15)
_CANCELLED = (lifecycle.ERROR, lifecycle.TIMEDOUT)


def subscription(record, secret=None, address=None):
    """Render a Subscription.

    :param secret: a new secret, which is never shown again.
    :param address: the address of a calendar with this secret.
    """
    shown = {
        'id': record.id, 'name': record.name, 'project_id': record.project_id,
        'user_id': record.user_id, 'scope': record.scope, 'transport': record.transport,
        'address': record.address, 'events': list(record.events),
        'before_end': [moments.span(datetime.timedelta(seconds=seconds))
                       for seconds in record.before_end],
        'enabled': record.enabled, 'reason': record.reason, 'failures': record.failures,
        'created_at': times.shown(record.created_at), 'updated_at': times.shown(record.updated_at)}
    if address is not None:
        return {**shown, 'calendar_url': address}
    return shown if secret is None else {**shown, 'secret': secret}


def entry(delivery):
    """Render an entry of a log, a Delivery."""
    lease = delivery.content.get('lease') or {}
    return {
        'id': str(delivery.id), 'notification_id': delivery.notification_id, 'kind': delivery.kind,
        'lease_id': lease.get('id'), 'at': times.shown(delivery.at), 'state': delivery.state,
        'attempts': delivery.attempts, 'next_at': times.shown(delivery.next_at),
        'done_at': times.shown(delivery.done_at), 'reason': delivery.reason}


def calendar(content):
    """Render a Calendar as iCalendar (RFC 5545); return bytes."""
    document = icalendar.Calendar()
    document.add('prodid', f'-//OpenStack//Climate {version.text()}//EN')
    document.add('version', '2.0')
    document.add('method', 'PUBLISH')
    # The library escapes only the values of properties of RFC 5545.
    document.add('x-wr-calname', icalendar.vText(
        ' '.join((content.subscription.name or 'Leases').split())))
    document.add('refresh-interval', _REFRESH, parameters={'VALUE': 'DURATION'})
    for lease in content.leases:
        document.add_component(_event(lease, content))
        if lease.reclaim_at is not None and lease.ended_at is None:
            document.add_component(_reclaim(lease))
    return document.to_ical()


def _event(lease, content):
    status = status_words.words(lease.state, None, lease.start, content.at)[1]
    event = icalendar.Event()
    event.add('uid', f'{lease.id}@climate')
    event.add('dtstamp', lease.updated_at or lease.created_at)
    event.add('last-modified', lease.updated_at or lease.created_at)
    event.add('sequence', lease.generation)
    event.add('dtstart', lease.start)
    event.add('dtend', max(lease.start, min(lease.end, lease.ended_at or lease.end)))
    event.add('summary', ' '.join(lease.name.split()))
    event.add('status', 'CANCELLED' if lease.state in _CANCELLED else 'CONFIRMED')
    lines = [f'Lease {lease.id}', f'Project: {lease.project_id}', f'Status: {status}']
    if lease.series_id is not None:
        lines.append(f'Series: {lease.series_id}')
    if lease.owner_reason:
        lines.append(f'Reason: {lease.owner_reason}')
    if lease.idle_since is not None and lease.ended_at is None:
        lines.append(f'Idle since {times.shown(lease.idle_since)}')
    event.add('description', '\n'.join(lines))
    if lease.ended_at is None:
        for seconds in content.subscription.before_end:
            event.add_component(_alarm(lease, seconds))
    return event


def _reclaim(lease):
    """Return the event at which an idle lease, or a part of it, is reclaimed."""
    event = icalendar.Event()
    event.add('uid', f'{lease.id}-reclaim@climate')
    event.add('dtstamp', lease.updated_at or lease.created_at)
    event.add('sequence', lease.generation)
    event.add('dtstart', lease.reclaim_at)
    event.add('summary', f'Idle lease {" ".join(lease.name.split())} is reclaimed')
    event.add('description', f'Lease {lease.id}\nIt is idle since {times.shown(lease.idle_since)}. '
                             'Resources that are in use at that time stay.')
    return event


def _alarm(lease, seconds):
    alarm = icalendar.Alarm()
    alarm.add('action', 'DISPLAY')
    alarm.add('description', f'Lease {" ".join(lease.name.split())} ends soon')
    alarm.add('trigger', -datetime.timedelta(seconds=seconds), parameters={'RELATED': 'END'})
    return alarm
