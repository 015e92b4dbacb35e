# SPDX-License-Identifier: Apache-2.0
"""Rendering of subscriptions, their logs and their calendars."""
import datetime

import icalendar

from climate import moments
from climate import version
from climate.api import times
from climate.domain import lifecycle
from climate.domain import status_words

# How often a calendar program should look, at most.
_REFRESH = datetime.timedelta(minutes=15)
_CANCELLED = (lifecycle.ERROR, lifecycle.TIMEDOUT)


def subscription(found, secret=None, address=None):
    """Render a Subscription.

    :param secret: a new secret, which is shown this once.
    :param address: the address of a calendar that has this secret.
    """
    shown = {
        'id': found.id, 'name': found.name, 'project_id': found.project_id,
        'user_id': found.user_id, 'scope': found.scope, 'transport': found.transport,
        'address': found.address, 'events': list(found.events),
        'before_end': [moments.span(datetime.timedelta(seconds=each))
                       for each in found.before_end],
        'enabled': found.enabled, 'reason': found.reason, 'failures': found.failures,
        'created_at': times.shown(found.created_at), 'updated_at': times.shown(found.updated_at)}
    if address is not None:
        return {**shown, 'calendar_url': address}
    return shown if secret is None else {**shown, 'secret': secret}


def entry(found):
    """Render an entry of a log, a Delivery."""
    lease = found.content.get('lease') or {}
    return {
        'id': str(found.id), 'notification_id': found.notification_id, 'kind': found.kind,
        'lease_id': lease.get('id'), 'at': times.shown(found.at), 'state': found.state,
        'attempts': found.attempts, 'next_at': times.shown(found.next_at),
        'done_at': times.shown(found.done_at), 'reason': found.reason}


def calendar(found):
    """Render a Calendar as iCalendar (RFC 5545); return bytes."""
    made = icalendar.Calendar()
    made.add('prodid', f'-//OpenStack//Climate {version.text()}//EN')
    made.add('version', '2.0')
    made.add('method', 'PUBLISH')
    # The library escapes only the values of names that RFC 5545 has.
    made.add('x-wr-calname', icalendar.vText(
        ' '.join((found.subscription.name or 'Leases').split())))
    made.add('refresh-interval', _REFRESH, parameters={'VALUE': 'DURATION'})
    for lease in found.leases:
        made.add_component(_event(lease, found))
        if lease.reclaim_at is not None and lease.ended_at is None:
            made.add_component(_reclaim(lease))
    return made.to_ical()


def _event(lease, found):
    status = status_words.words(lease.state, None, lease.start, found.at)[1]
    event = icalendar.Event()
    event.add('uid', f'{lease.id}@climate')
    event.add('dtstamp', lease.updated_at or lease.created_at)
    event.add('last-modified', lease.updated_at or lease.created_at)
    event.add('sequence', lease.generation)
    event.add('dtstart', lease.start)
    # A lease that ended early has freed its resources then.
    event.add('dtend', max(lease.start, min(lease.end, lease.ended_at or lease.end)))
    event.add('summary', ' '.join(lease.name.split()))
    event.add('status', 'CANCELLED' if lease.state in _CANCELLED else 'CONFIRMED')
    lines = [f'Lease {lease.id}', f'Project: {lease.project_id}', f'Status: {status}']
    if lease.owner_reason:
        lines.append(f'Reason: {lease.owner_reason}')
    if lease.idle_since is not None and lease.ended_at is None:
        lines.append(f'Idle since {times.shown(lease.idle_since)}')
    event.add('description', '\n'.join(lines))
    if lease.ended_at is None:
        for seconds in found.subscription.before_end:
            event.add_component(_alarm(lease, seconds))
    return event


def _reclaim(lease):
    """Return the event of the moment at which an idle lease is taken back, or a part of it."""
    event = icalendar.Event()
    event.add('uid', f'{lease.id}-reclaim@climate')
    event.add('dtstamp', lease.updated_at or lease.created_at)
    event.add('sequence', lease.generation)
    event.add('dtstart', lease.reclaim_at)
    event.add('summary', f'Idle lease {" ".join(lease.name.split())} is taken back')
    event.add('description', f'Lease {lease.id}\nIt is idle since {times.shown(lease.idle_since)}. '
                             'What is used then stays.')
    return event


def _alarm(lease, seconds):
    alarm = icalendar.Alarm()
    alarm.add('action', 'DISPLAY')
    alarm.add('description', f'Lease {" ".join(lease.name.split())} ends soon')
    alarm.add('trigger', -datetime.timedelta(seconds=seconds), parameters={'RELATED': 'END'})
    return alarm
