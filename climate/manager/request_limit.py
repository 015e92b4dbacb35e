# SPDX-License-Identifier: Apache-2.0
"""The limit on the total size of the requests that one project may store in the database."""
import datetime

from climate import errors
from climate.db import request_sizes

# Leases that ended within this time count, because they stay in the database until the next purge.
_COUNTED = datetime.timedelta(days=1)


def refuse_more(core, project_id, more_bytes, now):
    """Refuse a request that would exceed the limit of its project.

    The check takes no lock, so simultaneous requests of a project may together exceed the limit.
    `[api] max_body_bytes` and `max_requests_per_project` bound the excess.

    :param more_bytes: the bytes that the request adds to the database.
    :raises TooManyRequestBytes: the project would exceed the limit.
    """
    most = core.conf.manager.request_bytes_per_project
    if not most or more_bytes <= 0:
        return
    with core.database.reader() as connection:
        used = request_sizes.of_project(connection, project_id, now - _COUNTED)
    if used + more_bytes > most:
        raise errors.TooManyRequestBytes(used=used, more=more_bytes, most=most)
