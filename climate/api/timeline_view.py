# SPDX-License-Identifier: Apache-2.0
"""Rendering of timelines in responses."""
import hashlib
import json

from climate.api import times
from climate.domain import timeline


def answer(found, pool, named):
    """Return a ``timeline.Timeline`` as JSON-ready data.

    :param named: whether resources have their names.
    """
    return {
        'pool': pool, 'start': times.shown(found.start), 'end': times.shown(found.end),
        'kinds': list(timeline.KINDS),
        'resources': [{
            'id': str(each.id), 'name': each.name if named else None,
            'reservable': each.reservable, 'properties': dict(each.properties)}
            for each in found.resources],
        'leases': [{'id': each.id, 'name': each.name, 'project_id': each.project_id}
                   for each in found.leases],
        'statuses': found.words,
        'bars': {'resource': found.lanes, 'start': found.starts, 'end': found.ends,
                 'kind': found.kinds, 'status': found.statuses, 'lease': found.of_leases}}


def etag(shown):
    """Return the ETag of an answer."""
    text = json.dumps(shown, separators=(',', ':'), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
