# SPDX-License-Identifier: Apache-2.0
"""The limit of the bytes of requests that one project may store in the database."""
import datetime

from climate import errors
from climate.db import request_sizes

# Leases that a project created and deleted within this time count: they fill the database until the
# next purge, too.
_COUNTED = datetime.timedelta(days=1)


def refuse_more(core, project_id, more_bytes, now):
    """Refuse a request that would exceed the limit of its project.

    Nothing is locked: simultaneous requests of one project may exceed the limit by their own bytes,
    which `[api] max_body_bytes` and `max_requests_per_project` limit.

    :param more_bytes: the bytes that the request adds to those in the database.
    :raises TooManyRequestBytes: the limit does not allow it.
    """
    most = core.conf.manager.request_bytes_per_project
    if not most or more_bytes <= 0:
        return
    with core.database.reader() as connection:
        used = request_sizes.of_project(connection, project_id, now - _COUNTED)
    if used + more_bytes > most:
        raise errors.TooManyRequestBytes(used=used, more=more_bytes, most=most)
