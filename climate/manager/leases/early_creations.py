# SPDX-License-Identifier: Apache-2.0
"""Early creations: objects that plugins create in the cloud while a request is answered.

A row is written before an object is created, and the transaction that writes the lease deletes the
row. So a row that stays belongs to a failed request. The manager that served the request deletes
the object at once. If that manager crashed, any manager deletes the object when the row is old.
"""
import dataclasses
import datetime

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import early_creations
from climate.db import leases
from climate.db import offers
from climate.domain import records
from climate.manager import core as cores
from climate.manager import lease_cloud

LOG = log.getLogger(__name__)

# The age of a row from which its request has failed. A request that takes longer cannot write its
# lease any more.
AGE = datetime.timedelta(minutes=10)


class EarlyCreations:
    """The early creations for one new lease. Call `create`, then `settle`; `undo` on failure."""

    def __init__(self, core, context, lease, offer_id, now):
        self._core = core
        self._context = context
        self._lease = lease
        self._bindings = {}
        # The row of a creation whose result is unknown, for example after a lost answer.
        self._unknown = None
        self._rows = [records.EarlyCreation(
            uuidutils.generate_uuid(), each.id, each.resource_type, offer_id, now)
            for each in lease.reservations if _plugin(core, each).creates_early(each.request)]

    def create(self):
        """Create the objects; return the lease with the bindings of its reservations."""
        if not self._rows:
            return self._lease
        self._add_rows()
        cloud = lease_cloud.ActionCloud(self._core.cloud, self._lease, caller=self._context)
        by_id = {each.id: each for each in self._lease.reservations}
        for row in self._rows:
            reservation = by_id[row.reservation_id]
            self._unknown = row
            try:
                self._bindings[row.id] = _plugin(self._core, reservation).create_early(
                    cloud, self._lease, reservation)
                self._unknown = None
            except errors.Conflict:
                # The cloud refused the request, so it created nothing.
                self._unknown = None
                raise
            by_id[reservation.id] = dataclasses.replace(
                reservation, binding=self._bindings[row.id])
        return dataclasses.replace(self._lease, reservations=tuple(by_id.values()))

    @cores.again_after_a_race
    def _add_rows(self):
        with self._core.database.writer() as connection:
            early_creations.add(connection, self._rows)

    def settle(self, connection):
        """Delete the rows, in the transaction that writes the lease.

        :raises LostRace: the request took so long that another manager is deleting the creations.
        """
        ids = [row.id for row in self._rows]
        if ids and early_creations.settle(connection, ids) != len(ids):
            raise errors.LostRace('The cloud took too long to answer. Try again.')

    def undo(self):
        """Delete the objects because the lease was not written.

        If that fails, or the result of a creation is unknown, the EarlyCreationReaper does it.
        """
        if not self._rows:
            return
        try:
            with self._core.database.writer() as connection:
                # If the transaction was committed in spite of the error, there are no rows.
                open_ids = early_creations.close(connection, [row.id for row in self._rows])
            deletable = [row for row in self._rows
                         if row.id in open_ids and row is not self._unknown]
            for row in deletable:
                if row.id in self._bindings:
                    self._core.registry.plugin(row.resource_type).delete_early(
                        self._core.cloud, row.reservation_id, self._bindings[row.id])
            with self._core.database.writer() as connection:
                early_creations.forget(connection, [row.id for row in deletable])
        except errors.ClimateError as error:
            LOG.warning('Lease %s was not created; a periodic task will delete the objects that '
                        'were created for it: %s', self._lease.id, error.message)


class EarlyChange:
    """The early creations and deletions for a lease that changes.

    It writes no rows, because objects that a crash leaves are deleted with the reservation.
    """

    def __init__(self, core, context, before, after):
        """Compare the Lease before a change with the Lease after it."""
        self._core = core
        self._context = context
        self._before = {each.id: each for each in before.reservations}
        self._after = after
        self._bindings = {}

    def create(self):
        """Create the objects that the change needs; return the changed lease with new bindings."""
        cloud = lease_cloud.ActionCloud(self._core.cloud, self._after, caller=self._context)
        for after in self._after.reservations:
            before, plugin = self._before[after.id], _plugin(self._core, after)
            if after.request == before.request or plugin.was_started(before):
                continue
            if plugin.creates_early(after.request):
                self._bindings[after.id] = plugin.create_early(cloud, self._after, after, before)
            elif plugin.creates_early(before.request):
                self._bindings[after.id] = {}
        return dataclasses.replace(self._after, reservations=tuple(
            dataclasses.replace(each, binding=self._bindings.get(each.id, each.binding))
            for each in self._after.reservations))

    @property
    def _changed(self):
        """{reservation id: its new binding} of the reservations whose binding changes."""
        return {key: binding for key, binding in self._bindings.items()
                if binding != dict(self._before[key].binding)}

    def finish(self):
        """Delete the objects of the bindings that were replaced."""
        self._delete({key: self._before[key].binding for key in self._changed})

    def undo(self):
        """Delete the created objects, because the change was not written."""
        if not self._changed:
            return
        try:
            with self._core.database.reader() as connection:
                lease = leases.get(connection, self._after.id)
        except errors.ClimateError as error:
            LOG.warning('Lease %s: cannot check whether the change was written, so the objects '
                        'that were created for it stay: %s', self._after.id, error.message)
            return
        written = {each.id: dict(each.binding) for each in lease.reservations}
        self._delete({key: binding for key, binding in self._changed.items()
                      if written.get(key) != binding})

    def _delete(self, bindings):
        for key, binding in bindings.items():
            try:
                _plugin(self._core, self._before[key]).delete_early(
                    self._core.cloud, key, dict(binding))
            except errors.ClimateError as error:
                LOG.warning('Reservation %s: objects that were created early stay until its end: '
                            '%s', key, error.message)


class EarlyCreationReaper:
    """The periodic task that deletes old early creations of requests that failed."""

    def __init__(self, core):
        self._core = core

    def find(self, now):
        """Return the EarlyCreations of failed requests, except for offers that are still held."""
        with self._core.database.reader() as connection:
            return [each for each in early_creations.older(connection, now - AGE)
                    if each.offer_id is None or not offers.is_held(connection, each.offer_id)]

    def reap(self, now):
        """Delete all that `find` returns; return the ids of the reservations."""
        deleted = []
        for creation in self.find(now):
            with cores.isolated('Reservation %s, created early', creation.reservation_id):
                self.delete(creation)
                deleted.append(creation.reservation_id)
        return deleted

    def delete(self, creation):
        """Delete the objects that one EarlyCreation may have left in the cloud, and its row."""
        with self._core.database.writer() as connection:
            if not early_creations.close(connection, [creation.id]):
                return
        with self._core.database.reader() as connection:
            # If another request has taken the same offer, its lease has this reservation.
            is_leased = leases.mentioned(connection, {creation.reservation_id})
        if not is_leased:
            self._core.registry.plugin(creation.resource_type).delete_early(
                self._core.cloud, creation.reservation_id)
        with self._core.database.writer() as connection:
            early_creations.forget(connection, [creation.id])
        LOG.info('Reservation %s: the objects that a failed request created early are deleted',
                 creation.reservation_id)


def delete(core, lease):
    """Delete the early creations of the reservations of a lease that is over."""
    for reservation in lease.reservations:
        plugin = core.registry.plugins.get(reservation.resource_type)
        if plugin is not None and plugin.creates_early(reservation.request):
            plugin.delete_early(core.cloud, reservation.id, dict(reservation.binding))


def _plugin(core, reservation):
    return core.registry.plugin(reservation.resource_type)
