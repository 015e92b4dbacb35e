# SPDX-License-Identifier: Apache-2.0
"""Idempotency keys of requests for series. They are stored as those of leases."""
import datetime

from climate import errors
from climate.db import leases
from climate.db import series as stored
from climate.domain.series import series_records as domain

# A client repeats a request whose copy is not finished after this time.
_RETRY_SECONDS = 5


def series_of(core, context, request, now):
    """Return the id of the series that an earlier copy of a SeriesRequest created, or None.

    If the earlier copy failed, its key is free.

    :raises KeyReused: an earlier request with the same Idempotency-Key was different.
    :raises SeriesInProgress: an earlier request with that key is not finished.
    """
    key = request.idempotency_key
    if key is None:
        return None
    with core.database.reader() as connection:
        earlier = leases.of_key(connection, context.project_id, key, now)
        if earlier is None:
            return None
        request_hash, series_id = earlier
        series = stored.with_ids(connection, [series_id]).get(series_id)
    if series is not None and series.status == domain.UNDONE:
        return None
    if request_hash != request.request_hash:
        raise errors.KeyReused(key=key)
    if series is not None and series.status == domain.MAKING:
        raise errors.SeriesInProgress(key=key, retry_after=_RETRY_SECONDS)
    return series_id


def keep(core, connection, series, request, now):
    """Store the key of the SeriesRequest that creates a series.

    :raises Duplicate: another request has stored the key.
    """
    if request.idempotency_key is not None:
        hours = datetime.timedelta(hours=core.conf.manager.idempotency_hours)
        leases.keep_key(connection, series.project_id, request.idempotency_key,
                        request.request_hash, series.id, now, now + hours)
