# SPDX-License-Identifier: Apache-2.0
"""A lease whose resources are looked for, as it is in the transaction that gives it some."""
from climate.db import leases
from climate.domain import agenda
from climate.manager import claims


class Withdrawn(Exception):
    """The lease is to be deleted, so it gets nothing any more; nothing was written."""


def current(connection, lease):
    """A claimed lease as it is now, locked.

    To be called after resources are locked, and before anything of the lease is written.

    :raises ClaimLost: another manager has taken it over.
    :raises Withdrawn: it is to be deleted.
    """
    claims.refuse_overtaken(connection, lease)
    found = leases.get(connection, lease.id)
    if agenda.deletion_ordered(found):
        raise Withdrawn()
    return found
