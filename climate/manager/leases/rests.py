# SPDX-License-Identifier: Apache-2.0
"""The reason why a lease cannot be prolonged: its resources have maintenance then."""
import contextlib

from climate import errors
from climate.db import maintenances


@contextlib.contextmanager
def explained(core, lease, wanted):
    """Add to a NotEnough in the block which maintenance is in the way.

    :param lease: the Lease as it is.
    :param wanted: the Lease as it is to be.
    """
    try:
        yield
    except errors.NotEnough as error:
        ids = {key for each in lease.open_reservations for key in each.resource_ids}
        with core.database.reader() as connection:
            found = maintenances.of_resources(connection, ids) if ids else {}
        windows = {each.id: each for some in found.values() for each in some
                   if each.start < wanted.end and wanted.start < each.end}
        if not windows:
            raise
        first = min(windows.values(), key=lambda each: each.start)
        raise errors.with_sentence(error, (
            f'Resources of the lease have maintenance from {first.span}: {first.reason}')
        ) from error
