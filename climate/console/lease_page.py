# SPDX-License-Identifier: Apache-2.0
"""The facts that the page of a lease shows, from several answers of climate-api."""
import contextlib
import dataclasses
import datetime
import json

import flask

from climate.client import errors
from climate.client import status_words
from climate.client import times
from climate.client.commands import server_create
from climate.console import lease_advice
from climate.console import lease_series
from climate.console import rest

_SIZES = ('min', 'max', 'amount')


@dataclasses.dataclass(frozen=True)
class ShownResource:
    """A resource in the table of a lease.

    :ivar state: the class of its state in the style sheet.
    :ivar word: the key of the text of its state.
    """

    id: str
    name: str
    state: str
    word: str
    since: str | None
    reason: str | None
    maintenances: list
    properties: dict
    reservation_id: str


@dataclasses.dataclass(frozen=True)
class ExtensionNote:
    """The sentence about the rule that restricts extensions of a running lease.

    :ivar text: the key of the text.
    :ivar at: the moment in the text.
    """

    text: str
    rule: str
    at: str


def facts(client, lease):
    """Return the values of the template of a lease, beside those of a row in the list."""
    resources = _resources(client, lease)
    series = lease_series.find(client, lease.get('series_id'))
    hosts = ((lease.get('acquire') or {}).get('plan') or {}).get('hosts', ())
    return {
        'actions': lease.get('actions', ()), 'advice': lease_advice.of_lease(lease, resources),
        'resources': [_shown(each) for each in sorted(
            resources, key=lease_advice.is_broken, reverse=True)],
        'price': _price(client, lease), 'extension': _extension(client, lease),
        'step': _step(lease), 'shares': _shares(client, lease),
        'series': series, 'number': lease_series.number_of(series, lease),
        'series_query': lease_series.list_query(
            series, flask.session['identity']['project_id']),
        'cancels_following': lease_series.may_cancel(series, lease),
        'criteria': list(filter(None, map(criteria_words, lease['reservations']))),
        'sizes': {each['id']: [name for name in _SIZES if each.get(name)]
                  for each in lease['reservations']},
        'boots': [{**boot, 'command': server_create.command(boot['arguments'])}
                  for boot in server_create.of_lease(lease) if 'arguments' in boot],
        'history': client.leases.history(lease['id']), 'hosts': hosts,
        'moves': [move for host in hosts for move in host.get('moves') or ()]}


def _resources(client, lease):
    """Return the records of the resources of a lease; [] at an API of an earlier release."""
    try:
        return rest.allowed(lambda: client.leases.resources(lease['id']), [])
    except errors.NotFound:
        return []


def _price(client, lease):
    """Return the price of a lease as it is planned now, or None.

    A dry run that changes nothing has the price, if there is a price book.
    """
    if 'change_end' not in lease.get('actions', ()):
        return None
    with contextlib.suppress(errors.ClientError):
        return client.leases.update(lease['id'], end=lease['end'], dry_run=True).get('price')
    return None


def _shares(client, lease):
    """Return the open shares of a lease; () for callers from whom they are hidden."""
    if not lease.get('share_count'):
        return ()
    return rest.allowed(lambda: client.shares.list(lease['id']), ())


def _step(lease):
    """Return the duration of the steps by which a lease goes on, in words, or None."""
    seconds = lease.get('while_free')
    return times.in_words(datetime.timedelta(seconds=seconds)) if seconds else None


def _extension(client, lease):
    """Return the ExtensionNote of a running lease, or None.

    The service searches the latest end, so it is asked only if the owner has rules of extensions.
    """
    if lease['status'] != status_words.ACTIVE or 'change_end' not in lease.get('actions', ()):
        return None
    with contextlib.suppress(errors.ClientError):
        if not client.limits.report()['extensions']:
            return None
        latest = client.leases.latest_end(lease['id'])
        if latest['opens_at']:
            return ExtensionNote('lease.extension_from', latest['rule'], latest['opens_at'])
        if latest['rule']:
            kind = 'until' if latest['end'] > lease['end'] else 'never'
            return ExtensionNote(f'lease.extension_{kind}', latest['rule'], latest['end'])
    return None


def _shown(resource):
    state, word = _state(resource)
    return ShownResource(
        resource['id'], lease_advice.resource_name(resource), state, word,
        resource['health']['since'] if lease_advice.is_broken(resource) else None,
        resource['health'].get('reason'), resource['maintenances'], resource['properties'],
        resource['reservation_id'])


def _state(resource):
    """Return (class, key of the text) of the state of a resource."""
    state = resource['health']['state']
    if lease_advice.is_broken(resource):
        return ('out' if state == 'out_of_order' else 'attention'), f'health.{state}'
    if resource.get('power_state') in ('asleep', 'falling_asleep', 'waking'):
        return 'asleep', f'power.{resource["power_state"]}'
    return 'good', 'health.well'


def criteria_words(reservation):
    """Return the criteria of a reservation as people write them, or ''."""
    text = reservation.get('resource_properties')
    if not text:
        return ''
    try:
        return _words(json.loads(text) if isinstance(text, str) else text)
    except (ValueError, TypeError, IndexError):
        return str(text)


def _words(condition):
    operator, *rest = condition
    if operator in ('and', 'or'):
        return f' {operator} '.join(
            f'({_words(part)})' if part[0] in ('and', 'or') and len(rest) > 1 else _words(part)
            for part in rest)
    if operator == 'not':
        return f'not ({_words(rest[0])})'
    name, *values = rest
    return f'{str(name).removeprefix("$")} {operator} {", ".join(map(str, values))}'
