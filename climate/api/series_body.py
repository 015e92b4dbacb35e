# SPDX-License-Identifier: Apache-2.0
"""Parse the bodies of requests about series into records."""
import datetime
import re

from climate import errors
from climate import moments
from climate.api import body
from climate.api import idempotency
from climate.api import lease_body
from climate.api import queries
from climate.api import schemas
from climate.api import times
from climate.domain.series import series_records
from climate.domain.series import series_times

_TIME = re.compile(r'\d{1,2}:\d\d(:\d\d)?', re.ASCII)


def request_of(request, parts, hidden_criteria):
    """Parse the body of POST /v1/series.

    :param parts: the ``Parts`` of the controllers.
    :param hidden_criteria: see LeaseRequest.
    :returns: a SeriesRequest.
    :raises BadRequest: the error names the field.
    """
    data = body.read(request, schemas.SERIES_CREATE, parts.conf.api.max_body_bytes)
    time_zone, key = data.get('time_zone', 'UTC'), idempotency.key_of(request)
    return series_records.SeriesRequest(
        name=lease_body.name_of(data['name']),
        reservations=tuple(map(lease_body.reservation, data['reservations'])),
        start=_local(data['start'], time_zone, parts.clock()).isoformat(),
        seconds=times.seconds('duration', data['duration']), repeat=data['repeat'],
        time_zone=time_zone, mode=data.get('mode', series_records.WHAT_FITS),
        same_resources=data.get('same_resources', False), hidden_criteria=hidden_criteria,
        dry_run=queries.flag(request, 'dry_run'), idempotency_key=key,
        request_hash=idempotency.hash_of({'series': data}) if key else None)


def changes_of(request, parts, hidden_criteria):
    """Parse the query and the body of PUT /v1/series/{id}.

    :returns: a SeriesChanges.
    :raises BadRequest: the error names the field.
    """
    data = body.read(request, schemas.SERIES_UPDATE, parts.conf.api.max_body_bytes)
    scope, number = scope_of(request)
    return series_records.SeriesChanges(
        scope=scope, number=number,
        name=lease_body.name_of(data['name']) if 'name' in data else None,
        time=_time(data['time']) if 'time' in data else None,
        seconds=times.seconds('duration', data['duration']) if 'duration' in data else None,
        reservations=tuple(map(lease_body.reservation, data['reservations']))
        if 'reservations' in data else None,
        hidden_criteria=hidden_criteria, dry_run=queries.flag(request, 'dry_run'))


def scope_of(request):
    """Return (the scope, the number of the occurrence or None) of the query of a request.

    :raises BadField: one of them is missing or wrong.
    """
    scope, text = request.GET.get('scope'), request.GET.get('occurrence')
    if scope not in series_records.SCOPES:
        raise errors.BadField(field='scope', reason=(
            f'write one of {", ".join(series_records.SCOPES)}: this occurrence, it and the '
            'following ones, or all.'))
    if scope == series_records.ALL:
        if text is not None:
            raise errors.BadField(field='occurrence', reason=(
                'the scope "all" has no first occurrence: leave it out, or write "following".'))
        return scope, None
    number = None if text is None else queries.row_number(text)
    if not number or number > schemas.MOST_OCCURRENCES:
        raise errors.BadField(field='occurrence', reason=(
            f'write the number of an occurrence, from 1 to {schemas.MOST_OCCURRENCES}; the series '
            'shows the numbers.'))
    return scope, number


def _local(text, time_zone, now):
    """Return the local time in a zone that a text means; a text without a zone is local.

    :raises BadField: the zone does not exist.
    :raises BadDate: the text is no moment.
    """
    series_times.zone(time_zone)
    try:
        written = moments.written(text, now)
        local = written if written.tzinfo is None else series_times.local_of(written, time_zone)
    except (ValueError, OverflowError) as error:
        raise errors.BadDate(value=text, field='start', reason=(
            'write the local time in time_zone, such as "2030-05-01 08:00"')) from error
    if local.year not in moments.YEARS[1:-1]:
        raise errors.BadDate(value=text, field='start', reason=(
            f'the year must be from {moments.YEARS[1]} to {moments.YEARS[-2]}'))
    return local


def _time(text):
    """Return a local time of day as ISO text.

    :raises BadField: the text is no time of day.
    """
    try:
        if not _TIME.fullmatch(text):
            raise ValueError('not a time of day')
        return datetime.time(*map(int, text.split(':'))).isoformat()
    except ValueError as error:
        raise errors.BadField(field='time', reason=(
            f'"{text[:20]}" is not a time of day: write such as "09:00".')) from error
