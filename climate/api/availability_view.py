# SPDX-License-Identifier: Apache-2.0
"""Rendering of the answers to availability requests, from REST 1.1 on."""
from climate.api import price_view
from climate.api import times


def shown(answer, names):
    """Render an ``availability.Answer``.

    :param names: whether to show the names of the resources.
    """
    return {
        'earliest': times.shown(answer.earliest), 'latest': times.shown(answer.latest),
        'duration': answer.duration_seconds, 'complete': answer.complete,
        'offers': [_offer(each, names) for each in answer.openings],
        'considered': [_considered(each) for each in answer.considered],
        'reasons': [] if answer.openings else [each.sentence for each in answer.considered],
        'alternatives': [{
            'kind': each.kind, 'start': times.shown(each.start), 'end': times.shown(each.end),
            'duration': int((each.end - each.start).total_seconds()),
            'counts': list(each.counts)} for each in answer.alternatives],
    }


def _offer(opening, names):
    return {
        'id': opening.id, 'held_until': times.shown(opening.held_until),
        'start': times.shown(opening.start), 'end': times.shown(opening.end),
        'last_start': times.shown(opening.last_start),
        'reservations': [{
            'resource_type': each.resource_type, 'count': each.count,
            'resources': [_group(group, names) for group in each.groups],
        } for each in opening.shares],
        **price_view.price(opening.price),
    }


def _group(group, names):
    view = {'count': group.count, 'properties': dict(group.properties)}
    return {**view, 'names': list(group.names)} if names else view


def _considered(found):
    return {
        'resource_type': found.resource_type, 'pool': found.pool, 'wanted': found.wanted,
        'enrolled': found.enrolled, 'matching': found.matching, 'free': found.free,
        'free_at_earliest': found.free_at_earliest,
        'criteria': [{'criterion': each.criterion, 'met_by': each.met_by,
                      'remaining': each.remaining} for each in found.criteria],
    }
