# SPDX-License-Identifier: Apache-2.0
"""The path /v1/timeline, from REST 1.1 on: the leases of the resources of a pool over time."""
import datetime

import pecan

from climate import errors
from climate.api import operations
from climate.api import owner_or_operator_text
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.api import unchanged
from climate.api.controllers import base
from climate.domain import timeline
from climate.policies import leases as lease_rules
from climate.policies import timeline as rules

_SPAN = datetime.timedelta(days=7)
_LONGEST = datetime.timedelta(days=1100)

PATHS = {'/timeline': {'get': operations.operation(
    'Show the allocations of the resources of a pool',
    query=operations.query_of(schemas.TIMELINE))}}


class TimelineController(base.Controller):
    """Shows a timeline. A span that does not move with the present moment gets an ETag."""

    since_1_1 = 'Timelines are served'

    @pecan.expose('json')
    def get_all(self, req, resp):
        caller, policy = self._authorized(req, rules.GET), self._parts.policy
        query = self._query(req, caller)
        answer = self._parts.manager.get_timeline(caller, query)
        if times.are_fixed(req.GET, 'start', optional=('end',)):
            resp.etag = unchanged.tag(req, answer.changes, self._parts.clock(), answer.until)
        shown = _shown(answer, query.pool, policy.allows(caller, rules.GET_NAMES),
                       owner_or_operator_text.is_operator(policy, caller))
        if policy.allows(caller, lease_rules.GET_NAMES):
            for view, lease in zip(shown['leases'], answer.leases, strict=True):
                view |= {'user_name': lease.user_name, 'project_name': lease.project_name}
        return {'timeline': shown}

    def _query(self, req, caller):
        """Parse the query into a ``timeline.TimelineQuery``.

        :raises BadRequest: a field is unknown, repeated or malformed; the error names it.
        """
        queries.check(req, schemas.TIMELINE)
        given, fields, now = req.GET, schemas.TIMELINE['properties'], self._parts.clock()
        start = times.asked('start', given.get('start', times.NOW), now)
        end = times.asked('end', given['end'], now) if 'end' in given else start + _SPAN
        if end <= start or end - start > _LONGEST:
            raise errors.BadField(field='end', reason=(
                f'it must be after the start, {times.shown(start)}, and at most {_LONGEST.days} '
                'days later.'))
        allows = self._parts.policy.allows
        return timeline.TimelineQuery(
            pool=given.get('pool', fields['pool']['default']), start=start, end=end,
            criteria=given.get('criteria', ''), project_id=caller.project_id,
            user_id=caller.user_id,
            hidden=allows(caller, lease_rules.HIDDEN_CRITERIA),
            everybody=allows(caller, rules.GET_ALL_PROJECTS),
            resolution=_resolution(given.get('resolution', '0')))


def _resolution(text):
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise errors.BadField(field='resolution', reason=(
            f'"{text[:40]}" is not a number of seconds.'))
    return int(text)


def _shown(answer, pool, named, operator):
    """Return a ``timeline.Timeline`` as JSON-ready data.

    :param named: whether to show the names of resources.
    :param operator: whether to show the operators' versions of texts.
    """
    return {
        'pool': pool, 'start': times.shown(answer.start), 'end': times.shown(answer.end),
        'kinds': list(timeline.KINDS),
        'resources': [{
            'id': str(resource.id), 'name': resource.name if named else None,
            'reservable': resource.reservable, 'properties': dict(resource.properties)}
            for resource in answer.resources],
        'leases': [_lease(lease) for lease in answer.leases],
        'statuses': answer.words,
        'bars': {'resource': answer.lanes, 'start': answer.starts, 'end': answer.ends,
                 'kind': answer.kinds, 'status': answer.statuses, 'lease': answer.of_leases},
        'waiting': [_waiting(request, operator) for request in answer.waiting],
        'more_wait': answer.more_wait}


def _lease(lease):
    return {'id': lease.id, 'name': lease.name, 'project_id': lease.project_id,
            'user_id': lease.user_id, 'user_name': None, 'project_name': None}


def _waiting(request, operator):
    return {
        'position': request.position, 'since': times.shown(request.since),
        'acquire_type': request.acquire_type, 'wanted': request.wanted,
        'kind': timeline.OWN if request.own else timeline.OTHERS,
        'lease': None if request.lease is None else _lease(request.lease),
        'status_reason': owner_or_operator_text.of(request.reason, operator)}
