# SPDX-License-Identifier: Apache-2.0
"""Rendering of timelines in responses."""
import hashlib
import json

from climate.api import operator_texts
from climate.api import times
from climate.domain import timeline


def answer(found, pool, named, operator):
    """Return a ``timeline.Timeline`` as JSON-ready data.

    :param named: whether resources have their names.
    :param operator: whether the caller reads the operators' versions of texts.
    """
    return {
        'pool': pool, 'start': times.shown(found.start), 'end': times.shown(found.end),
        'kinds': list(timeline.KINDS),
        'resources': [{
            'id': str(each.id), 'name': each.name if named else None,
            'reservable': each.reservable, 'properties': dict(each.properties)}
            for each in found.resources],
        'leases': [_lease(each) for each in found.leases],
        'statuses': found.words,
        'bars': {'resource': found.lanes, 'start': found.starts, 'end': found.ends,
                 'kind': found.kinds, 'status': found.statuses, 'lease': found.of_leases},
        'waiting': [_waiting(each, operator) for each in found.waiting],
        'more_wait': found.more_wait}


def _lease(shown):
    return {'id': shown.id, 'name': shown.name, 'project_id': shown.project_id}


def _waiting(found, operator):
    return {
        'position': found.position, 'since': times.shown(found.since),
        'acquire_type': found.acquire_type, 'wanted': found.wanted,
        'kind': timeline.OWN if found.own else timeline.OTHERS,
        'lease': None if found.lease is None else _lease(found.lease),
        'status_reason': operator_texts.chosen(found.reason, operator)}


def etag(shown):
    """Return the ETag of an answer."""
    text = json.dumps(shown, separators=(',', ':'), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
