# SPDX-License-Identifier: Apache-2.0
"""The names of the owners of leases: taken from the tokens of callers, and kept for lists."""
import dataclasses

from climate.db import owner_names as stored
from climate.manager import core as cores

# The maximum number of names that this process knows. A larger cloud stores some names again.
_MOST_KNOWN = 10_000
_LONGEST = 255
# A purge deletes names while no lease has them. After this time a name is stored again.
_KNOWN_SECONDS = 3600


class OwnerNames:
    """Stores the names of callers and of their projects.

    Keystone is never called: each token has the names.
    """

    def __init__(self, core):
        self._core = core
        self._known, self._known_since = {}, core.monotonic()

    @cores.again_after_a_race
    def remember(self, context):
        """Store the names of a caller who creates or changes a lease, unless they are known."""
        if self._core.monotonic() > self._known_since + _KNOWN_SECONDS:
            self._known, self._known_since = {}, self._core.monotonic()
        names = {key: name for key, name in (
            ((stored.USER, context.user_id), context.user_name),
            ((stored.PROJECT, context.project_id), context.project_name))
            if key[1] and name and len(name) <= _LONGEST and self._known.get(key) != name}
        if not names:
            return
        with self._core.database.writer() as connection:
            stored.remember(connection, names)
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        self._known.update(names)


def by_caller(context, lease):
    """Return a lease that the caller has created, with the names of the caller and the project."""
    if lease.user_id != context.user_id or not lease.is_of(context):
        return lease
    return dataclasses.replace(lease, user_name=context.user_name,
                               project_name=context.project_name)


def named(connection, records):
    """Return records, such as Leases, with the names of their owners and projects.

    None, which is the end of a page, stays.
    """
    names = stored.find(connection, {key for record in records if record is not None
                                     for key in _owners(record)})
    return [record and dataclasses.replace(
        record, user_name=names.get((stored.USER, record.user_id)),
        project_name=names.get((stored.PROJECT, record.project_id)),
        **_of_sub_leases(record, names)) for record in records]


def _owners(record):
    """Return the ids whose names a record shows."""
    return {record.user_id, record.project_id,
            *(each.project_id for each in getattr(record, 'sub_leases', ()))}


def _of_sub_leases(record, names):
    """Return the changed fields of a record whose sub-leases have the names of their projects."""
    sub_leases = getattr(record, 'sub_leases', ())
    return {'sub_leases': tuple(dataclasses.replace(
        each, project_name=names.get((stored.PROJECT, each.project_id)))
        for each in sub_leases)} if sub_leases else {}
