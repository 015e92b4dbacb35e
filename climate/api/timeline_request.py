# SPDX-License-Identifier: Apache-2.0
"""Parsing of questions for a timeline."""
import datetime

from climate import errors
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.domain import timeline

_SPAN = datetime.timedelta(days=7)
_LONGEST = datetime.timedelta(days=1100)


def query(request, now, caller, hidden, everybody):
    """Parse the query of GET /v1/timeline into a ``timeline.Query``.

    :param hidden: whether the criteria may name resources and private properties.
    :param everybody: whether the caller may see the leases of all projects.
    :raises BadRequest: a field is unknown, repeated or malformed; the error names it.
    """
    queries.check(request, schemas.TIMELINE)
    asked, fields = request.GET, schemas.TIMELINE['properties']
    start = times.asked('start', asked.get('start', times.NOW), now)
    end = times.asked('end', asked['end'], now) if 'end' in asked else start + _SPAN
    if end <= start or end - start > _LONGEST:
        raise errors.BadField(field='end', reason=(
            f'it must be after the start, {times.shown(start)}, and at most {_LONGEST.days} days '
            'later.'))
    return timeline.Query(
        pool=asked.get('pool', fields['pool']['default']), start=start, end=end,
        criteria=asked.get('criteria', ''), hidden=hidden, project_id=caller.project_id,
        everybody=everybody, resolution=_resolution(asked.get('resolution', '0')))


def _resolution(text):
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise errors.BadField(field='resolution', reason=(
            f'"{text[:40]}" is not a number of seconds.'))
    return int(text)
