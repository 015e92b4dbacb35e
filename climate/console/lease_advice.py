# SPDX-License-Identifier: Apache-2.0
"""The next steps for the owner of a lease, as keys of texts with their values."""
import dataclasses
import datetime

from climate.client import status_words
from climate.console import texts

_WELL = 'well'
#: Until these states, Climate replaces unhealthy resources by itself.
_BEFORE_START = ('inactive', 'to_be_started')


@dataclasses.dataclass(frozen=True)
class Advice:
    """One sentence about what is wrong, and what to do.

    :ivar text: the key of the text.
    :ivar values: {field of the text: value}.
    :ivar resource: the record of the resource that should be swapped; None: nothing is to swap.
    :ivar wrong: whether something is wrong, rather than worth knowing.
    """

    text: str
    values: dict
    resource: dict | None = None
    wrong: bool = True


def resource_name(resource):
    """Return the name of a resource, or its pool and id for those who may not see names."""
    return resource['name'] or texts.text('resource.unnamed', pool=resource['pool'],
                                          id=resource['id'])


def is_broken(resource):
    """Return whether a record of a resource says that it does not work."""
    return resource['health']['state'] != _WELL


def of_lease(lease, resources):
    """Return the Advices about a lease, the most urgent first.

    :param lease: a lease of REST 1.1.
    :param resources: the records of its resources.
    """
    status, reason = lease['status'], lease.get('status_reason')
    if status in status_words.PAST or lease.get('deleted_at'):
        return []
    if status == status_words.ACQUIRING:
        return [Advice('advice.waits', {'reason': reason or ''}, wrong=False)]
    found = [advice for resource in resources for advice in _of_resource(lease, resource)]
    if status == 'error':
        found.insert(0, Advice('advice.failed', {'reason': reason or ''}))
    elif reason:
        found.insert(0, Advice('advice.again', {'reason': reason}))
    if lease['degraded'] and not any(map(is_broken, resources)):
        found.append(Advice('advice.degraded', {}))
    if lease.get('idle_since'):
        kind = 'advice.reclaimed' if lease.get('reclaim_at') else 'advice.idle'
        found.append(Advice(kind, {'since': texts.moment(lease['idle_since']),
                                   'at': texts.moment(lease.get('reclaim_at'))}, wrong=False))
    return found


def _of_resource(lease, resource):
    """Yield the Advices about one resource of a lease that has its resources."""
    name, future = resource_name(resource), lease['status'] in _BEFORE_START
    health = resource['health']
    if is_broken(resource):
        yield Advice(
            'advice.broken_later' if future else 'advice.broken',
            {'name': name, 'state': texts.text(f'health.{health["state"]}'),
             'since': texts.moment(health['since']),
             'reason': f': {health["reason"]}' if health.get('reason') else ''},
            resource=None if future else resource)
    for window in resource['maintenances']:
        if _overlap(window, lease):
            yield Advice(
                'advice.maintained_later' if future else 'advice.maintained',
                {'name': name, 'start': texts.moment(window['start']),
                 'end': texts.moment(window['end'])},
                resource=None if future else resource, wrong=False)


def _overlap(window, lease):
    first, second = ([datetime.datetime.fromisoformat(each[name]) for name in ('start', 'end')]
                     for each in (window, lease))
    return first[0] < second[1] and second[0] < first[1]
